/* SPDX-License-Identifier: BSD-2-Clause */
/* known_threads.h: the register of the threads that a session has announced or adopts, by Thread.getId(), which no two threads of a JVM
 * ever have. Whoever enters a thread announces it. Where a mode asks, it keeps weak references to them, too. A VM whose threads have
 * no number (threads.c) has none of them here.
 *
 * Lifetime: an entry stays until its thread ends, and longer if others may look at it: that of an adopted thread, of one that ends while
 * VMInit adopts, and, for monitors, of an ended thread until it is collected. All go with the session.
 *
 * Any thread, unless stated otherwise, not in a handler. A lock covers the register; it is never held over a call of the JVM: such a call
 * stops while a debugger suspends its thread, and every thread that starts needs the lock. */
#ifndef HPX_KNOWN_THREADS_H
#define HPX_KNOWN_THREADS_H

#include "mode_thread.h"
#include "vm.h"

/* BEGUN: it is not VMInit's. The others are of threads that VMInit adopts. release: who sets it, when all else is complete; acquire: who
 * acts on it. */
enum hpx_known_stage { HPX_KNOWN_BEGUN, HPX_KNOWN_ADOPTING, HPX_KNOWN_ADOPTED, HPX_KNOWN_ENDED };

struct hpx_known_thread {
    uint64_t number;               /* Thread.getId(); first: it is what the register compares */
    _Atomic int stage;             /* enum hpx_known_stage */
    pid_t tid;                     /* of an adopted one; 0: unknown, or only by its name */
    struct hpx_mode_thread *first; /* of an adopted one, whose stage orders it; NULL: no states */
    struct hpx_known_thread *same; /* with the hash of its tid; constant */
    /* the lock's */
    jweak ref;                     /* NULL: none is kept */
    uint64_t name;                 /* hash of the newest name that is known */
    uint32_t serial;               /* 0: not announced */
    bool ended, is_virtual;        /* is_virtual: it never ends here */
    struct hpx_known_thread *next; /* buried: in that list */
};

/* At load: references are kept from now on; ended: of an ended thread, too, until it is collected. More than one mode may ask. */
void hpx_known_threads_keep(bool ended);
bool hpx_known_threads_kept(void);
/* A serial that no thread has. */
uint32_t hpx_known_threads_serial(void);
/* VMInit lists and adopts threads from now on, or no longer. */
void hpx_known_threads_adopting(bool on);

/* The entry of this number, which is not 0. *mine: the call has made it, with this stage; otherwise somebody else deals with the thread.
 * tid: as in the entry. NULL: no memory. */
struct hpx_known_thread *hpx_known_threads_enter(uint64_t number, enum hpx_known_stage stage, pid_t tid, bool *mine);
/* NULL: no thread is adopted with this kernel id (0: with an unknown one). Without the lock. */
struct hpx_known_thread *hpx_known_threads_of_tid(pid_t tid);
/* NULL: no thread whose kernel id is unknown has this number. */
struct hpx_known_thread *hpx_known_threads_without_tid(uint64_t number);

/* The thread is announced. Without memory for a reference dumps show it as an unknown thread. Now and then it looks for ended threads that
 * have been collected. Any attached thread. */
void hpx_known_threads_announced(struct hpx_known_thread *k, JNIEnv *env, jthread thread, uint32_t serial, uint64_t name, bool is_virtual);
/* It ends. The entry must not be used again, unless it is that of an adopted thread. Any attached thread. */
void hpx_known_threads_end(struct hpx_known_thread *k, JNIEnv *env);

struct hpx_thread_ref {
    jthread thread;         /* a local reference of the caller */
    uint64_t number;        /* the key of its START */
    uint32_t serial;        /* 0 in a question of the thread itself */
    bool ended, is_virtual; /* ended: or about to end */
};
/* The announced threads, in no order; the caller deletes the references and frees *to. virtuals: with those. Returns their number; 0 also
 * without memory. Any attached thread. */
uint32_t hpx_known_threads_list(JNIEnv *env, struct hpx_thread_ref **to, bool virtuals);
/* The thread has the name with this hash. t: of a list; or with serial 0: the calling thread, which ends; it gets its serial. false: that
 * is no news, or the thread is not kept, or has told its last name itself. */
bool hpx_known_threads_rename(struct hpx_thread_ref *t, uint64_t name);

/* The end of a session in a JVM that runs on: deletes all references; fini follows. */
void hpx_known_threads_forget(JNIEnv *env);
/* The session is over, and no thread is inside the gate: frees the register. After VMDeath the references are gone with the VM. */
void hpx_known_threads_fini(void);

#endif
