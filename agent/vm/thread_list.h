/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_list.h: the threads of the program, for threads of hprofx that look at them from outside (looker.h). Only of sessions with a mode
 * that asks for it (hpx_vm_mode.lists).
 *
 * Every thread with states has a place in the list and a global reference, from its announcement until it ends. A looker holds the place
 * while it uses the reference: if the thread ends meanwhile, both stay until nobody holds it.
 *
 * One lock guards the list, and what lookers keep by place, their rings included. Threads that start or end take it, and lookers; never a
 * handler, and nobody while the JVM is called. So a thread that was in the list when the lock was taken does not end while it is held,
 * unless the session ends first, or the thread leaves without the event of its end. */
#ifndef HPX_THREAD_LIST_H
#define HPX_THREAD_LIST_H

#include "mode_thread.h"

struct hpx_listed {
    struct hpx_mode_thread *first; /* its states; NULL: the place is free, or held for a thread that has ended */
    jthread ref;
    uint32_t held;   /* by so many */
    uint32_t unused; /* of a free place: the next one + 1 */
};

#define HPX_HELD_MOST 64u /* threads that a looker holds at a time */

/* A listed thread whose place a looker holds. */
struct hpx_held {
    jthread ref;
    uint32_t place;
    pid_t tid;      /* wall= */
    uint32_t state; /* wall=: enum hpx_wall_state */
};

/* The thread with these states is announced, and its clock does not run yet: sets first->place; without memory that stays 0. The thread, or
 * VMInit's. */
void hpx_thread_list_add(struct hpx_mode_thread *first, JNIEnv *env, jthread thread);
/* It ends. The same. */
void hpx_thread_list_remove(struct hpx_mode_thread *first, JNIEnv *env);

void hpx_thread_list_lock(void);
void hpx_thread_list_unlock(void);
/* For lookers: the same inside the session's gate. false: it is closed, and no record may be written; the lock is taken nevertheless. */
bool hpx_thread_list_enter(void);
void hpx_thread_list_leave(bool inside);

/* ---- under the lock ---- */

/* Threads that are listed. */
uint32_t hpx_thread_list_count(void);
/* Places that are or were in use: 0 to this - 1. */
uint32_t hpx_thread_list_places(void);
struct hpx_listed *hpx_thread_list_at(uint32_t place);
/* Of a listed thread. hpx_thread_list_drop() must follow. */
struct hpx_held hpx_thread_list_hold(uint32_t place);

/* Without the lock. */
void hpx_thread_list_drop(JNIEnv *env, const struct hpx_held *h);

/* The end of a session in a JVM that runs on, when no looker is left: deletes the references. */
void hpx_thread_list_forget(JNIEnv *env);
/* The session is over. */
void hpx_thread_list_fini(void);

#endif
