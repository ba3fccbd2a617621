/* SPDX-License-Identifier: BSD-2-Clause */
/* method_table.c: see method_table.h. */
#include "method_table.h"
#include "err.h"

struct hpx_method_run {
    uint32_t first, klass; /* methods from `first` up to the next run */
};

int hpx_methods_init(struct hpx_methods *t, bool signatures)
{
    *t = (struct hpx_methods){.with_signatures = signatures};
    hpx_vec_init(&t->classes, sizeof(struct hpx_class));
    hpx_vec_init(&t->info, sizeof(uint32_t));
    hpx_vec_init(&t->signatures, sizeof(uint32_t));
    hpx_vec_init(&t->runs, sizeof(struct hpx_method_run));
    hpx_vec_init(&t->sampled, sizeof(struct hpx_sampled));
    int rc = hpx_id_map_init(&t->ids);
    if (rc == 0 && !hpx_vec_push(&t->classes)) {
        rc = -HPX_E_NOMEM;
    }
    if (rc != 0) {
        hpx_methods_fini(t);
    }
    return rc;
}

void hpx_methods_fini(struct hpx_methods *t)
{
    hpx_id_map_fini(&t->ids);
    hpx_vec_fini(&t->classes);
    hpx_vec_fini(&t->info);
    hpx_vec_fini(&t->signatures);
    hpx_vec_fini(&t->runs);
    hpx_vec_fini(&t->sampled);
}

uint32_t hpx_methods_new_class(struct hpx_methods *t, uint64_t ref, uint32_t name, uint32_t source)
{
    struct hpx_class *c = hpx_vec_push(&t->classes);
    if (!c) {
        return 0;
    }
    *c = (struct hpx_class){ref, name, source};
    return t->classes.len - 1;
}

static const struct hpx_method_run *run_at(const struct hpx_methods *t, uint32_t i)
{
    return hpx_vec_at(&t->runs, i);
}

/* A run may be left without methods when memory ran out behind it: the last run that begins at or below a method is its own. */
static bool begin_run(struct hpx_methods *t, uint32_t first, uint32_t klass)
{
    if (t->runs.len > 0 && run_at(t, t->runs.len - 1)->klass == klass) {
        return true;
    }
    struct hpx_method_run *r = hpx_vec_push(&t->runs);
    if (!r) {
        return false;
    }
    *r = (struct hpx_method_run){first, klass};
    return true;
}

/* Elements beside the ids may be one longer than these when memory ran out between two pushes. */
static bool room(struct hpx_vec *v, uint32_t number)
{
    return v->len > number || hpx_vec_push(v);
}

uint32_t hpx_methods_bind(struct hpx_methods *t, uint64_t id, uint32_t klass, uint32_t name, uint32_t signature)
{
    uint32_t number = hpx_id_map_len(&t->ids);
    if (!room(&t->info, number) || (t->with_signatures && !room(&t->signatures, number)) || !begin_run(t, number, klass)) {
        return HPX_INTERN_NONE;
    }
    uint32_t before = hpx_methods_find(t, id);
    if (hpx_id_map_bind(&t->ids, id) != number) {
        return HPX_INTERN_NONE;
    }
    *(uint32_t *)hpx_vec_at(&t->info, number) = name;
    if (t->with_signatures) {
        *(uint32_t *)hpx_vec_at(&t->signatures, number) = signature;
    }
    if (before != HPX_INTERN_NONE && hpx_methods_sampled_of(t, before)) {
        t->generation++;
    }
    return number;
}

uint32_t hpx_methods_class_of(const struct hpx_methods *t, uint32_t method)
{
    const struct hpx_sampled *s = hpx_methods_sampled_of(t, method);
    if (s) {
        return s->klass;
    }
    uint32_t low = 0, high = t->runs.len; /* the run sought is in [low, high) */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (run_at(t, middle)->first <= method) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return run_at(t, low)->klass;
}

struct hpx_sampled *hpx_methods_sampled_of(const struct hpx_methods *t, uint32_t method)
{
    uint32_t info = *(const uint32_t *)hpx_vec_at(&t->info, method);
    return info & HPX_METHOD_SAMPLED ? hpx_methods_sampled(t, info & ~HPX_METHOD_SAMPLED) : NULL;
}

void hpx_methods_name(struct hpx_methods *t, uint32_t method, uint32_t name, uint32_t signature)
{
    struct hpx_sampled *s = hpx_methods_sampled_of(t, method);
    uint32_t *at = s ? &s->name : hpx_vec_at(&t->info, method);
    if (*at) {
        return;
    }
    *at = name;
    if (s) {
        s->signature = signature;
    } else if (t->with_signatures) {
        *(uint32_t *)hpx_vec_at(&t->signatures, method) = signature;
    }
}

uint32_t hpx_methods_sample(struct hpx_methods *t, uint32_t method, bool *fresh)
{
    uint32_t *info = hpx_vec_at(&t->info, method);
    *fresh = false;
    if (*info & HPX_METHOD_SAMPLED) {
        return *info & ~HPX_METHOD_SAMPLED;
    }
    uint32_t klass = hpx_methods_class_of(t, method);
    struct hpx_sampled *s = hpx_vec_push(&t->sampled);
    if (!s) {
        return HPX_INTERN_NONE;
    }
    *s = (struct hpx_sampled){.method = method, .klass = klass, .name = *info, .shown = HPX_INTERN_NONE};
    if (t->with_signatures) {
        s->signature = *(const uint32_t *)hpx_vec_at(&t->signatures, method);
    }
    *info = HPX_METHOD_SAMPLED | (t->sampled.len - 1);
    *fresh = true;
    return t->sampled.len - 1;
}

struct hpx_sampled *hpx_methods_pseudo(struct hpx_methods *t)
{
    struct hpx_sampled *s = hpx_vec_push(&t->sampled);
    if (s) {
        *s = (struct hpx_sampled){.method = HPX_INTERN_NONE, .shown = HPX_INTERN_NONE, .state = HPX_SAMPLED_SETTLED};
    }
    return s;
}

size_t hpx_methods_bytes(const struct hpx_methods *t)
{
    return t->classes.bytes + hpx_id_map_bytes(&t->ids) + t->info.bytes + t->signatures.bytes + t->runs.bytes + t->sampled.bytes;
}
