/* SPDX-License-Identifier: BSD-2-Clause */
/* output_post.c: what the aggregator posts to the writer's thread. Contract: output.h. */
#include "clock.h"
#include "journal.h"
#include "log.h"
#include "output_internal.h"
#include <stdlib.h>
#include <string.h>

static void post(struct hpx_msg *m, bool wake)
{
    atomic_fetch_add_explicit(&hpx_output.posted, 1, memory_order_relaxed);
    hpx_lane_post(&hpx_output.lane, m, wake);
}

/* HPX_OUTPUT_WAITING. */
static bool has_room(void)
{
    bool room = hpx_output.replays || atomic_load_explicit(&hpx_output.waiting, memory_order_relaxed) < HPX_OUTPUT_WAITING;
    if (!room && !hpx_output.said_slow) {
        hpx_output.said_slow = true;
        hpx_warn("the output is too slow: %u MB wait for it; starts of threads, classes and WAIT lines that come meanwhile are lost and "
                 "counted; "
                 "read or write it faster",
                 HPX_OUTPUT_WAITING >> 20);
    }
    return room;
}

static void post_event(struct msg_event *e)
{
    e->replayed = hpx_output.replays;
    if (!e->replayed) {
        atomic_fetch_add_explicit(&hpx_output.waiting, e->m.size, memory_order_relaxed);
    }
    post(&e->m, false);
}

static void replay(void)
{
    hpx_output.replays = true;
    (void)hpx_model_replay(hpx_session.model);
    hpx_output.replays = false;
}

static struct hpx_text keep(char **at, struct hpx_text t)
{
    struct hpx_text kept = {*at, t.len};
    if (t.len > 0) {
        memcpy(*at, t.bytes, t.len);
    }
    *at += t.len;
    return kept;
}

bool hpx_output_thread_event(const struct hpx_thread_rec *rec, enum hpx_thread_event what)
{
    size_t text = (size_t)rec->name.len + rec->group.len + rec->parent_group.len + rec->newest.len;
    struct msg_thread *m = what == HPX_THREAD_ENDS || has_room() ? hpx_msg_new(MSG_THREAD, sizeof *m + text) : NULL;
    if (m == NULL) {
        hpx_count(&hpx_session.counters, HPX_C_THREADS_UNANNOUNCED, 1);
        return false;
    }
    char *at = m->text;
    m->rec = (struct hpx_thread_rec){.serial = rec->serial, .object = rec->object};
    m->what = what;
    m->at = hpx_session.opt->binary ? hpx_clock_mono() : 0;
    m->rec.name = keep(&at, rec->name);
    m->rec.group = keep(&at, rec->group);
    m->rec.parent_group = keep(&at, rec->parent_group);
    if (rec->newest.bytes != NULL) {
        m->rec.newest = keep(&at, rec->newest);
    }
    post_event(&m->e);
    return true;
}

bool hpx_output_class_event(const struct hpx_class_rec *rec, bool unloaded)
{
    struct msg_class *m = has_room() ? hpx_msg_new(unloaded ? MSG_CLASS_UNLOAD : MSG_CLASS_LOAD, sizeof *m + rec->name.len) : NULL;
    if (m == NULL) {
        hpx_count(&hpx_session.counters, HPX_C_CLASSES_UNANNOUNCED, 1);
        return false;
    }
    char *at = m->text;
    m->at = hpx_clock_mono();
    m->rec = *rec;
    m->rec.name = keep(&at, rec->name);
    post_event(&m->e);
    return true;
}

/* Posted before the dump's message, which must follow: messages between the two go to the split file. */
static void post_split(uint32_t number)
{
    struct msg_split *m = hpx_msg_new(MSG_SPLIT, sizeof *m);
    if (m == NULL) {
        hpx_warn("split=y: no memory for a separate file; this dump goes to %s", hpx_session.opt->file);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &m->wall);
    m->mono = hpx_clock_mono();
    m->number = number;
    post(&m->m, false);
    replay();
}

bool hpx_output_reserve(void)
{
    hpx_output.next = hpx_output.next != NULL ? hpx_output.next : hpx_msg_new(MSG_DUMP, sizeof *hpx_output.next);
    return hpx_output.next != NULL;
}

void hpx_output_dump(const struct hpx_parts *parts, struct hpx_snapshot *traces, const struct hpx_report *r,
                     const struct hpx_dump_request *request)
{
    struct msg_dump **reserved = request != NULL ? &hpx_output.next : &hpx_output.spare, *m = *reserved;
    *reserved = NULL;
    m->parts = *parts;
    m->traces = traces;
    m->request = request != NULL ? *request : (struct hpx_dump_request){.cutoff = hpx_session.opt->cutoff};
    m->report = *r;
    m->last = request == NULL;
    if (request != NULL && hpx_session.in_effect.split) {
        post_split(r->period.number);
    }
    post(&m->m, true);
}

bool hpx_output_line(const struct hpx_mode *mode, const void *data, size_t n)
{
    struct msg_line *m = has_room() ? hpx_msg_new(MSG_LINE, sizeof *m + n) : NULL;
    if (m != NULL) {
        m->mode = mode;
        memcpy(m->data, data, n);
        post_event(&m->e);
    }
    return m != NULL;
}

void hpx_output_journal(struct hpx_parts *parts, bool whole)
{
    bool any = hpx_parts_any(parts);
    struct msg_journal *m = any ? hpx_msg_new(MSG_JOURNAL, sizeof *m) : NULL;
    struct hpx_msg *begin = m != NULL && whole ? hpx_msg_new(MSG_JOURNAL_BEGIN, sizeof *begin) : NULL;
    if (m == NULL || (whole && begin == NULL)) {
        if (any) {
            hpx_journal_no_memory();
        } else if (whole) {
            hpx_journal_want_anew();
        }
        hpx_parts_destroy(parts);
        free(m);
        return;
    }
    if (whole) {
        post(begin, false);
        replay();
    }
    m->parts = *parts;
    atomic_store_explicit(&hpx_output.journal_waits, true, memory_order_relaxed);
    post(&m->m, true);
}

bool hpx_output_journal_waits(void)
{
    return atomic_load_explicit(&hpx_output.journal_waits, memory_order_relaxed);
}

void hpx_output_end(const struct hpx_report *r)
{
    struct msg_end *m = hpx_output.end;
    hpx_output.end = NULL;
    free(hpx_output.spare); /* no dump comes after the end */
    hpx_output.spare = NULL;
    free(hpx_output.next);
    hpx_output.next = NULL;
    if (m == NULL) {
        return;
    }
    m->reported = r != NULL;
    if (r != NULL) {
        m->report = *r;
    }
    atomic_store_explicit(&hpx_output.ends, true, memory_order_relaxed);
    post(&m->m, true);
}
