// SPDX-License-Identifier: BSD-2-Clause
import java.io.File;
import java.util.concurrent.CyclicBarrier;

/**
 * SitesSteps THREADS N: works in steps as the golden program Steps does (files step1, ack1, ..., stop). In every step each thread makes N objects, N arrays and N
 * pairs of arrays; threads live on between steps.
 */
public class SitesSteps {
    static class Item { int a; }
    static volatile Object sink;
    static volatile boolean ended;

    static void one() { sink = new Item(); }
    static void items(int n) {
        for (int i = 0; i < n; i++) {
            one();
            sink = new char[9];
            sink = new Item[2][1];
        }
    }

    static void serve(CyclicBarrier begin, CyclicBarrier done, int n) {
        try {
            for (begin.await(); !ended; begin.await()) {
                items(n);
                done.await();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] a) throws Exception {
        int threads = Integer.parseInt(a[0]), n = Integer.parseInt(a[1]), k = 1;
        CyclicBarrier begin = new CyclicBarrier(threads + 1), done = new CyclicBarrier(threads + 1);
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            all[i] = new Thread(() -> serve(begin, done, n));
            all[i].start();
        }
        System.out.println("ready");
        while (!new File("stop").exists()) {
            if (new File("step" + k).exists()) {
                begin.await();
                done.await();
                new File("ack" + k++).createNewFile();
            }
            Thread.sleep(5);
        }
        ended = true;
        begin.await();
        for (Thread t : all) { t.join(); }
        System.out.println("done " + (k - 1));
    }
}
