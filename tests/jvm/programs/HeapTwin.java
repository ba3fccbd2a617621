// SPDX-License-Identifier: BSD-2-Clause
/** Defined again by loaders of HeapGraph. */
public class HeapTwin {
    static long mark;
    static Object last;
    public final int which;

    public HeapTwin(int which) {
        this.which = which;
        mark = 0x7713000000000000L + which;
        last = this;
    }
}
