/* SPDX-License-Identifier: BSD-2-Clause */
/* announcement.c: see announcement.h. */
#include "announcement.h"
#include "hash.h"
#include "replaced.h"
#include "session.h"
#include "site_table.h"
#include "vm.h"
#include <stdlib.h>
#include <string.h>

static void put(struct hpx_announcement *t, struct hpx_announced_part *p, const void *bytes, size_t n)
{
    if (p->len + n > p->cap && !t->no_memory) {
        size_t cap = (p->cap + n) * 2;
        char *more = realloc(p->at, cap);
        t->no_memory = more == NULL;
        p->at = more != NULL ? more : p->at;
        p->cap = more != NULL ? cap : p->cap;
    }
    if (!t->no_memory && n > 0) {
        memcpy(p->at + p->len, bytes, n);
        p->len += n;
    }
}

static void put_text(struct hpx_announcement *t, struct hpx_announced_part *p, struct hprofx_bci_name name, const char *end)
{
    put(t, p, name.at, name.len);
    put(t, p, end, strlen(end) + 1);
}

static uint32_t number(void *ctx, uint32_t methods)
{
    struct hpx_announcement *t = ctx;
    return hpx_class_numbers_methods(&t->numbers, methods);
}

static void add_method(void *ctx, const struct hprofx_bci_method *m)
{
    struct hpx_announcement *t = ctx;
    if (t->n++ == 0) {
        t->first = m->number;
        put(t, &t->text, "L", 1);
        put_text(t, &t->text, m->class_name, ";");
        put_text(t, &t->text, m->source, "");
    }
    put_text(t, &t->text, m->name, "");
    put_text(t, &t->text, m->desc, "");
    struct hpx_numbered of = {m->first_line, hpx_replaced_is(m, hpx_vm_release())};
    put(t, &t->numbered, &of, sizeof of);
}

static uint32_t reserve_sites(void *ctx, uint32_t n)
{
    struct hpx_announcement *t = ctx;
    return hpx_class_numbers_places(&t->numbers, n);
}

static void add_site(void *ctx, const struct hprofx_bci_site *s)
{
    struct hpx_announcement *t = ctx;
    struct hpx_site_place_msg of;
    memset(&of, 0, sizeof of); /* what lies between its fields is hashed, too */
    of.id = s->id;
    of.line = s->line;
    of.opcode = s->opcode;
    if (t->nsites++ == 0) {
        put(t, &t->names, "L", 1);
        put_text(t, &t->names, s->method->class_name, ";");
        put_text(t, &t->names, s->method->source, "");
    }
    put(t, &t->of, &of, sizeof of);
    put_text(t, &t->names, s->method->name, "");
    put_text(t, &t->names, s->method->desc, "");
    put_text(t, &t->names, s->operand, "");
    put(t, &t->sites, s, sizeof *s);
}

/* Of numbers with their names; 0: there are none. */
static uint64_t meaning_of(const struct hpx_announced_part *numbers, const struct hpx_announced_part *names, uint32_t first)
{
    uint64_t words[] = {first, numbers->len > 0 ? hpx_hash128(numbers->at, numbers->len).lo : 0,
                        names->len > 0 ? hpx_hash128(names->at, names->len).lo : 0};
    uint64_t hash = hpx_hash128(words, sizeof words).lo;
    return numbers->len == 0 ? 0 : hash != 0 ? hash : 1;
}

static bool post_sites(struct hpx_announcement *t, void (*site)(const struct hprofx_bci_site *site))
{
    if (t->nsites == 0 || hpx_session_is(t->numbers.of_places.session)) {
        return true;
    }
    struct hpx_msg_sites *m = t->no_memory || t->names.len > UINT32_MAX ? NULL : hpx_msg_sites_new(t->nsites, (uint32_t)t->names.len);
    if (m == NULL) {
        return false;
    }
    memcpy(m->of, t->of.at, t->of.len);
    memcpy(m->text, t->names.at, t->names.len);
    hpx_lane_post(&hpx_session.aggregator.control, &m->m, false);
    for (size_t at = 0; at < t->sites.len; at += sizeof(struct hprofx_bci_site)) {
        site((const struct hprofx_bci_site *)(const void *)(t->sites.at + at));
    }
    t->numbers.of_places.session = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
    return true;
}

static bool post_methods(struct hpx_announcement *t)
{
    if (t->n == 0 || hpx_session_is(t->numbers.of_methods.session)) {
        return true;
    }
    struct hpx_msg_methods *m = t->no_memory || t->text.len > UINT32_MAX ? NULL : hpx_msg_methods_new(t->n, (uint32_t)t->text.len);
    if (m == NULL) {
        return false;
    }
    m->first = t->first;
    memcpy(m->text, t->text.at, t->text.len);
    memcpy(m->of, t->numbered.at, t->numbered.len);
    hpx_lane_post(&hpx_session.aggregator.control, &m->m, false);
    t->numbers.of_methods.session = atomic_load_explicit(&hpx_session_number, memory_order_relaxed);
    return true;
}

void hpx_announcement_hear(struct hpx_announcement *t, struct hprofx_bci_opts *opts)
{
    opts->number = number;
    opts->method = add_method;
    opts->sites = reserve_sites;
    opts->site = add_site;
    opts->ctx = t;
}

bool hpx_announcement_keeps_numbers(struct hpx_announcement *t)
{
    return t->no_memory ||
           hpx_class_numbers_mean(&t->numbers, meaning_of(&t->numbered, &t->text, t->first), meaning_of(&t->of, &t->names, 0));
}

bool hpx_announcement_post(struct hpx_announcement *t, void (*site)(const struct hprofx_bci_site *site))
{
    return post_methods(t) && post_sites(t, site);
}

void hpx_announcement_clear(struct hpx_announcement *t)
{
    struct hpx_announced_part *all[] = {&t->text, &t->numbered, &t->of, &t->names, &t->sites};
    for (size_t i = 0; i < HPX_ARRAY_LEN(all); i++) {
        free(all[i]->at);
        *all[i] = (struct hpx_announced_part){0};
    }
    t->first = t->n = t->nsites = 0;
}
