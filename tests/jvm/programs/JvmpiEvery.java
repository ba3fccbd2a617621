// SPDX-License-Identifier: BSD-2-Clause
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Causes every event of JVMPI that there is, and has the agent tests/jvmpi/every.c call every function. Argument: the agent's library. */
public class JvmpiEvery {
    static native void codes();
    static native long self();
    static native void functions(Object object, long other);
    static native void requests(Object object);
    static native void references(Object object);
    static native void rawContention();
    static native void sigquit();
    static native long count(String event);

    /** Loaded again and again, compiled, and dropped. */
    public static class Template implements Runnable {
        static int steps;

        static int step(int n) {
            return n * 31 + 1;
        }

        @Override
        public void run() {
            for (int i = 0; i < 100000; i++) {
                steps = step(steps);
            }
        }
    }

    static final class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (!name.equals("JvmpiEvery$Template")) {
                throw new ClassNotFoundException(name);
            }
            try (InputStream in = JvmpiEvery.class.getResourceAsStream(name + ".class")) {
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                for (int b = in.read(); b >= 0; b = in.read()) {
                    out.write(b);
                }
                return defineClass(name, out.toByteArray(), 0, out.size());
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static final Object lock = new Object();
    static volatile long waiting;
    static volatile Object dropped;

    static void contend() throws InterruptedException {
        Thread blocked = new Thread(() -> {
            synchronized (lock) {
                dropped = lock;
            }
        }, "blocked");
        synchronized (lock) {
            blocked.start();
            while (blocked.getState() != Thread.State.BLOCKED || count("MONITOR_CONTENDED_ENTER") == 0) {
                Thread.yield();
            }
        }
        blocked.join();
        synchronized (lock) {
            lock.wait(1);
        }
    }

    static void callFunctions() throws InterruptedException {
        Object gate = new Object();
        Thread other = new Thread(() -> {
            synchronized (gate) {
                waiting = self();
                while (waiting != 0) {
                    try {
                        gate.wait();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }
        }, "other");
        other.start();
        while (other.getState() != Thread.State.WAITING) {
            Thread.yield();
        }
        functions(gate, waiting);
        synchronized (gate) {
            waiting = 0;
            gate.notifyAll();
        }
        other.join();
    }

    /** Until the VM has told of the class, and where there is a compiler of its code; the test's time limit ends it otherwise. */
    static void unload(boolean compiled) throws Exception {
        while (count("CLASS_UNLOAD") == 0 || count("OBJECT_FREE") == 0 || compiled && (count("COMPILED_METHOD_LOAD") == 0 || count("COMPILED_METHOD_UNLOAD") == 0)) {
            ((Runnable) new Loader().loadClass("JvmpiEvery$Template").getDeclaredConstructor().newInstance()).run();
            dropped = new byte[100];
            dropped = null;
            System.gc();
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        codes();
        contend();
        callFunctions();
        requests(lock);
        references(lock);
        rawContention();
        sigquit();
        while (count("DATA_DUMP_REQUEST") == 0) {
            Thread.yield();
        }
        unload(args[1].equals("compiled"));
        System.out.println("done");
    }
}
