/* SPDX-License-Identifier: BSD-2-Clause */
/* ascii_heap.c: the sections of a text file that are no tables: HEAP DUMP, MONITOR DUMP and DEADLOCKS. */
#include "ascii.h"
#include <string.h>

int hpx_txt_begin_heap(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_HEAP, .heap = {.tag = HPX_TAG_HEAP_DUMP, .ended = true}};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "HEAP DUMP BEGIN (");
    (void)hpx_scan_number(&s);
    hpx_scan_word(&s, " objects, ");
    (void)hpx_scan_number(&s);
    hpx_scan_word(&s, " bytes) ");
    (void)hpx_scan_date(&s);
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    hpx_txt_open(t, hpx_txt_heap);
    t->open = ev;
    int rc = hpx_txt_record(t, HPX_TAG_HEAP_DUMP);
    return rc == HPX_RD_SOUND ? hpx_txt_emit(t, &ev) : rc;
}

static int root(struct hpx_txt *t, struct hpx_rd_text l)
{
    static const struct {
        const char *kind;
        int sub;
    } kinds[] = {{"thread", HPX_ROOT_THREAD_OBJECT},      {"thread block", HPX_ROOT_THREAD_BLOCK}, {"JNI global ref", HPX_ROOT_JNI_GLOBAL},
                 {"JNI local ref", HPX_ROOT_JNI_LOCAL},   {"Java stack", HPX_ROOT_JAVA_FRAME},     {"native stack", HPX_ROOT_NATIVE_STACK},
                 {"system class", HPX_ROOT_STICKY_CLASS}, {"busy monitor", HPX_ROOT_MONITOR_USED}, {"unknown", HPX_ROOT_UNKNOWN}};
    struct hpx_rd_event ev = {.kind = HPX_RD_ROOT};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "ROOT ");
    (void)hpx_scan_hex(&s);
    hpx_scan_word(&s, " (kind=<");
    struct hpx_rd_text kind = hpx_scan_before(&s, ">");
    for (size_t i = 0; i < HPX_ARRAY_LEN(kinds); i++) {
        if (kind.n == strlen(kinds[i].kind) && memcmp(kind.p, kinds[i].kind, kind.n) == 0) {
            ev.root.sub = kinds[i].sub;
        }
    }
    return s.ok && (ev.root.sub != 0 || s.cut) ? hpx_txt_emit(t, &ev) : HPX_TXT_NO_MATCH;
}

/* What a class name is, in Java source form: the type of a one-dimensional primitive array, or 0. */
static uint32_t primitive_array(struct hpx_rd_text name)
{
    for (int type = HPX_TYPE_BOOLEAN; type <= HPX_TYPE_LONG; type++) {
        const char *word = hpx_type_name(type);
        size_t n = strlen(word);
        if (name.n == n + 2 && memcmp(name.p, word, n) == 0 && memcmp(name.p + n, "[]", 2) == 0) {
            return (uint32_t)type;
        }
    }
    return 0;
}

static int tell(struct hpx_txt *t, struct hpx_rd_event *ev, const struct hpx_scan *s)
{
    return hpx_scan_done(s) ? hpx_txt_emit(t, ev) : HPX_TXT_NO_MATCH;
}

static int object(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_INSTANCE};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "OBJ ");
    ev.object.id = hpx_scan_hex(&s);
    hpx_scan_word(&s, " (sz=");
    ev.object.bytes = ev.object.length = hpx_scan_number(&s);
    hpx_scan_word(&s, ", trace=");
    ev.object.trace = hpx_scan_serial(&s);
    hpx_scan_word(&s, ", class=");
    ev.object.name = hpx_scan_before_last(&s, "@");
    ev.object.class_id = hpx_scan_hex(&s);
    hpx_scan_word(&s, ")");
    return tell(t, &ev, &s);
}

static int array(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_PRIMITIVES};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "ARR ");
    ev.object.id = hpx_scan_hex(&s);
    hpx_scan_word(&s, " (sz=");
    ev.object.bytes = hpx_scan_number(&s);
    hpx_scan_word(&s, ", trace=");
    ev.object.trace = hpx_scan_serial(&s);
    hpx_scan_word(&s, ", nelems=");
    ev.object.length = hpx_scan_number(&s);
    hpx_scan_word(&s, ", elem type=");
    struct hpx_scan primitive = s;
    ev.object.name = hpx_scan_before_last(&primitive, ")");
    ev.object.type = primitive_array(ev.object.name);
    if (ev.object.type != 0) {
        s = primitive;
    } else {
        ev.kind = HPX_RD_OBJECTS;
        ev.object.type = HPX_TYPE_OBJECT;
        ev.object.name = hpx_scan_before_last(&s, "@");
        ev.object.class_id = hpx_scan_hex(&s);
        hpx_scan_word(&s, ")");
    }
    return tell(t, &ev, &s);
}

static int class_line(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_CLASS};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "CLS ");
    ev.object.id = ev.object.class_id = hpx_scan_hex(&s);
    hpx_scan_word(&s, " (name=");
    ev.object.name = hpx_scan_before_last(&s, ", trace=");
    ev.object.trace = hpx_scan_serial(&s);
    hpx_scan_word(&s, ")");
    return tell(t, &ev, &s);
}

static int ends(struct hpx_txt *t, struct hpx_rd_text l, const char *word)
{
    if (!hpx_txt_begins(l, word) || l.n != strlen(word)) {
        return HPX_TXT_NO_MATCH;
    }
    t->state = hpx_txt_top;
    return HPX_RD_SOUND;
}

int hpx_txt_heap(struct hpx_txt *t, struct hpx_rd_text l)
{
    if (l.n > 0 && l.p[0] == '\t') {
        return HPX_RD_SOUND; /* what the object before it refers to */
    }
    if (hpx_txt_begins(l, "OBJ ")) {
        return object(t, l);
    }
    if (hpx_txt_begins(l, "ARR ")) {
        return array(t, l);
    }
    if (hpx_txt_begins(l, "CLS ")) {
        return class_line(t, l);
    }
    if (hpx_txt_begins(l, "ROOT ")) {
        return root(t, l);
    }
    t->open.kind = HPX_RD_HEAP_END;
    int rc = ends(t, l, "HEAP DUMP END");
    return rc == HPX_RD_SOUND ? hpx_txt_emit(t, &t->open) : rc;
}

int hpx_txt_begin_monitors(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "MONITOR DUMP BEGIN");
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    hpx_txt_open(t, hpx_txt_monitor);
    return hpx_txt_record(t, HPX_TAG_MONITOR_DUMP);
}

static int monitor_thread(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_MONITOR_THREAD};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "    THREAD ");
    ev.monitor.thread = hpx_scan_serial(&s);
    hpx_scan_word(&s, ", trace ");
    ev.monitor.trace = hpx_scan_serial(&s);
    hpx_scan_word(&s, ", status: ");
    ev.monitor.name = hpx_scan_rest(&s);
    return tell(t, &ev, &s);
}

static int monitor_virtual(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_MONITOR_VIRTUAL};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "    VIRTUAL ");
    ev.monitor.count = hpx_scan_number(&s);
    hpx_scan_word(&s, " threads, trace ");
    ev.monitor.trace = hpx_scan_serial(&s);
    hpx_scan_word(&s, ", status: ");
    ev.monitor.name = hpx_scan_rest(&s);
    return tell(t, &ev, &s);
}

static int monitor_of(struct hpx_txt *t, struct hpx_rd_text l, size_t blanks)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_MONITOR_OF, .monitor = {.name = {l.p + blanks, l.n - blanks}}};
    return hpx_txt_emit(t, &ev);
}

static int monitor_name(struct hpx_txt *t, struct hpx_rd_text l)
{
    static const char unowned[] = " unowned";
    struct hpx_rd_event ev = {.kind = HPX_RD_MONITOR};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "    MONITOR ");
    ev.monitor.name = hpx_scan_rest(&s);
    size_t n = sizeof(unowned) - 1;
    ev.monitor.unowned = ev.monitor.name.n > n && memcmp(ev.monitor.name.p + ev.monitor.name.n - n, unowned, n) == 0;
    ev.monitor.name.n -= ev.monitor.unowned ? n : 0;
    return hpx_scan_done(&s) && ev.monitor.name.n > 0 ? hpx_txt_emit(t, &ev) : HPX_TXT_NO_MATCH;
}

/* What of a monitor follows its name: who owns it, who waits to enter, and who to be notified; the lists may be empty. */
static int users(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_scan s = hpx_scan_line(t, l);
    bool waits = hpx_txt_begins(l, "\twaiting to ");
    (void)hpx_scan_before(&s, ":");
    for (const char *between = " "; waits && s.ok && !s.ran_out && s.p < s.end; between = ", ") {
        struct hpx_rd_event ev = {.kind = HPX_RD_MONITOR_USER};
        hpx_scan_word(&s, between);
        if (s.p < s.end && *s.p == '<') {
            hpx_scan_word(&s, "<unknown thread>");
        } else {
            hpx_scan_word(&s, "thread ");
            (void)hpx_scan_serial(&s);
        }
        int rc = s.ok ? hpx_txt_emit(t, &ev) : HPX_RD_SOUND;
        if (rc != HPX_RD_SOUND) {
            return rc;
        }
    }
    return s.ok ? HPX_RD_SOUND : hpx_txt_break(t, "a list of threads that is none");
}

int hpx_txt_monitor(struct hpx_txt *t, struct hpx_rd_text l)
{
    if (hpx_txt_begins(l, "\tthreads: ") || hpx_txt_begins(l, "\tcontainer: ") || hpx_txt_begins(l, "\tcarrier: ") ||
        hpx_txt_begins(l, "\twaiting for: ")) {
        return monitor_of(t, l, 1);
    }
    if (hpx_txt_begins(l, "\t")) {
        return users(t, l);
    }
    if (hpx_txt_begins(l, "    VIRTUAL ")) {
        return monitor_virtual(t, l);
    }
    if (hpx_txt_begins(l, "    THREAD ")) {
        return monitor_thread(t, l);
    }
    if (hpx_txt_begins(l, "    MONITOR ")) {
        return monitor_name(t, l);
    }
    if (hpx_txt_begins(l, "    NOTE: ")) {
        return monitor_of(t, l, 4);
    }
    return ends(t, l, "MONITOR DUMP END");
}

int hpx_txt_begin_deadlocks(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "DEADLOCKS BEGIN (");
    (void)hpx_scan_serial(&s);
    hpx_scan_word(&s, ")");
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    hpx_txt_open(t, hpx_txt_deadlocks);
    return hpx_txt_record(t, HPX_TAG_DEADLOCKS);
}

/* For people: who waits for whom. */
int hpx_txt_deadlocks(struct hpx_txt *t, struct hpx_rd_text l)
{
    return hpx_txt_begins(l, "    ") ? HPX_RD_SOUND : ends(t, l, "DEADLOCKS END");
}
