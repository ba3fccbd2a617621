// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * SitesThreads THREADS N: all at once each makes N objects and N arrays, at sites that all share, and keeps every hundredth object; the threads are named t0, t1, ...
 * Prints "made METHOD CLASS N" and, the garbage being collected, "alive METHOD CLASS N".
 */
public class SitesThreads {
    static class Item { int a; long b; }
    static volatile Object sink;

    static Object item() { return new Item(); }
    static Object array(int i) { return new short[i % 500]; }

    static void work(int n, Object[] kept) {
        for (int i = 0; i < n; i++) {
            Object o = item();
            sink = o;
            if (i % 100 == 0) { kept[i / 100] = o; }
            sink = array(i);
        }
    }

    public static void main(String[] a) throws InterruptedException {
        int threads = Integer.parseInt(a[0]), n = Integer.parseInt(a[1]);
        CountDownLatch start = new CountDownLatch(1);
        Object[][] kept = new Object[threads][(n + 99) / 100];
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int id = i;
            Thread t = new Thread(() -> {
                try {
                    start.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                work(n, kept[id]);
            }, "t" + i);
            all.add(t);
            t.start();
        }
        start.countDown();
        for (Thread t : all) { t.join(); }
        sink = null;
        System.gc();
        System.out.println("made SitesThreads.item SitesThreads$Item " + (long) threads * n);
        System.out.println("made SitesThreads.array short[] " + (long) threads * n);
        System.out.println("alive SitesThreads.item SitesThreads$Item " + (long) threads * kept[0].length);
        System.out.println("alive SitesThreads.array short[] 0");
    }
}
