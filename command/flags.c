/* SPDX-License-Identifier: BSD-2-Clause */
/* flags.c: see flags.h. */
#include "flags.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define BLANKS  " \t\n\v\f\r"
#define LONGEST 128 /* of an option that can be one of ours */

enum hpx_flag hpx_flag_of_word(const char *word, const char *name)
{
    if (strncmp(word, "-XX:", 4) != 0 || (word[4] != '+' && word[4] != '-') || strcmp(word + 5, name) != 0) {
        return HPX_FLAG_ABSENT;
    }
    return word[4] == '+' ? HPX_FLAG_ON : HPX_FLAG_OFF;
}

/* The option at `at`, without its quotes; cut if it is longer than any flag. Returns what follows. */
static const char *take_word(const char *at, char to[static LONGEST])
{
    size_t n = 0;
    bool quoted = false;
    char quote = 0;
    for (; *at != 0 && (quoted || strchr(BLANKS, *at) == NULL); at++) {
        if (quoted ? *at == quote : *at == '"' || *at == '\'') {
            quoted = !quoted;
            quote = *at;
        } else if (n + 1 < LONGEST) {
            to[n++] = *at;
        }
    }
    to[n] = 0;
    return at;
}

enum hpx_flag hpx_flag_of_text(const char *text, const char *name)
{
    enum hpx_flag is = HPX_FLAG_ABSENT;
    char word[LONGEST] = "";
    while (*(text += strspn(text, BLANKS)) != 0) {
        text = take_word(text, word);
        enum hpx_flag said = hpx_flag_of_word(word, name);
        is = said != HPX_FLAG_ABSENT ? said : is;
    }
    return is;
}
