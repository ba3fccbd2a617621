/* SPDX-License-Identifier: BSD-2-Clause */
/* trend.c: see trend.h. A method is known by a hash of its name, because every second has a tree of its own. */
#include "trend.h"
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FEW   64u /* methods that are not tidied */
#define LEAST 0.1f
#define MARKS 8

struct method {
    uint64_t key;
    float shares[HPX_TREND_SECONDS]; /* a ring */
};

void hpx_trend_init(struct hpx_trend *t)
{
    *t = (struct hpx_trend){.now = 0};
    hpx_seeded_map_init(&t->method_of, true);
}

void hpx_trend_fini(struct hpx_trend *t)
{
    free(t->methods.items);
    hpx_seeded_map_fini(&t->method_of);
    hpx_trend_init(t);
}

static uint64_t key_of(const char *method)
{
    return hpx_check_hash((struct hpx_rd_text){method, strlen(method)});
}

static struct method *at(const struct hpx_trend *t, size_t i)
{
    return (struct method *)t->methods.items + i;
}

static bool has_any(const struct method *m)
{
    bool any = false;
    for (size_t i = 0; i < HPX_TREND_SECONDS; i++) {
        any = any || m->shares[i] > 0;
    }
    return any;
}

static struct method *entry(struct hpx_trend *t, uint64_t key)
{
    struct method *m = hpx_list_entry(&t->method_of, &t->methods, sizeof *m, key);
    if (m != NULL) {
        m->key = key;
    }
    return m;
}

/* Without memory some are left out. */
static void tidy(struct hpx_trend *t)
{
    struct hpx_trend fresh;
    hpx_trend_init(&fresh);
    fresh.now = t->now;
    for (size_t i = 0; i < t->methods.len; i++) {
        struct method *m = has_any(at(t, i)) ? entry(&fresh, at(t, i)->key) : NULL;
        if (m != NULL) {
            *m = *at(t, i);
        }
    }
    hpx_trend_fini(t);
    *t = fresh;
}

void hpx_trend_next(struct hpx_trend *t)
{
    size_t kept = 0;
    t->now = (t->now + 1) % HPX_TREND_SECONDS;
    for (size_t i = 0; i < t->methods.len; i++) {
        at(t, i)->shares[t->now] = 0;
        kept += has_any(at(t, i));
    }
    if (t->methods.len > FEW && t->methods.len > 2 * kept) {
        tidy(t);
    }
}

void hpx_trend_add(struct hpx_trend *t, const char *method, double share)
{
    struct method *m = entry(t, key_of(method));
    if (m != NULL) {
        m->shares[t->now] += (float)share;
    }
}

void hpx_trend_line(const struct hpx_trend *t, const char *method, size_t seconds, bool utf8, char line[HPX_TREND_LINE])
{
    static const char ascii[MARKS + 2] = " .:-=+*#@", blocks[MARKS][4] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const uint32_t *index = hpx_seeded_map_find(&t->method_of, key_of(method));
    const struct method *m = index != NULL && *index > 0 ? at(t, *index - 1) : NULL;
    size_t n = seconds < HPX_TREND_SECONDS ? seconds : HPX_TREND_SECONDS, len = 0;
    float most = LEAST;
    for (size_t i = 0; m != NULL && i < n; i++) {
        most = fmaxf(most, m->shares[(t->now + HPX_TREND_SECONDS - i) % HPX_TREND_SECONDS]);
    }
    for (size_t i = n; i-- > 0;) {
        float share = m != NULL ? m->shares[(t->now + HPX_TREND_SECONDS - i) % HPX_TREND_SECONDS] : 0;
        int mark = share > 0 ? (int)ceilf(share / most * MARKS) : 0; /* 1 to MARKS */
        mark = mark > MARKS ? MARKS : mark;
        if (mark > 0 && utf8) {
            memcpy(line + len, blocks[mark - 1], 3);
            len += 3;
        } else {
            line[len++] = ascii[mark];
        }
    }
    line[len] = '\0';
}
