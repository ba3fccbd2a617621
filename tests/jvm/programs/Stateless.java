// SPDX-License-Identifier: BSD-2-Clause
/** Calls and allocates on its only thread: 1000 calls of leaf, 1000 objects. */
public class Stateless {
    static class Made { long a; }
    static volatile Object sink;
    static int leaf(int i) { sink = new Made(); return i + 1; }

    public static void main(String[] a) {
        int x = 0;
        for (int i = 0; i < 1000; i++) { x = leaf(x); }
        System.out.println("done " + x);
    }
}
