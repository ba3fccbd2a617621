// SPDX-License-Identifier: BSD-2-Clause
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Has the agent tests/jvmpi/core.c check one subject after the other. Arguments: the agent's library, then subjects. */
public class JvmpiCore {
    static final int OURS = 0, THREAD_END = 11, RUNNABLE = 1, MONITOR_WAIT = 2, CONDVAR_WAIT = 3, SUSPENDED = 0x8000, INTERRUPTED = 0x4000;

    static native void codes();
    static native void ids(Object a, Object b);
    static native long id(Object a);
    static native Object object(long id);
    static native void trace(int deep);
    static native int count(int event);
    static native void collections();
    static native long self();
    static native void storage(long other);
    static native void storageEnded(long ended);
    static native void threadObject(Thread own, long other, Thread others);
    static native void requested(Thread thread, long its, Thread ended);
    static native int status(long other);
    static native void suspend(long other);
    static native void resume(long other);
    static native boolean hasRun(long other);
    static native void lists(long a, long b);
    static native void suspendWithIds(long other, Object[] objects, int rounds);
    static native void traceOf(long other, int atLeast);
    static native void virtual(Thread thread);
    static native void attach();
    static native void unattached();
    static native void systemThread();
    static native void cpuTime();
    static native void forgetMeetings();
    static native void met(Object on, boolean waited, long ms);
    static native void rawMonitors();
    static native void rawAdd(int rounds);
    static native int rawSum();
    static native void rawContended(boolean silent);
    static native void lockInCollections(boolean on);
    static native int lockInUnloads(boolean on);
    static native void underLock(int rounds, Object object);

    static void check(boolean holds, String what) {
        if (!holds) {
            System.out.println("BAD " + what);
        }
    }

    static void deep(int n) {
        if (n > 1) {
            deep(n - 1);
        } else {
            trace(Integer.getInteger("deep", 300));
        }
    }

    /** A thread that stands in a wait until it is let go. */
    static class Standing extends Thread {
        final CountDownLatch stands = new CountDownLatch(1);
        final Object lock = new Object();
        volatile long env;
        boolean go;

        Standing(ThreadGroup group, String name) {
            super(group, name);
            setDaemon(true);
        }

        public void run() {
            env = self();
            stand(this);
        }

        static Standing begin(ThreadGroup group, String name) throws InterruptedException {
            Standing s = new Standing(group, name);
            s.start();
            s.stands.await();
            while (s.getState() != State.WAITING) {
                Thread.yield();
            }
            return s;
        }

        void end() throws InterruptedException {
            synchronized (lock) {
                go = true;
                lock.notifyAll();
            }
            join();
        }
    }

    static void stand(Object thread) {
        Standing s = (Standing) thread;
        synchronized (s.lock) {
            s.stands.countDown();
            while (!s.go) {
                try {
                    s.lock.wait();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }

    /** A thread that counts, and may ask for ids of new objects, until it is told to stop. */
    static class Running extends Thread {
        final AtomicLong turns = new AtomicLong();
        volatile long env;
        volatile boolean stop;
        final boolean asks;

        Running(boolean asks) {
            this.asks = asks;
            setDaemon(true);
        }

        public void run() {
            env = self();
            while (!stop) {
                turns.incrementAndGet();
                if (asks) {
                    check(id(new Object()) != 0, "an id of the running thread");
                }
            }
        }

        static Running begin(boolean asks) {
            Running r = new Running(asks);
            r.start();
            r.turn();
            return r;
        }

        void turn() {
            for (long n = turns.get(); turns.get() == n || env == 0;) {
                Thread.yield();
            }
        }

        void end() throws InterruptedException {
            stop = true;
            join();
        }
    }

    static void sameIdEverywhere() throws InterruptedException {
        Object[] objects = new Object[20000];
        for (int i = 0; i < objects.length; i++) {
            objects[i] = new Object();
        }
        long[][] ids = new long[4][objects.length];
        Thread[] threads = new Thread[ids.length];
        CountDownLatch together = new CountDownLatch(threads.length);
        for (int t = 0; t < threads.length; t++) {
            long[] mine = ids[t];
            threads[t] = new Thread(new Runnable() {
                public void run() {
                    together.countDown();
                    for (int i = 0; i < objects.length; i++) {
                        mine[i] = id(objects[i]);
                    }
                }
            });
            threads[t].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        java.util.HashSet<Long> all = new java.util.HashSet<>();
        for (int i = 0; i < objects.length; i++) {
            check(ids[0][i] == ids[1][i] && ids[0][i] == ids[2][i] && ids[0][i] == ids[3][i] && ids[0][i] != 0, "ids of object " + i);
            all.add(ids[0][i]);
        }
        check(all.size() == objects.length, "one id for two objects");
        check(object(ids[0][777]) == objects[777], "object of an id");
        long gone = id(new Object());
        while (object(gone) != null) {
            System.gc();
        }
        check(id(new Object()) > gone, "an id is used again");
    }

    static void suspension() throws InterruptedException {
        Running r = Running.begin(false);
        Standing s = Standing.begin(null, "stands");
        suspend(r.env);
        check(status(r.env) == (RUNNABLE | SUSPENDED), "status of a suspended thread " + status(r.env));
        long before = r.turns.get();
        for (int i = 0; i < 1000; i++) {
            Thread.yield();
        }
        check(r.turns.get() == before, "a suspended thread ran");
        resume(r.env);
        r.turn();
        suspend(r.env);
        check(hasRun(r.env), "a thread that ran");
        resume(r.env);
        suspend(s.env);
        resume(s.env);
        suspend(s.env);
        check(!hasRun(s.env), "a thread that waited");
        check(status(s.env) == (CONDVAR_WAIT | SUSPENDED), "status of a suspended waiting thread " + status(s.env));
        resume(s.env);
        lists(r.env, s.env);
        r.turn();
        r.end();
        s.end();
    }

    static void suspensionWithIds() throws InterruptedException {
        Object[] objects = new Object[2000];
        for (int i = 0; i < objects.length; i++) {
            objects[i] = new Object();
        }
        Running r = Running.begin(true);
        suspendWithIds(r.env, objects, objects.length);
        r.turn();
        r.end();
    }

    static void statuses() throws InterruptedException {
        Running r = Running.begin(false);
        check(status(r.env) == RUNNABLE, "status of a running thread");
        r.interrupt();
        check(status(r.env) == (RUNNABLE | INTERRUPTED), "status of an interrupted thread");
        r.end();
        check(status(r.env) == 0, "status of a thread that ended");
        Standing s = Standing.begin(null, "stands");
        check(status(s.env) == CONDVAR_WAIT, "status of a waiting thread");
        final Standing blocked = new Standing(null, "blocked");
        synchronized (blocked.lock) {
            blocked.start();
            while (blocked.getState() != Thread.State.BLOCKED) {
                Thread.yield();
            }
            check(status(blocked.env) == MONITOR_WAIT, "status of a blocked thread");
        }
        blocked.end();
        s.end();
    }

    static void threads() throws InterruptedException {
        int starts = count(OURS), ends = count(THREAD_END);
        ThreadGroup outer = new ThreadGroup("outer"), inner = new ThreadGroup(outer, "inner");
        Standing one = Standing.begin(inner, "one"), two = Standing.begin(null, "two");
        check(count(OURS) == starts + 2, "threads that started: " + count(OURS));
        storage(one.env);
        storage(one.env);
        threadObject(Thread.currentThread(), one.env, one);
        two.end();
        check(count(THREAD_END) > ends, "threads that ended");
        storageEnded(two.env);
        requested(one, one.env, two);
        traceOf(one.env, 3);
        one.end();
    }

    static void meetings() throws InterruptedException {
        final Object lock = new Object();
        final Thread[] late = new Thread[1];
        synchronized (lock) {
            late[0] = new Thread(new Runnable() {
                public void run() {
                    forgetMeetings();
                    synchronized (lock) {
                        met(lock, false, 0);
                    }
                }
            });
            late[0].start();
            while (late[0].getState() != Thread.State.BLOCKED) {
                Thread.yield();
            }
        }
        late[0].join();
        synchronized (lock) {
            forgetMeetings();
            lock.wait(20);
            met(lock, true, 20);
        }
    }

    static void rawThreads() throws InterruptedException {
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(new Runnable() {
                public void run() {
                    rawAdd(50000);
                }
            });
            threads[t].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        check(rawSum() == threads.length * 50000, "a sum under a raw monitor: " + rawSum());
        rawContended(false);
        rawContended(true);
    }

    static class Loader extends ClassLoader {
        void define(byte[] code) { defineClass("JvmpiCore$Loader", code, 0, code.length).getDeclaredConstructors(); } // which links it
    }

    static void collect(boolean unloads) throws IOException {
        byte[] code = new byte[10000];
        int n = 0;
        try (InputStream in = JvmpiCore.class.getResourceAsStream("JvmpiCore$Loader.class")) {
            for (int more; (more = in.read(code, n, code.length - n)) > 0; n += more) { }
        }
        for (int i = 0; i < 60; i++) {
            if (unloads) {
                new Loader().define(Arrays.copyOf(code, n));
            }
            System.gc();
        }
    }

    static void locksInCollections(boolean unloads) throws InterruptedException, IOException {
        final AtomicBoolean stop = new AtomicBoolean();
        Thread[] threads = new Thread[3];
        int before = unloads ? lockInUnloads(true) : 0;
        if (!unloads) {
            lockInCollections(true);
        }
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(new Runnable() {
                public void run() {
                    while (!stop.get()) {
                        underLock(50, new Object());
                    }
                }
            });
            threads[t].start();
        }
        collect(unloads);
        stop.set(true);
        for (Thread t : threads) {
            t.join();
        }
        if (unloads) {
            check(lockInUnloads(false) > before, "no class was unloaded");
        } else {
            lockInCollections(false);
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        for (int i = 1; i < args.length; i++) {
            switch (args[i]) {
                case "codes": codes(); break;
                case "ids": ids(new Object(), args); sameIdEverywhere(); break;
                case "trace": deep(300); break;
                case "collections": collections(); cpuTime(); break;
                case "threads": threads(); break;
                case "suspension": suspension(); suspensionWithIds(); break;
                case "statuses": statuses(); break;
                case "agent": attach(); unattached(); systemThread(); break;
                case "monitors": meetings(); break;
                case "raw": rawMonitors(); rawThreads(); break;
                case "locks": locksInCollections(false); break;
                case "unloads": locksInCollections(true); break;
                case "dump": System.out.println("waiting"); System.out.flush(); new CountDownLatch(1).await(); break;
                default: throw new IllegalArgumentException(args[i]);
            }
            System.out.println("done " + args[i]);
            System.out.flush();
        }
    }
}
