// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.locks.LockSupport;

/** Waits MS: three methods that wait so long each: for a monitor's notification, parked, for a monitor that another thread has. Prints "done". */
public class Waits {
    static final Object lock = new Object();

    static void notified(long ms) throws InterruptedException {
        long end = System.nanoTime() + ms * 1000000L;
        synchronized (lock) {
            for (long left; (left = (end - System.nanoTime()) / 1000000L) > 0;) { lock.wait(left); }
        }
    }

    static void parked(long ms) {
        long end = System.nanoTime() + ms * 1000000L;
        for (long left; (left = end - System.nanoTime()) > 0;) { LockSupport.parkNanos(left); }
    }

    static void blocked(long ms) throws InterruptedException {
        Thread holder;
        synchronized (lock) {
            holder = new Thread(() -> hold(ms));
            holder.start();
            lock.wait(); /* until it has the monitor, which it gives back after ms only */
        }
        holder.join();
    }

    static void hold(long ms) {
        synchronized (lock) {
            lock.notify();
            try { Thread.sleep(ms); } catch (InterruptedException e) { throw new IllegalStateException(e); }
        }
    }

    public static void main(String[] a) throws InterruptedException {
        long ms = Long.parseLong(a[0]);
        notified(ms);
        parked(ms);
        blocked(ms);
        System.out.println("done");
    }
}
