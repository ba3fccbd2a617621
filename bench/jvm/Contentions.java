/* SPDX-License-Identifier: BSD-2-Clause */
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

/**
 * CPU time of contentions whose number is known. In a turn the main thread owns a monitor or a ReentrantLock until some others are blocked by it, and
 * lets them through. They wait for their turn at a semaphore. What the main thread uses does not count. Arguments: "monitor" or "lock", turns.
 */
public final class Contentions {
    private static final int OTHERS = 4;
    private static final int DEPTH = 10;      // frames below the contention
    private static final long SETTLE_MS = 50; // in which the profiler reads what the threads left

    private static boolean byLock;
    private static int passed;
    private static final Object GATE = new Object();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final Semaphore GO = new Semaphore(0);
    private static final Semaphore DONE = new Semaphore(0);
    private static final Thread[] THREADS = new Thread[OTHERS];

    private Contentions() {
    }

    private static void pass(int depth) {
        if (depth > 0) {
            pass(depth - 1);
        } else if (byLock) {
            LOCK.lock();
            passed++;
            LOCK.unlock();
        } else {
            synchronized (GATE) {
                passed++;
            }
        }
    }

    private static void passAll() {
        while (true) {
            GO.acquireUninterruptibly();
            pass(DEPTH);
            DONE.release();
        }
    }

    private static void awaitBlocked() {
        Thread.State wanted = byLock ? Thread.State.WAITING : Thread.State.BLOCKED;
        while (byLock && LOCK.getQueueLength() < OTHERS) {
            Thread.yield();
        }
        for (Thread t : THREADS) {
            while (t.getState() != wanted) {
                Thread.yield();
            }
        }
    }

    private static void turns(int n) {
        for (int i = 0; i < n; i++) {
            if (byLock) {
                LOCK.lock();
                GO.release(OTHERS);
                awaitBlocked();
                LOCK.unlock();
            } else {
                synchronized (GATE) {
                    GO.release(OTHERS);
                    awaitBlocked();
                }
            }
            DONE.acquireUninterruptibly(OTHERS);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        byLock = args[0].equals("lock");
        int n = Integer.parseInt(args[1]);
        for (int i = 0; i < OTHERS; i++) {
            THREADS[i] = new Thread(Contentions::passAll, "worker-" + i);
            THREADS[i].setDaemon(true);
            THREADS[i].start();
        }
        turns(n / 2); // until it is compiled
        long cpu = Figures.cpuOfWorkers();
        turns(n);
        Thread.sleep(SETTLE_MS);
        Figures.line("cpu_ns", Figures.cpuOfWorkers() - cpu);
        Figures.line("contentions", (long) n * OTHERS);
        Figures.line("contentions_in_all", passed);
    }
}
