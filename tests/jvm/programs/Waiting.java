// SPDX-License-Identifier: BSD-2-Clause
import java.util.function.Consumer;

/**
 * Waiting ROUNDS MS: a thread waits by Object.wait in all ways, and by Thread.join; every lock has a class of its own. Prints "waited TIMEOUT METHOD CLASS THREAD COUNT
 * NANOSECONDS FORCED", and "blocked" so for the wait whose end is contended.
 */
public class Waiting {
    static class Timed { }
    static class Notified { }
    static class NotifiedAll { }
    static class Interrupted { }
    static class InterruptedBefore { }
    static class Spurious { boolean condition; }
    static class NotOwned { }
    static class Back { }
    static class Joined extends Thread {
        Joined(Runnable r) { super(r); }
    }

    interface Wait {
        void in(Blocked me) throws InterruptedException;
    }

    static Consumer<Blocked> task(Wait w) {
        return me -> {
            try {
                w.in(me);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        };
    }

    static String key(Object lock, long timeout, String method) {
        return "waited " + timeout + " Waiting." + method + " " + lock.getClass().getName();
    }

    static void timed(Blocked me, Object lock, long ms) throws InterruptedException {
        synchronized (lock) {
            String key = key(lock, ms, "timed");
            me.before(ms);
            lock.wait(ms);
            me.after(key);
        }
    }

    static void notified(Blocked me, Object lock, long timeout) throws InterruptedException {
        synchronized (lock) {
            String key = key(lock, timeout, "notified");
            me.before();
            lock.wait(timeout);
            me.after(key);
        }
    }

    static void interrupted(Blocked me, Object lock) {
        synchronized (lock) {
            String key = key(lock, 0, "interrupted");
            me.before();
            try {
                lock.wait();
                throw new IllegalStateException("not interrupted");
            } catch (InterruptedException e) {
                me.after(key);
            }
        }
    }

    static void spurious(Blocked me, Spurious lock) throws InterruptedException {
        synchronized (lock) {
            lock.condition = false;
            while (!lock.condition) {
                String key = key(lock, 0, "spurious");
                me.before();
                lock.wait();
                me.after(key);
            }
        }
    }

    /** Which never begins. */
    static void notOwned(Object lock) throws InterruptedException {
        try {
            lock.wait();
            throw new IllegalStateException("owned");
        } catch (IllegalMonitorStateException e) {
            return;
        }
    }

    /** Its time is over while another one has the monitor: from then on it is blocked. The whole is measured. */
    static void back(Blocked me, Object lock, long ms) throws InterruptedException {
        synchronized (lock) {
            String key = "back " + ms + " Waiting.back " + lock.getClass().getName();
            me.before(ms);
            lock.wait(ms);
            me.after(key);
        }
    }

    static void joins(Blocked me, Thread other) throws InterruptedException {
        String key = key(other, 0, "joins");
        me.before();
        other.join();
        me.after(key);
    }

    static void wake(Blocked one, Object lock, int n, long ms, boolean all) throws InterruptedException {
        one.untilWaiting(n);
        Thread.sleep(ms);
        synchronized (lock) {
            one.release();
            if (all) { lock.notifyAll(); } else { lock.notify(); }
        }
    }

    static void round(Blocked one, Object[] locks, long ms) throws InterruptedException {
        one.give(task(me -> timed(me, locks[0], ms)));
        one.finish();
        one.give(task(me -> notified(me, locks[1], 0)));
        wake(one, locks[1], 1, ms, false);
        one.finish();
        one.give(task(me -> notified(me, locks[2], 60000)));
        wake(one, locks[2], 1, ms, true);
        one.finish();
        one.give(task(me -> interrupted(me, locks[3])));
        one.untilWaiting(1);
        Thread.sleep(ms);
        one.release();
        one.thread.interrupt();
        one.finish();
        one.give(task(me -> { Thread.currentThread().interrupt(); interrupted(me, locks[4]); }));
        one.finish();
        Spurious spurious = (Spurious) locks[5];
        one.give(task(me -> spurious(me, spurious)));
        for (int n = 1; n <= 3; n++) { wake(one, spurious, n, ms / 2, n == 2); }
        one.untilWaiting(4);
        synchronized (spurious) {
            one.release();
            spurious.condition = true;
            spurious.notify();
        }
        one.finish();
        one.give(task(me -> notOwned(locks[6])));
        one.finish();
        one.give(task(me -> back(me, locks[7], 5 * ms)));
        one.untilBegun(1);
        synchronized (locks[7]) { // which the wait sets free
            one.untilBlocked(1);
            Thread.sleep(ms);
            one.release();
        }
        one.finish();
        join(one, new Joined(() -> waited(one, ms)));
        join(one, new Thread(() -> waited(one, ms)));
    }

    static void join(Blocked one, Thread other) throws InterruptedException {
        other.start();
        one.give(task(me -> joins(me, other)));
        one.finish();
    }

    /** Ends when it has been waited for so long. */
    static void waited(Blocked one, long ms) {
        try {
            one.untilWaiting(1);
            Thread.sleep(ms);
            one.release();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] a) throws InterruptedException {
        int rounds = Integer.parseInt(a[0]);
        Blocked one = new Blocked("waiter");
        Object[] locks = {new Timed(), new Notified(), new NotifiedAll(), new Interrupted(), new InterruptedBefore(), new Spurious(), new NotOwned(), new Back()};
        for (int i = 0; i < rounds; i++) { round(one, locks, Long.parseLong(a[1])); }
        one.end();
        System.out.println("done");
    }
}
