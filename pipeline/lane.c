/* SPDX-License-Identifier: BSD-2-Clause */
/* lane.c: wfcqueue of liburcu (calls into the library, no _LGPL_SOURCE) and a wake. */
#include "lane.h"

#include <stdlib.h>

void hpx_lane_init(struct hpx_lane *l)
{
    __cds_wfcq_init(&l->head, &l->tail);
    hpx_wake_init(&l->wake);
}

void hpx_lane_fini(struct hpx_lane *l)
{
    struct hpx_msg *m = hpx_lane_splice(l);
    while (m) {
        struct hpx_msg *next = m->next;
        free(m);
        m = next;
    }
}

void *hpx_msg_new(uint32_t kind, size_t size)
{
    assert(size >= sizeof(struct hpx_msg) && size <= UINT32_MAX);
    struct hpx_msg *m = calloc(1, size);
    if (!m) {
        return NULL;
    }
    m->kind = kind;
    m->size = (uint32_t)size;
    return m;
}

void hpx_lane_post(struct hpx_lane *l, struct hpx_msg *m, bool now)
{
    cds_wfcq_node_init(&m->node); /* a message may be sent back, and so be posted again */
    hpx_tsan_release(&m->next);
    cds_wfcq_enqueue(&l->head, &l->tail, &m->node);
    HPX_TESTPOINT(lane_posted);
    if (now) {
        hpx_wake_post(&l->wake);
    }
}

struct hpx_msg *hpx_lane_splice(struct hpx_lane *l)
{
    struct __cds_wfcq_head head;
    struct cds_wfcq_tail tail;
    __cds_wfcq_init(&head, &tail);
    if (__cds_wfcq_splice_blocking(&head, &tail, &l->head, &l->tail) == CDS_WFCQ_RET_SRC_EMPTY) {
        return NULL;
    }
    HPX_TESTPOINT(lane_spliced);
    struct hpx_msg *first = NULL, **last = &first;
    struct cds_wfcq_node *node = __cds_wfcq_first_blocking(&head, &tail);
    while (node) {
        struct hpx_msg *m = HPX_CONTAINER_OF(node, struct hpx_msg, node);
        node = __cds_wfcq_next_blocking(&head, &tail, node);
        hpx_tsan_acquire(&m->next);
        *last = m;
        last = &m->next;
    }
    *last = NULL;
    return first;
}
