/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_fixture.h: a small image of a heap: Object, Base { Base next; int n; static long S; }, Derived { boolean z; } and Base[]; a thread
 * with two frames; an instance of each, and an array of three elements. */
#ifndef HPX_HEAP_FIXTURE_H
#define HPX_HEAP_FIXTURE_H

#include "cmocka_all.h"
#include "heap_image.h"
#include "heap_spool.h"
#include "records.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HX_OBJECT = 1, HX_BASE, HX_DERIVED, HX_ARRAY, HX_CLASSES };
#define HX_THREAD 0x50000001u
#define HX_ID(n)  (HPX_HEAP_OBJECT_FIRST + (n))

struct hx {
    struct hpx_heap_klass *klass[HX_CLASSES];
    struct hpx_heap_thread thread;
    uint64_t methods[2];
    struct hpx_trace_rec *stack, *site;
    const struct hpx_trace_rec *sites[2];
    struct hpx_heap_image image;
};

static struct hpx_heap_klass *hx_class(uint32_t number, const char *name, const struct hpx_heap_klass *above, uint32_t nfields)
{
    struct hpx_heap_klass *c = calloc(1, sizeof *c + nfields * sizeof c->fields[0]);
    assert_non_null(c);
    c->number = (struct hpx_class_number){number};
    c->name = text(name);
    c->above = above;
    c->linked = true;
    c->nfields = nfields;
    return c;
}

static void hx_classes(struct hx *x, uint32_t ids)
{
    x->klass[HX_OBJECT] = hx_class(HX_OBJECT, "java.lang.Object", NULL, 0);
    x->klass[HX_BASE] = hx_class(HX_BASE, "p.Base", x->klass[HX_OBJECT], 3);
    x->klass[HX_BASE]->fields[0] = (struct hpx_heap_field){.name = text("next"), .type = HPX_TYPE_OBJECT, .is_static = false, .offset = 0};
    x->klass[HX_BASE]->fields[1] = (struct hpx_heap_field){.name = text("n"), .type = HPX_TYPE_INT, .is_static = false, .offset = ids};
    x->klass[HX_BASE]->fields[2] = (struct hpx_heap_field){.name = text("S"), .type = HPX_TYPE_LONG, .is_static = true, .offset = 0};
    x->klass[HX_BASE]->instance_size = ids + 4;
    x->klass[HX_DERIVED] = hx_class(HX_DERIVED, "p.Derived", x->klass[HX_BASE], 1);
    x->klass[HX_DERIVED]->fields[0] = (struct hpx_heap_field){.name = text("z"), .type = HPX_TYPE_BOOLEAN, .is_static = false, .offset = 0};
    x->klass[HX_DERIVED]->instance_size = ids + 5;
    x->klass[HX_ARRAY] = hx_class(HX_ARRAY, "p.Base[]", x->klass[HX_OBJECT], 0);
    x->klass[HX_ARRAY]->kind = HPX_HEAP_OBJECTS;
}

static void hx_objects(struct hpx_heap_spool *s, uint32_t ids)
{
    uint8_t *v = hpx_heap_spool_instance(s, HX_ID(1), 1, HPX_CLASS_OBJECT_FIRST + HX_BASE, ids + 4);
    hpx_heap_spool_value(s, v + ids, HPX_TYPE_INT, 7);
    v = hpx_heap_spool_instance(s, HX_ID(2), 0, HPX_CLASS_OBJECT_FIRST + HX_DERIVED, ids + 5); /* its own fields first */
    hpx_heap_spool_value(s, v, HPX_TYPE_BOOLEAN, 1);
    hpx_heap_spool_value(s, v + 1, HPX_TYPE_OBJECT, HX_ID(1));
    hpx_heap_spool_value(s, v + 1 + ids, HPX_TYPE_INT, 8);
    (void)hpx_heap_spool_objects(s, HX_ID(3), 1, HPX_CLASS_OBJECT_FIRST + HX_ARRAY, 3);
    assert_true(hpx_heap_spool_element(s, 1, HX_ID(2)));
    hpx_heap_spool_objects_end(s);
    static const uint8_t bytes[] = {1, 2};
    (void)hpx_heap_spool_primitives(s, HX_ID(4), 0, HPX_TYPE_BYTE, 2, bytes);
    (void)hpx_heap_spool_instance(s, HX_THREAD, 0, HPX_CLASS_OBJECT_FIRST + HX_OBJECT, 0);
}

/* frames: two of them, for the stack of the thread. */
static void hx_begin(struct hx *x, uint32_t ids, const struct hpx_heap_fact *facts, uint32_t nfacts, const struct hpx_heap_root_fact *roots,
                     uint32_t nroots, const struct hpx_frame_rec *frames)
{
    struct hpx_heap_spool s;
    *x = (struct hx){.methods = {11, 12}};
    hx_classes(x, ids);
    x->stack = trace(300005, 0, 2, frames);
    x->site = trace(300006, 0, 1, frames);
    x->sites[1] = x->site;
    x->thread = (struct hpx_heap_thread){
        .object = HX_THREAD, .serial = 200001, .known = true, .trace = x->stack, .nframes = 2, .methods = x->methods};
    int fd = memfd_create("spool", 0);
    assert_true(fd >= 0);
    assert_int_equal(hpx_heap_spool_init(&s, fd, ids, 100), 0);
    hx_objects(&s, ids);
    uint64_t end = hpx_heap_spool_at(&s);
    hpx_heap_spool_bytes(&s, facts, nfacts * sizeof *facts);
    hpx_heap_spool_bytes(&s, roots, nroots * sizeof *roots);
    assert_int_equal(hpx_heap_spool_flush(&s), 0);
    hpx_heap_spool_fini(&s);
    x->image = (struct hpx_heap_image){.spool = fd,
                                       .once = true,
                                       .id_size = ids,
                                       .found.objects_end = end,
                                       .found.facts_at = end,
                                       .found.nfacts = nfacts,
                                       .found.roots_at = end + nfacts * sizeof *facts,
                                       .found.nroots = nroots,
                                       .found.objects = 5,
                                       .found.bytes = 120,
                                       .found.heads = 20,
                                       .array_base = 16,
                                       .reference_size = 4,
                                       .classes = (const struct hpx_heap_klass **)(void *)x->klass,
                                       .nclasses = HX_CLASSES,
                                       .threads = &x->thread,
                                       .nthreads = 1,
                                       .sites = x->sites,
                                       .nsites = 2};
}

static void hx_end(struct hx *x)
{
    close(x->image.spool);
    for (int i = 0; i < HX_CLASSES; i++) {
        free(x->klass[i]);
    }
    free(x->stack);
    free(x->site);
}

#endif
