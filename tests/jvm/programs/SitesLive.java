// SPDX-License-Identifier: BSD-2-Clause
/** SitesLive N: keeps N objects, half of N, none of N, and N clones. Collects garbage, prints "ready", and ends with its input. */
public class SitesLive {
    static class Kept { long a; }
    static class Half { long a, b; }
    static class Dropped { long a, b, c; }
    static class Copy implements Cloneable {
        int[] of = new int[2];
        Copy copy() throws CloneNotSupportedException { return (Copy) clone(); }
    }
    static volatile Object sink;
    static Object[] kept;

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]), k = 0;
        kept = new Object[n / 2 * 5];
        Copy from = new Copy();
        for (int i = 0; i < n; i++) {
            kept[k++] = new Kept();
            kept[k++] = from.copy();
            Half half = new Half();
            if (i % 2 == 0) { kept[k++] = half; }
            sink = new Dropped();
        }
        from = null;
        sink = null;
        System.gc();
        System.out.println("ready");
        System.in.read();
    }
}
