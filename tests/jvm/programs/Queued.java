// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.locks.LockSupport;

/** Queued THREADS: so many threads "spins" want a CPU all the time; others wait in a method that has their name. Prints "ready" when they do; ends with its input. */
public class Queued {
    static volatile long sink;

    static void spins() { while (true) { sink++; } }
    static void sleeping() throws InterruptedException { Thread.sleep(1000000); }
    static void waiting() throws InterruptedException { synchronized (Queued.class) { while (true) { Queued.class.wait(); } } }
    static void parked() { while (true) { LockSupport.park(); } }

    interface Body {
        void run() throws InterruptedException;
    }

    static Thread start(String name, Body b) {
        Thread t = new Thread(() -> {
            try {
                b.run();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    public static void main(String[] a) throws Exception {
        Thread[] idle = {start("sleeping", Queued::sleeping), start("waiting", Queued::waiting), start("parked", Queued::parked)};
        for (Thread t : idle) {
            while (t.getState() != Thread.State.WAITING && t.getState() != Thread.State.TIMED_WAITING) { Thread.yield(); }
        }
        for (int i = 0; i < Integer.parseInt(a[0]); i++) { start("spins" + i, Queued::spins); }
        System.out.println("ready");
        while (System.in.read() >= 0) { }
    }
}
