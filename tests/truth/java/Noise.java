// SPDX-License-Identifier: BSD-2-Clause
import java.util.List;

/** What goes on beside the activities, and when the program ends: daemons that nobody ends. */
final class Noise {
    static final Object LOCK = new Object();
    static volatile Object escape;
    static int n;

    private Noise() { }

    interface Step {
        void once() throws Exception;
    }

    static void forever(String name, int threads, Step step) {
        for (int i = 0; i < threads; i++) {
            Thread t = new Thread(() -> {
                try {
                    for (;;) { step.once(); }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }, "noise-" + name + i);
            t.setDaemon(true);
            t.start();
        }
    }

    static void contend() {
        synchronized (LOCK) {
            n++;
            escape = new byte[512];
        }
    }

    static void collect() throws Exception {
        System.gc();
        Thread.sleep(1);
    }

    static void waits() throws Exception {
        synchronized (LOCK) { LOCK.wait(1); }
    }

    static void loads() throws Exception {
        new Isolated().loadClass("Noise$Step");
        Thread.sleep(2);
    }

    static void retransforms(List<Program.Task> tasks) throws Exception {
        for (Program.Task t : tasks) {
            Class<?> klass = Class.forName(t.klass, true, t.loader);
            try {
                Program.instrumentation.retransformClasses(klass);
            } catch (ClassFormatError e) { // JDK 25 may free the bytes that it takes if another agent has the class retransformed at the same time
                Thread.sleep(100);
                Program.instrumentation.retransformClasses(klass);
            }
            Thread.sleep(20);
        }
    }

    static void begin(String what, List<Program.Task> tasks) {
        switch (what) {
        case "contend": forever(what, 3, Noise::contend); break;
        case "collect": forever(what, 1, Noise::collect); break;
        case "wait": forever(what, 1, Noise::waits); break;
        case "load": forever(what, 1, Noise::loads); break;
        case "retransform": forever(what, 1, () -> retransforms(tasks)); break;
        default: throw new IllegalArgumentException(what);
        }
    }
}
