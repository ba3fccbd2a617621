// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * ContendExit HOW: six daemons contend for monitors, wait, notify and park for ever; when each has had its turn the program ends (return, exit, halt) while another
 * daemon forces a collection. Prints "end" in front of that. Exit code 0, 3 or 3.
 */
public class ContendExit {
    static final Object gate = new Object(), bell = new Object();
    static volatile Object sink;

    static void contend(CountDownLatch turn) {
        for (int i = 0;; i++) {
            synchronized (gate) {
                for (int k = 0; k < 200; k++) { sink = new int[20]; }
            }
            if (i == 20) { turn.countDown(); }
        }
    }

    static void ring(CountDownLatch turn) {
        for (int i = 0;; i++) {
            synchronized (bell) {
                bell.notifyAll();
                try {
                    bell.wait(1);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            if (i == 5) { turn.countDown(); }
        }
    }

    static void park(CountDownLatch turn) {
        turn.countDown();
        while (true) { LockSupport.parkNanos(gate, 100000); }
    }

    static void collect(CountDownLatch begin) {
        try {
            begin.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        while (true) { System.gc(); }
    }

    static void daemon(Runnable r) {
        Thread t = new Thread(r);
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] a) throws InterruptedException {
        CountDownLatch turns = new CountDownLatch(6), begin = new CountDownLatch(1);
        for (int i = 0; i < 3; i++) { daemon(() -> contend(turns)); }
        for (int i = 0; i < 2; i++) { daemon(() -> ring(turns)); }
        daemon(() -> park(turns));
        daemon(() -> collect(begin));
        turns.await();
        System.out.println("end");
        begin.countDown();
        if (a[0].equals("exit")) { System.exit(3); }
        if (a[0].equals("halt")) { Runtime.getRuntime().halt(3); }
    }
}
