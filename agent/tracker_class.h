/* SPDX-License-Identifier: BSD-2-Clause */
/* tracker_class.h: the class files of the probes as bytes. Pure: no JVM, no state; any thread.
 *
 * All methods are hidden: HotSpot leaves those of the boot loader out of the stack traces that the program sees. */
#ifndef HPX_TRACKER_CLASS_H
#define HPX_TRACKER_CLASS_H

#include <stddef.h>
#include <stdint.h>

#define HPX_TRACKER_CLASS_MAX 1280
/* In the package that alone may call MethodHandle.linkToNative; that package is exported by java.base, which each module reads. */
#define HPX_TRACKER_DOWN "java/lang/invoke/HprofxTracker"

/* Names of members: of the field, and of the methods besides enter, exit and thrown. */
#define HPX_TRACKER_ENTRY     "entry"
#define HPX_TRACKER_TEST      "test"
#define HPX_TRACKER_CALIBRATE "calibrate"

/* Addresses of C functions int32_t (*)(int32_t): 0 done, else the native has to do it. */
struct hpx_tracker_targets {
    uint64_t enter, exit, thrown;
    uint64_t test;
};

/* public final synthetic class hprofx/Tracker {
 *     public static native void enter(int), exit(int), thrown(int);
 *     static void calibrate(int n) { for (; n > 0; n--) { enter(1); exit(1); } }
 * } of version 49: no frames. Returns the length. */
size_t hpx_tracker_class_natives(uint8_t to[static HPX_TRACKER_CLASS_MAX]);

/* public final synthetic class java/lang/invoke/HprofxTracker {
 *     @Stable static Object entry;
 *     public static void enter(int m) {
 *         if (entry == null || MethodHandle.linkToNative(targets.enter, m, entry) != 0) { hprofx.Tracker.enter(m); }
 *     }
 *     ... exit, thrown
 *     static int test(int m, Object entry) { return MethodHandle.linkToNative(targets.test, m, entry); }
 *     static void calibrate(int n)
 * } likewise. */
size_t hpx_tracker_class_downcalls(uint8_t to[static HPX_TRACKER_CLASS_MAX], const struct hpx_tracker_targets *targets);

#endif
