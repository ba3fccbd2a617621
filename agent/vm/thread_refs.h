/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_refs.h: serials of threads, and for heap dumps and monitors the announced threads, as weak references. */
#ifndef HPX_THREAD_REFS_H
#define HPX_THREAD_REFS_H

#include "vm.h"

/* At load: references are kept from now on; ended: of an ended thread, too, until it is collected. More than one mode may ask. */
void hpx_thread_refs_use(bool ended);
/* A serial that no thread has. Any thread. */
uint32_t hpx_thread_refs_serial(void);

struct hpx_thread_ref {
    jthread thread; /* a local reference of the caller */
    uint32_t serial, place;
    bool ended;      /* or about to end */
    bool is_virtual; /* it never ends here */
    uint64_t key;    /* of its START */
    uint64_t name;   /* hash of the newest name that is known */
};
/* The thread is announced: its serial, key, name. Returns its place in the list, 0: it has none. Without memory dumps show it as an
 * unknown thread. self: it is the calling one. Now and then it looks for ended threads that have been collected. No effect without
 * hpx_thread_refs_use(). Any attached thread. */
uint32_t hpx_thread_refs_add(JNIEnv *env, jthread thread, const struct hpx_thread_ref *of, bool self);
/* The announced threads, in no order; the caller deletes the references and frees *to. virtuals: with those. Returns their number; 0 also
 * without memory. Any attached thread. */
uint32_t hpx_thread_refs_list(JNIEnv *env, struct hpx_thread_ref **to, bool virtuals);
/* The thread has the name with this hash. t: of a list; or with serial 0: the calling thread, which ends, by its place (0: as for remove);
 * it gets its serial and key. false: that is no news, or the thread is not kept, or has told its last name itself. */
bool hpx_thread_refs_rename(struct hpx_thread_ref *t, uint64_t name);
/* References are kept in this session. */
bool hpx_thread_refs_used(void);
/* The thread of this place ends; 0: the calling one, if it was added as such. Any attached thread. */
void hpx_thread_refs_remove(JNIEnv *env, uint32_t place);

/* The end of a session in a JVM that runs on: deletes all references; fini follows. */
void hpx_thread_refs_forget(JNIEnv *env);
/* hpx_session_end(): frees the list; the VM is gone, and with it the references. */
void hpx_thread_refs_fini(void);

#endif
