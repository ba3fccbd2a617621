// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;

/**
 * ContendVirtual CASE ROUNDS WIDTH MS: in each round WIDTH new virtual threads, all of which are blocked while main, which is none, holds what they want. Cases:
 * pinned: parked, blocked and waiting where the carrier is kept. held: a virtual thread holds what WIDTH platform threads want; when the
 * program ends, another one still does. Prints "WORD DETAIL METHOD CLASS THREAD COUNT NANOSECONDS FORCED" as
 * Contend and Waiting; the pinned ones "pinned - METHOD CLASS ...". Up to JDK 23 WIDTH may not be above the number of carriers.
 */
public class ContendVirtual {
    static class Gate { }
    static class Bell { }
    static class Parked { }
    static volatile int started;
    static long ms;

    static void enter(Blocked me, Object lock) {
        me.before();
        synchronized (lock) { me.after("blocked hold ContendVirtual.enter ContendVirtual$Gate"); }
    }

    static void timed(Blocked me, Object lock) throws InterruptedException {
        synchronized (lock) {
            me.before(ms);
            lock.wait(ms);
            me.after("waited " + ms + " ContendVirtual.timed ContendVirtual$Bell");
        }
    }

    /** A monitor that it has keeps the carrier, up to JDK 23. */
    static void parksInMonitor(Blocked me, Object mine, Object blocker) {
        me.spendPermit();
        synchronized (mine) {
            me.before();
            LockSupport.park(blocker);
            me.after("pinned - ContendVirtual.parksInMonitor ContendVirtual$Parked");
        }
    }

    /** A static initialiser keeps it on any JDK. */
    static class Initialised {
        static int value = parks(current);

        static int parks(Blocked me) {
            me.spendPermit();
            me.before();
            LockSupport.park(new Parked());
            me.after("pinned - ContendVirtual$Initialised.parks ContendVirtual$Parked");
            return 1;
        }
    }

    static volatile Blocked current;

    static Blocked[] some(int n) {
        Blocked[] all = new Blocked[n];
        for (int i = 0; i < n; i++) {
            String name = "v" + started++;
            all[i] = new Blocked(r -> Thread.ofVirtual().name(name).unstarted(r));
        }
        return all;
    }

    static void hold(Object lock, Blocked... all) throws InterruptedException {
        synchronized (lock) { Contend.blockAll(ms, me -> enter(me, lock), all); }
        Contend.finish(all);
    }

    /** Each one has a monitor of its own. */
    static void waits(Blocked... all) throws InterruptedException {
        for (Blocked b : all) { b.give(Waiting.task(me -> timed(me, new Bell()))); }
        Contend.finish(all);
    }

    static void unpark(Blocked... all) throws InterruptedException {
        for (Blocked b : all) { b.untilWaiting(1); }
        Thread.sleep(ms);
        Contend.release(all);
        for (Blocked b : all) { LockSupport.unpark(b.thread); }
        Contend.finish(all);
    }

    static void pinned(Blocked... all) throws InterruptedException {
        Object parked = new Parked();
        for (Blocked b : all) { b.give(me -> parksInMonitor(me, new Object(), parked)); }
        unpark(all);
        waits(all);
        hold(new Gate(), all);
        for (Blocked b : all) { b.end(); }
    }

    static void holds(Object lock, Semaphore held, Semaphore go) {
        synchronized (lock) {
            held.release();
            go.acquireUninterruptibly();
        }
    }

    static Thread holder(Object lock, Semaphore go) {
        Semaphore held = new Semaphore(0);
        Thread holder = Thread.ofVirtual().name("holder").start(() -> holds(lock, held, go));
        held.acquireUninterruptibly();
        return holder;
    }

    static void held(int n) throws InterruptedException {
        Object lock = new Gate();
        Semaphore go = new Semaphore(0);
        Blocked[] all = new Blocked[n];
        for (int i = 0; i < n; i++) { all[i] = new Blocked("p" + i); }
        Thread holder = holder(lock, go);
        Contend.blockAll(ms, me -> enter(me, lock), all);
        go.release();
        Contend.finish(all);
        holder.join();
        for (Blocked b : all) { b.end(); }
    }

    static void heldAtTheEnd() throws InterruptedException {
        Object lock = new Bell();
        holder(lock, new Semaphore(0));
        Thread wants = new Thread(() -> holds(lock, new Semaphore(0), new Semaphore(0)), "wants");
        wants.setDaemon(true);
        wants.start();
        while (wants.getState() != Thread.State.BLOCKED) { Thread.sleep(1); }
    }

    public static void main(String[] a) throws InterruptedException {
        int rounds = Integer.parseInt(a[1]), width = Integer.parseInt(a[2]);
        ms = Long.parseLong(a[3]);
        for (int i = 0; i < rounds; i++) {
            if (a[0].equals("held")) { held(width); } else { pinned(some(width)); }
        }
        if (a[0].equals("held")) { heldAtTheEnd(); }
        if (a[0].equals("pinned")) {
            current = some(1)[0];
            current.give(me -> started += Initialised.value);
            unpark(current);
            current.end();
        }
        System.out.println("done");
    }
}
