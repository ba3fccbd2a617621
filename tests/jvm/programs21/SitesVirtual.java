// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;

/** SitesVirtual THREADS N: each virtual thread makes N objects, parks, and makes N more on whatever carrier it comes to. Prints "made METHOD CLASS N". */
public class SitesVirtual {
    static class Item { int a; long b; }
    static volatile Object sink;

    static void items(int n) {
        for (int i = 0; i < n; i++) { sink = new Item(); }
    }

    static void work(int n) {
        items(n);
        try {
            Thread.sleep(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        items(n);
    }

    public static void main(String[] a) throws InterruptedException {
        int threads = Integer.parseInt(a[0]), n = Integer.parseInt(a[1]);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) { all.add(Thread.ofVirtual().start(() -> work(n))); }
        for (Thread t : all) { t.join(); }
        System.out.println("made SitesVirtual.items SitesVirtual$Item " + 2L * threads * n);
    }
}
