// SPDX-License-Identifier: BSD-2-Clause
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;

/**
 * A large JVM, which then does what Attached does. "threads N": so many threads wait, and in a round each calls once. "classes N": so many
 * classes are loaded, and a round calls the method of each; "refused N": among each 64 also one that cannot be linked. "unlinked N": the first
 * round links them. "makers N": so many threads allocate all the time.
 */
public class Large {
    static class Made { long a, b; }
    static volatile long called;
    static Object held;

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

    static Class<?> define(Loader loader, byte[] template, String of, String name) throws Exception {
        Map<String, String> words = new HashMap<>();
        words.put("(L" + of + "$Gone;)L" + of + "$Base;", "(Lgen/Gone;)L" + of + "$Base;");
        words.put(of, "gen/" + name);
        return loader.define("gen." + name, ClassFile.renamed(template, words));
    }

    static Runnable made(Class<?> c) {
        try {
            return (Runnable) c.getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** linked: 0: none; 1: all; 2: all but one for each 64. */
    static Runnable classes(int n, int linked) throws Exception {
        byte[] template = ClassFile.bytes("LargeTemplate.class"), optional = ClassFile.bytes("LargeOptional.class");
        Loader loader = new Loader();
        Class<?>[] all = new Class<?>[n], never = new Class<?>[n];
        Runnable[] made = new Runnable[n];
        for (int k = 0; k < n; k++) {
            all[k] = define(loader, template, "LargeTemplate", "C" + k);
            made[k] = linked > 0 ? made(all[k]) : null;
            never[k] = linked == 2 && k % 64 == 0 ? define(loader, optional, "LargeOptional", "Never" + k) : null;
        }
        held = never;
        return () -> { for (int k = 0; k < n; k++) { (linked > 0 ? made[k] : made(all[k])).run(); } };
    }

    static Runnable makers(int n) {
        for (int i = 0; i < n; i++) {
            daemon(() -> { Object[] held = new Object[64]; for (int k = 0;; k++) { held[k & 63] = new Made(); } });
        }
        return () -> { };
    }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[1]);
        Attached.round = a[0].equals("threads") ? threads(n) : a[0].equals("makers") ? makers(n) : classes(n, a[0].equals("unlinked") ? 0 : a[0].equals("refused") ? 2 : 1);
        Attached.main(a);
    }
}
