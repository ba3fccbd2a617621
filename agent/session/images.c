/* SPDX-License-Identifier: BSD-2-Clause */
/* images.c: see images.h. */
#include "images.h"
#include <stddef.h>

static void destroy(const struct hpx_images *all, struct hpx_image *i)
{
    for (struct hpx_image *next; i != NULL; i = next) {
        next = i->next;
        all->destroy(i);
    }
}

void hpx_images_put(struct hpx_images *all, struct hpx_image *i, bool alone)
{
    struct hpx_image *unseen = NULL, **end = &all->ready;
    pthread_mutex_lock(&all->lock);
    for (struct hpx_image *before; alone && (before = all->ready) != NULL;) {
        all->ready = before->next;
        if (before->users == 0) { /* else the dump that has it, the one at exit, drops it */
            before->next = unseen;
            unseen = before;
        }
    }
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = i;
    pthread_mutex_unlock(&all->lock);
    destroy(all, unseen);
}

struct hpx_image *hpx_images_get(struct hpx_images *all)
{
    pthread_mutex_lock(&all->lock);
    struct hpx_image *i = all->ready;
    if (i != NULL) {
        i->users++;
        all->ready = i->last ? i : i->next;
    }
    pthread_mutex_unlock(&all->lock);
    return i;
}

void hpx_images_drop(struct hpx_images *all, struct hpx_image *i)
{
    pthread_mutex_lock(&all->lock);
    bool unused = --i->users == 0 && all->ready != i;
    pthread_mutex_unlock(&all->lock);
    if (unused) {
        all->destroy(i);
    }
}

uint32_t hpx_images_waiting(struct hpx_images *all)
{
    uint32_t n = 0;
    pthread_mutex_lock(&all->lock);
    for (const struct hpx_image *i = all->ready; i != NULL; i = i->next) {
        n++;
    }
    pthread_mutex_unlock(&all->lock);
    return n;
}

void hpx_images_fini(struct hpx_images *all)
{
    destroy(all, all->ready);
    all->ready = NULL;
}
