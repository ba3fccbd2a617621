// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.CountDownLatch;

/** Dumps while virtual threads run, park and wait, each with one object of its own. Argument: the library of tests/jvmpi/dump.c. */
public class JvmpiDumpVirtual {
    static class Held {
        int x = 5;
    }

    static final CountDownLatch IN = new CountDownLatch(3), GO = new CountDownLatch(1);
    static final Object LOCK = new Object();

    static void hold(int how) throws InterruptedException {
        Held h = new Held();
        IN.countDown();
        if (how == 0) {
            GO.await();
        } else if (how == 1) {
            while (GO.getCount() > 0) {
                Thread.onSpinWait();
            }
        } else {
            synchronized (LOCK) {
                while (GO.getCount() > 0) {
                    LOCK.wait();
                }
            }
        }
        h.x++;
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Thread[] threads = new Thread[3];
        for (int i = 0; i < 3; i++) {
            int how = i;
            threads[i] = Thread.ofVirtual().start(() -> {
                try {
                    hold(how);
                } catch (InterruptedException e) {
                    System.out.println("BAD interrupted");
                }
            });
        }
        IN.await();
        while (threads[0].getState() != Thread.State.WAITING || threads[2].getState() != Thread.State.WAITING) {
            Thread.yield();
        }
        for (int level = 0; level <= 2; level++) {
            JvmpiDump.heap(level);
        }
        JvmpiDump.counts();
        GO.countDown();
        synchronized (LOCK) {
            LOCK.notifyAll();
        }
        for (Thread t : threads) {
            t.join();
        }
        System.out.println("done virtual");
    }
}
