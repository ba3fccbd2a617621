// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Class loaders that pass little upward. Arguments: "now" or "told" (Attached.round is it), then kinds:
 * java: passes java.* alone; parallel: the same, parallel capable; refuses, fails, other: for a class that this program does not name they
 * throw ClassNotFoundException, throw Error, give another class; loads: defines a class of its own before it answers.
 * Prints what the plugs of all say, and complains of a loader that was asked for such a class more than twice, or when a plug ran.
 */
public class Loaders {
    static volatile boolean running;

    static class Parallel extends Loader {
        static { registerAsParallelCapable(); }
        Parallel(String kind) { super(kind); }
    }

    static class Loader extends ClassLoader {
        final String kind;
        final List<String> strange = new ArrayList<>();
        boolean loaded;

        Loader(String kind) {
            super(null);
            this.kind = kind;
        }

        private boolean known(String n) { return !n.contains("Hprofx"); }

        private Class<?> stranger(String n) throws ClassNotFoundException {
            synchronized (strange) { strange.add(n); }
            if (running && !Thread.currentThread().getName().startsWith("hprofx")) { System.out.println(kind + " is asked by a plug for " + n); }
            switch (kind) {
            case "refuses": throw new ClassNotFoundException(n);
            case "fails": throw new Error(n);
            case "other": return String.class;
            case "loads":
                if (!loaded) {
                    loaded = true;
                    loadClass("LoadersPlugMore").getName();
                }
                break;
            default: break;
            }
            return ClassLoader.getSystemClassLoader().loadClass(n);
        }

        @Override protected Class<?> loadClass(String n, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(n)) {
                if (!known(n)) { return stranger(n); }
                if (n.startsWith("java.")) { return ClassLoader.getSystemClassLoader().loadClass(n); }
                Class<?> c = findLoadedClass(n);
                if (c != null) { return c; }
                if (!n.startsWith("LoadersPlug")) { throw new ClassNotFoundException("denied " + n); }
                try {
                    byte[] b = ClassFile.bytes(n + ".class");
                    return defineClass(n, b, 0, b.length);
                } catch (Exception e) {
                    throw new ClassNotFoundException(n, e);
                }
            }
        }
    }

    static final List<Loader> all = new ArrayList<>();
    static final List<Class<?>> plugs = new ArrayList<>();

    static Loader make(String kind) { return kind.equals("parallel") ? new Parallel(kind) : new Loader(kind); }

    static void load(String kind) throws Exception {
        Loader l = make(kind);
        all.add(l);
        plugs.add(l.loadClass("LoadersPlug"));
    }

    /** The loader's lock is held by a thread that has other things to do. */
    static void hold(final ClassLoader l) throws Exception {
        final java.util.concurrent.CountDownLatch held = new java.util.concurrent.CountDownLatch(1);
        Thread t = new Thread(() -> {
            synchronized (l) {
                held.countDown();
                try { Thread.sleep(Long.MAX_VALUE); } catch (InterruptedException e) { return; }
            }
        });
        t.setDaemon(true);
        t.start();
        held.await();
    }

    static void run() {
        running = true;
        for (int i = 0; i < plugs.size(); i++) {
            try {
                System.out.println(all.get(i).kind + " " + ((Callable<?>) plugs.get(i).getConstructor().newInstance()).call());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            synchronized (all.get(i).strange) {
                if (all.get(i).strange.size() > 2) { System.out.println(all.get(i).kind + " is asked for " + all.get(i).strange); }
            }
        }
        running = false;
    }

    public static void main(String[] a) throws Exception {
        for (String kind : Arrays.asList(a).subList(1, a.length)) { load(kind.equals("held") ? "java" : kind); }
        if (a[0].equals("now")) {
            run();
            return;
        }
        if (a[0].equals("told")) { run(); } /* else the plugs have run nothing when the session begins */
        for (int i = 1; i < a.length; i++) { if (a[i].equals("held")) { hold(all.get(i - 1)); } }
        Attached.round = () -> run();
        Attached.main(new String[0]);
    }
}
