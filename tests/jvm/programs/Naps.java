// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/** Threads that park for long and sleep shortly, CYCLES times: all of them at the same moments (step), or spread evenly (apart). In cycle k nap()
 * is k times on the stack. Prints "napped K MS", what they slept together in a cycle. Arguments: THREADS IDLE_MS NAP_MS CYCLES step|apart. */
public class Naps {
    static AtomicLongArray slept;

    static void nap(int cycle, int deeper, long ms) throws InterruptedException {
        if (deeper > 1) {
            nap(cycle, deeper - 1, ms);
            return;
        }
        long from = System.nanoTime();
        Thread.sleep(ms);
        slept.addAndGet(cycle, System.nanoTime() - from);
    }

    static void idleUntil(long ns) {
        for (long left; (left = ns - System.nanoTime()) > 0;) {
            LockSupport.parkNanos(left);
        }
    }

    public static void main(String[] args) throws Exception {
        final int threads = Integer.parseInt(args[0]), cycles = Integer.parseInt(args[3]);
        final long idle = Long.parseLong(args[1]) * 1000000, nap = Long.parseLong(args[2]);
        final boolean apart = args[4].equals("apart");
        final CyclicBarrier together = new CyclicBarrier(threads);
        final CountDownLatch done = new CountDownLatch(threads);
        final long began = System.nanoTime() + 100000000L;
        slept = new AtomicLongArray(cycles + 1);
        for (int i = 0; i < threads; i++) {
            final long offset = apart ? i * (idle + nap * 1000000) / threads : 0;
            new Thread() {
                @Override
                public void run() {
                    try {
                        together.await();
                        for (int k = 1; k <= cycles; k++) {
                            idleUntil(began + offset + k * (idle + nap * 1000000) - nap * 1000000);
                            nap(k, k, nap);
                        }
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                    done.countDown();
                }
            }.start();
        }
        done.await();
        for (int k = 1; k <= cycles; k++) {
            System.out.println("napped " + k + " " + slept.get(k) / 1000000);
        }
    }
}
