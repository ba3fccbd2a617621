/* SPDX-License-Identifier: BSD-2-Clause */
/* tracker_class.h: builds the class files that probes call. No JVM, no state; any thread.
 *
 * Their names begin with "java/", because a class loader may keep other names from its classes, but must find these. They are defined in
 * the boot loader, in packages of java.base, which every module reads.
 *
 * Every method is annotated as hidden, so HotSpot leaves it out of the stack traces that the program sees. */
#ifndef HPX_TRACKER_CLASS_H
#define HPX_TRACKER_CLASS_H

#include <stddef.h>
#include <stdint.h>

#define HPX_TRACKER_CLASS_MAX 2048
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

/* Writes this class and returns its length in bytes. Version 49: it needs no stack map frames.
 * public final synthetic class java/lang/HprofxTracker {
 *     public static native void enter(int), exit(int), thrown(int), alloc(int), array(int, int), multi(Object, int), object(Object);
 *     static void calibrate(int n) { for (; n > 0; n--) { enter(1); exit(1); } }
 * } */
size_t hpx_tracker_class_natives(uint8_t to[static HPX_TRACKER_CLASS_MAX]);

/* Likewise, with the name HPX_TRACKER_JVMPI and one method more: public static native void self(Object, int). */
size_t hpx_tracker_class_jvmpi(uint8_t to[static HPX_TRACKER_CLASS_MAX]);

#define HPX_TRACKER_WAITS   "java/lang/HprofxWaits"
#define HPX_TRACKER_TICK    "tick"
#define HPX_TRACKER_RESUMED "resumed"
#define HPX_TRACKER_WAITED  "waited"

/* Likewise, for the waits of virtual threads (wall/virtual_waits.h).
 * public final synthetic class java/lang/HprofxWaits {
 *     public static long tick;
 *     public static void resumed(long from) { long to = tick; if (from != to) { waited(from, to); } }
 *     public static native void waited(long from, long to);
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
 *     ... object
 *     static int test(int m, Object entry) { return MethodHandle.linkToNative(targets.test, m, entry); }
 *     static void calibrate(int n)
 * } */
size_t hpx_tracker_class_downcalls(uint8_t to[static HPX_TRACKER_CLASS_MAX], const struct hpx_tracker_targets *targets);

#endif
