// SPDX-License-Identifier: BSD-2-Clause
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.lang.reflect.Constructor;

/** Subjects of test_jvmpi_code.py: JvmpiCode LIBRARY SUBJECT. */
public class JvmpiCode {
    static class Base {
        int v;
        Base(int v) { this.v = v; }
    }

    static class Middle extends Base {
        Middle() { super(1); }
        Middle(int v) { super(id(v)); }
        Middle(Middle other) { this(); }
        Middle(int v, int w) { this(new Middle()); }
    }

    static class Leaf extends Middle {
        Leaf() { }
        Leaf(int v, int w) { super(v / w); }
        int virt(int n) { return n == 0 ? 0 : virt(n - 1); }
        class Inner { }
    }

    static class Loader extends ClassLoader {
        Class<?> define(String name, byte[] code) { return defineClass(name, code, 0, code.length); }
    }

    static native void references(Object object, int n);

    static int id(int v) { return v; }

    static void thrower(int n) {
        if (n == 0) {
            throw new IllegalStateException();
        }
        thrower(n - 1);
    }

    static void objects() {
        new Leaf().virt(1);
        new Middle(7);
        new Middle(1, 2);
        new Leaf().new Inner();
        new Leaf(4, 2);
        try {
            new Leaf(1, 0);
        } catch (ArithmeticException e) {
            new Base(3);
        }
    }

    static void exceptions() {
        try {
            thrower(2);
        } catch (IllegalStateException e) {
            id(1);
        }
    }

    static void unload() throws Exception {
        ByteArrayOutputStream code = new ByteArrayOutputStream();
        try (InputStream in = JvmpiCode.class.getResourceAsStream("JvmpiCode$Base.class")) {
            for (int b = in.read(); b >= 0; b = in.read()) {
                code.write(b);
            }
        }
        for (int i = 0; i < 10; i++) {
            Constructor<?> made = new Loader().define("JvmpiCode$Base", code.toByteArray()).getDeclaredConstructors()[0];
            made.setAccessible(true);
            made.newInstance(i);
        }
        for (int i = 0; i < 5; i++) {
            System.gc();
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        switch (args[1]) {
        case "objects":
            objects();
            break;
        case "exceptions":
            exceptions();
            break;
        case "unload":
            unload();
            break;
        case "references":
            references(new Object(), 30);
            break;
        default:
            System.out.println("word original");
        }
    }
}
