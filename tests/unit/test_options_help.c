/* SPDX-License-Identifier: BSD-2-Clause */
/* test_options_help.c: what help prints. */
#include "cmocka_all.h"
#include "options.h"
#include "options_table.h"

#include <string.h>

struct help {
    char text[16384];
    size_t n;
};

static void put(void *ctx, const char *s)
{
    struct help *h = ctx;
    size_t n = strlen(s);
    assert_true(h->n + n < sizeof(h->text));
    memcpy(h->text + h->n, s, n + 1);
    h->n += n;
}

TEST(options_help_names_every_option_in_80_columns)
{
    static struct help h;
    hpx_options_help(put, &h);
    for (size_t i = 0; i < hpx_opts_len; i++) {
        if (hpx_opts[i].def) {
            assert_non_null(strstr(h.text, hpx_opts[i].name));
        }
    }
    for (const char *line = h.text; *line;) {
        size_t n = strcspn(line, "\n");
        if (n > 80 || (n && line[n - 1] == ' ')) {
            fail_msg("too long or with a blank at its end: %.*s", (int)n, line);
        }
        line += n + 1;
    }
}

TEST(options_help_keeps_its_columns)
{
    static struct help h;
    hpx_options_help(put, &h);
    const char *line = strstr(h.text, "  option ");
    assert_non_null(line);
    size_t meaning = (size_t)(strstr(line, "meaning") - line), at = (size_t)(strstr(line, "default") - line);
    for (; *line != '\n'; line += strcspn(line, "\n") + 1) {
        if (line[meaning] == ' ' || line[meaning - 1] != ' ' || line[at] == ' ' || line[at - 1] != ' ') {
            fail_msg("not in its columns: %.*s", (int)strcspn(line, "\n"), line);
        }
    }
}

TESTS(NULL, NULL)
