/* SPDX-License-Identifier: BSD-2-Clause */
/* write_jfr.c: a recording as the JDK's Flight Recorder makes it, for `jfr`, JDK Mission Control and jdk.jfr.consumer: chunks, each with
 * its metadata, the constants that its events name, and events in the order of their times.
 *
 * Events have the names and fields of the JDK's, but for hprofx.WallClock, which holds the wall clock. Each moment becomes an event;
 * what has no time becomes events that are spread evenly over the time of the profile. JFR counts no objects, so allocations have
 * bytes alone, and a stack of n samples or waits is n events: of more than 2^24 of a view each stands for more. */
#include "big_endian.h"
#include "numbering.h"
#include "protobuf.h"
#include "timed.h"
#include "writers.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_EVENTS ((uint64_t)1 << 24)
#define CHUNK_BYTES ((size_t)8 << 20)       /* of events, and about as much of constants: far below MOST_BYTES */
#define MOST_BYTES  (((size_t)1 << 28) - 1) /* of an event or of a chunk's constants */
#define DEEPEST     ((size_t)65536)         /* frames of a stack, as jfr.c reads */
#define NS_PER_MS   UINT64_C(1000000)
#define MOST_MS     ((uint64_t)1 << 40)
#define HEAD        68
#define NAME        4200 /* bytes; tree.c keeps fewer */

/* ---- types ---- */

enum type {
    BOOLEAN = 20,
    BYTE,
    INT,
    LONG,
    STRING,
    CLASS,
    THREAD,
    THREAD_GROUP,
    LOADER,
    PACKAGE,
    SYMBOL,
    METHOD,
    FRAME,
    FRAME_TYPE,
    STACK,
    STATE,
    GC_NAME,
    GC_CAUSE,
    TIMESTAMP, /* annotations */
    TIMESPAN,
    AMOUNT,
    LABEL,
    EXECUTION, /* events */
    CPU_TIME,
    ALLOCATION,
    ENTER,
    WAIT,
    PARK,
    WALL,
    COLLECTION,
    PAUSE,
    SETTING,
    JVM
};

enum flag { POOL = 1, ARRAY = 2, TICKS = 4, SPAN = 8, BYTES = 16 };

struct field {
    const char *name; /* NULL: no more */
    enum type type;
    unsigned flags;
};

#define START                                                                                                                              \
    {                                                                                                                                      \
        "startTime", LONG, TICKS                                                                                                           \
    }
#define LENGTH                                                                                                                             \
    {                                                                                                                                      \
        "duration", LONG, SPAN                                                                                                             \
    }
#define WHO                                                                                                                                \
    {                                                                                                                                      \
        "eventThread", THREAD, POOL                                                                                                        \
    }
#define WHERE                                                                                                                              \
    {                                                                                                                                      \
        "stackTrace", STACK, POOL                                                                                                          \
    }

static const struct {
    enum type type;
    const char *name, *super, *label;
    struct field fields[12];
} types[] = {
    {BOOLEAN, "boolean", NULL, NULL, {{NULL, 0, 0}}},
    {BYTE, "byte", NULL, NULL, {{NULL, 0, 0}}},
    {INT, "int", NULL, NULL, {{NULL, 0, 0}}},
    {LONG, "long", NULL, NULL, {{NULL, 0, 0}}},
    {STRING, "java.lang.String", NULL, NULL, {{NULL, 0, 0}}},
    {CLASS,
     "java.lang.Class",
     NULL,
     NULL,
     {{"classLoader", LOADER, POOL}, {"name", SYMBOL, POOL}, {"package", PACKAGE, POOL}, {"modifiers", INT, 0}, {"hidden", BOOLEAN, 0}}},
    {THREAD,
     "java.lang.Thread",
     NULL,
     NULL,
     {{"osName", STRING, 0},
      {"osThreadId", LONG, 0},
      {"javaName", STRING, 0},
      {"javaThreadId", LONG, 0},
      {"group", THREAD_GROUP, POOL},
      {"virtual", BOOLEAN, 0}}},
    {THREAD_GROUP, "jdk.types.ThreadGroup", NULL, NULL, {{"parent", THREAD_GROUP, POOL}, {"name", STRING, 0}}},
    {LOADER, "jdk.types.ClassLoader", NULL, NULL, {{"type", CLASS, POOL}, {"name", SYMBOL, POOL}}},
    {PACKAGE, "jdk.types.Package", NULL, NULL, {{"name", SYMBOL, POOL}}},
    {SYMBOL, "jdk.types.Symbol", NULL, NULL, {{"string", STRING, 0}}},
    {METHOD,
     "jdk.types.Method",
     NULL,
     NULL,
     {{"type", CLASS, POOL}, {"name", SYMBOL, POOL}, {"descriptor", SYMBOL, POOL}, {"modifiers", INT, 0}, {"hidden", BOOLEAN, 0}}},
    {FRAME,
     "jdk.types.StackFrame",
     NULL,
     NULL,
     {{"method", METHOD, POOL}, {"lineNumber", INT, 0}, {"bytecodeIndex", INT, 0}, {"type", FRAME_TYPE, POOL}}},
    {FRAME_TYPE, "jdk.types.FrameType", NULL, NULL, {{"description", STRING, 0}}},
    {STACK, "jdk.types.StackTrace", NULL, NULL, {{"truncated", BOOLEAN, 0}, {"frames", FRAME, ARRAY}}},
    {STATE, "jdk.types.ThreadState", NULL, NULL, {{"name", STRING, 0}}},
    {GC_NAME, "jdk.types.GCName", NULL, NULL, {{"name", STRING, 0}}},
    {GC_CAUSE, "jdk.types.GCCause", NULL, NULL, {{"cause", STRING, 0}}},
    {TIMESTAMP, "jdk.jfr.Timestamp", "java.lang.annotation.Annotation", NULL, {{"value", STRING, 0}}},
    {TIMESPAN, "jdk.jfr.Timespan", "java.lang.annotation.Annotation", NULL, {{"value", STRING, 0}}},
    {AMOUNT, "jdk.jfr.DataAmount", "java.lang.annotation.Annotation", NULL, {{"value", STRING, 0}}},
    {LABEL, "jdk.jfr.Label", "java.lang.annotation.Annotation", NULL, {{"value", STRING, 0}}},
    {EXECUTION,
     "jdk.ExecutionSample",
     "jdk.jfr.Event",
     "Method Profiling Sample",
     {START, {"sampledThread", THREAD, POOL}, WHERE, {"state", STATE, POOL}}},
    {CPU_TIME,
     "jdk.CPUTimeSample",
     "jdk.jfr.Event",
     "CPU Time Sample",
     {START, WHERE, WHO, {"failed", BOOLEAN, 0}, {"samplingPeriod", LONG, SPAN}, {"biased", BOOLEAN, 0}}},
    {ALLOCATION,
     "jdk.ObjectAllocationSample",
     "jdk.jfr.Event",
     "Object Allocation Sample",
     {START, WHO, WHERE, {"objectClass", CLASS, POOL}, {"weight", LONG, BYTES}}},
    {ENTER,
     "jdk.JavaMonitorEnter",
     "jdk.jfr.Event",
     "Java Monitor Blocked",
     {START, LENGTH, WHO, WHERE, {"monitorClass", CLASS, POOL}, {"previousOwner", THREAD, POOL}, {"address", LONG, 0}}},
    {WAIT,
     "jdk.JavaMonitorWait",
     "jdk.jfr.Event",
     "Java Monitor Wait",
     {START,
      LENGTH,
      WHO,
      WHERE,
      {"monitorClass", CLASS, POOL},
      {"notifier", THREAD, POOL},
      {"timeout", LONG, 0},
      {"timedOut", BOOLEAN, 0},
      {"address", LONG, 0}}},
    {PARK,
     "jdk.ThreadPark",
     "jdk.jfr.Event",
     "Java Thread Park",
     {START, LENGTH, WHO, WHERE, {"parkedClass", CLASS, POOL}, {"timeout", LONG, 0}, {"until", LONG, 0}, {"address", LONG, 0}}},
    {WALL, "hprofx.WallClock", "jdk.jfr.Event", "Wall Clock", {START, LENGTH, WHO, WHERE, {"state", STRING, 0}}},
    {COLLECTION,
     "jdk.GarbageCollection",
     "jdk.jfr.Event",
     "Garbage Collection",
     {START,
      LENGTH,
      {"gcId", INT, 0},
      {"name", GC_NAME, POOL},
      {"cause", GC_CAUSE, POOL},
      {"sumOfPauses", LONG, SPAN},
      {"longestPause", LONG, SPAN}}},
    {PAUSE, "jdk.GCPhasePause", "jdk.jfr.Event", "GC Phase Pause", {START, LENGTH, WHO, {"gcId", INT, 0}, {"name", STRING, 0}}},
    {SETTING,
     "jdk.ActiveSetting",
     "jdk.jfr.Event",
     "Recording Setting",
     {START, LENGTH, WHO, WHERE, {"id", LONG, 0}, {"name", STRING, 0}, {"value", STRING, 0}}},
    {JVM, "jdk.JVMInformation", "jdk.jfr.Event", "JVM Information", {START, {"javaArguments", STRING, 0}, {"pid", LONG, 0}}},
};

/* ---- bytes: of what is below 2^63, the integers of JFR are those of protocol buffers ---- */

static void put_text(struct hpx_pb *m, const char *text, size_t n)
{
    hpx_pb_raw(m, n == 0 ? 1 : 3); /* empty, or UTF-8 */
    if (n > 0) {
        hpx_pb_raw(m, n);
        hpx_pb_append(m, text, n);
    }
}

static void put_string(struct hpx_pb *m, const char *text)
{
    put_text(m, text, strlen(text));
}

/* An event with its size, which has four bytes of seven bits. One that is larger counts as no memory: its stack has names of megabytes. */
static void put_event(struct hpx_pb *to, const struct hpx_pb *event)
{
    if (event->len > MOST_BYTES - 4) {
        to->no_memory = true;
        return;
    }
    uint32_t n = (uint32_t)event->len + 4;
    const uint8_t size[4] = {(uint8_t)(n | 0x80), (uint8_t)(n >> 7 | 0x80), (uint8_t)(n >> 14 | 0x80), (uint8_t)(n >> 21 & 0x7f)};
    hpx_pb_append(to, size, sizeof size);
    hpx_pb_append(to, event->bytes, event->len);
    to->no_memory |= event->no_memory;
}

/* ---- metadata: elements with attributes, whose words are numbered ---- */

struct words {
    struct hpx_pb bytes; /* of the strings */
    const char *of[512];
    size_t n;
};

static void word(struct hpx_pb *m, struct words *w, const char *text)
{
    size_t i = 0;
    while (i < w->n && strcmp(w->of[i], text) != 0) {
        i++;
    }
    if (i == w->n && w->n < sizeof w->of / sizeof w->of[0]) {
        w->of[w->n++] = text;
        put_string(&w->bytes, text);
    }
    hpx_pb_raw(m, i);
}

static const char *number_word(unsigned n)
{
    static char texts[100][4];
    (void)snprintf(texts[n], sizeof texts[n], "%u", n);
    return texts[n];
}

static void attribute(struct hpx_pb *m, struct words *w, const char *key, const char *value)
{
    word(m, w, key);
    word(m, w, value);
}

static void annotation(struct hpx_pb *m, struct words *w, enum type type, const char *value)
{
    word(m, w, "annotation");
    hpx_pb_raw(m, 2);
    attribute(m, w, "class", number_word(type));
    attribute(m, w, "value", value);
    hpx_pb_raw(m, 0);
}

static void put_field(struct hpx_pb *m, struct words *w, const struct field *f)
{
    word(m, w, "field");
    hpx_pb_raw(m, 2 + ((f->flags & POOL) != 0) + ((f->flags & ARRAY) != 0));
    attribute(m, w, "name", f->name);
    attribute(m, w, "class", number_word(f->type));
    if ((f->flags & POOL) != 0) {
        attribute(m, w, "constantPool", "true");
    }
    if ((f->flags & ARRAY) != 0) {
        attribute(m, w, "dimension", "1");
    }
    hpx_pb_raw(m, (f->flags & (TICKS | SPAN | BYTES)) != 0);
    if ((f->flags & TICKS) != 0) {
        annotation(m, w, TIMESTAMP, "TICKS");
    } else if ((f->flags & SPAN) != 0) {
        annotation(m, w, TIMESPAN, "TICKS");
    } else if ((f->flags & BYTES) != 0) {
        annotation(m, w, AMOUNT, "BYTES");
    }
}

static void put_type(struct hpx_pb *m, struct words *w, size_t i)
{
    size_t n = 0;
    while (n < sizeof types[i].fields / sizeof types[i].fields[0] && types[i].fields[n].name != NULL) {
        n++;
    }
    /* Readers take the field of such a type for the value itself. */
    bool simple = types[i].type == SYMBOL || types[i].type == FRAME_TYPE || types[i].type == STATE || types[i].type == GC_NAME ||
                  types[i].type == GC_CAUSE;
    word(m, w, "class");
    hpx_pb_raw(m, 2 + (types[i].super != NULL) + simple);
    attribute(m, w, "id", number_word(types[i].type));
    attribute(m, w, "name", types[i].name);
    if (types[i].super != NULL) {
        attribute(m, w, "superType", types[i].super);
    }
    if (simple) {
        attribute(m, w, "simpleType", "true");
    }
    hpx_pb_raw(m, n + (types[i].label != NULL));
    for (size_t k = 0; k < n; k++) {
        put_field(m, w, &types[i].fields[k]);
    }
    if (types[i].label != NULL) {
        annotation(m, w, LABEL, types[i].label);
    }
}

static void put_metadata(struct hpx_pb *to)
{
    struct hpx_pb elements = {NULL, 0, 0, false}, event = {NULL, 0, 0, false};
    struct words w = {.n = 0};
    word(&elements, &w, "root");
    hpx_pb_raw(&elements, 0);
    hpx_pb_raw(&elements, 2);
    word(&elements, &w, "metadata");
    hpx_pb_raw(&elements, 0);
    hpx_pb_raw(&elements, sizeof types / sizeof types[0]);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        put_type(&elements, &w, i);
    }
    word(&elements, &w, "region");
    hpx_pb_raw(&elements, 2);
    attribute(&elements, &w, "locale", "en_US");
    attribute(&elements, &w, "gmtOffset", "0");
    hpx_pb_raw(&elements, 0);
    for (int i = 0; i < 3; i++) { /* type, time, length */
        hpx_pb_raw(&event, 0);
    }
    hpx_pb_raw(&event, 1); /* the number of these metadata */
    hpx_pb_raw(&event, w.n);
    hpx_pb_append(&event, w.bytes.bytes, w.bytes.len);
    hpx_pb_append(&event, elements.bytes, elements.len);
    event.no_memory |= w.bytes.no_memory || elements.no_memory;
    put_event(to, &event);
    hpx_pb_free(&elements);
    hpx_pb_free(&event);
    hpx_pb_free(&w.bytes);
}

/* ---- a chunk ---- */

struct jfr {
    const struct hpx_tree *tree;
    FILE *to;
    struct hpx_pb events, event;                            /* of the chunk; the one that is made */
    struct hpx_numbering stacks, methods, classes, threads; /* of nodes; of names */
    struct hpx_numbering symbols;                           /* of names, behind which stand the two that no name has */
    size_t constants;                                       /* about how many bytes they have */
    uint64_t begin_ns;                                      /* ticks are ns since then */
    uint64_t chunk_ns, last_ns;                             /* when the chunk begins, and what is its last event's end */
};

static const char *text_of(const struct jfr *j, uint32_t name)
{
    return hpx_tree_text(j->tree, name);
}

/* Where the method begins in the name of a frame; 0: it is no method of a class. */
static size_t method_at(const char *name)
{
    size_t n = strcspn(name, "(");
    while (n > 0 && name[n - 1] != '.') {
        n--;
    }
    return n > 1 && memchr(name, '/', n) == NULL && name[0] != '[' ? n : 0;
}

/* Of a class that is no array; how many bytes that is. */
static size_t internal_name(char to[NAME], const char *name, size_t n, char divider)
{
    size_t len = n < NAME ? n : NAME;
    for (size_t i = 0; i < len; i++) {
        to[i] = (char)(name[i] == '.' ? divider : name[i]);
    }
    return len;
}

/* As the JVM has it: java/lang/String, [I. */
static void put_class_name(struct hpx_pb *m, const char *name, size_t n)
{
    static const char *const primitives[] = {"boolean", "byte", "char", "double", "float", "int", "long", "short"};
    static const char letters[] = "ZBCDFIJS";
    char text[256 + NAME + 2];
    size_t at = 0;
    for (; n >= 2 && name[n - 2] == '[' && name[n - 1] == ']' && at < 255; n -= 2) {
        text[at++] = '[';
    }
    for (size_t i = 0; i < sizeof letters - 1 && at > 0; i++) {
        if (strlen(primitives[i]) == n && memcmp(primitives[i], name, n) == 0) {
            text[at++] = letters[i];
            put_text(m, text, at);
            return;
        }
    }
    const bool array = at > 0;
    if (array) {
        text[at++] = 'L';
    }
    at += internal_name(text + at, name, n, '/');
    if (array) {
        text[at++] = ';';
    }
    put_text(m, text, at);
}

static uint32_t stack_of(struct jfr *j, uint32_t node)
{
    size_t before = hpx_numbered(&j->stacks);
    uint32_t n = node != 0 ? hpx_number(&j->stacks, node) : 0;
    for (uint32_t at = node; at != 0 && hpx_numbered(&j->stacks) > before; at = hpx_tree_node_at(j->tree, at)->parent) {
        size_t methods = hpx_numbered(&j->methods);
        uint32_t name = hpx_tree_frame_at(j->tree, hpx_tree_node_at(j->tree, at)->frame)->name;
        (void)hpx_number(&j->methods, name);
        j->constants += 8 + (hpx_numbered(&j->methods) > methods ? 32 + strlen(text_of(j, name)) : 0);
    }
    return n;
}

static uint32_t number_of(struct jfr *j, struct hpx_numbering *of, uint32_t name)
{
    size_t before = hpx_numbered(of);
    uint32_t n = name != 0 ? hpx_number(of, name) : 0;
    j->constants += hpx_numbered(of) > before ? 32 + strlen(text_of(j, name)) : 0;
    return n;
}

/* One without constants must not be there. */
static void pool(struct hpx_pb *m, enum type type, size_t n)
{
    if (n > 0) {
        hpx_pb_raw(m, type);
        hpx_pb_raw(m, n);
    }
}

static void put_stacks(struct jfr *j, struct hpx_pb *m)
{
    pool(m, STACK, hpx_numbered(&j->stacks));
    for (size_t i = 0; i < hpx_numbered(&j->stacks); i++) {
        size_t n = 0;
        uint32_t node = hpx_numbered_at(&j->stacks, i);
        for (uint32_t at = node; at != 0; at = hpx_tree_node_at(j->tree, at)->parent) {
            n++;
        }
        hpx_pb_raw(m, i + 1);
        hpx_pb_raw(m, n > DEEPEST);
        n = n < DEEPEST ? n : DEEPEST;
        hpx_pb_raw(m, n);
        for (; n > 0; n--, node = hpx_tree_node_at(j->tree, node)->parent) {
            const struct hpx_tree_frame *f = hpx_tree_frame_at(j->tree, hpx_tree_node_at(j->tree, node)->frame);
            hpx_pb_raw(m, hpx_number(&j->methods, f->name));
            hpx_pb_raw(m, (uint32_t)f->line);
            hpx_pb_raw(m, 0);
            hpx_pb_raw(m, 1);
        }
    }
}

/* A method's name and class are symbols of their own: 3 for each method, 1 for each class. The first is the descriptor of all. */
static void put_methods(const struct jfr *j, struct hpx_pb *m)
{
    const size_t methods = hpx_numbered(&j->methods), classes = hpx_numbered(&j->classes);
    pool(m, METHOD, methods);
    for (size_t i = 0; i < methods; i++) {
        hpx_pb_raw(m, i + 1);
        hpx_pb_raw(m, classes + i + 1);
        hpx_pb_raw(m, 2 + 2 * i);
        hpx_pb_raw(m, 1);
        hpx_pb_raw(m, 0);
        hpx_pb_raw(m, 0);
    }
    pool(m, CLASS, classes + methods);
    for (size_t i = 0; i < classes + methods; i++) {
        hpx_pb_raw(m, i + 1);
        hpx_pb_raw(m, 0);
        hpx_pb_raw(m, i < classes ? 2 + 2 * methods + i : 3 + 2 * (i - classes));
        hpx_pb_raw(m, 0);
        hpx_pb_raw(m, 0);
        hpx_pb_raw(m, 0);
    }
    pool(m, SYMBOL, 1 + 2 * methods + classes);
    hpx_pb_raw(m, 1);
    put_string(m, "()V");
    for (size_t i = 0; i < methods; i++) {
        const char *name = text_of(j, hpx_numbered_at(&j->methods, i));
        size_t at = method_at(name);
        hpx_pb_raw(m, 2 + 2 * i);
        put_string(m, name + at);
        hpx_pb_raw(m, 3 + 2 * i);
        char class[NAME], divider = strchr(name, '(') != NULL ? '.' : '/'; /* types of arguments have dots, too */
        put_text(m, class, internal_name(class, name, at > 0 ? at - 1 : 0, divider));
    }
    for (size_t i = 0; i < classes; i++) {
        const char *name = text_of(j, hpx_numbered_at(&j->classes, i));
        hpx_pb_raw(m, 2 + 2 * methods + i);
        put_class_name(m, name, strlen(name));
    }
}

static void put_threads(const struct jfr *j, struct hpx_pb *m)
{
    pool(m, THREAD, hpx_numbered(&j->threads));
    for (size_t i = 0; i < hpx_numbered(&j->threads); i++) {
        const uint32_t id = hpx_numbered_at(&j->threads, i); /* the same in every chunk */
        const char *name = text_of(j, id);
        hpx_pb_raw(m, i + 1);
        put_string(m, name);
        hpx_pb_raw(m, id);
        put_string(m, name);
        hpx_pb_raw(m, id);
        hpx_pb_raw(m, 0);
        hpx_pb_raw(m, 0);
    }
}

/* A constant of a text. */
static void put_one(struct hpx_pb *m, enum type type, const char *text)
{
    pool(m, type, 1);
    hpx_pb_raw(m, 1);
    put_string(m, text);
}

static void put_constants(struct jfr *j, struct hpx_pb *to)
{
    struct hpx_pb m = {NULL, 0, 0, false};
    hpx_pb_raw(&m, 1);            /* its type */
    for (int i = 0; i < 3; i++) { /* time, length, how far it is to the one before: there is none */
        hpx_pb_raw(&m, 0);
    }
    const size_t methods = hpx_numbered(&j->methods), classes = methods + hpx_numbered(&j->classes);
    hpx_pb_raw(&m, 0);
    hpx_pb_raw(&m, 4 + (size_t)(hpx_numbered(&j->stacks) > 0) + (methods > 0) + (classes > 0) + (hpx_numbered(&j->threads) > 0) +
                       (hpx_numbered(&j->symbols) > 0));
    put_stacks(j, &m);
    put_methods(j, &m);
    put_threads(j, &m);
    put_one(&m, FRAME_TYPE, "Unknown");
    put_one(&m, STATE, "STATE_RUNNABLE");
    pool(&m, GC_NAME, hpx_numbered(&j->symbols));
    for (size_t i = 0; i < hpx_numbered(&j->symbols); i++) {
        hpx_pb_raw(&m, i + 1);
        put_string(&m, text_of(j, hpx_numbered_at(&j->symbols, i)));
    }
    put_one(&m, GC_CAUSE, "Unknown");
    put_event(to, &m);
    hpx_pb_free(&m);
}

/* false: no memory. */
static bool end_chunk(struct jfr *j)
{
    struct hpx_pb metadata = {NULL, 0, 0, false}, constants = {NULL, 0, 0, false};
    struct hpx_numbering *of[] = {&j->stacks, &j->methods, &j->classes, &j->threads, &j->symbols};
    uint8_t head[HEAD] = {'F', 'L', 'R', 0, 0, 2, 0, 1};
    put_metadata(&metadata);
    put_constants(j, &constants);
    uint64_t behind = HEAD + metadata.len + j->events.len, length = j->last_ns > j->chunk_ns ? j->last_ns - j->chunk_ns : 0;
    uint8_t *at = head + 8;
    at = hpx_put_be8(at, behind + constants.len);
    at = hpx_put_be8(at, behind);
    at = hpx_put_be8(at, HEAD);
    at = hpx_put_be8(at, j->chunk_ns);
    at = hpx_put_be8(at, length);
    at = hpx_put_be8(at, j->chunk_ns - j->begin_ns);
    at = hpx_put_be8(at, UINT64_C(1000000000));
    (void)hpx_put_be4(at, 1); /* integers are short */
    (void)fwrite(head, 1, sizeof head, j->to);
    (void)fwrite(metadata.bytes, 1, metadata.len, j->to);
    (void)fwrite(j->events.bytes, 1, j->events.len, j->to);
    (void)fwrite(constants.bytes, 1, constants.len, j->to);
    bool all = !metadata.no_memory && !constants.no_memory && !j->events.no_memory;
    hpx_pb_free(&metadata);
    hpx_pb_free(&constants);
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        all = all && !of[i]->no_memory;
        hpx_numbering_clear(of[i]);
    }
    j->events.len = 0;
    j->constants = 0;
    j->chunk_ns = j->last_ns;
    return all;
}

/* ---- events ---- */

static void begin(struct jfr *j, enum type type, uint64_t at_ns, uint64_t ns)
{
    j->event.len = 0;
    hpx_pb_raw(&j->event, type);
    hpx_pb_raw(&j->event, at_ns > j->begin_ns ? at_ns - j->begin_ns : 0);
    j->last_ns = at_ns + ns > j->last_ns ? at_ns + ns : j->last_ns;
}

static void end(struct jfr *j)
{
    put_event(&j->events, &j->event);
}

/* What a view becomes. */
struct kind {
    enum hpx_view_kind view;
    enum type type;
    size_t count, amount; /* values of the view; HPX_TREE_VALUES: it has none */
};

static const struct kind kinds[] = {{HPX_VIEW_CPU, EXECUTION, 0, 1},
                                    {HPX_VIEW_WALL, WALL, HPX_TREE_VALUES, 0},
                                    {HPX_VIEW_ALLOC, ALLOCATION, HPX_TREE_VALUES, 1},
                                    {HPX_VIEW_LOCK, ENTER, 0, 1},
                                    {HPX_VIEW_WAIT, WAIT, 0, 1},
                                    {HPX_VIEW_PARK, PARK, 0, 1}};
enum { KINDS = sizeof kinds / sizeof kinds[0], FLOWS = 2 * KINDS };

static uint64_t length_of(const struct hpx_tree *t)
{
    const uint64_t ms = t->times_to_ms > t->times_from_ms ? t->times_to_ms - t->times_from_ms : t->duration_ms;
    return (ms < MOST_MS ? ms : MOST_MS) * NS_PER_MS;
}

/* Events one after the other: those of a view's moments, or those of what its samples have beyond them. */
struct flow {
    const struct kind *kind;
    const struct hpx_tree_view *view;
    bool timed, threads;
    uint64_t *left;         /* as the numbers of the view's samples: what no moment had so far */
    const uint64_t *rest;   /* likewise, behind all moments */
    uint64_t longest_ns;    /* of an event without a time of the wall clock, which adds up threads; 0: any */
    uint64_t each;          /* how many of a count an event stands for */
    size_t at;              /* sample or moment */
    uint64_t count, amount; /* its own */
    uint64_t of, n;         /* how many events that is, and which is next */
    uint64_t done, all;     /* without times */
    uint64_t next_ns;       /* when the next is; UINT64_MAX: there is none */
};

static size_t length_of_flow(const struct flow *f)
{
    return f->timed ? f->view->moments.len : f->view->samples.len;
}

static uint64_t cut(uint64_t *left, uint64_t value)
{
    const uint64_t v = value < *left ? value : *left;
    *left -= v;
    return v;
}

/* No moment has more than is left of its sample. Time beyond all moments with nothing to count is the last one's: an event more would be a
 * wait more. */
static void take_moment(struct flow *f)
{
    const struct kind *k = f->kind;
    const struct hpx_tree_moment *m = hpx_tree_moment_at(f->view, f->at);
    const uint64_t *values = hpx_tree_moment_values_at(f->view, f->at);
    const size_t sample = hpx_timed_sample(f->view, m->node, f->threads ? m->thread : 0), at = sample * f->view->values;
    f->count = f->amount = 0;
    if (sample == f->view->samples.len) {
        return;
    }
    f->amount = cut(&f->left[at + k->amount], values[k->amount]);
    if (k->count < f->view->values) {
        f->count = cut(&f->left[at + k->count], values[k->count]);
        bool last = f->rest != NULL && f->count > 0 && f->left[at + k->count] == 0 && f->rest[at + k->count] == 0;
        f->amount += last ? f->rest[at + k->amount] : 0;
    }
}

static void take_rest(struct flow *f)
{
    const struct kind *k = f->kind;
    const size_t at = f->at * f->view->values;
    const bool counts = k->count < f->view->values;
    f->count = counts ? f->left[at + k->count] : 0;
    f->amount = counts && f->count == 0 && hpx_tree_values_at(f->view, f->at)[k->count] > 0 ? 0 : f->left[at + k->amount];
    f->count = f->longest_ns > 0 ? f->amount / f->longest_ns + (f->amount % f->longest_ns != 0) : f->count;
}

/* How many events the next moment or sample is. */
static uint64_t take(struct flow *f)
{
    (f->timed ? take_moment : take_rest)(f);
    return f->count / f->each + (f->count % f->each != 0 || (f->count == 0 && f->amount > 0));
}

static void find_next(const struct jfr *j, struct flow *f)
{
    const size_t len = length_of_flow(f);
    while (f->at < len && f->n == f->of) {
        f->of = take(f);
        f->n = 0;
        f->at += f->of == 0;
    }
    if (f->at == len) {
        f->next_ns = UINT64_MAX;
    } else if (f->timed) {
        const struct hpx_tree_moment *m = hpx_tree_moment_at(f->view, f->at);
        double unit = m->unit_ms > 1 ? (double)m->unit_ms * (double)NS_PER_MS * ((double)f->n + 0.5) / (double)f->of : 0;
        f->next_ns = m->at_ms * NS_PER_MS + (uint64_t)unit;
    } else {
        double share = ((double)f->done + 0.5) / (double)f->all;
        f->next_ns = j->begin_ns + (uint64_t)(share * (double)length_of(j->tree));
    }
}

static uint64_t each_of(const struct kind *k, const struct hpx_tree_view *v, uint64_t longest_ns)
{
    double count = 0; /* more than totals hold */
    for (size_t i = 0; i < v->samples.len; i++) {
        const uint64_t *values = hpx_tree_values_at(v, i);
        count += k->count < v->values ? (double)values[k->count] : longest_ns > 0 ? (double)values[k->amount] / (double)longest_ns : 0;
    }
    count /= (double)MOST_EVENTS;
    return count <= 1 ? 1 : count < (double)INT64_MAX ? (uint64_t)count + 1 : UINT64_MAX;
}

static uint64_t *numbers_of(const struct hpx_tree_view *v)
{
    uint64_t *of = calloc(v->samples.len * v->values + 1, sizeof *of);
    if (of != NULL && v->samples.len > 0) {
        memcpy(of, v->numbers.items, v->samples.len * v->values * sizeof *of);
    }
    return of;
}

/* false: no memory. The caller frees `left` of both in any case. */
static bool begin_flows(const struct jfr *j, struct flow *timed, struct flow *rest, const struct kind *k)
{
    const struct hpx_tree_view *v = &j->tree->views[k->view];
    struct flow f = {.kind = k, .view = v, .threads = hpx_tree_has_threads(v), .left = numbers_of(v)};
    f.longest_ns = k->type == WALL ? length_of(j->tree) : 0;
    f.each = each_of(k, v, f.longest_ns);
    *rest = *timed = f;
    timed->timed = true;
    timed->left = numbers_of(v);
    if (rest->left == NULL || timed->left == NULL) {
        return false;
    }
    f.timed = true;
    for (; f.at < v->moments.len; f.at++) {
        take_moment(&f);
    }
    timed->rest = rest->left;
    for (; rest->at < v->samples.len; rest->at++) {
        rest->all += take(rest);
    }
    rest->at = 0;
    find_next(j, timed);
    find_next(j, rest);
    return true;
}

/* The n-th of `of` parts that add up to `all`. */
static uint64_t part(uint64_t all, uint64_t n, uint64_t of)
{
    return all / of + (n < all % of);
}

static void put_sample(struct jfr *j, uint64_t at_ns, uint32_t stack, uint32_t thread, uint64_t period)
{
    begin(j, EXECUTION, at_ns, 0);
    hpx_pb_raw(&j->event, thread);
    hpx_pb_raw(&j->event, stack);
    hpx_pb_raw(&j->event, 1);
    end(j);
    if (j->tree->views[HPX_VIEW_CPU].totals[1] > 0) { /* else no sample has any; readers take one kind of them */
        begin(j, CPU_TIME, at_ns, 0);
        hpx_pb_raw(&j->event, stack);
        hpx_pb_raw(&j->event, thread);
        hpx_pb_raw(&j->event, 0);
        hpx_pb_raw(&j->event, period);
        hpx_pb_raw(&j->event, 0);
        end(j);
    }
}

/* class: a name; what is behind it in the event is not known. */
static void put_rest(struct jfr *j, const struct flow *f, uint32_t class, uint64_t amount)
{
    static const size_t unknown[] = {[ENTER] = 2, [WAIT] = 4, [PARK] = 3};
    if (f->kind->type == WALL) {
        put_string(&j->event, text_of(j, class));
        return;
    }
    hpx_pb_raw(&j->event, number_of(j, &j->classes, class));
    if (f->kind->type == ALLOCATION) {
        hpx_pb_raw(&j->event, amount);
        return;
    }
    for (size_t i = 0; i < unknown[f->kind->type]; i++) {
        hpx_pb_raw(&j->event, 0);
    }
}

static void put_next(struct jfr *j, struct flow *f)
{
    const struct hpx_tree_moment *m = f->timed ? hpx_tree_moment_at(f->view, f->at) : NULL;
    uint32_t node = m != NULL ? m->node : hpx_tree_sample_at(f->view, f->at)->node,
             thread = number_of(j, &j->threads, m != NULL ? m->thread : hpx_tree_sample_at(f->view, f->at)->thread), class = 0;
    uint64_t amount = part(f->amount, f->n, f->of);
    amount = amount <= INT64_MAX ? amount : INT64_MAX;
    if (f->kind->type == EXECUTION) {
        put_sample(j, f->next_ns, stack_of(j, node), thread, amount);
    } else {
        const struct hpx_tree_frame *frame = hpx_tree_frame_at(j->tree, hpx_tree_node_at(j->tree, node)->frame);
        if (node != 0 && frame->kind == HPX_FRAME_CLASS) {
            class = frame->name;
            node = hpx_tree_node_at(j->tree, node)->parent;
        }
        bool lasts = f->kind->type != ALLOCATION;
        uint64_t before = lasts && (m == NULL || m->lasted) ? amount : 0,
                 at = f->next_ns - j->begin_ns > before ? f->next_ns - before : j->begin_ns;
        begin(j, f->kind->type, at, lasts ? amount : 0);
        if (lasts) {
            hpx_pb_raw(&j->event, amount);
        }
        hpx_pb_raw(&j->event, thread);
        hpx_pb_raw(&j->event, stack_of(j, node));
        put_rest(j, f, class, amount);
        end(j);
    }
    f->n++;
    f->done++;
    f->at += f->n == f->of;
    f->of = f->n == f->of ? 0 : f->of;
    f->n = f->of == 0 ? 0 : f->n;
    find_next(j, f);
}

/* ---- what is known of the run ---- */

static void put_setting(struct jfr *j, const char *name, const char *value)
{
    if (value != NULL && value[0] != '\0') {
        begin(j, SETTING, j->begin_ns, 0);
        for (int i = 0; i < 3; i++) { /* length, thread, stack */
            hpx_pb_raw(&j->event, 0);
        }
        hpx_pb_raw(&j->event, SETTING);
        put_string(&j->event, name);
        put_string(&j->event, value);
        end(j);
    }
}

static void put_number(struct jfr *j, const char *name, uint64_t value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, value);
    put_setting(j, name, value > 0 ? text : NULL);
}

static void put_facts(struct jfr *j)
{
    const struct hpx_tree *t = j->tree;
    put_setting(j, "hprofx", HPX_VERSION);
    put_number(j, "interval", t->interval_ns);
    put_number(j, "effective samples", t->effective);
    put_number(j, "allocations", t->sampled);
    put_setting(j, "lost", text_of(j, t->lost));
    put_setting(j, "own CPU time", text_of(j, t->own));
    put_setting(j, "older", text_of(j, t->older));
    put_setting(j, "replaced by the VM", text_of(j, t->replaced));
    put_setting(j, "filtered", text_of(j, t->filtered));
    put_setting(j, "before filters", text_of(j, t->unfiltered));
    put_setting(j, "host", text_of(j, t->origin.host));
    put_setting(j, "service version", text_of(j, t->origin.version));
    put_setting(j, "verdict", t->verdict);
    if (t->origin.pid != 0) {
        begin(j, JVM, j->begin_ns, 0);
        put_string(&j->event, text_of(j, t->origin.service));
        hpx_pb_raw(&j->event, t->origin.pid);
        end(j);
    }
}

/* A collection for each pause: it was as long at least. */
static void put_pause(struct jfr *j, size_t i)
{
    const struct hpx_tree_pause *p = (const struct hpx_tree_pause *)j->tree->pauses.items + i;
    uint64_t ns = p->ns <= INT64_MAX ? p->ns : 0, end_ns = p->at_ms * NS_PER_MS,
             at = end_ns > hpx_tree_sum(j->begin_ns, ns) ? end_ns - ns : j->begin_ns;
    begin(j, COLLECTION, at, ns);
    hpx_pb_raw(&j->event, ns);
    hpx_pb_raw(&j->event, (uint32_t)i);
    hpx_pb_raw(&j->event, number_of(j, &j->symbols, p->name));
    hpx_pb_raw(&j->event, 1);
    hpx_pb_raw(&j->event, ns);
    hpx_pb_raw(&j->event, ns);
    end(j);
    begin(j, PAUSE, at, ns);
    hpx_pb_raw(&j->event, ns);
    hpx_pb_raw(&j->event, 0);
    hpx_pb_raw(&j->event, (uint32_t)i);
    put_string(&j->event, "GC Pause");
    end(j);
}

static uint64_t pause_at(const struct jfr *j, size_t i)
{
    return i < j->tree->pauses.len ? ((const struct hpx_tree_pause *)j->tree->pauses.items)[i].at_ms * NS_PER_MS : UINT64_MAX;
}

/* What the earliest moment needs, if the file tells another begin. */
static uint64_t begin_of(const struct hpx_tree *t)
{
    uint64_t ms = t->times_from_ms != 0 ? t->times_from_ms : t->start_ms;
    for (size_t i = 0; i < KINDS; i++) {
        const struct hpx_tree_view *v = &t->views[kinds[i].view];
        ms = v->moments.len > 0 && hpx_tree_moment_at(v, 0)->at_ms < ms ? hpx_tree_moment_at(v, 0)->at_ms : ms;
    }
    return ms * NS_PER_MS;
}

static bool put_events(struct jfr *j)
{
    struct flow flows[FLOWS];
    size_t pauses = 0;
    bool all = true;
    for (size_t i = 0; i < KINDS; i++) {
        all = begin_flows(j, &flows[2 * i], &flows[2 * i + 1], &kinds[i]) && all;
    }
    while (all) {
        struct flow *first = &flows[0];
        for (size_t i = 1; i < FLOWS; i++) {
            first = flows[i].next_ns < first->next_ns ? &flows[i] : first;
        }
        if (first->next_ns == UINT64_MAX && pauses == j->tree->pauses.len) {
            break;
        }
        if (pause_at(j, pauses) <= first->next_ns && pauses < j->tree->pauses.len) {
            put_pause(j, pauses++);
        } else {
            put_next(j, first);
        }
        if (j->events.len > CHUNK_BYTES || j->constants > CHUNK_BYTES) {
            all = end_chunk(j);
        }
    }
    for (size_t i = 0; i < FLOWS; i++) {
        free(flows[i].left);
    }
    return all;
}

bool hpx_write_jfr(const struct hpx_tree *t, struct hpx_tree_column c, FILE *to)
{
    struct jfr j = {.tree = t, .to = to};
    struct hpx_numbering *of[] = {&j.stacks, &j.methods, &j.classes, &j.threads, &j.symbols};
    (void)c;
    bool all = hpx_numbering_init(&j.stacks, t->nodes.len);
    for (size_t i = 1; i < sizeof of / sizeof of[0]; i++) {
        all = hpx_numbering_init(of[i], t->names.len) && all;
    }
    j.begin_ns = j.chunk_ns = begin_of(t);
    j.last_ns = j.begin_ns;
    if (all) {
        put_facts(&j);
        all = put_events(&j);
        j.last_ns = j.begin_ns + length_of(t) > j.last_ns ? j.begin_ns + length_of(t) : j.last_ns;
        all = all && end_chunk(&j);
    }
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        hpx_numbering_fini(of[i]);
    }
    hpx_pb_free(&j.events);
    hpx_pb_free(&j.event);
    return all;
}
