// SPDX-License-Identifier: BSD-2-Clause
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.concurrent.CountDownLatch;

/**
 * Sessions while a thread is held in the agent. Arguments: the library (tests/sessions, held.c), what is held, the options.
 */
public class SessionsHeld {
    static native void hold(int place);
    static native void await();
    static native void release();
    static native boolean suspend();
    static native boolean resume();

    static final int ALLOCATION = 1, SAMPLER = 2, CLASSES = 3, STACK_END = 4, RELEASES = 5, RING = 6, TABLE = 7, EVENT = 8;
    static volatile boolean stop;
    static volatile Object sink;
    static volatile long burnt, made;

    static class Made { long a; }
    public static class Above { int above() { return 1; } }
    public static class Late extends Above implements Runnable {
        static int sum;
        static int leaf(int i) { return i + 1; }
        public void run() { for (int i = 0; i < 1000; i++) { sum += leaf(i); } }
    }

    static void told(String what, boolean is) { System.out.println(what + " " + is); }

    static void make() { while (!stop) { sink = new Made(); made++; } }
    static void burn() { long x = 1; while (!stop) { for (int i = 0; i < 100000; i++) { x += (long) i * i ^ x; } burnt = x; } }

    static Thread work(Runnable r) {
        Thread t = new Thread(r, "work");
        t.setDaemon(true);
        t.start();
        return t;
    }

    /** A thread that a debugger, say, has suspended in a callback. */
    static void suspended(String options) throws Exception {
        told("begins", Sessions.begin(options + ",file=0"));
        work(SessionsHeld::make);
        while (made < 1000) { Thread.sleep(1); }
        hold(ALLOCATION);
        await();
        told("suspended", suspend());
        release();
        told("ends", Sessions.end());
        told("begins", Sessions.begin(options + ",file=1"));
        told("resumed", resume());
        told("ends", Sessions.end());
    }

    /** A thread in a callback, which leaves it only when the JVM ends. */
    static void stalled(String options) throws Exception {
        told("begins", Sessions.begin(options + ",file=0"));
        work(SessionsHeld::make);
        while (made < 1000) { Thread.sleep(1); }
        hold(ALLOCATION);
        await();
        told("ends", Sessions.end());
        hold(RELEASES);
    }

    /** The sampling thread, which does not come back from the VM for long. */
    static void sampler(String options) {
        told("begins", Sessions.begin(options + ",file=0"));
        hold(SAMPLER);
        work(SessionsHeld::burn);
        await();
        told("ends", Sessions.end());
        release();
        told("ends", Sessions.end());
    }

    /** A thread in its signal handler, which reads the table of stacks that all threads share. */
    static void table(String options) throws Exception {
        told("begins", Sessions.begin(options + ",file=0"));
        hold(TABLE);
        Thread t = work(SessionsHeld::burn);
        await();
        told("ends", Sessions.end());
        release();
        stop = true;
        t.join();
        told("goesOn", true);
    }

    /** A thread that the VM tells of its start or its end when the session is over, and that finds the gate of the next one open. */
    static void event(String options, boolean start) throws Exception {
        CountDownLatch ends = new CountDownLatch(1), runs = new CountDownLatch(1);
        told("begins", Sessions.begin(options + ",file=0"));
        hold(start ? EVENT : 0);
        Thread t = work(() -> {
            runs.countDown();
            try { ends.await(); } catch (InterruptedException e) { throw new IllegalStateException(e); }
        });
        if (!start) {
            runs.await();
            hold(EVENT);
            ends.countDown();
        }
        await();
        told("ends", Sessions.end());
        told("begins", Sessions.begin(options + ",file=1"));
        release();
        runs.await();
        ends.countDown();
        t.join();
        told("ends", Sessions.end());
    }

    static int deep(int n) { return 1 + deep(n + 1); }

    /** A thread in a probe, near the end of its stack. */
    static void stackEnd(String options) throws Exception {
        told("begins", Sessions.begin(options + ",file=0"));
        hold(STACK_END);
        Thread t = work(() -> { try { deep(0); } catch (StackOverflowError e) { burnt = 1; } });
        await();
        told("ends", Sessions.end());
        release();
        t.join();
        told("overflows", burnt == 1);
    }

    static int leaf(int i) { return i + 1; }
    static void nothing() { }

    /** A thread in a probe that waits for room, when its session ends; it goes on in the next one. */
    static void probe(String options, Runnable reaches) throws Exception {
        CountDownLatch left = new CountDownLatch(1), next = new CountDownLatch(1);
        told("begins", Sessions.begin(options + ",file=0"));
        hold(RING);
        Thread t = work(() -> {
            reaches.run();
            left.countDown();
            try { next.await(); } catch (InterruptedException e) { throw new IllegalStateException(e); }
            for (int i = 0; i < 1000; i++) { burnt = leaf(i); sink = new Made(); }
        });
        await();
        told("ends", Sessions.end());
        release();
        left.await();
        told("begins", Sessions.begin(options + ",file=1"));
        next.countDown();
        t.join();
        told("ends", Sessions.end());
    }

    static void fill() { for (int i = 0; i < 5000000; i++) { nothing(); leaf(i); } }

    static class Loader extends ClassLoader {
        final CountDownLatch waits = new CountDownLatch(1), goesOn = new CountDownLatch(1);

        @Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("SessionsHeld$")) { return super.loadClass(name, resolve); }
            try (InputStream in = getResourceAsStream(name + ".class")) {
                if (name.endsWith("$Above")) { // the VM has begun with Late
                    waits.countDown();
                    goesOn.await();
                }
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                for (int b = in.read(); b >= 0; b = in.read()) { bytes.write(b); }
                return defineClass(name, bytes.toByteArray(), 0, bytes.size());
            } catch (Exception e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    /** A class that began to load before the session, and is there when the session has listed those that are loaded. */
    static void classes(String options) throws Exception {
        Loader loader = new Loader();
        Runnable[] late = new Runnable[1];
        Thread loads = work(() -> {
            try { late[0] = (Runnable) loader.loadClass("SessionsHeld$Late").getDeclaredConstructor().newInstance(); } catch (Exception e) { e.printStackTrace(); }
        });
        loader.waits.await();
        hold(CLASSES);
        Thread begins = work(() -> told("begins", Sessions.begin(options + ",file=0")));
        await();
        loader.goesOn.countDown();
        loads.join();
        release();
        begins.join();
        late[0].run();
        told("ends", Sessions.end());
    }

    public static void main(String[] a) throws Exception {
        System.load(a[0]);
        switch (a[1]) {
        case "stalled": stalled(a[2]); return;
        case "suspended": suspended(a[2]); break;
        case "probeOfCalls": probe(a[2], SessionsHeld::fill); break;
        case "probeOfCounts": probe(a[2], () -> sink = new int[2][2]); break;
        case "stackEnd": stackEnd(a[2]); break;
        case "start": event(a[2], true); break;
        case "end": event(a[2], false); break;
        case "table": table(a[2]); break;
        case "sampler": sampler(a[2]); break;
        default: classes(a[2]); break;
        }
        stop = true;
        told("begins", Sessions.begin(a[2] + ",file=last"));
        told("ends", Sessions.end());
    }
}
