/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr_metadata.c: see jfr_metadata.h. */
#include "jfr_metadata.h"
#include <stdio.h>
#include <string.h>

enum flag { POOL = 1, ARRAY = 2, TICKS = 4, SPAN = 8, BYTES = 16 };

struct field {
    const char *name; /* NULL: no more */
    enum hpx_jfr_t type;
    unsigned flags;
};

#define START                                                                                                                              \
    {                                                                                                                                      \
        "startTime", HPX_JFR_T_LONG, TICKS                                                                                                 \
    }
#define LENGTH                                                                                                                             \
    {                                                                                                                                      \
        "duration", HPX_JFR_T_LONG, SPAN                                                                                                   \
    }
#define WHO                                                                                                                                \
    {                                                                                                                                      \
        "eventThread", HPX_JFR_T_THREAD, POOL                                                                                              \
    }
#define TIMED                                                                                                                              \
    {                                                                                                                                      \
        "timed", HPX_JFR_T_BOOLEAN, 0                                                                                                      \
    }
#define WHERE                                                                                                                              \
    {                                                                                                                                      \
        "stackTrace", HPX_JFR_T_STACK, POOL                                                                                                \
    }

static const struct {
    enum hpx_jfr_t type;
    const char *name, *super, *label;
    struct field fields[12];
} types[] = {
    {HPX_JFR_T_BOOLEAN, "boolean", NULL, NULL, {{NULL, 0, 0}}},
    {HPX_JFR_T_BYTE, "byte", NULL, NULL, {{NULL, 0, 0}}},
    {HPX_JFR_T_INT, "int", NULL, NULL, {{NULL, 0, 0}}},
    {HPX_JFR_T_LONG, "long", NULL, NULL, {{NULL, 0, 0}}},
    {HPX_JFR_T_STRING, "java.lang.String", NULL, NULL, {{NULL, 0, 0}}},
    {HPX_JFR_T_CLASS,
     "java.lang.Class",
     NULL,
     NULL,
     {{"classLoader", HPX_JFR_T_LOADER, POOL},
      {"name", HPX_JFR_T_SYMBOL, POOL},
      {"package", HPX_JFR_T_PACKAGE, POOL},
      {"modifiers", HPX_JFR_T_INT, 0},
      {"hidden", HPX_JFR_T_BOOLEAN, 0}}},
    {HPX_JFR_T_THREAD,
     "java.lang.Thread",
     NULL,
     NULL,
     {{"osName", HPX_JFR_T_STRING, 0},
      {"osThreadId", HPX_JFR_T_LONG, 0},
      {"javaName", HPX_JFR_T_STRING, 0},
      {"javaThreadId", HPX_JFR_T_LONG, 0},
      {"group", HPX_JFR_T_THREAD_GROUP, POOL}}},
    {HPX_JFR_T_THREAD_GROUP,
     "jdk.types.ThreadGroup",
     NULL,
     NULL,
     {{"parent", HPX_JFR_T_THREAD_GROUP, POOL}, {"name", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_LOADER, "jdk.types.ClassLoader", NULL, NULL, {{"type", HPX_JFR_T_CLASS, POOL}, {"name", HPX_JFR_T_SYMBOL, POOL}}},
    {HPX_JFR_T_PACKAGE, "jdk.types.Package", NULL, NULL, {{"name", HPX_JFR_T_SYMBOL, POOL}}},
    {HPX_JFR_T_SYMBOL, "jdk.types.Symbol", NULL, NULL, {{"string", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_METHOD,
     "jdk.types.Method",
     NULL,
     NULL,
     {{"type", HPX_JFR_T_CLASS, POOL},
      {"name", HPX_JFR_T_SYMBOL, POOL},
      {"descriptor", HPX_JFR_T_SYMBOL, POOL},
      {"modifiers", HPX_JFR_T_INT, 0},
      {"hidden", HPX_JFR_T_BOOLEAN, 0}}},
    {HPX_JFR_T_FRAME,
     "jdk.types.StackFrame",
     NULL,
     NULL,
     {{"method", HPX_JFR_T_METHOD, POOL},
      {"lineNumber", HPX_JFR_T_INT, 0},
      {"bytecodeIndex", HPX_JFR_T_INT, 0},
      {"type", HPX_JFR_T_FRAME_TYPE, POOL}}},
    {HPX_JFR_T_FRAME_TYPE, "jdk.types.FrameType", NULL, NULL, {{"description", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_STACK, "jdk.types.StackTrace", NULL, NULL, {{"truncated", HPX_JFR_T_BOOLEAN, 0}, {"frames", HPX_JFR_T_FRAME, ARRAY}}},
    {HPX_JFR_T_STATE, "jdk.types.ThreadState", NULL, NULL, {{"name", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_GC_NAME, "jdk.types.GCName", NULL, NULL, {{"name", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_GC_CAUSE, "jdk.types.GCCause", NULL, NULL, {{"cause", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_TIMESTAMP, "jdk.jfr.Timestamp", "java.lang.annotation.Annotation", NULL, {{"value", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_TIMESPAN, "jdk.jfr.Timespan", "java.lang.annotation.Annotation", NULL, {{"value", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_AMOUNT, "jdk.jfr.DataAmount", "java.lang.annotation.Annotation", NULL, {{"value", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_LABEL, "jdk.jfr.Label", "java.lang.annotation.Annotation", NULL, {{"value", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_EXECUTION,
     "jdk.ExecutionSample",
     "jdk.jfr.Event",
     "Method Profiling Sample",
     {START, {"sampledThread", HPX_JFR_T_THREAD, POOL}, WHERE, {"state", HPX_JFR_T_STATE, POOL}, TIMED}},
    {HPX_JFR_T_CPU_TIME,
     "jdk.CPUTimeSample",
     "jdk.jfr.Event",
     "CPU Time Sample",
     {START,
      WHERE,
      WHO,
      {"failed", HPX_JFR_T_BOOLEAN, 0},
      {"samplingPeriod", HPX_JFR_T_LONG, SPAN},
      {"biased", HPX_JFR_T_BOOLEAN, 0},
      TIMED}},
    {HPX_JFR_T_ALLOCATION,
     "jdk.ObjectAllocationSample",
     "jdk.jfr.Event",
     "Object Allocation Sample",
     {START, WHO, WHERE, {"objectClass", HPX_JFR_T_CLASS, POOL}, {"weight", HPX_JFR_T_LONG, BYTES}, TIMED}},
    {HPX_JFR_T_ENTER,
     "jdk.JavaMonitorEnter",
     "jdk.jfr.Event",
     "Java Monitor Blocked",
     {START,
      LENGTH,
      WHO,
      WHERE,
      {"monitorClass", HPX_JFR_T_CLASS, POOL},
      {"previousOwner", HPX_JFR_T_THREAD, POOL},
      {"address", HPX_JFR_T_LONG, 0},
      TIMED}},
    {HPX_JFR_T_WAIT,
     "jdk.JavaMonitorWait",
     "jdk.jfr.Event",
     "Java Monitor Wait",
     {START,
      LENGTH,
      WHO,
      WHERE,
      {"monitorClass", HPX_JFR_T_CLASS, POOL},
      {"notifier", HPX_JFR_T_THREAD, POOL},
      {"timeout", HPX_JFR_T_LONG, 0},
      {"timedOut", HPX_JFR_T_BOOLEAN, 0},
      {"address", HPX_JFR_T_LONG, 0},
      TIMED}},
    {HPX_JFR_T_PARK,
     "jdk.ThreadPark",
     "jdk.jfr.Event",
     "Java Thread Park",
     {START,
      LENGTH,
      WHO,
      WHERE,
      {"parkedClass", HPX_JFR_T_CLASS, POOL},
      {"timeout", HPX_JFR_T_LONG, 0},
      {"until", HPX_JFR_T_LONG, 0},
      {"address", HPX_JFR_T_LONG, 0},
      TIMED}},
    {HPX_JFR_T_WALL, "hprofx.WallClock", "jdk.jfr.Event", "Wall Clock", {START, LENGTH, WHO, WHERE, {"state", HPX_JFR_T_STRING, 0}, TIMED}},
    {HPX_JFR_T_COLLECTION,
     "jdk.GarbageCollection",
     "jdk.jfr.Event",
     "Garbage Collection",
     {START,
      LENGTH,
      {"gcId", HPX_JFR_T_INT, 0},
      {"name", HPX_JFR_T_GC_NAME, POOL},
      {"cause", HPX_JFR_T_GC_CAUSE, POOL},
      {"sumOfPauses", HPX_JFR_T_LONG, SPAN},
      {"longestPause", HPX_JFR_T_LONG, SPAN}}},
    {HPX_JFR_T_PAUSE,
     "jdk.GCPhasePause",
     "jdk.jfr.Event",
     "GC Phase Pause",
     {START, LENGTH, WHO, {"gcId", HPX_JFR_T_INT, 0}, {"name", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_SETTING,
     "jdk.ActiveSetting",
     "jdk.jfr.Event",
     "Recording Setting",
     {START, LENGTH, WHO, WHERE, {"id", HPX_JFR_T_LONG, 0}, {"name", HPX_JFR_T_STRING, 0}, {"value", HPX_JFR_T_STRING, 0}}},
    {HPX_JFR_T_JVM,
     "jdk.JVMInformation",
     "jdk.jfr.Event",
     "JVM Information",
     {START, {"javaArguments", HPX_JFR_T_STRING, 0}, {"pid", HPX_JFR_T_LONG, 0}}},
};

void hpx_jfr_put_text(struct hpx_pb *m, const char *text, size_t n)
{
    hpx_pb_raw(m, n == 0 ? 1 : 3); /* empty, or UTF-8 */
    if (n > 0) {
        hpx_pb_raw(m, n);
        hpx_pb_append(m, text, n);
    }
}

void hpx_jfr_put_string(struct hpx_pb *m, const char *text)
{
    hpx_jfr_put_text(m, text, strlen(text));
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
        hpx_jfr_put_string(&w->bytes, text);
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

static void annotation(struct hpx_pb *m, struct words *w, enum hpx_jfr_t type, const char *value)
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
        annotation(m, w, HPX_JFR_T_TIMESTAMP, "TICKS");
    } else if ((f->flags & SPAN) != 0) {
        annotation(m, w, HPX_JFR_T_TIMESPAN, "TICKS");
    } else if ((f->flags & BYTES) != 0) {
        annotation(m, w, HPX_JFR_T_AMOUNT, "BYTES");
    }
}

static void put_type(struct hpx_pb *m, struct words *w, size_t i)
{
    size_t n = 0;
    while (n < sizeof types[i].fields / sizeof types[i].fields[0] && types[i].fields[n].name != NULL) {
        n++;
    }
    /* Readers take the field of such a type for the value itself. */
    bool simple = types[i].type == HPX_JFR_T_SYMBOL || types[i].type == HPX_JFR_T_FRAME_TYPE || types[i].type == HPX_JFR_T_STATE ||
                  types[i].type == HPX_JFR_T_GC_NAME || types[i].type == HPX_JFR_T_GC_CAUSE;
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
        annotation(m, w, HPX_JFR_T_LABEL, types[i].label);
    }
}

void hpx_jfr_put_metadata(struct hpx_pb *event)
{
    struct hpx_pb elements = {NULL, 0, 0, false};
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
        hpx_pb_raw(event, 0);
    }
    hpx_pb_raw(event, 1); /* the number of these metadata */
    hpx_pb_raw(event, w.n);
    hpx_pb_append(event, w.bytes.bytes, w.bytes.len);
    hpx_pb_append(event, elements.bytes, elements.len);
    event->no_memory |= w.bytes.no_memory || elements.no_memory;
    hpx_pb_free(&elements);
    hpx_pb_free(&w.bytes);
}
