// SPDX-License-Identifier: BSD-2-Clause
/** Defined many times by SitesNew: one static field. */
public class SitesNewSmall implements Runnable {
    static Object f = new long[] {1};

    public void run() {
        if (((long[]) f)[0] != 1) { throw new AssertionError(((long[]) f)[0]); }
    }
}
