/* SPDX-License-Identifier: BSD-2-Clause */
/* monitor_text.c: see monitor_text.h. */
#include "monitor_text.h"
#include "text.h"
#include <inttypes.h>
#include <stdlib.h>

#define LINE_ROOM    160u               /* bytes: usual upper bound of a line without its names */
#define SERIAL_ROOM  16u                /* bytes: "thread 200001, " */
#define SECTION_ROOM ((size_t)20 << 10) /* bytes: rest of a section, and its report */

static const struct hpx_trace_rec empty_trace = {.serial = HPX_SERIAL_TRACE};

static int by_number(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

/* Its line is in the output, so that others may name its serial. */
static bool is_known(const struct hpx_ascii *w, uint32_t serial)
{
    return serial > HPX_SERIAL_THREAD && hpx_ascii_has_thread(w, serial, true);
}

static void put_thread(const struct hpx_ascii *w, uint32_t serial)
{
    if (is_known(w, serial)) {
        hpx_out_printf(w->out, "thread %" PRIu32, serial);
    } else {
        hpx_out_str(w->out, "<unknown thread>");
    }
}

static void put_class(const struct hpx_ascii *w, struct hpx_text name)
{
    if (name.len > 0) {
        hpx_text_put(w->out, name, false);
    } else {
        hpx_out_str(w->out, "<unknown class>");
    }
}

void hpx_ascii_wait(struct hpx_ascii *w, const struct hpx_wait_line *l)
{
    (void)hpx_ascii_thread(w, l->thread);
    hpx_out_str(w->out, l->waited ? "WAITED: MONITOR " : "WAIT: MONITOR ");
    put_class(w, l->signature);
    hpx_out_printf(w->out, ", %s=%" PRId64 ", ", l->waited ? "time_waited" : "timeout", l->ms);
    put_thread(w, l->thread);
    hpx_out_char(w->out, '\n');
    (void)hpx_out_record(w->out);
}

/* ---- MONITOR DUMP ---- */

static int by_thread(const void *a, const void *b)
{
    const struct hpx_monitor_thread *x = a, *y = b;
    int order = by_number(x->serial, y->serial);
    uint32_t traces[] = {x->trace != NULL ? x->trace->serial : 0, y->trace != NULL ? y->trace->serial : 0};
    return order != 0 ? order : by_number(traces[0], traces[1]); /* several may be unknown */
}

static int by_serial(const void *a, const void *b)
{
    return by_number(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* In a long list, those that many threads wait for are what is looked for. */
static int by_waiters(const void *a, const void *b)
{
    const struct hpx_monitor *x = a, *y = b;
    int order = by_number((uint64_t)y->enter.n + y->notify.n, (uint64_t)x->enter.n + x->notify.n);
    order = order != 0 ? order : hpx_text_order(x->signature, y->signature);
    order = order != 0 ? order : by_number(x->owned ? x->owner : 0, y->owned ? y->owner : 0);
    order = order != 0 ? order : by_number(x->enter.first, y->enter.first);
    return order != 0 ? order : by_number(x->notify.first, y->notify.first);
}

static int by_count(const void *a, const void *b)
{
    const struct hpx_virtual_group *x = a, *y = b;
    int order = by_number(y->count, x->count);
    order = order != 0 ? order : by_number(x->stack, y->stack);
    order = order != 0 ? order : by_number(x->status, y->status);
    order = order != 0 ? order : hpx_text_order(x->waits_for, y->waits_for);
    order = order != 0 ? order : hpx_text_order(x->container, y->container);
    return order != 0 ? order : by_number(x->who[0].virtual_tid, y->who[0].virtual_tid);
}

static void sort(void *items, uint32_t n, size_t size, int (*order)(const void *, const void *))
{
    if (n > 1) {
        qsort(items, n, size, order);
    }
}

static void sort_serials(struct hpx_monitor_image *i, const struct hpx_serials *l)
{
    if (l->n > 1) { /* an image without lists has no serials */
        qsort(&i->serials[l->first], l->n, sizeof(i->serials[0]), by_serial);
    }
}

static void sort_image(struct hpx_monitor_image *i)
{
    sort(i->threads, i->nthreads, sizeof(i->threads[0]), by_thread);
    sort(i->monitors, i->nmonitors, sizeof(i->monitors[0]), by_waiters);
    sort(i->virtuals, i->nvirtuals, sizeof(i->virtuals[0]), by_count);
    for (uint32_t k = 0; k < i->nmonitors; k++) {
        const struct hpx_monitor *m = &i->monitors[k];
        sort_serials(i, &m->enter);
        sort_serials(i, &m->notify);
    }
}

/* The trace that a line may name: itself, if it is in the output afterwards. A line of a thread cannot be left out as a row of a table. */
static const struct hpx_trace_rec *placed(struct hpx_ascii *w, const struct hpx_trace_rec *t)
{
    if (t != NULL && hpx_ascii_trace(w, t)) {
        return t;
    }
    (void)hpx_ascii_trace(w, &empty_trace);
    return &empty_trace;
}

static void place_all(struct hpx_ascii *w, struct hpx_monitor_image *i)
{
    for (uint32_t k = 0; k < i->nthreads; k++) {
        (void)hpx_ascii_thread(w, i->threads[k].serial);
    }
    for (uint32_t k = 0; k < i->ndeadlocks; k++) {
        if (i->deadlocks[k].virtual_tid == 0) {
            (void)hpx_ascii_thread(w, i->deadlocks[k].serial);
        }
    }
    for (uint32_t k = 0; k < i->nthreads; k++) {
        i->threads[k].trace = placed(w, i->threads[k].trace);
    }
    for (uint32_t k = 0; k < i->nvirtuals; k++) {
        const struct hpx_trace_rec **t = &i->virtual_traces[i->virtuals[k].stack];
        *t = placed(w, *t);
    }
    for (uint32_t k = 0; k < i->ndeadlocks; k++) {
        i->deadlocks[k].trace = placed(w, i->deadlocks[k].trace);
    }
}

static size_t room_of(const struct hpx_monitor_image *i)
{
    size_t room = SECTION_ROOM + (size_t)i->nthreads * LINE_ROOM + (size_t)i->nserials * SERIAL_ROOM;
    for (uint32_t k = 0; k < i->nmonitors; k++) {
        room += LINE_ROOM + i->monitors[k].signature.len;
    }
    for (uint32_t k = 0; k < i->nvirtuals; k++) {
        const struct hpx_virtual_group *g = &i->virtuals[k];
        room += 4 * (size_t)LINE_ROOM + g->waits_for.len + 4 * (size_t)g->container.len + 4 * (size_t)g->owner.name.len;
        for (uint32_t j = 0; j < g->nwho; j++) {
            room += SERIAL_ROOM + 4 * (size_t)g->who[j].name.len;
        }
    }
    return room;
}

static void put_status(struct hpx_out *o, enum hpx_thread_status of, unsigned flags)
{
    static const char *const status[] = {
        [HPX_STATUS_UNKNOWN] = "UN",  [HPX_STATUS_NOT_STARTED] = "NS", [HPX_STATUS_RUNNABLE] = "R", [HPX_STATUS_SLEEPING] = "SL",
        [HPX_STATUS_ENTERING] = "MW", [HPX_STATUS_WAITING] = "CW",     [HPX_STATUS_ENDED] = "ZO"};
    hpx_out_str(o, flags & HPX_STATUS_SUSPENDED ? "S|" : "");
    hpx_out_str(o, flags & HPX_STATUS_INTERRUPTED ? "intr|" : "");
    hpx_out_str(o, flags & HPX_STATUS_NATIVE ? "native|" : "");
    hpx_out_str(o, status[of]);
}

static uint32_t known_serial(const struct hpx_ascii *w, uint32_t serial)
{
    return is_known(w, serial) ? serial : HPX_SERIAL_THREAD;
}

static void put_waiters(const struct hpx_ascii *w, const char *word, const struct hpx_monitor_image *i, const struct hpx_serials *l)
{
    hpx_out_str(w->out, word);
    for (uint32_t k = 0; k < l->n; k++) {
        hpx_out_str(w->out, k > 0 ? ", " : " ");
        put_thread(w, i->serials[l->first + k]);
    }
    hpx_out_char(w->out, '\n');
}

static void put_monitor(const struct hpx_ascii *w, const struct hpx_monitor_image *i, const struct hpx_monitor *m)
{
    hpx_out_str(w->out, "    MONITOR ");
    put_class(w, m->signature);
    if (m->owned) {
        hpx_out_str(w->out, "\n\towner: ");
        put_thread(w, m->owner);
        hpx_out_printf(w->out, ", entry count: %" PRIu32 "\n", m->entry_count);
    } else {
        hpx_out_str(w->out, " unowned\n");
    }
    put_waiters(w, "\twaiting to enter:", i, &m->enter);
    put_waiters(w, "\twaiting to be notified:", i, &m->notify);
}

static void put_virtual(struct hpx_out *o, const struct hpx_monitor_who *who)
{
    hpx_out_printf(o, "%" PRIu64, who->virtual_tid);
    if (who->name.len > 0) {
        hpx_out_str(o, " \"");
        hpx_text_put(o, who->name, true);
        hpx_out_char(o, '"');
    }
}

static void put_group(const struct hpx_ascii *w, const struct hpx_monitor_image *i, const struct hpx_virtual_group *g)
{
    struct hpx_out *o = w->out;
    hpx_out_printf(o, "    VIRTUAL %" PRIu64 " threads, trace %" PRIu32 ", status: ", g->count, i->virtual_traces[g->stack]->serial);
    put_status(o, g->status, 0);
    hpx_out_str(o, "\n\tthreads:");
    for (uint32_t k = 0; k < g->nwho; k++) {
        hpx_out_str(o, k > 0 ? ", " : " ");
        put_virtual(o, &g->who[k]);
    }
    hpx_out_str(o, g->nwho < g->count ? ", ...\n" : "\n");
    if (g->container.len > 0) {
        hpx_out_str(o, "\tcontainer: \"");
        hpx_text_put(o, g->container, true);
        hpx_out_str(o, "\"\n");
    }
    if (g->mounted) {
        hpx_out_str(o, "\tcarrier: ");
        put_thread(w, g->carrier.serial);
        hpx_out_char(o, '\n');
    }
    if (g->waits_for.len > 0) {
        hpx_out_str(o, "\twaiting for: ");
        hpx_text_put(o, g->waits_for, false);
        if (g->owned && g->owner.virtual_tid != 0) {
            hpx_out_str(o, " owned by virtual thread ");
            put_virtual(o, &g->owner);
        } else if (g->owned) {
            hpx_out_str(o, " owned by ");
            put_thread(w, g->owner.serial);
        }
        hpx_out_char(o, '\n');
    }
}

static void put_dump(const struct hpx_ascii *w, const struct hpx_monitor_image *i)
{
    struct hpx_out *o = w->out;
    hpx_out_room_parts(o, room_of(i));
    hpx_out_str(o, "MONITOR DUMP BEGIN\n");
    for (uint32_t k = 0; k < i->nthreads; k++) {
        const struct hpx_monitor_thread *t = &i->threads[k];
        hpx_out_printf(o, "    THREAD %" PRIu32 ", trace %" PRIu32 ", status: ", known_serial(w, t->serial), t->trace->serial);
        put_status(o, t->status, t->flags);
        hpx_out_char(o, '\n');
        hpx_out_part(o, k + 1 == i->nthreads && i->nmonitors == 0 && i->nvirtuals == 0);
    }
    for (uint32_t k = 0; k < i->nvirtuals; k++) {
        put_group(w, i, &i->virtuals[k]);
        hpx_out_part(o, k + 1 == i->nvirtuals && i->nmonitors == 0);
    }
    for (uint32_t k = 0; k < i->nmonitors; k++) {
        put_monitor(w, i, &i->monitors[k]);
        hpx_out_part(o, k + 1 == i->nmonitors);
    }
    for (size_t k = 0; k < HPX_ARRAY_LEN(i->notes) && i->notes[k] != NULL; k++) {
        hpx_out_str(o, "    NOTE: ");
        hpx_out_str(o, i->notes[k]);
        hpx_out_char(o, '\n');
    }
    hpx_out_str(o, "MONITOR DUMP END\n");
}

/* ---- DEADLOCKS ---- */

/* The index behind the last thread of the deadlock that begins at `at`. */
static uint32_t deadlock_end(const struct hpx_monitor_image *i, uint32_t at)
{
    do {
        at++;
    } while (at < i->ndeadlocks && !i->deadlocks[at].first);
    return at;
}

static void put_owner(const struct hpx_ascii *w, const struct hpx_deadlock_thread *t)
{
    if (t->virtual_tid != 0) {
        hpx_out_printf(w->out, "virtual thread %" PRIu64, t->virtual_tid);
    } else {
        put_thread(w, t->serial);
    }
}

static void put_deadlock(const struct hpx_ascii *w, const struct hpx_monitor_image *i, uint32_t from, uint32_t to)
{
    struct hpx_out *o = w->out;
    for (uint32_t k = from; k < to; k++) {
        const struct hpx_deadlock_thread *t = &i->deadlocks[k];
        if (t->virtual_tid != 0) {
            hpx_out_printf(o, "    VIRTUAL %" PRIu64 " \"", t->virtual_tid);
        } else {
            hpx_out_printf(o, "    THREAD %" PRIu32 " \"", known_serial(w, t->serial));
        }
        hpx_text_put(o, t->name, true);
        hpx_out_printf(o, "\", trace %" PRIu32 ", waiting for %s ", t->trace->serial, t->monitor ? "MONITOR" : "LOCK");
        put_class(w, t->waits_for);
        hpx_out_str(o, " owned by ");
        put_owner(w, &i->deadlocks[k + 1 < to ? k + 1 : from]);
        hpx_out_char(o, '\n');
        hpx_out_part(o, k + 1 == i->ndeadlocks);
    }
}

static void put_deadlocks(const struct hpx_ascii *w, const struct hpx_monitor_image *i)
{
    uint32_t n = 0;
    size_t room = SECTION_ROOM;
    if (i->ndeadlocks == 0) {
        return;
    }
    for (uint32_t k = 0; k < i->ndeadlocks; k++) {
        n += k == 0 || i->deadlocks[k].first;
        room += 2 * LINE_ROOM + i->deadlocks[k].name.len + i->deadlocks[k].waits_for.len;
    }
    (void)hpx_out_record(w->out); /* ends that of MONITOR DUMP */
    hpx_out_room_parts(w->out, room);
    hpx_out_printf(w->out, "DEADLOCKS BEGIN (%" PRIu32 ")\n", n);
    for (uint32_t at = 0, end, number = 1; at < i->ndeadlocks; at = end, number++) {
        end = deadlock_end(i, at);
        hpx_out_printf(w->out, "    DEADLOCK %" PRIu32 " (%" PRIu32 " threads)\n", number, end - at);
        put_deadlock(w, i, at, end);
    }
    hpx_out_str(w->out, "DEADLOCKS END\n");
}

void hpx_ascii_monitor_dump(struct hpx_ascii *w, struct hpx_monitor_image *i)
{
    (void)hpx_out_record(w->out); /* a section before it */
    sort_image(i);
    place_all(w, i);
    put_dump(w, i);
    put_deadlocks(w, i);
}
