/* SPDX-License-Identifier: BSD-2-Clause */
/* watch_known.c: see watch_known.h. */
#include "watch_known.h"
#include <stdlib.h>
#include <string.h>

#define SECOND  UINT64_C(1000000000)
#define FIRST   (4 * SECOND) /* between the first two looks at a process that was no JVM */
#define LONGEST (600 * SECOND)
#define COMPARE (10 * SECOND) /* between two comparisons of a process's start */

/* The index of the process, or where it belongs. */
static size_t place_of(const struct hpx_known_all *all, pid_t pid)
{
    const struct hpx_known *of = all->list.items;
    size_t from = 0, to = all->list.len;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (of[middle].pid < pid) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

struct hpx_known *hpx_known_find(struct hpx_known_all *all, pid_t pid)
{
    struct hpx_known *of = all->list.items;
    size_t i = place_of(all, pid);
    return i < all->list.len && of[i].pid == pid ? &of[i] : NULL;
}

struct hpx_known *hpx_known_get(struct hpx_known_all *all, pid_t pid)
{
    size_t i = place_of(all, pid);
    struct hpx_known *of = all->list.items;
    if (i < all->list.len && of[i].pid == pid) {
        return &of[i];
    }
    if (hpx_list_push(&all->list, sizeof *of) == NULL) {
        return NULL;
    }
    of = all->list.items;
    memmove(of + i + 1, of + i, (all->list.len - 1 - i) * sizeof *of);
    of[i] = (struct hpx_known){.pid = pid};
    return &of[i];
}

void hpx_known_forget(struct hpx_known_all *all, unsigned look)
{
    struct hpx_known *of = all->list.items;
    size_t kept = 0;
    for (size_t i = 0; i < all->list.len; i++) {
        if (of[i].look == look || of[i].kind == HPX_KNOWN_KEPT) {
            of[kept++] = of[i];
        }
    }
    all->list.len = kept;
}

bool hpx_known_is_stale(const struct hpx_known *k, uint64_t now)
{
    return k->started != 0 && k->kind != HPX_KNOWN_KEPT && now >= k->compared + COMPARE;
}

bool hpx_known_compare(struct hpx_known *k, uint64_t started, uint64_t now)
{
    bool other = k->started != 0 && k->started != started;
    if (other) {
        *k = (struct hpx_known){.pid = k->pid, .look = k->look};
    }
    k->started = started;
    k->compared = now;
    return other;
}

void hpx_known_other(struct hpx_known *k, uint64_t now)
{
    k->wait = k->kind != HPX_KNOWN_OTHER ? FIRST : k->wait * 4 < LONGEST ? k->wait * 4 : LONGEST;
    k->kind = HPX_KNOWN_OTHER;
    k->next = now + k->wait;
}

void hpx_known_fini(struct hpx_known_all *all)
{
    free(all->list.items);
    *all = (struct hpx_known_all){.list = {.items = NULL}};
}
