// SPDX-License-Identifier: BSD-2-Clause
/** SitesKeep N: sites of which all, a half and nothing is kept. Prints "truth METHOD CLASS OBJECTS LIVE LIVE_BYTES", the garbage being collected; sizes are the VM's. */
public class SitesKeep {
    static class Small { int a; long b; }
    static volatile Object sink;
    static Object[][] kept;

    static Object small() { return new Small(); }
    static Object half() { return new int[20]; }
    static Object large() { return new byte[400]; }
    static Object dropped() { return new double[30]; }

    static void work(int n, Object[] smalls, Object[] halves, Object[] larges) {
        for (int i = 0; i < n; i++) {
            smalls[i] = small();
            halves[i / 2] = half();
            if (i % 20 == 0) { larges[i / 20] = large(); }
            sink = dropped();
        }
    }

    static void truth(String method, String type, int objects, int live, Object like) {
        System.out.println("truth SitesKeep." + method + " " + type + " " + objects + " " + live + " " + live * SitesJni.size(like));
    }

    public static void main(String[] a) {
        int n = Integer.parseInt(a[0]);
        kept = new Object[][] {new Object[n], new Object[n / 2], new Object[n / 20]};
        work(n, kept[0], kept[1], kept[2]);
        sink = null;
        System.gc();
        truth("small", "SitesKeep$Small", n, n, new Small());
        truth("half", "int[]", n, n / 2, new int[20]);
        truth("large", "byte[]", n / 20, n / 20, new byte[400]);
        truth("dropped", "double[]", n, 0, new double[30]);
    }
}
