// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;

/** SitesNew CLASSES TEMPLATE FIELDS: defines that class, which has so many static fields, so many times, while native/midclass.c collects, and reads its static fields after further collections. Prints "made METHOD CLASS N". */
public class SitesNew {
    static byte[] sink;

    static native int arm();

    static class Loader extends ClassLoader {
        Loader() { super(SitesNew.class.getClassLoader()); }
        Class<?> define(byte[] b) { return defineClass(null, b, 0, b.length); }
    }

    /** More than a page of a collector, so that it moves what lives in it. */
    static void garbage() {
        for (int i = 0; i < 100; i++) { sink = new byte[50000]; }
    }

    public static void main(String[] a) throws Exception {
        System.loadLibrary("midclass");
        int n = Integer.parseInt(a[0]);
        byte[] template = ClassFile.bytes(a[1] + ".class");
        List<Runnable> all = new ArrayList<>();
        new Loader().define(template);  // what defining a class loads
        for (int k = 0; k < n; k++) {
            Loader loader = new Loader();
            if (arm() != k) { throw new AssertionError("no collection while class " + k + " was made"); }
            Class<?> made = loader.define(template);
            garbage();
            all.add((Runnable) made.getConstructor().newInstance());
            garbage();
            System.gc();
            System.gc();
            for (Runnable r : all) { r.run(); }
        }
        System.out.println("made " + a[1] + ".<clinit> long[] " + Integer.parseInt(a[2]) * n);
        System.out.println("made SitesNew.garbage byte[] " + 200 * n);
    }
}
