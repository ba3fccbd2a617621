/* SPDX-License-Identifier: BSD-2-Clause */
/* images.h: images of the heap or of monitors, which one thread takes, in order, and dumps show later.
 *
 * All functions: any thread; not in a signal handler. */
#ifndef HPX_IMAGES_H
#define HPX_IMAGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The head of an image. */
struct hpx_image {
    struct hpx_image *next;
    uint32_t users; /* the lock's: dumps that show it */
    bool last;      /* the one at exit, which every further dump gets */
};

struct hpx_images {
    pthread_mutex_t lock;
    struct hpx_image *ready; /* the lock's: no dump has it yet; oldest first */
    void (*destroy)(struct hpx_image *i);
};

/* An image is complete. alone: no other image waits any more; one that no dump shows is destroyed. */
void hpx_images_put(struct hpx_images *all, struct hpx_image *i, bool alone);
/* The oldest image; NULL: none. The caller drops it. */
struct hpx_image *hpx_images_get(struct hpx_images *all);
void hpx_images_drop(struct hpx_images *all, struct hpx_image *i);
/* How many images wait for a dump. */
uint32_t hpx_images_waiting(struct hpx_images *all);
/* At the end of a session: destroys what is left. */
void hpx_images_fini(struct hpx_images *all);

#endif
