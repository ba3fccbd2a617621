/* SPDX-License-Identifier: BSD-2-Clause */
/* tracker_class.h: builds the class files that probes call. No JVM, no state; any thread.
 *
 * Their names begin with "java/", because a class loader may keep other names from its classes, but must find these. They are defined in
 * the boot loader, in packages of java.base, which every module reads.
 *
 * Every method is annotated as hidden, so HotSpot leaves it out of the stack traces that the program sees. */
#ifndef HPX_TRACKER_CLASS_H
#define HPX_TRACKER_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HPX_TRACKER_CLASS_MAX 2560
#define HPX_TRACKER_NAME      64 /* bytes of a class name that is passed, at most */
/* This package alone may call MethodHandle.linkToNative. java.base exports it, and every module reads java.base. */
#define HPX_TRACKER_DOWN "java/lang/invoke/HprofxTracker"

/* The class of libhprofx-jvmpi.so, which may be loaded beside hprofx. */
#define HPX_TRACKER_JVMPI "java/lang/HprofxJvmpi"
#define HPX_TRACKER_SELF  "self" /* its native more: (Object, int) */

/* Registers natives of the others (registrar.h). No package of java.base: it is in the unnamed module of the boot loader. Each library has
 * its own. */
#define HPX_TRACKER_REGISTRAR       "java/hprofx/Registrar"
#define HPX_TRACKER_REGISTRAR_JVMPI "java/hprofx/JvmpiRegistrar"
#define HPX_TRACKER_RUN             "run"
#define HPX_TRACKER_REGISTER        "register"

/* Names of the field and of the methods other than the probes. */
#define HPX_TRACKER_ENTRY     "entry"
#define HPX_TRACKER_TEST      "test"
#define HPX_TRACKER_CALIBRATE "calibrate"

/* Addresses of C functions int32_t (*)(int64_t) that return 0 if done, else the native must do the work. Address 0: the probe of that name
 * always calls the native. */
struct hpx_tracker_targets {
    uint64_t enter, exit, thrown, alloc;
    uint64_t array; /* its argument: length << 32 | site */
    uint64_t test;
};

/* Of the probe that counts (calls/tally.h). */
#define HPX_TRACKER_COUNTS  "java/lang/HprofxCounts"
#define HPX_TRACKER_COUNT   "count"
#define HPX_TRACKER_COUNTED "counted"
#define HPX_TRACKER_UNSAFE  "unsafe"
/* The table has 65,536 places of 16 bytes: the number of a thread, an address of the VM, and the address of its counters. A thread is at
 * one of two places. Numbers differ by more than 1 KiB, the size of the VM's thread, so the first place is rarely another's. */
#define HPX_TRACKER_SHIFT  6
#define HPX_TRACKER_MASK   UINT64_C(0xffff0)
#define HPX_TRACKER_FACTOR UINT64_C(0x9e3779b97f4a7c15)
static inline uint64_t hpx_tracker_first(uint64_t thread)
{
    return thread >> HPX_TRACKER_SHIFT & HPX_TRACKER_MASK;
}
static inline uint64_t hpx_tracker_second(uint64_t thread)
{
    return thread * HPX_TRACKER_FACTOR >> 44 & HPX_TRACKER_MASK;
}

/* Writes this class and returns its length in bytes. unsafe: the internal name of Unsafe in this release. Version 49: it needs no stack map
 * frames. `count` trusts its number, which a rewritten method has as a constant.
 * public final synthetic class java/lang/HprofxTracker {
 *     @Stable static Unsafe unsafe;
 *     public static native void enter(int), exit(int), thrown(int), alloc(int), array(int, int), multi(Object, int), object(Object);
 *     public static native void counted(int number, long thread);
 *     static void calibrate(int n) { for (; n > 0; n--) { enter(1); exit(1); } }
 *     @ForceInline public static void count(int number) {
 *         Unsafe u = unsafe;
 *         if (u != null) { HprofxCounts.count(u, number); } else { counted(number, 0); }
 *     }
 * } */
size_t hpx_tracker_class_natives(uint8_t to[static HPX_TRACKER_CLASS_MAX], const char *unsafe);

struct hpx_tracker_counts {
    const char *unsafe; /* internal name */
    bool carriers;      /* Thread.currentThread() may be virtual: counters belong to carriers */
    uint64_t eetop;     /* offset of that field of java.lang.Thread */
    uint64_t table;     /* its address */
};

/* Likewise. Its constants are of this process, so it is defined when they are known; HprofxTracker.unsafe is set behind that.
 * public final synthetic class java/lang/HprofxCounts {
 *     @ForceInline static void count(Unsafe u, int number) {
 *         long thread = u.getLong(Thread.currentThread(), eetop), at = table + hpx_tracker_first(thread);
 *         if (u.getLong(null, at) != thread) { again(u, number, thread); return; }
 *         at = u.getLong(null, at + 8) + ((long)number << 3);
 *         u.putLong(null, at, u.getLong(null, at) + 1);
 *     }
 *     static void again(Unsafe u, int number, long thread)   the same with hpx_tracker_second(), and then counted(number, thread)
 * } */
size_t hpx_tracker_class_counts(uint8_t to[static HPX_TRACKER_CLASS_MAX], const struct hpx_tracker_counts *c);
/* The type of its method `count`, and that of a field of a class, from their internal names; its length. */
void hpx_tracker_class_counts_type(char to[static HPX_TRACKER_NAME + 8], const char *unsafe);
size_t hpx_tracker_class_type(char to[static HPX_TRACKER_NAME + 2], const char *name);

/* The same with the name HPX_TRACKER_JVMPI and, in place of what counts: public static native void self(Object, int). */
size_t hpx_tracker_class_jvmpi(uint8_t to[static HPX_TRACKER_CLASS_MAX]);

#define HPX_TRACKER_WAITS   "java/lang/HprofxWaits"
#define HPX_TRACKER_TICK    "tick"
#define HPX_TRACKER_RESUMED "resumed"
#define HPX_TRACKER_WAITED  "waited"
#define HPX_TRACKER_STORED  "stored" /* HPROFX_BCI_STORES calls it */

/* Likewise, for the waits of virtual threads (wall/virtual_waits.h).
 * public final synthetic class java/lang/HprofxWaits {
 *     public static long tick;
 *     public static void resumed(long from) { long to = tick; if (from != to) { waited(from, to); } }
 *     public static native void waited(long from, long to), stored();
 * } */
size_t hpx_tracker_class_waits(uint8_t to[static HPX_TRACKER_CLASS_MAX]);

/* Writes this class, likewise; its methods are not hidden.
 * public final synthetic class `name` {
 *     static void run() { register(); }
 *     public static native void register();
 * } */
size_t hpx_tracker_class_registrar(uint8_t to[static HPX_TRACKER_CLASS_MAX], const char *name);

/* Writes this class, likewise.
 * public final synthetic class java/lang/invoke/HprofxTracker {
 *     @Stable static Object entry;
 *     public static void enter(int m) {
 *         if (entry == null || MethodHandle.linkToNative(targets.enter, m, entry) != 0) { java.lang.HprofxTracker.enter(m); }
 *     }
 *     ... exit, thrown, alloc, and array, with (long)length << 32 | site
 *     public static void multi(Object array, int site) { java.lang.HprofxTracker.multi(array, site); }
 *     ... object, count
 *     static int test(int m, Object entry) { return MethodHandle.linkToNative(targets.test, m, entry); }
 *     static void calibrate(int n)
 * } */
size_t hpx_tracker_class_downcalls(uint8_t to[static HPX_TRACKER_CLASS_MAX], const struct hpx_tracker_targets *targets);

#endif
