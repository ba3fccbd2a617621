// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;

/**
 * MonitorChurn THREADS MS: threads enter monitors of five classes, one in the other but always in one order, hold them for a moment, wait, notify; some take
 * ReentrantLocks inside. No deadlock is possible. Prints "entered".
 */
public class MonitorChurn {
    static class M0 { }
    static class M1 { }
    static class M2 { }
    static class M3 { }
    static class M4 { }

    static final Object[] monitors = {new M0(), new M1(), new M2(), new M3(), new M4()};
    static final ReentrantLock[] locks = {new ReentrantLock(), new ReentrantLock()};
    static volatile long sink;

    static void hold(Random r) {
        long sum = 1;
        for (int i = r.nextInt(20000); i > 0; i--) {
            sum = sum * 31 + i;
        }
        sink += sum;
    }

    static void nest(int from, Random r) throws InterruptedException {
        Object m = monitors[from];
        synchronized (m) {
            hold(r);
            int what = r.nextInt(8);
            if (what == 0) {
                m.wait(1 + r.nextInt(20));
            } else if (what == 1) {
                m.notifyAll();
            } else if (what == 2) {
                synchronized (m) {
                    hold(r);
                }
            } else if (what == 3) {
                ReentrantLock lock = locks[0];
                lock.lock();
                try {
                    hold(r);
                    locks[1].lock();
                    locks[1].unlock();
                } finally {
                    lock.unlock();
                }
            }
            if (from + 1 < monitors.length && r.nextInt(3) > 0) {
                nest(from + 1 + r.nextInt(monitors.length - from - 1), r);
            }
        }
    }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]);
        final long end = System.nanoTime() + Long.parseLong(a[1]) * 1000000L;
        List<Thread> all = new ArrayList<Thread>();
        for (int i = 0; i < n; i++) {
            final int seed = i;
            Thread t = new Thread("churn-" + i) {
                @Override
                public void run() {
                    Random r = new Random(seed);
                    try {
                        while (System.nanoTime() < end) {
                            nest(r.nextInt(monitors.length), r);
                        }
                    } catch (InterruptedException e) {
                        throw new RuntimeException(e);
                    }
                }
            };
            all.add(t);
            t.start();
        }
        for (Thread t : all) {
            t.join();
        }
        System.out.println("entered");
    }
}
