/* SPDX-License-Identifier: BSD-2-Clause */
/* address_map.c: see address_map.h. */
#include "address_map.h"
#include <sys/mman.h>

#define FIRST 4096u /* entries */

/* A free entry for a key that the map does not have. */
static struct hpx_address_entry *claim(struct hpx_address_map *m, uint64_t key)
{
    uint64_t i = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    while (m->at[i & (m->room - 1)].key != 0) {
        i++;
    }
    m->at[i & (m->room - 1)].key = key;
    m->len++;
    return &m->at[i & (m->room - 1)];
}

static bool grow(struct hpx_address_map *m)
{
    struct hpx_address_map to = {.room = m->room != 0 ? 2 * m->room : FIRST};
    void *p = mmap(NULL, to.room * sizeof *to.at, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        return false;
    }
    to.at = p;
    for (uint64_t i = 0; i < m->room; i++) {
        if (m->at[i].key != 0) {
            claim(&to, m->at[i].key)->value = m->at[i].value;
        }
    }
    hpx_address_map_fini(m);
    *m = to;
    return true;
}

struct hpx_address_entry *hpx_address_map_put(struct hpx_address_map *m, uint64_t key)
{
    struct hpx_address_entry *e = hpx_address_map_find(m, key);
    if (e != NULL) {
        return e;
    }
    return m->len < m->room / 2 || grow(m) ? claim(m, key) : NULL;
}

void hpx_address_map_fini(struct hpx_address_map *m)
{
    if (m->at != NULL) {
        munmap(m->at, m->room * sizeof *m->at);
    }
    *m = (struct hpx_address_map){.at = NULL};
}
