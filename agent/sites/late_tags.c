/* SPDX-License-Identifier: BSD-2-Clause */
/* late_tags.c: see late_tags.h. */
#include "late_tags.h"
#include "compiler.h"
#include "survivors.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct hpx_late_tag {
    jweak ref;
    uint64_t tag;
    struct hpx_late_slot *slot;
    struct hpx_late_tag *next; /* in a list that was taken */
};

struct hpx_late_slot {
    /* release: who puts it; acquire: who takes it, and owns it then */
    _Atomic(struct hpx_late_tag *) held;
    atomic_bool used; /* acquire, release: by a thread */
    struct hpx_late_slot *next;
};

/* All slots. release: who adds one; acquire: readers. None is removed before the end. */
static HPX_OF_SESSION _Atomic(struct hpx_late_slot *) slots;

static struct hpx_late_slot *find_slot(void)
{
    struct hpx_late_slot *s = atomic_load_explicit(&slots, memory_order_acquire);
    for (; s != NULL; s = s->next) {
        bool used = false;
        if (atomic_compare_exchange_strong_explicit(&s->used, &used, true, memory_order_acq_rel, memory_order_relaxed)) {
            return s;
        }
    }
    s = calloc(1, sizeof *s);
    if (s != NULL) {
        atomic_store_explicit(&s->used, true, memory_order_relaxed);
        s->next = atomic_load_explicit(&slots, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&slots, &s->next, s, memory_order_release, memory_order_relaxed)) {
        }
    }
    return s;
}

static struct hpx_late_tag *take(struct hpx_late_slot *s)
{
    return atomic_exchange_explicit(&s->held, NULL, memory_order_acquire); /* partner: put() */
}

/* false: the slot holds another one already. */
static bool put(struct hpx_late_slot *s, struct hpx_late_tag *t)
{
    struct hpx_late_tag *none = NULL;
    return atomic_compare_exchange_strong_explicit(&s->held, &none, t, memory_order_release, memory_order_relaxed); /* partner: take() */
}

/* The object may be dead: the VM then refuses. */
static void set(struct hpx_late_tag *t, jvmtiEnv *jvmti, JNIEnv *env)
{
    (void)(*jvmti)->SetTag(jvmti, t->ref, (jlong)t->tag);
    (*env)->DeleteWeakGlobalRef(env, t->ref);
    free(t);
}

bool hpx_late_tag_put(struct hpx_late_slot **slot, jvmtiEnv *jvmti, JNIEnv *env, jobject object, uint64_t tag)
{
    *slot = *slot != NULL ? *slot : find_slot();
    struct hpx_late_tag *t = *slot != NULL ? malloc(sizeof *t) : NULL;
    jweak ref = t != NULL ? hpx_survivors_reference(env, object) : NULL;
    if (ref == NULL) {
        free(t);
        return false;
    }
    *t = (struct hpx_late_tag){.ref = ref, .tag = tag, .slot = *slot};
    while (!put(*slot, t)) { /* a look gave back what it took: of a thread that has ended, or that has allocated again */
        struct hpx_late_tag *old = take(*slot);
        if (old != NULL) {
            set(old, jvmti, env);
        }
    }
    return true;
}

void hpx_late_tag_set(struct hpx_late_slot *slot, jvmtiEnv *jvmti, JNIEnv *env)
{
    bool holds = slot != NULL && atomic_load_explicit(&slot->held, memory_order_relaxed) != NULL;
    struct hpx_late_tag *t = holds ? take(slot) : NULL;
    if (t != NULL) {
        set(t, jvmti, env);
    }
}

void hpx_late_tag_leave(struct hpx_late_slot **slot, jvmtiEnv *jvmti, JNIEnv *env)
{
    hpx_late_tag_set(*slot, jvmti, env);
    if (*slot != NULL) {
        atomic_store_explicit(&(*slot)->used, false, memory_order_release); /* partner: find_slot() */
    }
    *slot = NULL;
}

struct hpx_late_tag *hpx_late_tags_take(void)
{
    struct hpx_late_tag *list = NULL;
    for (struct hpx_late_slot *s = atomic_load_explicit(&slots, memory_order_acquire); s != NULL; s = s->next) {
        struct hpx_late_tag *t = take(s);
        if (t != NULL) {
            t->next = list;
            list = t;
        }
    }
    return list;
}

void hpx_late_tags_give(struct hpx_late_tag *list, jvmtiEnv *jvmti, JNIEnv *env, void (*fn)(uint64_t tag))
{
    for (struct hpx_late_tag *t = list, *next; t != NULL; t = next) {
        next = t->next;
        if (!(*env)->IsSameObject(env, t->ref, NULL)) {
            fn(t->tag);
        }
        if (!put(t->slot, t)) { /* its thread has cloned again, so this object is complete */
            set(t, jvmti, env);
        }
    }
}

void hpx_late_tags_fini(JNIEnv *env)
{
    struct hpx_late_slot *s = atomic_exchange_explicit(&slots, NULL, memory_order_acquire);
    for (struct hpx_late_slot *next; s != NULL; s = next) {
        next = s->next;
        struct hpx_late_tag *t = take(s);
        if (t != NULL && env != NULL) {
            (*env)->DeleteWeakGlobalRef(env, t->ref);
        }
        free(t);
        free(s);
    }
}
