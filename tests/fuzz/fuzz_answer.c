/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_answer.c: libFuzzer over the way to an engine and back. Input: 'a', then an answer in RowBinary: the tree is sound, and the same
 * bytes in pieces make the same one; or another byte, then what a user asks for: the query has his words as literals and numbers alone. */
#include "answer.h"
#include "fuzz.h"
#include "select.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int read_pieces(struct hpx_tree *t, const uint8_t *data, size_t size, size_t piece, uint64_t *rows)
{
    struct hpx_answer r;
    struct hpx_err err;
    require(hpx_tree_init(t), "a tree");
    hpx_answer_init(&r, t);
    for (size_t at = 0; at < size; at += piece) {
        hpx_answer_take(&r, (const char *)data + at, size - at < piece ? size - at : piece);
    }
    int rc = hpx_answer_end(&r, &err);
    *rows = r.rows;
    hpx_tree_finish(t);
    hpx_answer_fini(&r);
    return rc;
}

static void read_answer(const uint8_t *data, size_t size)
{
    static const size_t pieces[] = {1, 3, 17};
    struct hpx_tree whole, again;
    uint64_t rows, other;
    int rc = read_pieces(&whole, data, size, size > 0 ? size : 1, &rows);
    require(rows * 26 <= size, "rows from nothing");
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        require(read_pieces(&again, data, size, pieces[i], &other) == rc && other == rows, "otherwise in pieces");
        require(again.names.len == whole.names.len && again.nodes.len == whole.nodes.len, "another tree in pieces");
        for (size_t k = 0; k < HPX_VIEWS; k++) {
            const struct hpx_tree_view *a = &again.views[k], *w = &whole.views[k];
            require(memcmp(a->totals, w->totals, sizeof a->totals) == 0, "other totals in pieces");
            require(w->numbers.len == w->samples.len * w->values, "numbers that are of no sample");
        }
        hpx_tree_fini(&again);
    }
    hpx_tree_fini(&whole);
}

/* What stands between quotes counts as nothing; the rest must be words of ours. */
static void check_query(const char *q)
{
    static const char *const ours[] = {
        "SELECT",   "FROM",       "WHERE",   "AND",         "IN",        "GROUP",   "BY",       "AS",
        "FORMAT",   "any",        "sum",     "count",       "min",       "max",     "toUInt64", "toUnixTimestamp",
        "toString", "toDateTime", "ts",      "duration_ms", "service",   "version", "host",     "container",
        "kind",     "pid",        "profile", "row",         "stack",     "value",   "k",        "s",
        "v",        "b",          "d",       "intDiv",      "RowBinary", "UNION",   "ALL",      "NOT",
        "GLOBAL",   "argMax"};
    while (*q != '\0') {
        if (*q == '\'' || *q == '`') {
            char quote = *q++;
            for (; *q != quote; q++) {
                require((unsigned char)*q >= ' ', "a control, or no end, in a literal");
                q += *q == '\\';
            }
            q++;
            continue;
        }
        size_t n = strspn(q, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        bool known = n == 0 ? strchr(" (),.*+<>=", *q) != NULL : isdigit((unsigned char)*q) && strspn(q, "0123456789") == n;
        for (size_t i = 0; i < sizeof ours / sizeof *ours && !known; i++) {
            known = strlen(ours[i]) == n && memcmp(ours[i], q, n) == 0;
        }
        require(known, "a word that is not ours");
        q += n > 0 ? n : 1;
    }
}

static void ask(const uint8_t *data, size_t size)
{
    static const char before[] = "clickhouse:http://h:1/";
    struct hpx_select s;
    struct hpx_err err;
    char *url = malloc(sizeof before + size);
    if (url == NULL) {
        return;
    }
    memcpy(url, before, sizeof before - 1);
    memcpy(url + sizeof before - 1, data, size);
    url[sizeof before - 1 + size] = '\0';
    if (hpx_select_parse(&s, url, 1700000000, &err) == 0) {
        check_query(s.facts);
        for (uint64_t step = 0; step < 120; step += 60) {
            char *rows = hpx_select_rows(&s, step);
            require(rows != NULL, "a query");
            check_query(rows);
            free(rows);
        }
    }
    hpx_select_fini(&s);
    free(url);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == 'a') {
        read_answer(data + 1, size - 1);
    } else if (size > 0) {
        ask(data + 1, size - 1);
    }
    return 0;
}
