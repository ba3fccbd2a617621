/* SPDX-License-Identifier: BSD-2-Clause */
/* scan.c: taking a line of text apart. A scanner that met what it did not want stays not ok; what it returns then is zeros. */
#include "ascii.h"
#include <string.h>
#include <time.h>

#define HPX_SCAN_DATE 24

struct hpx_scan hpx_scan_line(const struct hpx_txt *t, struct hpx_rd_text line)
{
    return (struct hpx_scan){.p = line.p, .end = line.p + line.n, .ok = true, .cut = t->cut};
}

static size_t left(const struct hpx_scan *s)
{
    return (size_t)(s->end - s->p);
}

/* At the end of a record that was cut, everything matches. */
static bool over(struct hpx_scan *s)
{
    if (s->ok && s->cut && s->p == s->end) {
        s->ran_out = true;
    }
    return !s->ok || s->ran_out;
}

void hpx_scan_word(struct hpx_scan *s, const char *word)
{
    size_t n = strlen(word);
    if (over(s)) {
        return;
    }
    size_t k = s->cut && left(s) < n ? left(s) : n;
    s->ok = left(s) >= k && memcmp(s->p, word, k) == 0;
    s->p += s->ok ? k : 0;
}

uint64_t hpx_scan_number(struct hpx_scan *s)
{
    uint64_t v = 0;
    if (over(s)) {
        return 0;
    }
    const char *first = s->p;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++) {
        if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(*s->p - '0'), &v)) {
            s->ok = false;
            return 0;
        }
    }
    s->ok = s->p > first && (s->p == first + 1 || *first != '0');
    return s->ok ? v : 0;
}

uint32_t hpx_scan_serial(struct hpx_scan *s)
{
    uint64_t v = hpx_scan_number(s);
    s->ok = s->ok && v <= UINT32_MAX;
    return s->ok ? (uint32_t)v : 0;
}

uint64_t hpx_scan_hex(struct hpx_scan *s)
{
    uint64_t v = 0;
    if (over(s)) {
        return 0;
    }
    const char *first = s->p;
    for (; s->p < s->end; s->p++) {
        int digit = *s->p >= '0' && *s->p <= '9' ? *s->p - '0' : *s->p >= 'a' && *s->p <= 'f' ? *s->p - 'a' + 10 : -1;
        if (digit < 0) {
            break;
        }
        v = v << 4 | (uint64_t)digit;
    }
    s->ok = s->p > first && s->p - first <= 16 && (s->p == first + 1 || *first != '0');
    return s->ok ? v : 0;
}

struct hpx_rd_text hpx_scan_rest(struct hpx_scan *s)
{
    struct hpx_rd_text rest = {s->p, s->ok ? left(s) : 0};
    s->p = s->end;
    return rest;
}

struct hpx_rd_text hpx_scan_before(struct hpx_scan *s, const char *word)
{
    if (over(s)) {
        return (struct hpx_rd_text){s->p, 0};
    }
    const char *at = memmem(s->p, left(s), word, strlen(word));
    if (at == NULL) {
        s->ok = s->ran_out = s->cut;
        return hpx_scan_rest(s);
    }
    struct hpx_rd_text found = {s->p, (size_t)(at - s->p)};
    s->p = at + strlen(word);
    return found;
}

struct hpx_rd_text hpx_scan_before_last(struct hpx_scan *s, const char *word)
{
    size_t n = strlen(word);
    if (over(s)) {
        return (struct hpx_rd_text){s->p, 0};
    }
    for (const char *last = s->end; (last = memrchr(s->p, word[n - 1], (size_t)(last - s->p))) != NULL;) {
        const char *at = last + 1 - n;
        if ((size_t)(last + 1 - s->p) >= n && memcmp(at, word, n - 1) == 0) {
            struct hpx_rd_text found = {s->p, (size_t)(at - s->p)};
            s->p = last + 1;
            return found;
        }
    }
    s->ok = s->ran_out = s->cut;
    return hpx_scan_rest(s);
}

/* As ctime(): "Sat Nov 21 01:52:23 2026". */
struct hpx_rd_text hpx_scan_date(struct hpx_scan *s)
{
    char date[HPX_SCAN_DATE + 1] = "";
    struct tm tm;
    if (over(s)) {
        return (struct hpx_rd_text){s->p, 0};
    }
    const char *p = s->p;
    memcpy(date, p, left(s) < HPX_SCAN_DATE ? left(s) : HPX_SCAN_DATE);
    const char *end = strptime(date, "%a %b %d %H:%M:%S %Y", &tm);
    s->ok = end == date + HPX_SCAN_DATE;
    s->p += s->ok ? HPX_SCAN_DATE : 0;
    return (struct hpx_rd_text){p, s->ok ? HPX_SCAN_DATE : 0};
}

bool hpx_scan_done(const struct hpx_scan *s)
{
    return s->ok && (s->p == s->end || s->ran_out);
}
