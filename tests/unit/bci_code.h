/* SPDX-License-Identifier: BSD-2-Clause */
/* bci_code.h: code with probes, as text; for the tests of SITES, OBJECTS and STORES. */
#ifndef HPX_TEST_BCI_CODE_H
#define HPX_TEST_BCI_CODE_H

#include "bci_check.h"
#include <ctype.h>

enum { CALLS = HPROFX_BCI_CALLS, SITES = HPROFX_BCI_SITES, OBJECTS = HPROFX_BCI_OBJECTS, STORES = HPROFX_BCI_STORES };

/* Offset of constant i's tag, 0: none. Only kinds that these tests use. */
static inline size_t constant(const struct checked *k, uint32_t i)
{
    size_t at = 10;
    for (uint32_t n = 1; n < i && at < k->m; n++) {
        uint8_t tag = k->out[at];
        at += tag == 1 ? 3u + (size_t)(k->out[at + 1] << 8 | k->out[at + 2]) : tag == 7 || tag == 8 ? 3 : 5;
    }
    return at;
}

static inline uint32_t u2_at(const struct checked *k, size_t at)
{
    return (uint32_t)(k->out[at] << 8 | k->out[at + 1]);
}

/* Index of the Methodref whose method has this name. */
static inline uint32_t method_ref(const struct checked *k, const char *name, size_t n)
{
    uint32_t count = u2_at(k, 8);
    for (uint32_t i = 1; i < count; i++) {
        size_t at = constant(k, i);
        if (k->out[at] == 10) {
            size_t utf8 = constant(k, u2_at(k, constant(k, u2_at(k, at + 3)) + 1));
            if (u2_at(k, utf8 + 1) == n && memcmp(k->out + utf8 + 3, name, n) == 0) {
                return i;
            }
        }
    }
    fail_msg("no Methodref of %s", name);
    return 0;
}

/* Some method has this max_stack and this code, in hex; @name stands for the index of the Methodref of a method of this name. */
static inline const uint8_t *assert_code(const struct checked *k, uint32_t max_stack, const char *text)
{
    struct cf_bytes want = {0};
    cf_u4(&want, 0);
    for (; *text != 0; text++) {
        if (*text == '@') {
            size_t n = 0;
            while (isalpha((unsigned char)text[n + 1])) {
                n++;
            }
            cf_u2(&want, method_ref(k, text + 1, n));
            text += n;
        } else if (*text != ' ') {
            char pair[3] = {text[0], text[1], 0};
            cf_u1(&want, (uint32_t)strtoul(pair, NULL, 16));
            text++;
        }
    }
    want.p[3] = (uint8_t)(want.n - 4);
    const uint8_t *found = k->out;
    while ((found = memmem(found, (size_t)(k->out + k->m - found), want.p, want.n)) != NULL &&
           (uint32_t)(found[-4] << 8 | found[-3]) != max_stack) {
        found++;
    }
    assert_non_null(found);
    found += want.n;
    cf_free(&want);
    return found;
}

static inline struct hprofx_bci_opts kinds(unsigned probes)
{
    return (struct hprofx_bci_opts){.probes = probes};
}

/* Allocations of each kind; its stack is 2 deep. */
static const char every_kind[] = "bb 0004 57 03 bc 0a 57 03 bd 0004 57 03 03 c5 0008 02 57 b1";

/* Class T; 4: Object, 8: [[I. */
static inline void begin(struct cf_class *c)
{
    cf_init(c, 52);
    (void)cf_utf8(c, "x");
    (void)cf_utf8(c, "x");
    assert_int_equal(cf_class_ref(c, "[[I"), 8);
}

#endif
