// SPDX-License-Identifier: BSD-2-Clause
package java.lang;

/** HprofxTracker: what rewritten classes of every module call, the boot classes from the VM's first step on; it counts. */
public final class HprofxTracker {
    public static long entered, left, thrown;

    public static void enter(int method) {
        entered++;
    }

    public static void exit(int method) {
        left++;
    }

    public static void thrown(int method) {
        thrown++;
    }
}
