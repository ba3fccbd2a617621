// SPDX-License-Identifier: BSD-2-Clause
import java.util.Map;
import java.util.TreeMap;

/**
 * SitesFails N: exceptions of every origin, thrown while or just before the VM allocates: from JNI, from class initialisation, from a full stack, from casts, arrays, divisions.
 * Prints how many of which came out, with their messages; "made METHOD CLASS N".
 */
public class SitesFails {
    static class Problem extends RuntimeException {
        private static final long serialVersionUID = 1;
        public Problem() {}
        public Problem(String s) { super(s); }
    }
    static class Broken {
        static final int one = Integer.parseInt("no number");
    }
    static volatile Object sink;
    static int depth;

    static void ofJni(int i) { SitesJni.fail(Problem.class); }
    static void ofCast(int i) { sink = (String) (Object) Integer.valueOf(i); }
    static void ofIndex(int i) { sink = new int[2][i + 2][-1 - i]; }
    static void ofDivision(int i) { sink = 5 / (i - i); }
    static void ofStore(int i) { ((Object[]) new String[1])[0] = new Problem(); }
    static void ofInitialiser(int i) { sink = Broken.one; }
    static void deeper() { depth++; deeper(); }
    static void ofStack(int i) { deeper(); }
    static void ofFinally(int i) {
        try {
            throw new Problem("first");
        } finally {
            sink = new float[3];
        }
    }

    interface Fails { void run(int i); }

    static void all(String name, int n, Fails f, Map<String, Integer> came) {
        for (int i = 0; i < n; i++) {
            try {
                f.run(i);
            } catch (Throwable e) {
                came.merge(name + " " + e.getClass().getName() + " " + (e instanceof Problem || e instanceof ArithmeticException ? e.getMessage() : ""), 1, Integer::sum);
            }
        }
    }

    public static void main(String[] a) {
        int n = Integer.parseInt(a[0]);
        Map<String, Integer> came = new TreeMap<>();
        all("jni", n, SitesFails::ofJni, came);
        all("cast", n, SitesFails::ofCast, came);
        all("index", n, SitesFails::ofIndex, came);
        all("division", n, SitesFails::ofDivision, came);
        all("store", n, SitesFails::ofStore, came);
        all("initialiser", n, SitesFails::ofInitialiser, came);
        all("stack", 3, SitesFails::ofStack, came);
        all("finally", n, SitesFails::ofFinally, came);
        came.forEach((k, v) -> System.out.println("came " + v + " " + k));
        System.out.println("made SitesFails.ofJni SitesFails$Problem " + n);
        System.out.println("made SitesFails.ofCast java.lang.ClassCastException " + n);
        System.out.println("made SitesFails.ofDivision java.lang.ArithmeticException " + n);
        System.out.println("made SitesFails.ofStore java.lang.ArrayStoreException " + n);
        System.out.println("made SitesFails.ofStore java.lang.String[] " + n);
        System.out.println("made SitesFails.ofStore SitesFails$Problem " + n);
        System.out.println("made SitesFails.ofInitialiser java.lang.NoClassDefFoundError " + (n - 1));
        System.out.println("made SitesFails.ofFinally SitesFails$Problem " + n);
        System.out.println("made SitesFails.ofFinally float[] " + n);
    }
}
