// SPDX-License-Identifier: BSD-2-Clause
/** SitesFirst N: the first line of main allocates, and so does what is compiled; nothing of it is kept. Prints what it made as SitesKnown does, without sizes. */
public class SitesFirst {
    static class First { int a; }
    static class Item { int a; long b; }
    static volatile Object sink;

    static void first() { sink = new First(); }
    static void items(int n) {
        for (int i = 0; i < n; i++) { sink = new Item(); }
    }
    static void arrays(int n) {
        for (int i = 0; i < n; i++) { sink = new long[i % 100]; }
    }
    static void names(int n) {
        for (int i = 0; i < n; i++) { sink = new Item[i % 10][2]; }
    }

    public static void main(String[] a) {
        sink = new First();
        first();
        int n = Integer.parseInt(a[0]);
        items(n);
        arrays(n);
        names(n / 10);
        System.out.println("made SitesFirst.main SitesFirst$First 2");
        System.out.println("made SitesFirst.first SitesFirst$First 1");
        System.out.println("made SitesFirst.items SitesFirst$Item " + n);
        System.out.println("made SitesFirst.arrays long[] " + n);
        int inner = 0;
        for (int i = 0; i < n / 10; i++) { inner += i % 10; }
        System.out.println("made SitesFirst.names SitesFirst$Item[][] " + n / 10);
        System.out.println("made SitesFirst.names SitesFirst$Item[] " + inner);
    }
}
