// SPDX-License-Identifier: BSD-2-Clause
package java.lang;

/** HprofxTracker: what rewritten classes of every module call, the boot classes from the VM's first step on; it counts, allocations for `owner` alone. */
public final class HprofxTracker {
    public static long entered, left, thrown, stored;
    public static Thread owner;
    public static int allocs, arrays, elements, multis, objects, site;
    public static Object last;

    public static void enter(int method) {
        entered++;
    }

    public static void exit(int method) {
        left++;
    }

    public static void thrown(int method) {
        thrown++;
    }

    public static void stored() {
        stored++;
    }

    public static void alloc(int site) {
        if (owner != null && Thread.currentThread() == owner) {
            allocs++;
            HprofxTracker.site = site;
        }
    }

    public static void array(int length, int site) {
        if (owner != null && Thread.currentThread() == owner) {
            arrays++;
            elements += length;
            HprofxTracker.site = site;
        }
    }

    public static void multi(Object array, int site) {
        if (owner != null && Thread.currentThread() == owner) {
            last = array;
            if (site == 0) { // of OBJECTS
                objects++;
            } else {
                multis++;
                HprofxTracker.site = site;
            }
        }
    }

    public static void object(Object object) {
        if (owner != null && Thread.currentThread() == owner) {
            objects++;
            last = object;
        }
    }
}
