// SPDX-License-Identifier: BSD-2-Clause
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;

/**
 * A large JVM, which then does what Attached does. "threads N": so many threads wait, and in a round each calls once. "classes N": so many
 * classes are loaded, and a round calls the method of each. "makers N": so many threads allocate all the time.
 */
public class Large {
    static class Made { long a, b; }
    static volatile long called;

    public static void once() { called++; }

    static void await(CyclicBarrier b) {
        try {
            b.await();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void daemon(Runnable r) {
        Thread t = new Thread(null, r, "large", 1 << 18);
        t.setDaemon(true);
        t.start();
    }

    static Runnable threads(int n) {
        CyclicBarrier begin = new CyclicBarrier(n + 1), end = new CyclicBarrier(n + 1);
        for (int i = 0; i < n; i++) {
            daemon(() -> { for (;;) { await(begin); once(); await(end); } });
        }
        return () -> { await(begin); await(end); };
    }

    static class Loader extends ClassLoader {
        Loader() { super(Large.class.getClassLoader()); }
        Class<?> define(String name, byte[] b) { return defineClass(name, b, 0, b.length); }
    }

    static Runnable classes(int n) throws Exception {
        byte[] template = ClassFile.bytes("LargeTemplate.class");
        Loader loader = new Loader();
        Runnable[] all = new Runnable[n];
        Map<String, String> words = new HashMap<>();
        for (int k = 0; k < n; k++) {
            words.put("LargeTemplate", "gen/C" + k);
            all[k] = (Runnable) loader.define("gen.C" + k, ClassFile.renamed(template, words)).getConstructor().newInstance();
        }
        return () -> { for (Runnable r : all) { r.run(); } };
    }

    static Runnable makers(int n) {
        for (int i = 0; i < n; i++) {
            daemon(() -> { Object[] held = new Object[64]; for (int k = 0;; k++) { held[k & 63] = new Made(); } });
        }
        return () -> { };
    }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[1]);
        Attached.round = a[0].equals("threads") ? threads(n) : a[0].equals("classes") ? classes(n) : makers(n);
        Attached.main(a);
    }
}
