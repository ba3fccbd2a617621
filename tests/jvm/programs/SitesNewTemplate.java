// SPDX-License-Identifier: BSD-2-Clause
/** Defined many times by SitesNew: 100 static fields. */
public class SitesNewTemplate implements Runnable {
    //@100 static Object f%d = new long[] {%d};

    public void run() {
        long sum = 0;
        //@100 sum += ((long[]) f%d)[0];
        if (sum != 4950) { throw new AssertionError(sum); }
    }
}
