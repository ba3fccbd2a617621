/* SPDX-License-Identifier: BSD-2-Clause */
/* loader_asker.h: asks the loaders of classes that are loaded already (loaders.h).
 *
 * Not where the program defines a class of theirs, so a loader may wait for a lock that a thread of the program holds for ever. Therefore a
 * thread of its own asks, and who retransforms waits for each answer a limited time. */
#ifndef HPX_LOADER_ASKER_H
#define HPX_LOADER_ASKER_H

#include "loaders.h"
#include <stdint.h>

/* Loaders that are to be asked. Zero: none. Of one thread, until hpx_loader_asker_ask() takes them. */
struct hpx_loader_list {
    jobject *of; /* global references */
    uint32_t n, cap;
};
/* Adds a loader unless it is known or was listed before (hpx_loaders_list()). false: no memory; then it stays unknown. */
bool hpx_loader_list_add(struct hpx_loader_list *l, const struct hpx_probe_class *c, JNIEnv *env, jobject loader);
/* Asks them all and empties the list; stops when the session's gate closes or its begin is cancelled. *c: constant from now on. Returns how
 * many have not answered; they stay unknown, and get their tags when they answer. */
uint32_t hpx_loader_asker_ask(struct hpx_loader_list *l, const struct hpx_probe_class *c, JNIEnv *env);

#endif
