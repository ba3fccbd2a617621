/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_waste.c: see heap_waste.h. */
#include "heap_waste.h"
#include "heap_room.h"
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define WIDE  (UINT32_C(1) << 31) /* of the number of strings */
#define BLANK UINT64_C(1)         /* of 2 * node */

/* Collections of the JDK with a table, by the class that has the fields; from 8 to 28 they have the same names. */
static const struct collection {
    const char *name, *size, *table;
    int type;          /* of size */
    const char *same;  /* no size, but two places in the table that are the same if it is empty */
    const char *extra; /* if it refers to anything, the size is elsewhere */
} collections[] = {
    {"java.util.ArrayList", "size", "elementData", HPX_TYPE_INT, NULL, NULL},
    {"java.util.Vector", "elementCount", "elementData", HPX_TYPE_INT, NULL, NULL},
    {"java.util.HashMap", "size", "table", HPX_TYPE_INT, NULL, NULL}, /* and LinkedHashMap, HashSet */
    {"java.util.Hashtable", "count", "table", HPX_TYPE_INT, NULL, NULL},
    {"java.util.WeakHashMap", "size", "table", HPX_TYPE_INT, NULL, NULL},
    {"java.util.IdentityHashMap", "size", "table", HPX_TYPE_INT, NULL, NULL},
    {"java.util.PriorityQueue", "size", "queue", HPX_TYPE_INT, NULL, NULL},
    {"java.util.ArrayDeque", "head", "elements", HPX_TYPE_INT, "tail", NULL},
    {"java.util.concurrent.ConcurrentHashMap", "baseCount", "table", HPX_TYPE_LONG, NULL, "counterCells"},
};

/* The places in the fields that the class itself declares. */
struct hpx_heap_kind {
    uint32_t klass;
    uint64_t size_at, table_at, other_at;
    size_t size_bytes;
    bool same, extra;
};

#define NO_KIND UINT32_MAX /* in kind_of; 0: not looked for yet */

/* ---- what is looked at ---- */

static const struct collection *collection_of(const struct hpx_heap_class *c)
{
    for (size_t i = 0; strncmp(c->name, "java.util.", 10) == 0 && i < HPX_ARRAY_LEN(collections); i++) {
        if (strcmp(c->name, collections[i].name) == 0) {
            return collections + i;
        }
    }
    return NULL;
}

/* Of a class that declares the fields of a collection. */
static bool add_kind(struct hpx_heap_waste *w, const struct hpx_heap_graph *g, uint32_t klass)
{
    const struct hpx_heap_class *c = hpx_heap_class_at(g, klass);
    const struct collection *of = collection_of(c);
    struct hpx_heap_kind k = {.klass = klass, .size_bytes = of != NULL ? hpx_type_size(of->type, 0) : 0};
    if (of == NULL || !hpx_heap_field_at(g, c, of->size, of->type, &k.size_at) ||
        !hpx_heap_field_at(g, c, of->table, HPX_TYPE_OBJECT, &k.table_at)) {
        return true;
    }
    k.same = of->same != NULL && hpx_heap_field_at(g, c, of->same, of->type, &k.other_at);
    k.extra = of->extra != NULL && hpx_heap_field_at(g, c, of->extra, HPX_TYPE_OBJECT, &k.other_at);
    if ((of->same != NULL && !k.same) || (of->extra != NULL && !k.extra)) {
        return true;
    }
    struct hpx_heap_kind *to = hpx_list_push(&w->kinds, sizeof *to);
    if (to != NULL) {
        *to = k;
        w->kind_of[klass] = (uint32_t)w->kinds.len;
    }
    return to != NULL;
}

/* That of the nearest class above that has one, for all on the way there, so that nobody goes that way again. */
static void inherit_kind(struct hpx_heap_waste *w, const struct hpx_heap_graph *g, uint32_t klass)
{
    uint32_t above = klass, kind;
    while (above != HPX_HEAP_NO_CLASS && w->kind_of[above] == 0) {
        above = hpx_heap_class_at(g, above)->up;
    }
    kind = above != HPX_HEAP_NO_CLASS ? w->kind_of[above] : NO_KIND;
    for (uint32_t k = klass; k != above; k = hpx_heap_class_at(g, k)->up) {
        w->kind_of[k] = kind;
    }
}

static bool prepare(struct hpx_heap_waste *w, const struct hpx_heap_graph *g)
{
    bool made = hpx_budget_take(g->n / 8 + g->classes.len * sizeof *w->kind_of);
    w->ready = true;
    w->string = HPX_HEAP_NO_CLASS;
    w->no_elements = made ? calloc((size_t)g->n / 8 + 1, 1) : NULL;
    w->kind_of = made ? calloc(g->classes.len, sizeof *w->kind_of) : NULL;
    made = w->no_elements != NULL && w->kind_of != NULL;
    for (uint32_t i = 0; made && i < g->classes.len; i++) {
        const struct hpx_heap_class *c = hpx_heap_class_at(g, i);
        made = add_kind(w, g, i);
        if (w->string == HPX_HEAP_NO_CLASS && c->dumped && strcmp(c->name, "java.lang.String") == 0 &&
            hpx_heap_field_at(g, c, "value", HPX_TYPE_OBJECT, &w->value_at)) {
            w->string = i;
            w->coder = hpx_heap_field_at(g, c, "coder", HPX_TYPE_BYTE, &w->coder_at);
        }
    }
    for (uint32_t i = 0; made && i < g->classes.len; i++) {
        inherit_kind(w, g, i);
    }
    return made;
}

/* ---- what is taken ---- */

static bool add(struct hpx_list *to, uint64_t key, uint32_t a, uint32_t b)
{
    struct hpx_heap_entry *e = hpx_list_push(to, sizeof *e);
    if (e != NULL) {
        *e = (struct hpx_heap_entry){key, a, b};
    }
    return e != NULL;
}

static bool has(struct hpx_rd_text t, uint64_t at, size_t n)
{
    return at <= t.n && n <= t.n - at;
}

static uint32_t refers(const struct hpx_heap_graph *g, struct hpx_rd_text t, uint64_t at)
{
    return has(t, at, g->id_size) ? hpx_heap_node(g, hpx_heap_id(g, t.p + at)) : 0;
}

static bool take_string(struct hpx_heap_waste *w, const struct hpx_heap_graph *g, struct hpx_rd_text t)
{
    uint32_t value = refers(g, t, w->value_at);
    bool wide = w->coder && has(t, w->coder_at, 1) && t.p[w->coder_at] != 0;
    return value == 0 || add(&w->strings_of, value, wide, 0);
}

/* Without elements, but perhaps with a table. t: from the fields of its kind on. */
static bool is_empty(const struct hpx_heap_graph *g, const struct hpx_heap_kind *k, struct hpx_rd_text t)
{
    static const char zeros[8];
    if (!has(t, k->size_at, k->size_bytes) || (k->same && !has(t, k->other_at, k->size_bytes))) {
        return false;
    }
    return memcmp(t.p + k->size_at, k->same ? t.p + k->other_at : zeros, k->size_bytes) == 0 &&
           (!k->extra || (has(t, k->other_at, g->id_size) && hpx_heap_id(g, t.p + k->other_at) == 0));
}

static uint32_t empty_table(const struct hpx_heap_graph *g, uint32_t klass, const struct hpx_heap_kind *k, struct hpx_rd_text t)
{
    uint64_t below = hpx_heap_content_bytes(g, klass) - hpx_heap_content_bytes(g, k->klass); /* fields of subclasses come first */
    if (below > t.n) {
        return 0;
    }
    t.p += below;
    t.n -= (size_t)below;
    return is_empty(g, k, t) ? refers(g, t, k->table_at) : 0;
}

static bool take_instance(struct hpx_heap_waste *w, const struct hpx_heap_graph *g, uint32_t node, struct hpx_rd_text t)
{
    uint32_t klass = g->klass[node], index = w->kind_of[klass];
    if (klass == w->string) {
        return take_string(w, g, t);
    }
    const struct hpx_heap_kind *k = index != NO_KIND ? (const struct hpx_heap_kind *)w->kinds.items + index - 1 : NULL;
    uint32_t table = k != NULL ? empty_table(g, klass, k, t) : 0;
    return table == 0 || add(&w->tables, table, klass, 0);
}

/* Entries of arrays: the node, with BLANK as long as there are zeros alone; 64 bits of a hash. */
static void begin_array(struct hpx_heap_entry *e, uint64_t length)
{
    e->key |= length > 0 ? BLANK : 0;
    e->a = (uint32_t)(length >> 32);
    e->b = (uint32_t)length; /* texts that begin with pieces of others differ */
}

static void hash_array(struct hpx_heap_entry *e, struct hpx_rd_text t)
{
    uint64_t h = XXH3_64bits_withSeed(t.p, t.n, (uint64_t)e->a << 32 | e->b);
    if (t.p[0] != 0 || memcmp(t.p, t.p + 1, t.n - 1) != 0) {
        e->key &= ~BLANK;
    }
    e->a = (uint32_t)(h >> 32);
    e->b = (uint32_t)h;
}

bool hpx_heap_waste_take(void *ctx, const struct hpx_heap_graph *g, uint32_t node, const struct hpx_rd_event *ev)
{
    struct hpx_heap_waste *w = ctx;
    if (!w->ready && !prepare(w, g)) {
        return false;
    }
    if (ev->kind == HPX_RD_CONTENT) {
        if (w->kind == HPX_RD_INSTANCE) {
            return take_instance(w, g, node, ev->content);
        }
        if (w->kind == HPX_RD_PRIMITIVES && ev->content.n > 0) {
            hash_array((struct hpx_heap_entry *)w->arrays.items + w->arrays.len - 1, ev->content);
        }
        return true;
    }
    w->kind = ev->kind;
    if ((ev->kind == HPX_RD_OBJECTS || ev->kind == HPX_RD_PRIMITIVES) && ev->object.length == 0) {
        w->no_elements[node / 8] |= (uint8_t)(1 << node % 8);
    }
    if (ev->kind == HPX_RD_PRIMITIVES && (ev->object.type == HPX_TYPE_BYTE || ev->object.type == HPX_TYPE_CHAR)) {
        if (!add(&w->arrays, 2 * (uint64_t)node, 0, 0)) {
            return false;
        }
        begin_array((struct hpx_heap_entry *)w->arrays.items + w->arrays.len - 1, ev->object.length);
        return true;
    }
    w->kind = ev->kind == HPX_RD_PRIMITIVES ? HPX_RD_FINISH : ev->kind; /* numbers are no text */
    return true;
}

/* ---- what comes of it ---- */

/* Arrays that are the text of strings: their hash, themselves, how many strings. */
static void join(struct hpx_heap_waste *w)
{
    struct hpx_heap_entry *array = w->arrays.items, *string = w->strings_of.items;
    size_t kept = 0, k = 0, strings = w->strings_of.len;
    hpx_heap_sort(array, w->arrays.len);
    hpx_heap_sort(string, strings);
    for (size_t i = 0; i < w->arrays.len; i++) {
        uint32_t n = 0, wide = 0, node = (uint32_t)(array[i].key / 2);
        bool blank = (array[i].key & BLANK) != 0;
        for (; k < strings && string[k].key <= node; k++) {
            n += string[k].key == node;
            wide |= string[k].key == node && string[k].a != 0 ? WIDE : 0;
        }
        uint64_t hash = (uint64_t)array[i].a << 32 | array[i].b;
        w->strings += n;
        w->blank += blank ? n : 0;
        if (n > 0 && !blank) {
            array[kept++] = (struct hpx_heap_entry){wide != 0 ? ~hash : hash, node, (n < WIDE ? n : WIDE - 1) | wide};
        }
    }
    w->arrays.len = kept;
}

static void add_text(struct hpx_heap_waste *w, const struct hpx_heap_text *t)
{
    size_t i = w->tops;
    w->texts++;
    w->bytes += t->bytes;
    if (t->bytes == 0) {
        return;
    }
    for (; i > 0 && w->top[i - 1].bytes < t->bytes; i--) {
        if (i < HPX_HEAP_TEXTS) {
            w->top[i] = w->top[i - 1];
        }
    }
    if (i < HPX_HEAP_TEXTS) {
        w->top[i] = *t;
        w->tops += w->tops < HPX_HEAP_TEXTS;
    }
}

static void group(struct hpx_heap_waste *w, const struct hpx_heap_graph *g)
{
    const struct hpx_heap_entry *e = w->arrays.items;
    const struct hpx_heap_class *c = w->string != HPX_HEAP_NO_CLASS ? hpx_heap_class_at(g, w->string) : NULL;
    uint64_t each = c != NULL && c->objects > 0 ? c->bytes / c->objects : 0;
    for (size_t i = 0, n; i < w->arrays.len; i += n) {
        struct hpx_heap_text t = {.node = e[i].a, .wide = (e[i].b & WIDE) != 0};
        uint64_t bytes = 0;
        for (n = 0; i + n < w->arrays.len && e[i + n].key == e[i].key; n++) {
            t.strings += e[i + n].b & ~WIDE;
            bytes += (uint64_t)g->size[e[i + n].a] * 8;
        }
        t.arrays = n;
        t.bytes = (t.strings - 1) * each + bytes - bytes / n;
        add_text(w, &t);
    }
}

static int by_bytes(const void *a, const void *b)
{
    const struct hpx_heap_empty *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : x->klass < y->klass ? -1 : x->klass > y->klass;
}

static bool count_empty(struct hpx_heap_waste *w, const struct hpx_heap_graph *g)
{
    const struct hpx_heap_entry *e = w->tables.items;
    struct hpx_seeded_map of;
    struct hpx_heap_empty *to = NULL;
    bool made = true;
    hpx_seeded_map_init(&of, true);
    for (size_t i = 0; made && i < w->tables.len; i++) {
        uint32_t table = (uint32_t)e[i].key;
        if ((w->no_elements[table / 8] >> table % 8 & 1) == 0) {
            to = hpx_list_entry(&of, &w->empty, sizeof *to, e[i].a);
            made = to != NULL;
            if (made) {
                to->klass = e[i].a;
                to->count++;
                to->bytes += (uint64_t)g->size[table] * 8;
            }
        }
    }
    hpx_seeded_map_fini(&of);
    if (w->empty.len > 0) {
        qsort(w->empty.items, w->empty.len, sizeof *to, by_bytes);
    }
    return made;
}

static void free_entries(struct hpx_heap_waste *w)
{
    hpx_heap_list_free(&w->strings_of, sizeof(struct hpx_heap_entry));
    hpx_heap_list_free(&w->arrays, sizeof(struct hpx_heap_entry));
    hpx_heap_list_free(&w->tables, sizeof(struct hpx_heap_entry));
}

bool hpx_heap_waste_finish(struct hpx_heap_waste *w, const struct hpx_heap_graph *g)
{
    if (!w->ready) { /* no object at all */
        return true;
    }
    join(w);
    hpx_heap_sort(w->arrays.items, w->arrays.len);
    group(w, g);
    bool made = count_empty(w, g);
    free_entries(w);
    return made;
}

/* ---- texts ---- */

static char *put_char(char *to, uint32_t c)
{
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t heads[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(heads[more] | c >> 6 * more);
    while (more-- > 0) {
        *to++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    }
    return to;
}

/* Chars are as the JVM has them in bytes, as the file has them in chars. */
static void put_text(struct hpx_heap_text *t, struct hpx_rd_text from, int type)
{
    size_t step = type == HPX_TYPE_CHAR || t->wide ? 2 : 1;
    const unsigned char *p = (const unsigned char *)from.p;
    char *to = t->text;
    uint32_t high = 0;
    for (size_t i = 0; i + step <= from.n && to + 8 < t->text + sizeof t->text; i += step) {
        uint32_t c = step == 1 ? p[i] : type == HPX_TYPE_CHAR ? (uint32_t)p[i] << 8 | p[i + 1] : (uint32_t)p[i + 1] << 8 | p[i];
        bool pair = high != 0 && c >= 0xdc00 && c < 0xe000;
        to = high != 0 && !pair ? put_char(to, 0xfffd) : to;
        c = pair ? 0x10000 + ((high - 0xd800) << 10) + (c - 0xdc00) : c;
        high = c >= 0xd800 && c < 0xdc00 ? c : 0;
        c = c == 0 || (c >= 0xdc00 && c < 0xe000) ? 0xfffd : c; /* a NUL would end the text */
        to = high == 0 ? put_char(to, c) : to;
    }
    *to = '\0';
    t->found = true;
}

static bool take_text(void *ctx, const struct hpx_heap_graph *g, uint32_t node, const struct hpx_rd_event *ev)
{
    struct hpx_heap_waste *w = ctx;
    bool more = false;
    (void)g;
    if (ev->kind != HPX_RD_CONTENT) {
        w->kind = ev->kind;
        w->type = ev->kind == HPX_RD_PRIMITIVES ? (int)ev->object.type : 0;
    }
    for (size_t i = 0; i < w->tops; i++) {
        bool here = w->top[i].node == node && !w->top[i].found && w->kind == HPX_RD_PRIMITIVES;
        if (here && (ev->kind == HPX_RD_CONTENT || ev->object.length == 0)) {
            put_text(w->top + i, ev->kind == HPX_RD_CONTENT ? ev->content : (struct hpx_rd_text){"", 0}, w->type);
        }
        more |= !w->top[i].found;
    }
    return more;
}

enum hpx_heap_read hpx_heap_waste_texts(struct hpx_heap_waste *w, const struct hpx_heap_graph *g, const struct hpx_heap_file *file,
                                        struct hpx_err *err)
{
    return w->tops > 0 ? hpx_heap_again(g, file, take_text, w, err) : HPX_HEAP_READ;
}

void hpx_heap_waste_fini(struct hpx_heap_waste *w)
{
    free_entries(w);
    free(w->empty.items);
    free(w->kinds.items);
    free(w->kind_of);
    free(w->no_elements);
}
