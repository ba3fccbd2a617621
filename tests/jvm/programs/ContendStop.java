// SPDX-License-Identifier: BSD-2-Clause
/**
 * ContendStop ROUNDS MS: a thread that is blocked by a monitor, or waits, is stopped (Thread.stop), another one that is blocked by the same monitor is not. Each round has
 * a victim of its own. Prints "blocked - METHOD CLASS THREAD COUNT NANOSECONDS FORCED" of the one that is not, and "stopped N".
 */
public class ContendStop {
    static class Gate { }
    static class Bell { }
    static volatile boolean begun;
    static volatile int stopped;

    static void victim(Object lock) {
        try {
            begun = true;
            synchronized (lock) { begun = true; }
            while (true) { Thread.yield(); } // where the stop comes at the latest
        } catch (ThreadDeath e) {
            stopped++;
        }
    }

    static void waiter(Object lock) {
        try {
            begun = true;
            synchronized (lock) { lock.wait(); }
        } catch (ThreadDeath e) {
            stopped++;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void other(Blocked me, Object lock) {
        me.before();
        synchronized (lock) { me.after("blocked - ContendStop.other ContendStop$Gate"); }
    }

    static Thread start(String name, Thread.State state, Runnable r) throws InterruptedException {
        begun = false;
        Thread t = new Thread(r, name);
        t.start();
        while (!begun || t.getState() != state) { Thread.sleep(1); }
        return t;
    }

    @SuppressWarnings("deprecation")
    static void round(int i, Object gate, Object bell, long ms, Blocked one) throws InterruptedException {
        Thread victim;
        synchronized (gate) {
            victim = start("victim" + i, Thread.State.BLOCKED, () -> victim(gate));
            one.give(me -> other(me, gate));
            one.untilBlocked(1);
            victim.stop();
            Thread.sleep(ms);
            one.release();
        }
        one.finish();
        victim.join();
        Thread waiter = start("waiter" + i, Thread.State.WAITING, () -> waiter(bell));
        waiter.stop();
        waiter.join();
    }

    public static void main(String[] a) throws InterruptedException {
        int rounds = Integer.parseInt(a[0]);
        Blocked one = new Blocked("b0");
        Object gate = new Gate(), bell = new Bell();
        for (int i = 0; i < rounds; i++) { round(i, gate, bell, Long.parseLong(a[1]), one); }
        one.end();
        System.out.println("stopped " + stopped);
    }
}
