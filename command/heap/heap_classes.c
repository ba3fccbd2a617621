/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_classes.c: see heap_classes.h. */
#include "heap_classes.h"
#include "budget.h"
#include "names.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES ((size_t)4200)
#define NEAR       4096    /* bytes between neighbours; what is farther off has a hole between */
#define PAIRS      1000000 /* neighbours that are asked */
#define DEEPEST    1000    /* superclasses; those above do not count: no program has so many */
#define SHARE      20      /* one of so many must fit, else the first layout counts */

/* The first is that of most JVMs. Those with padded fields are of JDK 8 to 14; elements at 20 of 22 and later. */
static const struct hpx_heap_layout layouts[HPX_HEAP_LAYOUTS] = {
    {4, 12, 16, 16, 8, false},  {4, 12, 16, 16, 8, true},  /* compressed references and class words; with ids of 4 bytes, too */
    {4, 8, 12, 16, 8, false},                              /* compressed references, compact headers */
    {4, 8, 12, 16, 8, true},                               /* a JVM of 32 bits */
    {8, 16, 24, 24, 8, false},  {8, 16, 24, 24, 8, true},  /* nothing compressed */
    {8, 16, 20, 24, 8, false},                             /* the same */
    {8, 12, 16, 16, 8, false},                             /* compressed class words alone */
    {8, 8, 12, 16, 8, false},                              /* compact headers alone */
    {4, 16, 24, 24, 8, false},  {4, 16, 24, 24, 8, true},  /* compressed references alone */
    {4, 16, 20, 24, 8, false},                             /* the same */
    {4, 12, 16, 16, 16, false}, {4, 12, 16, 16, 16, true}, /* ObjectAlignmentInBytes=16, as the first */
    {4, 8, 12, 16, 16, false},                             /* and with compact headers */
};

static bool add_class(struct hpx_heap_graph *g, const char *name, int array_of)
{
    struct hpx_heap_class *c = hpx_list_push(&g->classes, sizeof *c);
    if (c == NULL) {
        return false;
    }
    c->super = c->up = HPX_HEAP_NO_CLASS;
    c->array_of = array_of;
    c->name = strdup(name);
    return c->name != NULL;
}

bool hpx_heap_classes_begin(struct hpx_heap_graph *g)
{
    char name[32];
    bool made = true;
    hpx_heap_graph_drop_classes(g);
    for (int type = HPX_HEAP_ARRAYS; made && type <= HPX_TYPE_LONG; type++) {
        (void)snprintf(name, sizeof name, "%s[]", hpx_type_name(type));
        made = add_class(g, name, type);
    }
    return made && add_class(g, "java.lang.Class", 0);
}

static bool name_class(struct hpx_heap_graph *g, struct hpx_heap_class *c)
{
    char text[NAME_BYTES];
    hpx_name_spoken(text, sizeof text, hpx_defined_name(&g->defined, hpx_defined_object(&g->defined, c->id)));
    size_t n = strlen(text) + 1;
    c->name = hpx_budget_take(n) ? malloc(n) : NULL;
    if (c->name != NULL) {
        memcpy(c->name, text, n);
    }
    return c->name != NULL;
}

/* How many fields of 4, 2 or 1 bytes fill a gap of 4 bytes: one, two, or four. Shorts go before bytes. */
static void fill_gap(uint64_t *words, uint64_t *shorts, uint64_t *bytes, uint64_t *refs)
{
    uint64_t left = 4;
    if (*words > 0) {
        --*words;
        return;
    }
    for (; left >= 2 && *shorts > 0; left -= 2) {
        --*shorts;
    }
    for (; left > 0 && *bytes > 0; left--) {
        --*bytes;
    }
    *refs -= left == 4 && *refs > 0;
}

/* Where the fields of a class end that begin at `at`, a multiple of a reference: HotSpot before JDK 15 (ClassFileParser::layout_fields) has
 * longs and doubles first, then shorter and shorter ones, then references. A gap before a long takes fields of the class itself, never
 * those of one below. */
static uint64_t end_of_fields(const struct hpx_heap_field *f, uint32_t n, uint64_t at, uint32_t ref)
{
    uint64_t longs = 0, words = 0, shorts = 0, bytes = 0, refs = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t size = f[i].type == HPX_TYPE_OBJECT ? 0 : hpx_type_size(f[i].type, 0);
        ++*(size == 0 ? &refs : size == 8 ? &longs : size == 4 ? &words : size == 2 ? &shorts : &bytes);
    }
    if (longs > 0 && at % 8 != 0) {
        fill_gap(&words, &shorts, &bytes, &refs);
        at += 4;
    }
    at += 8 * longs + 4 * words + 2 * shorts + bytes;
    return (at + ref - 1) / ref * ref + refs * ref;
}

/* The sums of a class whose superclasses have theirs. */
static void add_up(const struct hpx_heap_graph *g, struct hpx_heap_class *c)
{
    const struct hpx_heap_field *f = hpx_heap_fields_of(g, c);
    for (uint32_t i = 0; i < c->fields; i++) {
        bool ref = f[i].type == HPX_TYPE_OBJECT;
        c->all_refs += ref;
        c->all_bytes += ref ? 0 : hpx_type_size(f[i].type, g->id_size);
    }
    if (c->super != HPX_HEAP_NO_CLASS && hpx_heap_class_at(g, c->super)->depth >= DEEPEST) {
        c->super = HPX_HEAP_NO_CLASS;
    }
    for (uint32_t k = 0; k < HPX_ARRAY_LEN(c->padded); k++) {
        uint64_t head = k == HPX_HEAP_PADDED_ODD ? 4 : 0,
                 above = c->super != HPX_HEAP_NO_CLASS ? hpx_heap_class_at(g, c->super)->padded[k] : 0;
        c->padded[k] = end_of_fields(f, c->fields, head + above, k == HPX_HEAP_PADDED_WIDE ? 8 : 4) - head;
    }
    c->weak = strcmp(c->name, "java.lang.ref.WeakReference") == 0 || strcmp(c->name, "java.lang.ref.PhantomReference") == 0;
    if (c->super != HPX_HEAP_NO_CLASS) {
        const struct hpx_heap_class *super = hpx_heap_class_at(g, c->super);
        c->weak |= super->weak;
        c->depth = super->depth + 1;
        c->up = super->fields > 0 ? c->super : super->up;
        c->all_refs += super->all_refs;
        c->all_bytes += super->all_bytes;
    }
}

/* Upwards to one that has its sums, leaving the way back; then down again. A class that is above itself has none above it. */
static void sum_classes(const struct hpx_heap_graph *g, uint32_t *back, uint8_t *walked)
{
    for (size_t i = 0; i < g->classes.len; i++) {
        uint32_t below = HPX_HEAP_NO_CLASS, at = (uint32_t)i;
        while (at != HPX_HEAP_NO_CLASS && walked[at] == 0) {
            walked[at] = 1;
            back[at] = below;
            below = at;
            at = hpx_heap_class_at(g, at)->super;
        }
        if (at != HPX_HEAP_NO_CLASS && walked[at] == 1) {
            hpx_heap_class_at(g, below)->super = HPX_HEAP_NO_CLASS;
        }
        for (; below != HPX_HEAP_NO_CLASS; below = back[below]) {
            add_up(g, hpx_heap_class_at(g, below));
            walked[below] = 2;
        }
    }
}

static void find_referent(struct hpx_heap_graph *g)
{
    g->referent = UINT32_MAX;
    for (size_t i = HPX_HEAP_RESERVED; i < g->classes.len; i++) {
        const struct hpx_heap_class *c = hpx_heap_class_at(g, (uint32_t)i);
        const struct hpx_heap_field *f = hpx_heap_fields_of(g, c);
        for (uint32_t k = 0; strcmp(c->name, "java.lang.ref.Reference") == 0 && k < c->fields; k++) {
            const uint32_t *name = hpx_seeded_map_find(&g->defined.strings, f[k].name);
            if (f[k].type == HPX_TYPE_OBJECT && name != NULL && strcmp(hpx_defined_name(&g->defined, *name), "referent") == 0) {
                g->referent = c->field + k;
            }
        }
    }
}

bool hpx_heap_classes_finish(struct hpx_heap_graph *g, const struct hpx_seeded_map *of)
{
    size_t n = g->classes.len;
    for (size_t i = HPX_HEAP_RESERVED; i < n; i++) {
        struct hpx_heap_class *c = hpx_heap_class_at(g, (uint32_t)i);
        const uint32_t *super = c->super_id != 0 ? hpx_seeded_map_find(of, c->super_id) : NULL;
        c->super = super != NULL ? *super - 1 : HPX_HEAP_NO_CLASS;
        if (!name_class(g, c)) {
            return false;
        }
    }
    uint32_t *back = malloc(n * sizeof *back);
    uint8_t *walked = calloc(n, 1);
    bool made = back != NULL && walked != NULL;
    if (made) {
        sum_classes(g, back, walked);
        find_referent(g);
    }
    free(back);
    free(walked);
    return made;
}

uint32_t hpx_heap_class_class(const struct hpx_heap_graph *g)
{
    for (size_t i = HPX_HEAP_RESERVED; i < g->classes.len; i++) {
        const struct hpx_heap_class *c = hpx_heap_class_at(g, (uint32_t)i);
        if (c->dumped && strcmp(c->name, "java.lang.Class") == 0) {
            return (uint32_t)i;
        }
    }
    return HPX_HEAP_CLASS;
}

static uint64_t padded_bytes(const struct hpx_heap_layout *l, const struct hpx_heap_class *c)
{
    return c->padded[l->ref == 8 ? HPX_HEAP_PADDED_WIDE : l->header % 8 != 0 ? HPX_HEAP_PADDED_ODD : HPX_HEAP_PADDED_EVEN];
}

/* Bytes, as far apart as objects are. `class`: of class objects. */
static uint64_t bytes_of(const struct hpx_heap_graph *g, const struct hpx_heap_layout *l, const struct hpx_heap_entry *e,
                         const struct hpx_heap_class *class)
{
    uint64_t bytes;
    const struct hpx_heap_class *c = hpx_heap_class_at(g, e->a != HPX_HEAP_NO_CLASS ? e->a : e->b);
    if (e->a == HPX_HEAP_NO_CLASS) {
        bytes = l->header + (class->all_refs + c->statics_refs) * l->ref + class->all_bytes + c->statics_bytes;
    } else if (c->array_of != 0) {
        uint32_t one = hpx_type_size(c->array_of, l->ref);
        bytes = (one == 8 ? l->array8 : l->array) + (uint64_t)e->b * one;
    } else {
        bytes = l->header + (l->padded ? padded_bytes(l, c) : c->all_refs * l->ref + c->all_bytes);
    }
    return (bytes + l->align - 1) & ~(uint64_t)(l->align - 1);
}

static struct hpx_heap_fit fit(const struct hpx_heap_graph *g, const struct hpx_heap_layout *l, const struct hpx_heap_entry *e, size_t n,
                               uint64_t scale)
{
    struct hpx_heap_fit fits = {0, 0}, asked = {0, 0};
    for (size_t i = 0; i + 1 < n && asked.arrays + asked.instances < PAIRS; i++) {
        uint64_t gap = e[i + 1].key - e[i].key;
        if (e[i].a != HPX_HEAP_NO_CLASS && gap > 0 && gap <= NEAR / scale) {
            bool array = hpx_heap_class_at(g, e[i].a)->array_of != 0;
            ++*(array ? &asked.arrays : &asked.instances);
            *(array ? &fits.arrays : &fits.instances) += bytes_of(g, l, e + i, hpx_heap_class_at(g, HPX_HEAP_CLASS)) == gap * scale;
        }
    }
    fits.arrays = fits.arrays > asked.arrays / SHARE ? fits.arrays : 0;
    fits.instances = fits.instances > asked.instances / SHARE ? fits.instances : 0;
    return fits;
}

/* Arrays have no fields, whose places are guesswork, so they tell where elements begin, and with it the length of a header and of a
 * reference. Layouts with the same arrays differ in the places of fields. */
static bool is_better(struct hpx_heap_fit a, struct hpx_heap_fit b)
{
    return a.arrays != b.arrays ? a.arrays > b.arrays : a.instances > b.instances;
}

static size_t best_of(const struct hpx_heap_fit *fits)
{
    size_t best = 0;
    for (size_t i = 1; i < HPX_HEAP_LAYOUTS; i++) {
        best = is_better(fits[i], fits[best]) ? i : best;
    }
    return best;
}

/* A dump of few objects may fit a wrong layout best, by little: half of what the best one has is enough. */
static bool allows(const struct hpx_heap_fit *fits, size_t i)
{
    const struct hpx_heap_fit *best = &fits[best_of(fits)];
    return fits[i].arrays >= best->arrays / 2 && fits[i].instances >= best->instances / 2;
}

void hpx_heap_layout_choose(struct hpx_heap_graph *g, const struct hpx_heap_entry *e, size_t n, const struct hpx_heap_fit *beside)
{
    struct hpx_heap_fit both = {0, 0};
    memset(g->fits, 0, sizeof g->fits);
    for (uint64_t scale = 1; scale <= (g->id_size == 4 ? 8 : 1); scale *= 8) { /* idsize=4 has addresses divided by 8 */
        for (size_t i = 0; i < HPX_HEAP_LAYOUTS; i++) {
            struct hpx_heap_fit fits = fit(g, layouts + i, e, n, scale);
            g->fits[i] = is_better(fits, g->fits[i]) ? fits : g->fits[i];
        }
    }
    g->layout = layouts + best_of(g->fits);
    g->common = false;
    for (size_t i = 0; beside != NULL && i < HPX_HEAP_LAYOUTS; i++) {
        struct hpx_heap_fit sum = {g->fits[i].arrays + beside[i].arrays, g->fits[i].instances + beside[i].instances};
        if (allows(g->fits, i) && allows(beside, i) && (!g->common || is_better(sum, both))) {
            g->common = true;
            both = sum;
            g->layout = layouts + i;
        }
    }
}

uint64_t hpx_heap_empty_array(const struct hpx_heap_graph *g, const struct hpx_heap_class *c)
{
    struct hpx_heap_entry e = {.a = (uint32_t)(c - hpx_heap_class_at(g, 0))};
    return bytes_of(g, g->layout, &e, c);
}

uint32_t hpx_heap_size(const struct hpx_heap_graph *g, const struct hpx_heap_entry *e, uint32_t class)
{
    uint64_t words = bytes_of(g, g->layout, e, hpx_heap_class_at(g, class)) / 8;
    return words < UINT32_MAX ? (uint32_t)words : UINT32_MAX;
}
