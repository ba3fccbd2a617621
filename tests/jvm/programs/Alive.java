// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Alive N [FILE]: N threads a0.., all alive at once, each does some work before and after. With FILE: how many descriptors the program can have meanwhile.
 * Prints "alive N" or "alive N files F". */
public class Alive {
    static volatile long sink;

    static void work() {
        long s = 88172645463325252L;
        for (int i = 0; i < 20000; i++) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; }
        sink += s;
    }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]);
        final CountDownLatch begun = new CountDownLatch(n), end = new CountDownLatch(1);
        Thread[] all = new Thread[n];
        for (int i = 0; i < n; i++) {
            all[i] = new Thread(null, new Runnable() {
                public void run() {
                    work();
                    begun.countDown();
                    try { end.await(); } catch (InterruptedException e) { throw new RuntimeException(e); }
                    work();
                }
            }, "a" + i, 128 << 10);
            all[i].setDaemon(true); // if one cannot start, the program ends
            all[i].start();
        }
        begun.await();
        List<java.io.FileInputStream> open = new ArrayList<>();
        try {
            while (a.length > 1) { open.add(new java.io.FileInputStream(a[1])); }
        } catch (java.io.IOException e) {
            // no descriptor is left
        }
        int files = open.size();
        for (java.io.FileInputStream f : open) { f.close(); }
        end.countDown();
        for (Thread t : all) { t.join(); }
        System.out.println("alive " + n + (a.length > 1 ? " files " + files : ""));
    }
}
