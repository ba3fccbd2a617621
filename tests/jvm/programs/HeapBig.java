// SPDX-License-Identifier: BSD-2-Clause
/** HeapBig COUNT LONGS: keeps so many arrays of so many long values. */
public class HeapBig {
    static long[][] all;

    public static void main(String[] a) {
        all = new long[Integer.parseInt(a[0])][];
        for (int i = 0; i < all.length; i++) { all[i] = new long[Integer.parseInt(a[1])]; }
        System.out.println("kept");
    }
}
