/* SPDX-License-Identifier: BSD-2-Clause */
/* site_counts.c: sites=counts: counts of probes by place in the code, and sizes of objects.
 *
 * The probe of `new` does not know the object's size. The size of its class arrives later (HPX_MSG_SITE_SIZE), so the snapshot computes the
 * bytes. Events of arrays and of what makers made carry their bytes. */
#include "call_rows.h"
#include "site_table_internal.h"
#include <stdlib.h>
#include <string.h>

enum { OP_INVOKESTATIC = 184, OP_NEW = 187, OP_NEWARRAY = 188, OP_ANEWARRAY = 189, OP_MULTIANEWARRAY = 197 };
enum { MOST_LEVELS = 255 };

bool hpx_site_counts_init(struct hpx_sites *s)
{
    hpx_vec_init(&s->counts.places, sizeof(struct hpx_site_place_rec));
    hpx_vec_init(&s->counts.levels, sizeof(struct hpx_site_level));
    return hpx_intern_init(&s->counts.by_place, 0) == 0 && hpx_intern_init(&s->counts.made, 0) == 0;
}

void hpx_site_counts_fini(struct hpx_sites *s)
{
    hpx_vec_fini(&s->counts.places);
    hpx_vec_fini(&s->counts.levels);
    hpx_intern_fini(&s->counts.by_place);
    hpx_intern_fini(&s->counts.made);
}

/* ---- places ---- */

/* Key of a place as text: class, method and line are all that a sampled object has in common with a place. */
static struct hpx_hash128 place_key(struct hpx_text class_name, const struct hpx_method_rec *m, int32_t line)
{
    struct hpx_hash128 parts[4] = {hpx_hash128(class_name.bytes, class_name.len),
                                   hpx_hash128(m->class_name.bytes, m->class_name.len),
                                   hpx_hash128(m->name.bytes, m->name.len),
                                   {(uint64_t)(uint32_t)line, 0}};
    return hpx_hash128(parts, sizeof(parts));
}

/* A new level, of objects of this class. NULL: no memory. */
static struct hpx_site_level *add_level(struct hpx_sites *s, struct hpx_class_number klass, uint32_t symbolized)
{
    uint32_t site = hpx_sites_sum(s, klass, symbolized);
    struct hpx_site_level *l = site != HPX_INTERN_NONE ? hpx_vec_push(&s->counts.levels) : NULL;
    if (!l) {
        return NULL;
    }
    l->site = site;
    l->klass = klass;
    const struct hpx_trace_rec *t = hpx_symbols_rec(s->symbols, symbolized);
    struct hpx_hash128 key =
        place_key(hpx_symbols_text(s->symbols, hpx_sites_class_at(s, klass)->name), t->frames[0].method, t->frames[0].line);
    if (hpx_intern_find(&s->counts.by_place, key) == HPX_INTERN_NONE) {
        (void)hpx_intern_insert(&s->counts.by_place, key, site); /* without memory its live objects are unknown */
    }
    return l;
}

/* The level of what a maker made of this class at a place, new if needed. NULL: no memory. */
static struct hpx_site_level *made_level(struct hpx_sites *s, uint32_t place, uint32_t symbolized, struct hpx_class_number number)
{
    struct hpx_class_number klass = hpx_sites_class_of(s, number)->first;
    const uint64_t key[2] = {place, klass.v};
    struct hpx_hash128 h = hpx_hash128(key, sizeof(key));
    uint32_t at = hpx_intern_find(&s->counts.made, h);
    if (hpx_likely(at != HPX_INTERN_NONE)) {
        return hpx_vec_at(&s->counts.levels, at);
    }
    struct hpx_site_level *l = hpx_intern_reserve(&s->counts.made) == 0 ? add_level(s, klass, symbolized) : NULL;
    if (l) {
        l->made = true;
        hpx_intern_put(&s->counts.made, h, s->counts.levels.len - 1);
    }
    return l;
}

/* Writes the signature of the class that the instruction creates to `to` (operand.len + 4 bytes), for example Lp/C;, [I, [Lp/C;, [[I.
 * Returns its length. */
static uint32_t signature_of(char *to, uint8_t opcode, struct hpx_text operand)
{
    char *at = to;
    bool array = opcode == OP_NEWARRAY || opcode == OP_ANEWARRAY;
    bool named = opcode != OP_NEWARRAY && operand.len > 0 && operand.bytes[0] != '[';
    if (array) {
        *at++ = '[';
    }
    if (named) {
        *at++ = 'L';
    }
    memcpy(at, operand.bytes, operand.len);
    at += operand.len;
    if (named) {
        *at++ = ';';
    }
    *at = 0;
    return (uint32_t)(at - to);
}

/* false: no memory; events of the place count as lost. */
static bool add_place(struct hpx_sites *s, const struct hpx_site_place_msg *p, struct hpx_text operand, uint32_t symbolized)
{
    char *signature = hpx_symbols_scratch(s->symbols, (size_t)operand.len + 4);
    if (!signature) {
        return false;
    }
    uint32_t len = signature_of(signature, p->opcode, operand), dims = (uint32_t)strspn(signature, "[");
    struct hpx_site_place_rec r = {.first = s->counts.levels.len, .known = true, .symbolized = symbolized};
    uint32_t levels = p->opcode <= OP_INVOKESTATIC ? 0 : p->opcode == OP_MULTIANEWARRAY && dims > 1 ? dims : 1;
    for (uint32_t i = 0; i < levels && i < MOST_LEVELS; i++) {
        struct hpx_class_number klass = hpx_sites_class(s, signature + i, len - i);
        if (klass.v == 0 || !add_level(s, klass, symbolized)) {
            return false;
        }
        r.nlevels++;
    }
    struct hpx_site_place_rec *to = hpx_vec_reach(&s->counts.places, p->id);
    if (to) {
        *to = r;
    }
    return to != NULL;
}

void hpx_site_counts_announce(struct hpx_sites *s, const struct hpx_msg_sites *msg)
{
    const char *at = msg->text, *end = at + msg->text_len;
    struct hpx_text signature = hpx_next_text(&at, end), source = hpx_next_text(&at, end);
    struct hpx_class_number klass = hpx_sites_class(s, signature.bytes, signature.len);
    uint32_t file = hpx_symbols_string(s->symbols, source);
    for (uint32_t i = 0; klass.v && i < msg->n; i++) {
        struct hpx_text name = hpx_next_text(&at, end), desc = hpx_next_text(&at, end), operand = hpx_next_text(&at, end);
        const struct hpx_site_class *c = hpx_sites_class_at(s, klass);
        uint32_t trace = hpx_symbols_place(s->symbols, c->serial, c->name, file, name, desc, msg->of[i].line);
        if (trace != HPX_INTERN_NONE) {
            (void)add_place(s, &msg->of[i], operand, trace);
        }
    }
}

void hpx_site_counts_size(struct hpx_sites *s, const struct hpx_msg_site_size *msg)
{
    char *signature = hpx_symbols_scratch(s->symbols, (size_t)msg->len + 4);
    uint32_t len = signature ? signature_of(signature, OP_NEW, (struct hpx_text){msg->name, msg->len}) : 0;
    struct hpx_class_number klass = len ? hpx_sites_class(s, signature, len) : (struct hpx_class_number){0};
    if (klass.v) {
        hpx_sites_class_at(s, klass)->size = msg->bytes;
    }
}

/* ---- events ---- */

void hpx_site_counts_apply(struct hpx_sites *s, const struct hpx_ev_head *ev)
{
    const struct hpx_site_place_rec *p = hpx_vec_find(&s->counts.places, ev->id);
    uint32_t level = ev->kind == HPX_EV_COUNT_MULTI ? HPX_EV_MULTI_LEVEL(ev->stamp) : 0;
    uint64_t n = hpx_ev_objects(ev), bytes = hpx_ev_bytes(ev);
    struct hpx_site_level *l = NULL;
    if (p && p->known && ev->kind == HPX_EV_COUNT_MADE) {
        l = made_level(s, ev->id, p->symbolized, HPX_EV_MADE_CLASS(ev->stamp));
    } else if (p && ev->kind != HPX_EV_COUNT_MADE && level < p->nlevels) {
        l = hpx_vec_at(&s->counts.levels, p->first + level);
    }
    if (hpx_unlikely(!l)) {
        hpx_count(hpx_model_counters(s->m), HPX_C_ALLOCATIONS_UNCOUNTED, n);
        return;
    }
    l->objects += n;
    l->bytes += bytes;
    s->objects += n;
    s->bytes += bytes;
}

void hpx_sites_forget_running(struct hpx_sites *s)
{
    for (uint32_t i = 0; i < s->counts.levels.len; i++) {
        struct hpx_site_level *l = hpx_vec_at(&s->counts.levels, i);
        l->running_objects = l->running_bytes = 0;
    }
    s->counts.unknown = 0;
}

void hpx_sites_add_counter(struct hpx_sites *s, uint32_t place, uint64_t objects, uint64_t bytes, bool gone)
{
    const struct hpx_site_place_rec *p = hpx_vec_find(&s->counts.places, place);
    struct hpx_site_level *l = p && p->nlevels > 0 ? hpx_vec_at(&s->counts.levels, p->first) : NULL;
    if (!l && gone) {
        hpx_count(hpx_model_counters(s->m), HPX_C_ALLOCATIONS_UNCOUNTED, objects);
    } else if (l && gone) {
        l->objects += objects;
        l->bytes += bytes;
        s->objects += objects;
        s->bytes += bytes;
    } else if (l) {
        l->running_objects += objects;
        l->running_bytes += bytes;
    } else {
        s->counts.unknown += objects;
    }
}

static uint64_t objects_of(const struct hpx_site_level *l)
{
    return l->objects + l->running_objects - l->cleared_objects;
}

uint64_t hpx_sites_counted_objects(const struct hpx_sites *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->counts.levels.len; i++) {
        n += objects_of(hpx_vec_at(&s->counts.levels, i));
    }
    return n;
}

/* ---- snapshot ---- */

/* An array has at least its header; 0 bytes: the probe did not know the type of its elements. */
static void add(struct hpx_sites *s, const struct hpx_site_level *l, uint32_t row, uint64_t objects, uint64_t bytes)
{
    const struct hpx_site_class *c = hpx_sites_class_at(s, l->klass);
    struct hpx_site_sum *site = hpx_vec_at(&s->sites, row);
    bool told = c->array != 0 || l->made, sized = told ? bytes > 0 : c->size > 0;
    site->objects += (double)objects;
    site->bytes += told ? (double)bytes : (double)objects * (double)c->size;
    s->counts.unsized += sized ? 0 : objects;
}

/* false: its place is unknown, or there is no memory for its row. */
static bool add_call(struct hpx_sites *s, struct hpx_call_rows *calls, const struct hpx_call_alloc *a)
{
    const struct hpx_site_place_rec *p = hpx_vec_find(&s->counts.places, a->place);
    bool made = (a->level & HPX_CALL_MADE) != 0;
    uint32_t symbolized;
    if (!p || !p->known || (!made && a->level >= p->nlevels) || !hpx_call_rows_print(calls, a->node, &symbolized)) {
        return false;
    }
    const struct hpx_site_level *l = made ? made_level(s, a->place, p->symbolized, (struct hpx_class_number){a->level & ~HPX_CALL_MADE})
                                          : hpx_vec_at(&s->counts.levels, p->first + a->level);
    uint32_t site = l ? hpx_sites_sum(s, l->klass, symbolized) : HPX_INTERN_NONE;
    if (site == HPX_INTERN_NONE) {
        return false;
    }
    add(s, l, site, a->objects, a->bytes);
    return true;
}

/* With exact calls: adds what calls allocated, under their traces. */
static void add_calls(struct hpx_sites *s, struct hpx_call_rows *calls)
{
    struct hpx_calltab *t = hpx_call_rows_table(calls);
    for (uint32_t i = 0; i < t->allocs.len; i++) {
        const struct hpx_call_alloc *a = hpx_vec_at(&t->allocs, i);
        if (a->objects > 0 && !add_call(s, calls, a)) {
            s->counts.missed_objects += a->objects;
            s->counts.missed_bytes += a->bytes;
        }
    }
}

void hpx_site_counts_add_up(struct hpx_sites *s)
{
    s->counts.missed_objects += s->counts.unknown;
    struct hpx_call_rows *calls = s->o.counts ? hpx_model_table(s->m, HPX_EV_PLACE) : NULL;
    if (calls) {
        add_calls(s, calls);
    }
    for (uint32_t i = 0; i < s->counts.levels.len; i++) {
        const struct hpx_site_level *l = hpx_vec_at(&s->counts.levels, i);
        if (objects_of(l) > 0) {
            add(s, l, l->site, objects_of(l), l->bytes + l->running_bytes - l->cleared_bytes);
        }
    }
}

static bool text_is(struct hpx_text t, const char *s)
{
    return t.len == strlen(s) && memcmp(t.bytes, s, t.len) == 0;
}

/* Whether the place of a maker (bci/makers.c) is that of a frame below this method's. */
static bool above_place(const struct hpx_method_rec *m)
{
    static const char *const methods[][2] = {{"java.lang.Object", "clone"},
                                             {"java.lang.reflect.Array", "newArray"},
                                             {"java.lang.reflect.Array", "multiNewArray"},
                                             {"java.lang.reflect.Array", "newInstance"},
                                             {"java.util.Arrays", "copyOf"},
                                             {"java.util.Arrays", "copyOfRange"},
                                             {"jdk.internal.misc.Unsafe", "allocateUninitializedArray0"},
                                             {"jdk.internal.misc.Unsafe", "allocateInstance"},
                                             {"sun.misc.Unsafe", "allocateInstance"},
                                             {"sun.reflect.NativeConstructorAccessorImpl", "newInstance0"},
                                             {"jdk.internal.reflect.NativeConstructorAccessorImpl", "newInstance0"},
                                             {"jdk.internal.reflect.DirectConstructorHandleAccessor$NativeAccessor", "newInstance0"}};
    for (size_t i = 0; i < HPX_ARRAY_LEN(methods); i++) {
        if (text_is(m->name, methods[i][1]) && text_is(m->class_name, methods[i][0])) {
            return true;
        }
    }
    return false;
}

uint32_t hpx_site_counts_find(struct hpx_sites *s, const struct hpx_site_class *c, const struct hpx_trace_rec *t)
{
    uint32_t found = HPX_INTERN_NONE;
    for (uint32_t i = 0; found == HPX_INTERN_NONE && i < t->nframes && (i == 0 || above_place(t->frames[i - 1].method)); i++) {
        found =
            hpx_intern_find(&s->counts.by_place, place_key(hpx_symbols_text(s->symbols, c->name), t->frames[i].method, t->frames[i].line));
    }
    return found;
}

void hpx_site_counts_clear(struct hpx_sites *s)
{
    for (uint32_t i = 0; i < s->counts.levels.len; i++) {
        struct hpx_site_level *l = hpx_vec_at(&s->counts.levels, i);
        l->cleared_objects = l->objects + l->running_objects;
        l->cleared_bytes = l->bytes + l->running_bytes;
    }
    struct hpx_call_rows *calls = hpx_model_table(s->m, HPX_EV_PLACE);
    if (calls) {
        hpx_calltab_clear_allocs(hpx_call_rows_table(calls));
    }
}
