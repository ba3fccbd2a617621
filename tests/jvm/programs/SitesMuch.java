// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;

/**
 * SitesMuch through N: N arrays of 1 MiB at one site, one alive at a time. SitesMuch free N: N objects alive at once, and free at one collection.
 * SitesMuch full N: the heap is filled until it has no room, emptied, and N objects are made; a length that the VM refuses; what it made as SitesThreads says it.
 */
public class SitesMuch {
    static class Item { int a; }
    static class After { int a; }
    static volatile Object sink;

    /** A class without strings: where a method is to be compiled the VM makes those of its class. */
    static class Large {
        static byte[] make() { return new byte[1 << 20]; }
    }

    static void through(int n) {
        for (int i = 0; i < n; i++) { sink = Large.make(); }
        sink = null;
        System.gc();
        System.out.println("made SitesMuch$Large.make byte[] " + n);
        System.out.println("alive SitesMuch$Large.make byte[] 0");
    }

    static void fill(Object[] all) {
        for (int i = 0; i < all.length; i++) { all[i] = new Item(); }
    }

    static void free(int n) {
        Object[] all = new Object[n];
        fill(all);
        for (int i = 0; i < n; i++) {
            if (i % 10 != 0) { all[i] = null; }
        }
        System.gc();
        System.out.println("made SitesMuch.fill SitesMuch$Item " + n);
        System.out.println("alive SitesMuch.fill SitesMuch$Item " + (n + 9) / 10);
        sink = all;
    }

    static class Piece {
        static byte[] make() { return new byte[100000]; }
    }
    static long[] tooLong() { return new long[Integer.MAX_VALUE]; }
    static Object after() { return new After(); }

    static int untilFull() {
        List<Object> all = new ArrayList<>(100000);
        try {
            while (true) { all.add(Piece.make()); }
        } catch (OutOfMemoryError e) {
            return all.size();
        }
    }

    static void full(int n) {
        int pieces = untilFull(), refused = 0;
        for (int i = 0; i < 3; i++) {
            try {
                sink = tooLong();
            } catch (OutOfMemoryError e) {
                refused++;
            }
        }
        for (int i = 0; i < n; i++) { sink = after(); }
        System.gc();
        System.out.println("made SitesMuch$Piece.make byte[] " + pieces);
        System.out.println("alive SitesMuch$Piece.make byte[] 0");
        System.out.println("made SitesMuch.tooLong long[] 0");
        System.out.println("made SitesMuch.after SitesMuch$After " + n);
        System.out.println("alive SitesMuch.after SitesMuch$After 1");
        System.out.println("refused " + refused);
    }

    public static void main(String[] a) {
        int n = Integer.parseInt(a[1]);
        switch (a[0]) {
            case "through":
                through(n);
                break;
            case "free":
                free(n);
                break;
            default:
                full(n);
        }
    }
}
