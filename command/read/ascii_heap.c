/* SPDX-License-Identifier: BSD-2-Clause */
/* ascii_heap.c: the sections of a text file that are no tables: HEAP DUMP, MONITOR DUMP and DEADLOCKS. */
#include "ascii.h"
#include <inttypes.h>
#include <string.h>

int hpx_txt_begin_heap(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_HEAP, .heap = {.tag = HPX_TAG_HEAP_DUMP, .ended = true}};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "HEAP DUMP BEGIN (");
    ev.heap.objects = hpx_scan_number(&s);
    hpx_scan_word(&s, " objects, ");
    ev.heap.bytes = hpx_scan_number(&s);
    hpx_scan_word(&s, " bytes) ");
    (void)hpx_scan_date(&s);
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    hpx_txt_open(t, hpx_txt_heap);
    t->open = ev;
    t->object_kind = 0;
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
    struct hpx_rd_event ev = {.kind = HPX_RD_ROOT, .root = {.frame = -1}};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "ROOT ");
    ev.root.object = hpx_scan_hex(&s);
    hpx_scan_word(&s, " (kind=<");
    struct hpx_rd_text kind = hpx_scan_before(&s, ">");
    for (size_t i = 0; i < HPX_ARRAY_LEN(kinds); i++) {
        if (kind.n == strlen(kinds[i].kind) && memcmp(kind.p, kinds[i].kind, kind.n) == 0) {
            ev.root.sub = kinds[i].sub;
        }
    }
    switch (ev.root.sub) {
    case HPX_ROOT_THREAD_OBJECT:
        hpx_scan_word(&s, ", id=");
        ev.root.thread = hpx_scan_serial(&s);
        break;
    case HPX_ROOT_JNI_GLOBAL:
        hpx_scan_word(&s, ", id=");
        ev.root.reference = hpx_scan_hex(&s);
        break;
    case HPX_ROOT_THREAD_BLOCK:
    case HPX_ROOT_JNI_LOCAL:
    case HPX_ROOT_JAVA_FRAME:
    case HPX_ROOT_NATIVE_STACK:
        hpx_scan_word(&s, ", thread=");
        ev.root.thread = hpx_scan_serial(&s);
        break;
    case HPX_ROOT_STICKY_CLASS:
        hpx_scan_word(&s, ", name=");
        ev.root.name = hpx_scan_before_last(&s, ")");
        s.p -= !s.ran_out;
        break;
    case 0:
        s.ok = s.cut;
        break;
    default:
        break;
    }
    if (ev.root.sub == HPX_ROOT_JNI_LOCAL || ev.root.sub == HPX_ROOT_JAVA_FRAME) {
        hpx_scan_word(&s, ", frame=");
        bool negative = s.ok && s.p < s.end && *s.p == '-';
        s.p += negative;
        int32_t frame = (int32_t)(hpx_scan_serial(&s) & INT32_MAX);
        ev.root.frame = negative ? -frame : frame;
    } else if (ev.root.sub == HPX_ROOT_JNI_GLOBAL || ev.root.sub == HPX_ROOT_THREAD_OBJECT) {
        hpx_scan_word(&s, ", trace=");
        ev.root.trace = hpx_scan_serial(&s);
    }
    hpx_scan_word(&s, ")");
    return hpx_scan_done(&s) ? hpx_txt_emit(t, &ev) : HPX_TXT_NO_MATCH;
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

static int open_object(struct hpx_txt *t, struct hpx_rd_event *ev, const struct hpx_scan *s)
{
    if (!hpx_scan_done(s)) {
        return HPX_TXT_NO_MATCH;
    }
    t->object = ev->object;
    t->object_kind = ev->kind;
    t->element = 0;
    return hpx_txt_emit(t, ev);
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
    return open_object(t, &ev, &s);
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
    return open_object(t, &ev, &s);
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
    return open_object(t, &ev, &s);
}

/* The id that ends a line, which the open object refers to. Of a cut line the id may be cut too. */
static int reference(struct hpx_txt *t, struct hpx_scan *s)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_REFERENCE, .reference = hpx_scan_hex(s)};
    if (!hpx_scan_done(s)) {
        return HPX_TXT_NO_MATCH;
    }
    return t->cut ? HPX_RD_SOUND : hpx_txt_emit(t, &ev);
}

static int element(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "\t[");
    uint64_t index = hpx_scan_number(&s);
    hpx_scan_word(&s, "]\t\t");
    if (s.ok && !s.ran_out && (index >= t->object.length || index < t->element)) {
        return hpx_reader_break(t->r, t->at, t->line, "element %" PRIu64 " of an array of %" PRIu64 ", behind %" PRIu64 " others", index,
                                t->object.length, t->element);
    }
    t->element = index + 1;
    return reference(t, &s);
}

static int class_item(struct hpx_txt *t, struct hpx_rd_text l)
{
    static const char *const words[] = {"\tsuper\t\t", "\tloader\t\t", "\tsigners\t\t", "\tdomain\t\t"};
    struct hpx_scan s = hpx_scan_line(t, l);
    for (size_t i = 0; i < HPX_ARRAY_LEN(words); i++) {
        if (hpx_txt_begins(l, words[i])) {
            hpx_scan_word(&s, words[i]);
            return reference(t, &s);
        }
    }
    if (hpx_txt_begins(l, "\tstatic ")) {
        hpx_scan_word(&s, "\tstatic ");
        (void)hpx_scan_before_last(&s, "\t");
    } else {
        hpx_scan_word(&s, "\tconstant pool entry ");
        (void)hpx_scan_number(&s);
        hpx_scan_word(&s, "\t");
    }
    return reference(t, &s);
}

static int item(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_scan s = hpx_scan_line(t, l);
    switch (t->object_kind) {
    case HPX_RD_CLASS:
        return class_item(t, l);
    case HPX_RD_OBJECTS:
        return element(t, l);
    case HPX_RD_INSTANCE:
        hpx_scan_word(&s, "\t");
        (void)hpx_scan_before_last(&s, "\t");
        return reference(t, &s);
    default:
        return HPX_TXT_NO_MATCH;
    }
}

int hpx_txt_heap(struct hpx_txt *t, struct hpx_rd_text l)
{
    if (l.n > 0 && l.p[0] == '\t') {
        return item(t, l);
    }
    t->object_kind = 0;
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
    if (!hpx_txt_begins(l, "HEAP DUMP END") || l.n != sizeof("HEAP DUMP END") - 1) {
        return HPX_TXT_NO_MATCH;
    }
    t->state = hpx_txt_top;
    t->open.kind = HPX_RD_HEAP_END;
    return hpx_txt_emit(t, &t->open);
}

int hpx_txt_begin_monitors(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "MONITOR DUMP BEGIN");
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    hpx_txt_open(t, hpx_txt_monitor);
    t->monitor = 0;
    return hpx_txt_record(t, HPX_TAG_MONITOR_DUMP);
}

static bool known_status(struct hpx_rd_text status)
{
    static const char *const prefixes[] = {"S|", "intr|", "native|"};
    static const char *const states[] = {"R", "SL", "MW", "CW", "ZO", "NS", "UN"};
    for (size_t i = 0; i < HPX_ARRAY_LEN(prefixes); i++) {
        if (hpx_txt_begins(status, prefixes[i])) {
            status.p += strlen(prefixes[i]);
            status.n -= strlen(prefixes[i]);
        }
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(states); i++) {
        if (status.n == strlen(states[i]) && memcmp(status.p, states[i], status.n) == 0) {
            return true;
        }
    }
    return false;
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
    return hpx_scan_done(&s) && known_status(ev.monitor.name) ? hpx_txt_emit(t, &ev) : HPX_TXT_NO_MATCH;
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
    t->monitor = ev.monitor.unowned ? 2 : 1;
    return hpx_scan_done(&s) && ev.monitor.name.n > 0 ? hpx_txt_emit(t, &ev) : HPX_TXT_NO_MATCH;
}

static int monitor_owner(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_MONITOR_USER, .monitor = {.owner = true}};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "\towner: ");
    ev.monitor.thread = hpx_txt_thread(&s);
    hpx_scan_word(&s, ", entry count: ");
    ev.monitor.number = hpx_scan_number(&s);
    t->monitor++;
    return hpx_scan_done(&s) ? hpx_txt_emit(t, &ev) : HPX_TXT_NO_MATCH;
}

/* The list after "waiting to ...:", which may be empty. */
static int waiters(struct hpx_txt *t, struct hpx_rd_text l, const char *word)
{
    struct hpx_scan s = hpx_scan_line(t, l);
    const char *between = " ";
    hpx_scan_word(&s, word);
    while (s.ok && !s.ran_out && s.p < s.end) {
        struct hpx_rd_event ev = {.kind = HPX_RD_MONITOR_USER};
        hpx_scan_word(&s, between);
        between = ", ";
        ev.monitor.thread = hpx_txt_thread(&s);
        int rc = s.ok ? hpx_txt_emit(t, &ev) : HPX_RD_SOUND;
        if (rc != HPX_RD_SOUND) {
            return rc;
        }
    }
    t->monitor++;
    return hpx_scan_done(&s) ? HPX_RD_SOUND : hpx_txt_break(t, "a list of threads that is none");
}

int hpx_txt_monitor(struct hpx_txt *t, struct hpx_rd_text l)
{
    if (t->monitor == 1) {
        return hpx_txt_begins(l, "\towner: ") ? monitor_owner(t, l) : HPX_TXT_NO_MATCH;
    }
    if (t->monitor == 2) {
        return hpx_txt_begins(l, "\twaiting to enter:") ? waiters(t, l, "\twaiting to enter:") : HPX_TXT_NO_MATCH;
    }
    if (t->monitor == 3) {
        t->monitor = 0;
        int rc = hpx_txt_begins(l, "\twaiting to be notified:") ? waiters(t, l, "\twaiting to be notified:") : HPX_TXT_NO_MATCH;
        t->monitor = 0;
        return rc;
    }
    if (hpx_txt_begins(l, "    THREAD ")) {
        return monitor_thread(t, l);
    }
    if (hpx_txt_begins(l, "    MONITOR ")) {
        return monitor_name(t, l);
    }
    if (hpx_txt_begins(l, "    NOTE: ")) {
        return HPX_RD_SOUND;
    }
    struct hpx_rd_event ev = {.kind = HPX_RD_MONITOR_END};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "MONITOR DUMP END");
    if (!hpx_scan_done(&s) || l.n == 0) {
        return HPX_TXT_NO_MATCH;
    }
    t->state = hpx_txt_top;
    return hpx_txt_emit(t, &ev);
}

int hpx_txt_begin_deadlocks(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "DEADLOCKS BEGIN (");
    uint32_t n = hpx_scan_serial(&s);
    hpx_scan_word(&s, ")");
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    hpx_txt_open(t, hpx_txt_deadlocks);
    t->deadlocks = n;
    t->deadlock = t->dead = 0;
    return hpx_txt_record(t, HPX_TAG_DEADLOCKS);
}

static int begin_deadlock(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "    DEADLOCK ");
    uint32_t number = hpx_scan_serial(&s);
    hpx_scan_word(&s, " (");
    t->dead = hpx_scan_serial(&s);
    hpx_scan_word(&s, " threads)");
    t->dead_first = UINT32_MAX;
    return !hpx_scan_done(&s) || t->dead == 0                      ? HPX_TXT_NO_MATCH
           : number != ++t->deadlock || t->deadlock > t->deadlocks ? hpx_txt_break(t, "a deadlock that is not the next one")
                                                                   : HPX_RD_SOUND;
}

/* Up to the quote that ends a name: one in it has a backslash before it. */
static void skip_quoted(struct hpx_scan *s)
{
    while (s->ok && s->p < s->end && *s->p != '"') {
        s->p += *s->p == '\\' && s->end - s->p > 1 ? 2 : 1;
    }
}

static int deadlock_thread(struct hpx_txt *t, struct hpx_rd_text l)
{
    struct hpx_rd_event ev = {.kind = HPX_RD_DEADLOCK};
    struct hpx_scan s = hpx_scan_line(t, l);
    hpx_scan_word(&s, "    THREAD ");
    uint32_t serial = hpx_scan_serial(&s);
    hpx_scan_word(&s, " \"");
    skip_quoted(&s);
    hpx_scan_word(&s, "\", trace ");
    ev.monitor.trace = hpx_scan_serial(&s);
    hpx_scan_word(&s, ", waiting for ");
    ev.monitor.owner = s.p < s.end && *s.p == 'M';
    hpx_scan_word(&s, ev.monitor.owner ? "MONITOR " : "LOCK ");
    ev.monitor.name = hpx_scan_before_last(&s, " owned by ");
    uint32_t owner = hpx_txt_thread(&s);
    if (!hpx_scan_done(&s)) {
        return HPX_TXT_NO_MATCH;
    }
    ev.monitor.thread = serial == HPX_TXT_UNKNOWN_THREAD ? 0 : serial;
    ev.monitor.number = owner;
    bool begins = t->dead_first == UINT32_MAX;
    t->dead_first = begins ? ev.monitor.thread : t->dead_first;
    if ((!begins && ev.monitor.thread != t->awaits) || (--t->dead == 0 && owner != t->dead_first)) {
        return hpx_txt_break(t, "a thread of a deadlock that is not in its circle");
    }
    t->awaits = owner;
    return hpx_txt_emit(t, &ev);
}

int hpx_txt_deadlocks(struct hpx_txt *t, struct hpx_rd_text l)
{
    if (t->dead > 0) {
        return deadlock_thread(t, l);
    }
    if (hpx_txt_begins(l, "    DEADLOCK ")) {
        return begin_deadlock(t, l);
    }
    if (!hpx_txt_begins(l, "DEADLOCKS END") || l.n != sizeof("DEADLOCKS END") - 1) {
        return HPX_TXT_NO_MATCH;
    }
    t->state = hpx_txt_top;
    return t->deadlock == t->deadlocks ? HPX_RD_SOUND : hpx_txt_break(t, "fewer deadlocks than the section says");
}
