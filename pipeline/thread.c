/* SPDX-License-Identifier: BSD-2-Clause */
/* thread.c: the stack of new threads. */
#include "thread.h"

void hpx_registry_init(struct hpx_registry *reg)
{
    ck_stack_init(&reg->fresh);
}

/* ck_stack links with inline assembly and plain stores in our own code: the order is the locked exchange on `head`. */
void hpx_registry_push(struct hpx_registry *reg, struct hpx_thread *t)
{
    hpx_tsan_release(&t->entry);
    hpx_tsan_ignore_writes(true);
    ck_stack_push_upmc(&reg->fresh, &t->entry);
    hpx_tsan_ignore_writes(false);
    HPX_TESTPOINT(registry_pushed);
}

HPX_NO_TSAN static ck_stack_entry_t *pop_all_oldest_first(struct hpx_registry *reg)
{
    ck_stack_entry_t *e = ck_stack_batch_pop_upmc(&reg->fresh), *first = NULL;
    while (e) {
        ck_stack_entry_t *older = e->next;
        e->next = first;
        first = e;
        e = older;
    }
    return first;
}

HPX_NO_TSAN static ck_stack_entry_t *next_of(const ck_stack_entry_t *e)
{
    return e->next;
}

void hpx_registry_collect(struct hpx_registry *reg, void (*fn)(void *ctx, struct hpx_thread *t), void *ctx)
{
    ck_stack_entry_t *e = pop_all_oldest_first(reg);
    while (e) {
        ck_stack_entry_t *next = next_of(e); /* fn may push it again or free it */
        hpx_tsan_acquire(e);
        fn(ctx, HPX_CONTAINER_OF(e, struct hpx_thread, entry));
        e = next;
    }
}
