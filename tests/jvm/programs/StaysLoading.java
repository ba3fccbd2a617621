// SPDX-License-Identifier: BSD-2-Clause
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.Collections;

/** Attached, whose first "round" has a thread call forEach of a JDK class, in which it stays; the second has another thread load classes without end. */
public class StaysLoading {
    static class Copy { }
    static volatile int loaded, passes;
    static volatile long sink;

    static class Loader extends ClassLoader {
        Class<?> define(byte[] file) { return defineClass(null, file, 0, file.length); }
    }

    static byte[] file() throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try (InputStream in = StaysLoading.class.getResourceAsStream("StaysLoading$Copy.class")) {
            for (int c = in.read(); c >= 0; c = in.read()) { all.write(c); }
        }
        return all.toByteArray();
    }

    static long pass(long s) {
        for (int i = 0; i < 100000; i++) { s += i ^ (s << 3); }
        return s;
    }

    /** A loop that calls nothing would never let a VM of the variant "zero" stop its threads. */
    static void stay(Object o) {
        for (long s = 0;; passes++) { sink = s = pass(s); }
    }

    static void load(byte[] file) {
        for (;; loaded++) {
            new Loader().define(file);
        }
    }

    static void start(String name, Runnable run) {
        Thread t = new Thread(run, name);
        t.setDaemon(true);
        t.start();
    }

    static void round(byte[] file) {
        if (passes == 0) {
            Iterable<Object> one = () -> Collections.<Object>singletonList(file).iterator();
            start("stays", () -> one.forEach(StaysLoading::stay));
            while (passes == 0) { Thread.yield(); }
        } else {
            start("loads", () -> load(file));
            while (loaded < 10) { Thread.yield(); }
        }
    }

    public static void main(String[] a) throws Exception {
        byte[] file = file();
        Attached.round = () -> round(file);
        Attached.main(a);
    }
}
