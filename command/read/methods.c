/* SPDX-License-Identifier: BSD-2-Clause */
/* methods.c: see methods.h. */
#include "methods.h"
#include <stdlib.h>
#include <string.h>

void hpx_methods_init(struct hpx_methods *m)
{
    memset(m, 0, sizeof(*m));
}

void hpx_methods_fini(struct hpx_methods *m)
{
    free(m->index.items);
    free(m->of.items);
}

void hpx_methods_clear(struct hpx_methods *m)
{
    for (size_t i = 0; i < m->of.len; i++) { /* not all names: a file may have many tables of a row each */
        ((uint32_t *)m->index.items)[((const struct hpx_method *)m->of.items)[i].name] = 0;
    }
    m->of.len = 0;
    m->row = 0;
}

void hpx_methods_row(struct hpx_methods *m)
{
    m->row++;
}

/* Where the place of a name is; NULL: no memory. */
static uint32_t *place(struct hpx_methods *m, uint32_t name)
{
    while (m->index.len <= name) {
        if (hpx_list_push(&m->index, sizeof(uint32_t)) == NULL) {
            return NULL;
        }
    }
    return (uint32_t *)m->index.items + name;
}

void hpx_methods_add(struct hpx_methods *m, uint32_t name, uint64_t samples, bool innermost)
{
    uint32_t *at = place(m, name);
    if (at != NULL && *at == 0) {
        struct hpx_method *made = hpx_list_push(&m->of, sizeof(*made));
        *at = made != NULL ? (uint32_t)m->of.len : 0;
        if (made != NULL) {
            *made = (struct hpx_method){.name = name};
        }
    }
    if (at == NULL || *at == 0) {
        return;
    }
    struct hpx_method *of = (struct hpx_method *)m->of.items + *at - 1;
    of->total += of->row != m->row ? samples : 0;
    of->self += innermost ? samples : 0;
    of->row = m->row;
}

static int by_self(const void *a, const void *b)
{
    const struct hpx_method *x = a;
    const struct hpx_method *y = b;
    if (x->self != y->self) {
        return x->self > y->self ? -1 : 1;
    }
    if (x->total != y->total) {
        return x->total > y->total ? -1 : 1;
    }
    return (x->name > y->name) - (x->name < y->name);
}

static int by_total(const void *a, const void *b)
{
    const struct hpx_method *x = a;
    const struct hpx_method *y = b;
    return x->total != y->total ? (x->total > y->total ? -1 : 1) : by_self(a, b);
}

void hpx_methods_sort(struct hpx_methods *m)
{
    if (m->of.len > 1) {
        qsort(m->of.items, m->of.len, sizeof(struct hpx_method), by_self);
    }
    if (m->of.len > HPX_METHODS_BY_SELF) {
        qsort((struct hpx_method *)m->of.items + HPX_METHODS_BY_SELF, m->of.len - HPX_METHODS_BY_SELF, sizeof(struct hpx_method), by_total);
    }
}
