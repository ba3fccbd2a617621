/* SPDX-License-Identifier: BSD-2-Clause */
/* hprof_format.h: constants and layouts of HPROF that its writers, its reader and the recovery share. Integers are big-endian
 * (big_endian.h). No state; any thread, async-signal-safe. */
#ifndef HPX_HPROF_FORMAT_H
#define HPX_HPROF_FORMAT_H

#include "big_endian.h"
#include <stdbool.h>

/* A file, either format, begins with HPX_MAGIC and the digit of its version. Binary: 0, u4 size of identifiers, u8 ms since 1970, records.
 * Text: the rest of the first line. */
#define HPX_MAGIC        "JAVA PROFILE 1.0."
#define HPX_MAGIC_BYTES  (sizeof(HPX_MAGIC) - 1)
#define HPX_VERSION_END  (HPX_MAGIC_BYTES + 1)  /* where a binary file has its 0 */
#define HPX_HEADER_BYTES (HPX_VERSION_END + 13) /* bytes of the header of a binary file */

/* A record: u1 tag, u4 us since the header's time, u4 length of its body, body. X(symbol, tag, name). */
#define HPX_TAGS_OF(X)                                                                                                                     \
    X(STRING, 0x01, "UTF8")                                                                                                                \
    X(LOAD_CLASS, 0x02, "LOAD CLASS")                                                                                                      \
    X(UNLOAD_CLASS, 0x03, "UNLOAD CLASS")                                                                                                  \
    X(FRAME, 0x04, "STACK FRAME")                                                                                                          \
    X(TRACE, 0x05, "STACK TRACE")                                                                                                          \
    X(SITES, 0x06, "ALLOC SITES")                                                                                                          \
    X(SUMMARY, 0x07, "HEAP SUMMARY")                                                                                                       \
    X(START_THREAD, 0x0A, "START THREAD")                                                                                                  \
    X(END_THREAD, 0x0B, "END THREAD")                                                                                                      \
    X(HEAP_DUMP, 0x0C, "HEAP DUMP")                                                                                                        \
    X(SAMPLES, 0x0D, "CPU SAMPLES")                                                                                                        \
    X(CONTROL, 0x0E, "CONTROL SETTINGS")                                                                                                   \
    X(SEGMENT, 0x1C, "HEAP DUMP SEGMENT")                                                                                                  \
    X(HEAP_END, 0x2C, "HEAP DUMP END")

/* Of the text format alone. What the line of a table calls its section is the name. */
#define HPX_TEXT_TAGS_OF(X)                                                                                                                \
    X(TIMES, 0x100, "CPU TIME (ms)")                                                                                                       \
    X(OLD, 0x101, "cpu=old table")                                                                                                         \
    X(MONITOR_DUMP, 0x102, "MONITOR DUMP")                                                                                                 \
    X(DEADLOCKS, 0x103, "DEADLOCKS")                                                                                                       \
    X(MONITOR_TIME, 0x104, "MONITOR TIME") /* tables of blocked time: up to PINNED_TIME */                                                 \
    X(MONITOR_OWNERS, 0x105, "MONITOR OWNERS")                                                                                             \
    X(WAIT_TIME, 0x106, "WAIT TIME")                                                                                                       \
    X(LOCK_TIME, 0x107, "LOCK TIME")                                                                                                       \
    X(PINNED_TIME, 0x108, "PINNED TIME")                                                                                                   \
    X(WALL, 0x109, "WALL CLOCK (ms)")                                                                                                      \
    X(WAIT, 0x10A, "WAIT, WAITED")                                                                                                         \
    X(REPORT, 0x10B, "hprofx report")                                                                                                      \
    X(THREAD_NAME, 0x10C, "newest name of a thread")                                                                                       \
    X(TIMELINE, 0x10D, "TIMELINE")                                                                                                         \
    X(CALLS, 0x10E, "METHOD CALLS")

#define HPX_FORMAT_ENUM(kind, symbol, value) HPX_##kind##_##symbol = (value),
#define HPX_FORMAT_TAG(symbol, value, name)  HPX_FORMAT_ENUM(TAG, symbol, value)
#define HPX_FORMAT_SUB(symbol, value, name)  HPX_FORMAT_ENUM(SUB, symbol, value)
#define HPX_FORMAT_ROOT(symbol, value, name) HPX_FORMAT_ENUM(ROOT, symbol, value)

enum hpx_tag { HPX_TAGS_OF(HPX_FORMAT_TAG) HPX_TEXT_TAGS_OF(HPX_FORMAT_TAG) HPX_TAGS };

/* Tables whose totals and rows are numbers, of samples or calls; those of the others are ms, or bytes. */
static inline bool hpx_tag_counts(int tag)
{
    return tag == HPX_TAG_SAMPLES || tag == HPX_TAG_CALLS;
}

#define HPX_RECORD_HEAD 9u

/* The head of a record; the position after it. us wraps. */
static inline uint8_t *hpx_put_record(uint8_t *to, uint8_t tag, uint32_t us, uint32_t length)
{
    return hpx_put_be4(hpx_put_be4(hpx_put_be1(to, tag), us), length);
}

/* Bytes of ALLOC SITES and CPU SAMPLES: before their rows, and of a row. */
enum { HPX_SITES_HEAD = 34, HPX_SITES_ROW = 25, HPX_SAMPLES_HEAD = 8, HPX_SAMPLES_ROW = 8 };

/* Flags of CONTROL SETTINGS. */
enum {
    HPX_SETTING_ALLOC = 1, /* allocations have traces */
    HPX_SETTING_CPU = 2,   /* sampling is on */
    HPX_SETTING_SINCE = 4  /* hprofx's: tables count since the one before, those of allocations since the start */
};

/* The same in text: a line before the eight dashes. And the exact times of a table, of which its rows have shares: lines behind its END,
 * the total, then those of the rows in their order, divided by blanks. */
#define HPX_TEXT_SINCE       "Tables count since the table before them; SITES and HEAP DUMP since the start."
#define HPX_TEXT_EXACT_TOTAL "hprofx: total in ns: "
#define HPX_TEXT_EXACT_ROWS  "hprofx: rows in ns: "
#define HPX_TEXT_EXACT_LINE  1000u /* bytes, at most: readers need not keep longer ones */

/* TIMELINE: when everything was that the tables count; the same lines in text and, behind HPX_TIMELINE_NOTE, in strings that nothing names.
 *
 *   TIMELINE BEGIN (zero = MS since 1970, end = MS, places = N, events = N, coarse = MS)
 *   p cpu TRACE                       places, the first has the number 0. TRACE 0: not known
 *   p wall TRACE STATE [CLASS]
 *   p alloc TRACE BYTES SHARES [CLASS]   each sampled object has BYTES and stands for SHARES / HPX_TIMELINE_SHARES objects
 *   p block TRACE PART OWNER [CLASS]     PART: one of HPX_TIMELINE_PARTS, of the tables from MONITOR TIME to PINNED TIME; OWNER: a trace, 0
 *   p gc 0
 *   t ITEM ...                        events; each line can be read alone
 *   TIMELINE END
 *
 * ITEM: @MS: the time is MS since zero; +MS: so much later; ~MS: times of the line are the begin of a unit so long; #SERIAL: of that
 * thread, 0: of none; PLACE, PLACE*COUNT, PLACE*COUNT/NS: an event. Of cpu COUNT is samples, of alloc sampled objects, of block blocks. NS:
 * of wall, block and gc: so long, until that time. `end`: when the section was made; what is before `coarse` may have units of a second or
 * more, 0: nothing has. */
#define HPX_TIMELINE_BEGIN  "TIMELINE BEGIN ("
#define HPX_TIMELINE_END    "TIMELINE END"
#define HPX_TIMELINE_NOTE   "hprofx: TIMELINE\n"
#define HPX_TIMELINE_STEP   10u /* ms */
#define HPX_TIMELINE_SHARES 1000u
#define HPX_TIMELINE_KINDS  "cpu", "wall", "alloc", "block", "gc"
#define HPX_TIMELINE_PARTS  "enter", "owners", "wait", "park", "pinned"

/* Begins the line of a thread that has renamed itself: its number, ": ", and the newest name, in quotes; in binary a string, not in quotes,
 * that nothing names, and whose id no other has, because the program may name a thread so. THREAD START keeps the first name. */
#define HPX_THREAD_NAME       "hprofx: thread "
#define HPX_THREAD_NAME_FIRST 0x10000000u /* ids */
#define HPX_THREAD_NAME_LAST  0x1fffffffu

/* Records inside HEAP DUMP and HEAP DUMP SEGMENT: u1 tag, body. */
#define HPX_SUBS_OF(X)                                                                                                                     \
    X(CLASS, 0x20, "CLASS DUMP")                                                                                                           \
    X(INSTANCE, 0x21, "INSTANCE DUMP")                                                                                                     \
    X(OBJECTS, 0x22, "OBJECT ARRAY DUMP")                                                                                                  \
    X(PRIMITIVES, 0x23, "PRIMITIVE ARRAY DUMP")
#define HPX_ROOTS_OF(X)                                                                                                                    \
    X(JNI_GLOBAL, 0x01, "ROOT JNI GLOBAL")                                                                                                 \
    X(JNI_LOCAL, 0x02, "ROOT JNI LOCAL")                                                                                                   \
    X(JAVA_FRAME, 0x03, "ROOT JAVA FRAME")                                                                                                 \
    X(NATIVE_STACK, 0x04, "ROOT NATIVE STACK")                                                                                             \
    X(STICKY_CLASS, 0x05, "ROOT STICKY CLASS")                                                                                             \
    X(THREAD_BLOCK, 0x06, "ROOT THREAD BLOCK")                                                                                             \
    X(MONITOR_USED, 0x07, "ROOT MONITOR USED")                                                                                             \
    X(THREAD_OBJECT, 0x08, "ROOT THREAD OBJECT")                                                                                           \
    X(UNKNOWN, 0xFF, "ROOT UNKNOWN")

enum hpx_sub { HPX_SUBS_OF(HPX_FORMAT_SUB) };
enum hpx_root { HPX_ROOTS_OF(HPX_FORMAT_ROOT) };

/* Types of values. X(symbol, value, name, letter of its descriptor, bytes). */
#define HPX_PRIMITIVES_OF(X)                                                                                                               \
    X(BOOLEAN, 4, "boolean", 'Z', 1)                                                                                                       \
    X(CHAR, 5, "char", 'C', 2)                                                                                                             \
    X(FLOAT, 6, "float", 'F', 4)                                                                                                           \
    X(DOUBLE, 7, "double", 'D', 8)                                                                                                         \
    X(BYTE, 8, "byte", 'B', 1)                                                                                                             \
    X(SHORT, 9, "short", 'S', 2)                                                                                                           \
    X(INT, 10, "int", 'I', 4)                                                                                                              \
    X(LONG, 11, "long", 'J', 8)

#define HPX_FORMAT_TYPE(symbol, value, name, letter, bytes) HPX_FORMAT_ENUM(TYPE, symbol, value)
enum hpx_type { HPX_TYPE_OBJECT = 2, HPX_PRIMITIVES_OF(HPX_FORMAT_TYPE) };

/* Bytes of a value; id_size: of an object. 0: no such type. */
static inline uint32_t hpx_type_size(int type, uint32_t id_size)
{
#define HPX_FORMAT_SIZE(symbol, value, name, letter, bytes) [value] = (bytes),
    static const uint8_t sizes[] = {HPX_PRIMITIVES_OF(HPX_FORMAT_SIZE)};
    return type == HPX_TYPE_OBJECT ? id_size : type >= 0 && type < (int)sizeof(sizes) ? sizes[type] : 0;
}

/* "int"; NULL: no such type. Constant, as all names here. */
const char *hpx_type_name(int type);
/* The type of a descriptor's letter; HPX_TYPE_OBJECT for all others. */
uint8_t hpx_type_of(char letter);
/* NULL: no such tag, or no such one inside a heap dump. */
const char *hpx_tag_name(int tag);
const char *hpx_sub_name(int sub);

#endif
