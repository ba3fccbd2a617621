// SPDX-License-Identifier: BSD-2-Clause
import java.io.File;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.InvocationTargetException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Monitors WHAT...: daemon threads that stay as they are. Each piece says what a dump must show:
 *   state THREAD STATUS
 *   monitor SIGNATURE OWNER|- ENTRIES enter=A,B notify=C,D
 *   deadlock N THREAD MONITOR|LOCK SIGNATURE OWNER     (N counts the deadlocks)
 * Then "ready"; for each new file more1, more2, ... the next WHAT behind "+" and "ready1", ...; the file "stop" ends it.
 */
public class Monitors {
    static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    static final List<Object> kept = new ArrayList<Object>();
    static volatile long spun;
    static int deadlocks;

    interface Body { void run() throws Exception; }

    static Thread start(String name, final Body body) {
        Thread t = new Thread(null, new Runnable() {
            public void run() {
                try {
                    body.run();
                } catch (Exception e) {
                    throw new RuntimeException(e);
                }
            }
        }, name, 192 * 1024);
        t.setDaemon(true);
        t.start();
        kept.add(t);
        return t;
    }

    /** Thread.getState() says BLOCKED a moment before the thread is in the monitor's list; the bean looks there. */
    static Thread reaches(Thread t, Thread.State state) throws Exception {
        for (;;) {
            ThreadInfo info = threads.getThreadInfo(t.getId());
            if ((info == null ? t.getState() : info.getThreadState()) == state) {
                return t;
            }
            Thread.sleep(1);
        }
    }

    static Thread state(String status, Thread t, Thread.State state) throws Exception {
        say("state " + t.getName() + " " + status);
        return reaches(t, state);
    }

    static void say(String line) {
        System.out.println(line);
    }

    static final Body PARK = new Body() {
        public void run() {
            park();
        }
    };

    static final Body SPIN = new Body() {
        public void run() {
            for (;;) {
                spun++;
            }
        }
    };

    static Body locking(final Lock lock) {
        return new Body() {
            public void run() {
                lock.lock();
                park();
            }
        };
    }

    static void park() {
        for (;;) {
            LockSupport.park();
        }
    }

    /** Enters `times` times, and stays. */
    static void enter(Object monitor, int times) {
        synchronized (monitor) {
            if (times > 1) {
                enter(monitor, times - 1);
            } else {
                park();
            }
        }
    }

    static Thread owner(String name, final Object monitor, final int times) throws Exception {
        return reaches(start(name, new Body() { public void run() { enter(monitor, times); } }), Thread.State.WAITING);
    }

    static Thread enterer(String name, final Object monitor) throws Exception {
        return reaches(start(name, new Body() { public void run() { enter(monitor, 1); } }), Thread.State.BLOCKED);
    }

    static Thread waiter(String name, final Object monitor, final long ms, final int entries) throws Exception {
        Thread t = start(name, new Body() { public void run() throws Exception { await(monitor, ms, entries); } });
        reaches(t, ms == 0 ? Thread.State.WAITING : Thread.State.TIMED_WAITING);
        synchronized (monitor) { // it lets go of the monitor when it is in its list
            return t;
        }
    }

    static void await(Object monitor, long ms, int entries) throws Exception {
        synchronized (monitor) {
            if (entries > 1) {
                await(monitor, ms, entries - 1);
            } else {
                monitor.wait(ms);
            }
        }
    }

    // --- states

    static class Held { }

    static void states() throws Exception {
        final Object monitor = new Object();
        final Held held = new Held();
        final ReentrantLock lock = new ReentrantLock();
        lock.lock();
        state("CW", start("parked", PARK), Thread.State.WAITING);
        state("CW", start("timed-parked", new Body() { public void run() { for (;;) LockSupport.parkNanos(600000000000L); } }), Thread.State.TIMED_WAITING);
        state("CW", waiter("waiting", monitor, 0, 1), Thread.State.WAITING);
        state("CW", waiter("timed-waiting", monitor, 600000, 1), Thread.State.TIMED_WAITING);
        state("SL", start("sleeping", new Body() { public void run() throws Exception { Thread.sleep(600000); } }), Thread.State.TIMED_WAITING);
        state("CW", start("joining", new Body() { public void run() throws Exception { Thread.currentThread().join(); } }), Thread.State.WAITING);
        state("CW", start("timed-joining", new Body() { public void run() throws Exception { Thread.currentThread().join(600000); } }), Thread.State.TIMED_WAITING);
        owner("holding", held, 1);
        say("state holding CW");
        state("MW", enterer("blocked", held), Thread.State.BLOCKED);
        Thread interrupted = state("intr|MW", enterer("interrupted-blocked", held), Thread.State.BLOCKED);
        interrupted.interrupt();
        state("CW", start("juc-lock", locking(lock)), Thread.State.WAITING);
        state("R", start("runnable", SPIN), Thread.State.RUNNABLE);
        state("intr|R", start("interrupted", SPIN), Thread.State.RUNNABLE).interrupt();
        Thread accepting = start("accepting", new Body() { public void run() throws Exception { new ServerSocket(0, 1, InetAddress.getLoopbackAddress()).accept(); } });
        say("state accepting native|R");
        // It is ready to accept when it is in a native method, and again, since binding has some, too.
        for (int seen = 0; seen < 100; Thread.sleep(1)) {
            StackTraceElement[] stack = accepting.getStackTrace();
            seen = stack.length > 0 && stack[0].isNativeMethod() ? seen + 1 : 0;
        }
        Thread dead = state("ZO", start("ended", new Body() { public void run() { } }), Thread.State.TERMINATED);
        dead.join();
        kept.add(new Thread("never-started"));
        Thread suspended = start("suspended", SPIN), waits = waiter("suspended-waiting", monitor, 0, 1), both = start("suspended-interrupted", SPIN);
        while (suspended.getStackTrace().length == 0 || both.getStackTrace().length == 0) {
            Thread.sleep(1); // suspended before its first frame it would not have started for anybody
        }
        both.interrupt();
        String s = suspend(suspended) && suspend(waits) && suspend(both) ? "S|" : "";
        say("state suspended " + s + "R");
        say("state suspended-waiting " + s + "CW");
        say("state suspended-interrupted " + s + "intr|R");
    }

    /** From JDK 20 on it throws; later it is gone. */
    static boolean suspend(Thread t) throws Exception {
        try {
            Thread.class.getMethod("suspend").invoke(t);
            return true;
        } catch (NoSuchMethodException e) {
            return false;
        } catch (InvocationTargetException e) {
            return false;
        }
    }

    // --- owners

    static class Once { }
    static class Twice { }
    static class Thrice { }
    static class Bell { }
    static class Both { }
    static class Alone { }
    static class Outer { }
    static class Inner { }
    static class Notified { }
    static class Last { }
    static class Rewait { }
    static class Method {
        synchronized void enter() {
            park();
        }
    }

    static class Static {
        static synchronized void enter() {
            park();
        }
    }

    static void monitor(String signature, String owner, int entries, String enter, String notify) {
        say("monitor " + signature + " " + owner + " " + entries + " enter=" + enter + " notify=" + notify);
    }

    static void owners() throws Exception {
        Object[] counted = {new Once(), new Twice(), new Thrice()};
        for (int i = 0; i < counted.length; i++) {
            String name = counted[i].getClass().getSimpleName();
            owner("own" + name, counted[i], i + 1);
            enterer("a" + name, counted[i]);
            enterer("b" + name, counted[i]);
            monitor("LMonitors$" + name + ";", "own" + name, i + 1, "a" + name + ",b" + name, "");
        }
        Object bell = new Bell();
        waiter("listen1", bell, 0, 1);
        waiter("listen2", bell, 600000, 1);
        monitor("LMonitors$Bell;", "-", 0, "", "listen1,listen2");
        Object both = new Both();
        waiter("listen3", both, 0, 1);
        owner("ownBoth", both, 1);
        enterer("aBoth", both);
        monitor("LMonitors$Both;", "ownBoth", 1, "aBoth", "listen3");
        final Object outer = new Outer(), inner = new Inner();
        reaches(start("ownNested", new Body() { public void run() { synchronized (outer) { enter(inner, 1); } } }), Thread.State.WAITING);
        enterer("aOuter", outer);
        enterer("aInner", inner);
        monitor("LMonitors$Outer;", "ownNested", 1, "aOuter", "");
        monitor("LMonitors$Inner;", "ownNested", 1, "aInner", "");
        Object rewait = new Rewait(); // entered three times, and let go by wait
        waiter("rewaits", rewait, 0, 3);
        monitor("LMonitors$Rewait;", "-", 0, "", "rewaits");
        int[] array = new int[1];
        owner("ownArray", array, 1);
        enterer("aArray", array);
        monitor("[I", "ownArray", 1, "aArray", "");
        final Method method = new Method();
        Body call = new Body() { public void run() { method.enter(); } };
        reaches(start("ownMethod", call), Thread.State.WAITING);
        reaches(start("aMethod", call), Thread.State.BLOCKED);
        monitor("LMonitors$Method;", "ownMethod", 1, "aMethod", "");
        Body ofClass = new Body() { public void run() { Static.enter(); } };
        reaches(start("ownClass", ofClass), Thread.State.WAITING);
        reaches(start("aClass", ofClass), Thread.State.BLOCKED);
        monitor("Ljava/lang/Class;", "ownClass", 1, "aClass", "");
        notified(new Notified(), "notified", "unnotified", "ownNotified");
        notified(new Last(), "last", "", "ownLast");
    }

    /** One that was notified, and cannot go on: it waits to enter. Another one still waits to be notified, or none. */
    static void notified(final Object monitor, String name, String other, String by) throws Exception {
        final CountDownLatch done = new CountDownLatch(1);
        final Thread first = waiter(name, monitor, 0, 1);
        if (!other.isEmpty()) {
            waiter(other, monitor, 0, 1);
        }
        Thread owner = start(by, new Body() {
            public void run() {
                synchronized (monitor) {
                    monitor.notify(); // HotSpot takes the one that waits longest
                    done.countDown();
                    park();
                }
            }
        });
        done.await();
        reaches(first, Thread.State.BLOCKED);
        reaches(owner, Thread.State.WAITING);
        say("state " + name + " MW");
        monitor("L" + monitor.getClass().getName() + ";", by, 1, name, other);
    }

    /** Nobody waits for it: only the frames of its owner tell. */
    static void alone() throws Exception {
        owner("ownAlone", new Alone(), 2);
        monitor("LMonitors$Alone;", "ownAlone", 2, "", "");
    }

    // --- deadlocks

    static class A { }
    static class B { }
    static class C { }

    static final String LOCK = "Ljava/util/concurrent/locks/ReentrantLock$NonfairSync;";

    /** A ring: thread i holds things[i] and then wants things[i + 1]; each is a monitor or a ReentrantLock. */
    static void deadlock(Object... things) throws Exception {
        final int n = things.length;
        final CountDownLatch all = new CountDownLatch(n);
        deadlocks++;
        for (int i = 0; i < n; i++) {
            final Object mine = things[i], wanted = things[(i + 1) % n];
            start("ring" + deadlocks + "-" + i, new Body() {
                public void run() throws Exception {
                    if (mine instanceof Lock) {
                        ((Lock) mine).lock();
                        all.countDown();
                        want(wanted);
                    } else {
                        synchronized (mine) {
                            all.countDown();
                            want(wanted);
                        }
                    }
                }

                void want(Object o) throws Exception {
                    all.await();
                    if (o instanceof Lock) {
                        ((Lock) o).lock();
                    } else {
                        enter(o, 1);
                    }
                }
            });
        }
        for (int i = 0; i < n; i++) {
            Object wanted = things[(i + 1) % n];
            Thread t = (Thread) kept.get(kept.size() - n + i);
            boolean lock = wanted instanceof Lock;
            // parked, or still in the latch, for which it also parks
            if (lock) {
                while (!((ReentrantLock) wanted).hasQueuedThread(t)) {
                    Thread.sleep(1);
                }
            }
            reaches(t, lock ? Thread.State.WAITING : Thread.State.BLOCKED);
            say("deadlock " + deadlocks + " " + t.getName() + (lock ? " LOCK " + LOCK : " MONITOR L" + wanted.getClass().getName() + ";") + " ring" + deadlocks + "-" + (i + 1) % n);
        }
        if (!(things[0] instanceof Lock)) {
            enterer("behind" + deadlocks, things[0]); // not of the ring
        }
    }

    /** They wait for each other, and some day one goes on: no deadlock. */
    static void patient() throws Exception {
        final Object a = new A(), b = new B();
        final ReentrantLock lock = new ReentrantLock();
        reaches(start("holdsLock", new Body() { public void run() throws Exception { lock.lock(); synchronized (a) { a.wait(); } } }), Thread.State.WAITING);
        reaches(start("wantsLock", new Body() { public void run() { synchronized (a) { lock.lock(); } } }), Thread.State.WAITING);
        reaches(start("sleepsWithB", new Body() { public void run() throws Exception { synchronized (b) { Thread.sleep(600000); } } }), Thread.State.TIMED_WAITING);
        enterer("wantsB", b);
        enterer("wantsA", a);
    }

    static void crowd(int n) throws Exception {
        final Object monitor = new Held();
        owner("ownCrowd", monitor, 1);
        List<Thread> all = new ArrayList<Thread>();
        for (int i = 0; i < n; i++) {
            all.add(start("crowd" + i, new Body() { public void run() { enter(monitor, 1); } }));
        }
        for (Thread t : all) {
            reaches(t, Thread.State.BLOCKED);
        }
    }

    static void piece(String what) throws Exception {
        switch (what) {
            case "states": states(); break;
            case "owners": owners(); break;
            case "alone": alone(); break;
            case "two": deadlock(new A(), new B()); break;
            case "three": deadlock(new A(), new B(), new C()); break;
            case "locks": deadlock(new ReentrantLock(), new ReentrantLock()); break;
            case "mixed": deadlock(new A(), new ReentrantLock(), new B()); break;
            case "patient": patient(); break;
            default: crowd(Integer.parseInt(what));
        }
    }

    public static void main(String[] a) throws Exception {
        int ready = 0;
        for (String what : a) {
            if (what.equals("+")) {
                say(ready == 0 ? "ready" : "ready" + ready);
                ready++;
                while (!new File("more" + ready).exists()) {
                    Thread.sleep(10);
                }
            } else {
                piece(what);
            }
        }
        say(ready == 0 ? "ready" : "ready" + ready);
        while (!new File("stop").exists()) {
            Thread.sleep(10);
        }
    }
}
