/* SPDX-License-Identifier: BSD-2-Clause */
/* jfr.c: see jfr.h. */
#include "jfr.h"
#include "big_endian.h"
#include "budget.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS_TO_SPARE (UINT64_C(1) << 20)
#define NS_PER_S       UINT64_C(1000000000)

__extension__ typedef unsigned __int128 u128;

/* The head of a chunk, the same in versions 1 and 2. */
enum {
    MAJOR = 4,
    SIZE = 8, /* 0: not yet known */
    START = 32,
    DURATION = 40,
    TICKS = 48,
    FREQUENCY = 56,
    STATE = 64, /* not 0: it is still being written; in early versions a part of the features, and 0 */
    FEATURES = 67,
    HEAD = 68
};
#define COMPRESSED 1

enum { METADATA = 0, CHECKPOINT = 1 }; /* types of events */

static const struct {
    const char *name;
    enum hpx_jfr_kind kind;
} kinds[] = {{"jdk.ExecutionSample", HPX_JFR_EXECUTION},
             {"jdk.NativeMethodSample", HPX_JFR_NATIVE},
             {"jdk.CPUTimeSample", HPX_JFR_CPU_TIME},
             {"jdk.CPUTimeSamplesLost", HPX_JFR_LOST},
             {"profiler.WallClockSample", HPX_JFR_WALL},
             {"jdk.ObjectAllocationSample", HPX_JFR_ALLOC},
             {"jdk.ObjectAllocationInNewTLAB", HPX_JFR_TLAB},
             {"jdk.ObjectAllocationOutsideTLAB", HPX_JFR_TLAB},
             {"jdk.JavaMonitorEnter", HPX_JFR_ENTER},
             {"jdk.JavaMonitorWait", HPX_JFR_WAIT},
             {"jdk.ThreadPark", HPX_JFR_PARK},
             {"jdk.ThreadSleep", HPX_JFR_SLEEP},
             {"hprofx.WallClock", HPX_JFR_STATES},
             {"jdk.ActiveSetting", HPX_JFR_SETTING},
             {"jdk.JVMInformation", HPX_JFR_JVM},
             {"jdk.GarbageCollection", HPX_JFR_COLLECTION},
             {"jdk.GCPhasePause", HPX_JFR_PAUSE}};

static const struct hpx_jfr_shape event_shape = {{[HPX_JFR_START] = "startTime",
                                                  [HPX_JFR_DURATION] = "duration",
                                                  [HPX_JFR_THREAD] = "eventThread",
                                                  [HPX_JFR_SAMPLED] = "sampledThread",
                                                  [HPX_JFR_STACK] = "stackTrace",
                                                  [HPX_JFR_STATE] = "state",
                                                  [HPX_JFR_OBJECT_CLASS] = "objectClass",
                                                  [HPX_JFR_MONITOR_CLASS] = "monitorClass",
                                                  [HPX_JFR_PARKED_CLASS] = "parkedClass",
                                                  [HPX_JFR_WEIGHT] = "weight",
                                                  [HPX_JFR_TLAB_SIZE] = "tlabSize",
                                                  [HPX_JFR_SIZE] = "allocationSize",
                                                  [HPX_JFR_PERIOD] = "samplingPeriod",
                                                  [HPX_JFR_SAMPLES] = "samples",
                                                  [HPX_JFR_LOST_SAMPLES] = "lostSamples",
                                                  [HPX_JFR_NAME] = "name",
                                                  [HPX_JFR_VALUE] = "value",
                                                  [HPX_JFR_PID] = "pid",
                                                  [HPX_JFR_ARGUMENTS] = "javaArguments",
                                                  [HPX_JFR_GC_ID] = "gcId",
                                                  [HPX_JFR_TIMED] = "timed"}};
static_assert((int)HPX_JFR_SLOTS <= HPX_JFR_SHAPE, "a slot for every field");

#define FRAMES_MOST 65536u /* of a stack; a JVM records 2,048 at most, and here they may cost no byte */

/* What is wrong first is what is said. */
static void fault(struct hpx_jfr *j, const char *what)
{
    if (j->why[0] == '\0') {
        (void)snprintf(j->why, sizeof j->why, "%s", what);
    }
}

static void broken(struct hpx_jfr *j, uint64_t at, const char *what)
{
    char text[sizeof j->why];
    (void)snprintf(text, sizeof text, "broken at byte %" PRIu64 ": %s; it is left out", at, what);
    fault(j, text);
}

static const char cut_off[] = "the recording is cut off, or was still being written; what is complete was read";

/* ---- times ---- */

/* What is no time, and what is before 1970, is 0. */
static uint64_t to_ns(const struct hpx_jfr *j, uint64_t n, enum hpx_jfr_unit unit)
{
    static const uint64_t per_s[] = {[HPX_JFR_NS] = NS_PER_S, [HPX_JFR_US] = 1000000, [HPX_JFR_MS] = 1000, [HPX_JFR_S] = 1};
    uint64_t frequency = unit == HPX_JFR_PLAIN || unit == HPX_JFR_TICKS ? j->frequency : per_s[unit];
    u128 ns = n <= INT64_MAX ? (u128)n * NS_PER_S / frequency : 0;
    return ns <= INT64_MAX ? (uint64_t)ns : 0;
}

static uint64_t when(const struct hpx_jfr *j, const struct hpx_jfr_value *v)
{
    uint64_t after = v->n >= j->began_ticks ? to_ns(j, v->n - j->began_ticks, HPX_JFR_TICKS) : 0;
    uint64_t before = v->n < j->began_ticks ? to_ns(j, j->began_ticks - v->n, HPX_JFR_TICKS) : 0; /* jdk.ActiveSetting may be older */
    uint64_t at = before < j->began ? j->began - before + after : 0;
    return at <= INT64_MAX ? at : 0;
}

/* ---- a chunk ---- */

/* The next event: what is behind its type. false: there is none; in->at is where they end. */
static bool next(struct hpx_jfr_in *in, struct hpx_jfr_in *event, uint64_t *type)
{
    struct hpx_jfr_in head = *in;
    uint32_t size = hpx_jfr_int(&head);
    if (head.broken || size > (size_t)(in->end - in->at) || size <= (size_t)(head.at - in->at)) {
        return false;
    }
    *event = (struct hpx_jfr_in){.at = head.at, .end = in->at + size, .raw = in->raw};
    *type = hpx_jfr_long(event);
    in->at = event->end;
    return !event->broken;
}

static struct hpx_jfr_in events_of(const struct hpx_jfr *j)
{
    return (struct hpx_jfr_in){.at = j->chunk.bytes + HEAD, .end = j->chunk.bytes + j->chunk.n, .raw = j->chunk.raw};
}

static uint64_t place(const struct hpx_jfr *j, const uint8_t *at)
{
    return j->base + (uint64_t)(at - j->chunk.bytes);
}

/* The last one knows also the types that were declared late. false: there is none that is sound. */
static bool read_metadata(struct hpx_jfr *j, bool whole)
{
    struct hpx_jfr_in in = events_of(j), event, last = {0};
    uint64_t type;
    while (next(&in, &event, &type)) {
        if (type == METADATA) {
            last = event;
        }
    }
    if (in.at < in.end && whole) {
        broken(j, place(j, in.at), "no event");
    }
    if (last.at == NULL) {
        fault(j, whole ? "a chunk has no metadata, without which its events cannot be read"
                       : "the recording is cut off before its metadata, without which the events of the last chunk cannot be read");
        return false;
    }
    if (!hpx_jfr_metadata(&j->chunk, &last)) {
        j->no_memory |= j->chunk.no_memory;
        broken(j, place(j, last.at), "the metadata");
        return false;
    }
    return true;
}

static void assign_roles(struct hpx_jfr *j)
{
    j->async = j->own = false;
    for (uint32_t i = 1; i <= j->chunk.types.len; i++) {
        struct hpx_jfr_type *t = hpx_jfr_type_at(&j->chunk, i);
        char name[256];
        hpx_jfr_type_name(&j->chunk, t, name, sizeof name);
        for (size_t k = 0; k < HPX_ARRAY_LEN(kinds); k++) {
            t->role = strcmp(kinds[k].name, name) == 0 ? (int)kinds[k].kind : t->role;
        }
        j->async |= strncmp(name, "profiler.", strlen("profiler.")) == 0;
        j->own |= t->role == HPX_JFR_STATES;
    }
}

static void read_constants(struct hpx_jfr *j)
{
    struct hpx_jfr_in in = events_of(j), event;
    uint64_t type;
    while (!j->no_memory && next(&in, &event, &type)) {
        if (type == CHECKPOINT && !hpx_jfr_constants(&j->chunk, &event)) {
            j->no_memory |= j->chunk.no_memory;
            broken(j, place(j, event.at), "constants");
        }
    }
}

static void tell(struct hpx_jfr *j, struct hpx_jfr_in *event, uint32_t type)
{
    struct hpx_jfr_value v[HPX_JFR_SHAPE];
    struct hpx_jfr_event ev = {.kind = (enum hpx_jfr_kind)hpx_jfr_type_at(&j->chunk, type)->role, .v = v};
    const uint8_t *at = event->at;
    static const char endless[] = "types or texts that are repeated beyond all bounds";
    if (!hpx_jfr_take(&j->chunk, event, type, &event_shape, v)) {
        broken(j, place(j, at), j->chunk.steps > 0 ? "an event" : endless);
        return;
    }
    const struct hpx_jfr_value *time = &v[ev.kind == HPX_JFR_CPU_TIME ? HPX_JFR_PERIOD : HPX_JFR_DURATION];
    ev.at = when(j, &v[HPX_JFR_START]);
    ev.ns = time->f != NULL ? to_ns(j, time->n, time->f->unit) : 0;
    uint64_t end = ev.at + (ev.kind == HPX_JFR_CPU_TIME ? 0 : ev.ns);
    j->end = end > j->end ? end : j->end;
    j->stopped = !j->sink(j->ctx, j, &ev);
    if (j->chunk.steps == 0) { /* while the sink looked at its values */
        broken(j, place(j, at), endless);
    }
}

static void read_events(struct hpx_jfr *j)
{
    struct hpx_jfr_in in = events_of(j), event;
    uint64_t id;
    while (!j->no_memory && !j->stopped && next(&in, &event, &id)) {
        uint32_t type = hpx_jfr_type_of(&j->chunk, id);
        if (type != 0 && hpx_jfr_type_at(&j->chunk, type)->role != HPX_JFR_NONE) {
            tell(j, &event, type);
        }
    }
}

/* n: the bytes that there are; whole: all of them. */
static void read_chunk(struct hpx_jfr *j, size_t n, bool whole)
{
    const uint8_t *head = j->bytes;
    j->began = hpx_get_be8(head + START);
    j->began = j->began <= INT64_MAX ? j->began : 0;
    j->began_ticks = hpx_get_be8(head + TICKS);
    j->frequency = hpx_get_be8(head + FREQUENCY);
    j->frequency = j->frequency > 0 ? j->frequency : NS_PER_S;
    hpx_jfr_chunk_init(&j->chunk, j->bytes, n, (head[FEATURES] & COMPRESSED) == 0, j->spare);
    if (read_metadata(j, whole)) {
        uint64_t length = hpx_get_be8(head + DURATION), end = j->began + (length <= INT64_MAX ? length : 0);
        j->start = j->chunks == 0 || j->began < j->start ? j->began : j->start;
        j->end = end > j->end ? end : j->end;
        j->chunks++;
        assign_roles(j);
        read_constants(j);
        read_events(j);
    }
    j->spare = j->chunk.steps < j->spare ? j->chunk.steps : j->spare;
    hpx_jfr_chunk_fini(&j->chunk);
}

/* ---- the file ---- */

/* Reads up to n bytes into memory, which grows as they come: how many there are. */
static size_t fill(struct hpx_jfr *j, uint64_t n)
{
    size_t len = 0;
    for (size_t have; len < n && (have = hpx_source_ahead(j->source, 1)) > 0;) {
        have = have < n - len ? have : (size_t)(n - len);
        if (j->cap - len < have) {
            size_t cap = 2 * j->cap > len + have ? 2 * j->cap : len + have;
            uint8_t *grown = hpx_budget_take(cap - j->cap) ? realloc(j->bytes, cap) : NULL;
            if (grown == NULL) {
                j->no_memory = true;
                return 0;
            }
            j->bytes = grown;
            j->cap = cap;
        }
        memcpy(j->bytes + len, hpx_source_bytes(j->source), have);
        hpx_source_take(j->source, have);
        len += have;
    }
    return len;
}

/* Of the chunk that the source is at; 0: it is none, or of no known version. UINT64_MAX: all that is left. */
static uint64_t size_of(struct hpx_jfr *j)
{
    size_t n = hpx_source_ahead(j->source, HEAD);
    const uint8_t *head = (const uint8_t *)hpx_source_bytes(j->source);
    if (n < HEAD || memcmp(head, HPX_JFR_MAGIC, 4) != 0) {
        fault(j, cut_off);
        return 0;
    }
    unsigned major = hpx_get_be2(head + MAJOR), minor = hpx_get_be2(head + MAJOR + 2);
    if (major != 1 && major != 2) {
        char text[sizeof j->why];
        (void)snprintf(text, sizeof text, "a JFR recording of version %u.%u; hprofx reads versions 1 and 2, of JDK 8u262 and later", major,
                       minor);
        fault(j, text);
        return 0;
    }
    uint64_t size = hpx_get_be8(head + SIZE);
    if (size != 0 && (size < HEAD || size > UINT32_MAX)) {
        broken(j, hpx_source_offset(j->source) + SIZE, "the size of a chunk");
        return 0;
    }
    return size != 0 ? size : UINT64_MAX;
}

void hpx_jfr_read(struct hpx_jfr *j)
{
    j->spare = STEPS_TO_SPARE;
    while (!j->no_memory && !j->stopped && hpx_source_ahead(j->source, 1) > 0) {
        uint64_t size = size_of(j);
        if (size == 0) {
            break;
        }
        j->base = hpx_source_offset(j->source);
        size_t n = fill(j, size < UINT32_MAX ? size : UINT32_MAX);
        if (n < HEAD) {
            break;
        }
        read_chunk(j, n, n == size);
        if (n < size || j->bytes[STATE] != 0) {
            fault(j, cut_off);
        }
    }
}

void hpx_jfr_fini(struct hpx_jfr *j)
{
    hpx_budget_give(j->cap);
    free(j->bytes);
    j->bytes = NULL;
    j->cap = 0;
}

/* ---- values ---- */

/* The wanted fields of a constant, or of a value itself. */
static bool fields(struct hpx_jfr *j, const struct hpx_jfr_value *v, const struct hpx_jfr_shape *shape, struct hpx_jfr_value *to)
{
    struct hpx_jfr_in in;
    return hpx_jfr_open(&j->chunk, v, &in) && hpx_jfr_take(&j->chunk, &in, v->f->type, shape, to);
}

bool hpx_jfr_frames(struct hpx_jfr *j, const struct hpx_jfr_value *stack, struct hpx_list *to)
{
    static const struct hpx_jfr_shape stack_shape = {{"frames"}}, frame_shape = {{"method", "lineNumber"}};
    struct hpx_jfr_value frames, v[2];
    if (!fields(j, stack, &stack_shape, &frames) || frames.f == NULL || !frames.f->array || frames.f->pool || frames.f->type == 0) {
        return false;
    }
    struct hpx_jfr_in in = {.at = frames.at, .end = j->chunk.bytes + j->chunk.n, .raw = j->chunk.raw};
    uint32_t n = hpx_jfr_int(&in);
    for (n = n < FRAMES_MOST ? n : FRAMES_MOST; n > 0 && hpx_jfr_take(&j->chunk, &in, frames.f->type, &frame_shape, v); n--) {
        struct hpx_jfr_frame *f = hpx_list_push(to, sizeof *f);
        if (f == NULL) {
            j->no_memory = true;
            return false;
        }
        *f = (struct hpx_jfr_frame){v[0], (int32_t)v[1].n};
    }
    return !in.broken;
}

void hpx_jfr_method(struct hpx_jfr *j, const struct hpx_jfr_value *method, char *class, char *name, size_t room)
{
    static const struct hpx_jfr_shape shape = {{"type", "name"}};
    struct hpx_jfr_value v[2];
    class[0] = name[0] = '\0';
    if (fields(j, method, &shape, v)) {
        (void)hpx_jfr_class(j, &v[0], class, room);
        (void)hpx_jfr_text(&j->chunk, &v[1], name, room);
    }
}

bool hpx_jfr_class(struct hpx_jfr *j, const struct hpx_jfr_value *class, char *name, size_t room)
{
    static const struct hpx_jfr_shape shape = {{"name"}};
    struct hpx_jfr_value v;
    name[0] = '\0';
    return fields(j, class, &shape, &v) && hpx_jfr_text(&j->chunk, &v, name, room);
}

bool hpx_jfr_thread(struct hpx_jfr *j, const struct hpx_jfr_value *thread, char *name, size_t room)
{
    static const struct hpx_jfr_shape shape = {{"javaName", "osName"}};
    struct hpx_jfr_value v[2];
    name[0] = '\0';
    return fields(j, thread, &shape, v) &&
           ((hpx_jfr_text(&j->chunk, &v[0], name, room) && name[0] != '\0') || hpx_jfr_text(&j->chunk, &v[1], name, room));
}
