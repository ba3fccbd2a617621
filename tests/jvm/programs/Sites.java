// SPDX-License-Identifier: BSD-2-Clause
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** Sites GROUP N: every way of the group N times; prints what SitesKnown says, the garbage being collected. */
public class Sites {
    static class Node { Node next; int a; long b; }
    static class Base { int i; }
    static class Derived extends Base { long j; byte[] none; Derived(int i) { this.i = i; } }
    static class Holder { final Node held; Holder() { held = new Node(); } }
    class Inner { byte x; }
    static class Made { int a; public Made() {} }
    static class Copied implements Cloneable {
        int a; long b;
        Copied copy() throws CloneNotSupportedException { return (Copied) clone(); }
    }
    static class Sent implements Serializable {
        private static final long serialVersionUID = 1;
        int a = 1;
        double d = 2;
    }
    static class Problem extends Exception {
        private static final long serialVersionUID = 1;
    }
    enum Colour { RED, GREEN, BLUE }
    interface Shape { }

    // of these no method has to resolve a constant
    static final int[] ints = new int[7];
    static final Node[] nodes = new Node[9];
    static final Copied copied = new Copied();
    static final Object[] none = new Object[0];
    static final Sites outer = new Sites();
    static String left = "left".concat(""), right = "right".concat("");
    static char[] letters = left.toCharArray();
    static List<Object> two = new ArrayList<>(Arrays.asList(1, 2));
    static Constructor<?> constructor;
    static MethodHandle handle;
    static byte[] bytesOfSent;
    static Object unsafe;
    static Method allocateInstance;

    static Object node(int i) { return new Node(); }
    static Object derived(int i) { return new Derived(i); }
    static Object holder(int i) { return new Holder(); }
    static Object inner(int i) { return outer.new Inner(); }
    static Object anonymous(int i) { return new Shape() { }; }

    static Object booleans(int i) { return new boolean[10]; }
    static Object bytes(int i) { return new byte[11]; }
    static Object chars(int i) { return new char[12]; }
    static Object shorts(int i) { return new short[13]; }
    static Object ints(int i) { return new int[14]; }
    static Object longs(int i) { return new long[15]; }
    static Object floats(int i) { return new float[16]; }
    static Object doubles(int i) { return new double[17]; }
    static Object objects(int i) { return new Node[18]; }
    static Object empty(int i) { return new int[0]; }
    static Object initialised(int i) { return new long[] {i, i + 1}; }

    static Object two(int i) { return new int[3][4]; }
    static Object three(int i) { return new long[2][3][4]; }
    static Object open(int i) { return new Node[2][3][]; }
    static Object first(int i) { return new double[5][]; }
    static Object nothing(int i) { return new short[0][9]; }

    static Object cloneOfInts(int i) { return ints.clone(); }
    static Object cloneOfNodes(int i) { return nodes.clone(); }
    static Object cloneOfObject(int i) throws Exception { return copied.copy(); }
    static Object copyOf(int i) { return Arrays.copyOf(nodes, 20); }
    static Object values(int i) { return Colour.values(); }

    static Object newInts(int i) { return Array.newInstance(int.class, 6); }
    static Object newNodes(int i) { return Array.newInstance(Node.class, 5); }
    static Object newMulti(int i) { return Array.newInstance(float.class, 2, 3); }
    static Object byConstructor(int i) throws Exception { return constructor.newInstance(none); }
    static Object byHandle(int i) throws Throwable { return (Object) handle.invokeExact(); }
    static Object deserialised(int i) throws Exception { return new ObjectInputStream(new ByteArrayInputStream(bytesOfSent)).readObject(); }
    static Object byUnsafe(int i) throws Exception { return allocateInstance.invoke(unsafe, Made.class); }

    static Object jniObject(int i) { return SitesJni.newObject(Made.class); }
    static Object jniAllocated(int i) { return SitesJni.allocObject(Node.class); }
    static Object jniInts(int i) { return SitesJni.newIntArray(33); }
    static Object jniObjects(int i) { return SitesJni.newObjectArray(Node.class, 8); }
    static Object jniString(int i) { return SitesJni.newString(); }

    static Object concat(int i) { return left + i + right; }
    static Object ofLetters(int i) { return new String(letters); }
    static Object boxed(int i) { return 1000 + i; }
    static Object boxedLong(int i) { return 1000L + i; }
    static Object cached(int i) { return 5; }
    static Object lambda(int i) { Supplier<Object> s = () -> i; return s; }
    static Object length(int... x) { return x; }
    static Object varargs(int i) { return length(i, i, i); }
    static Object iterated(int i) {
        Object last = null;
        for (Object o : two) { last = o; }
        return last;
    }
    static Object exception(int i) { return new Problem(); }
    static Object thrown(int i) {
        try {
            throw new Problem();
        } catch (Problem e) {
            return e;
        }
    }
    static Object nodeOf(Node n) { return n.next; }
    static Object ofTheVm(int i) {
        try {
            return nodeOf(null);
        } catch (NullPointerException e) {
            return e;
        }
    }
    static Object index(int i) {
        try {
            return nodes[nodes.length + i];
        } catch (ArrayIndexOutOfBoundsException e) {
            return e;
        }
    }

    static Object humongous(int i) { return new byte[9 << 20]; }
    static Object humongousObjects(int i) { return new Object[2 << 20]; }

    static void group(String group, int n) throws Throwable {
        switch (group) {
            case "new":
                SitesKnown.way("Sites.node", n, Sites::node, new Node(), 1);
                SitesKnown.way("Sites.derived", n, Sites::derived, new Derived(0), 1);
                SitesKnown.way("Sites.holder", n, Sites::holder, new Holder(), 1, new Node(), 1);
                SitesKnown.way("Sites.inner", n, Sites::inner, outer.new Inner(), 1);
                SitesKnown.way("Sites.anonymous", n, Sites::anonymous, null, 1);
                break;
            case "arrays":
                SitesKnown.way("Sites.booleans", n, Sites::booleans, new boolean[10], 1);
                SitesKnown.way("Sites.bytes", n, Sites::bytes, new byte[11], 1);
                SitesKnown.way("Sites.chars", n, Sites::chars, new char[12], 1);
                SitesKnown.way("Sites.shorts", n, Sites::shorts, new short[13], 1);
                SitesKnown.way("Sites.ints", n, Sites::ints, new int[14], 1);
                SitesKnown.way("Sites.longs", n, Sites::longs, new long[15], 1);
                SitesKnown.way("Sites.floats", n, Sites::floats, new float[16], 1);
                SitesKnown.way("Sites.doubles", n, Sites::doubles, new double[17], 1);
                SitesKnown.way("Sites.objects", n, Sites::objects, new Node[18], 1);
                SitesKnown.way("Sites.empty", n, Sites::empty, new int[0], 1);
                SitesKnown.way("Sites.initialised", n, Sites::initialised, new long[2], 1);
                break;
            case "multi":
                SitesKnown.way("Sites.two", n, Sites::two, new int[3][], 1, new int[4], 3);
                SitesKnown.way("Sites.three", n, Sites::three, new long[2][][], 1, new long[3][], 2, new long[4], 6);
                SitesKnown.way("Sites.open", n, Sites::open, new Node[2][][], 1, new Node[3][], 2);
                SitesKnown.way("Sites.first", n, Sites::first, new double[5][], 1);
                SitesKnown.way("Sites.nothing", n, Sites::nothing, new short[0][], 1, new short[9], 0);
                break;
            case "copies":
                length(Colour.values().length); // initialises it
                SitesKnown.way("Sites.cloneOfInts", n, Sites::cloneOfInts, new int[7], 1);
                SitesKnown.way("Sites.cloneOfNodes", n, Sites::cloneOfNodes, new Node[9], 1);
                SitesKnown.way("Sites.cloneOfObject", n, Sites::cloneOfObject, new Copied(), 1);
                SitesKnown.way("Sites.copyOf", n, Sites::copyOf, new Node[20], 1);
                SitesKnown.way("Sites.values", n, Sites::values, new Colour[3], 1);
                break;
            case "indirect":
                constructor = Made.class.getConstructor();
                handle = MethodHandles.lookup().findConstructor(Made.class, MethodType.methodType(void.class)).asType(MethodType.methodType(Object.class));
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                try (ObjectOutputStream o = new ObjectOutputStream(out)) { o.writeObject(new Sent()); }
                bytesOfSent = out.toByteArray();
                SitesKnown.way("Sites.newInts", n, Sites::newInts, new int[6], 1);
                SitesKnown.way("Sites.newNodes", n, Sites::newNodes, new Node[5], 1);
                SitesKnown.way("Sites.newMulti", n, Sites::newMulti, new float[2][], 1, new float[3], 2);
                SitesKnown.way("Sites.byConstructor", n, Sites::byConstructor, new Made(), 1);
                SitesKnown.way("Sites.byHandle", n, Sites::byHandle, new Made(), 1);
                SitesKnown.way("Sites.deserialised", n, Sites::deserialised, new Sent(), 1);
                break;
            case "native":
                Field f = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
                f.setAccessible(true);
                unsafe = f.get(null);
                allocateInstance = unsafe.getClass().getMethod("allocateInstance", Class.class);
                Object[] linked = {SitesJni.newObject(Made.class), SitesJni.allocObject(Made.class), SitesJni.newIntArray(1), SitesJni.newObjectArray(Node.class, 1), SitesJni.newString()};
                two.add(linked.length);
                SitesKnown.way("Sites.byUnsafe", n, Sites::byUnsafe, new Made(), 1);
                SitesKnown.way("Sites.jniObject", n, Sites::jniObject, new Made(), 1);
                SitesKnown.way("Sites.jniAllocated", n, Sites::jniAllocated, new Node(), 1);
                SitesKnown.way("Sites.jniInts", n, Sites::jniInts, new int[33], 1);
                SitesKnown.way("Sites.jniObjects", n, Sites::jniObjects, new Node[8], 1);
                SitesKnown.way("Sites.jniString", n, Sites::jniString, left, 1);
                break;
            case "language":
                SitesKnown.way("Sites.concat", n, Sites::concat, left, 1, new StringBuilder(), -1);
                SitesKnown.way("Sites.ofLetters", n, Sites::ofLetters, left, 1);
                SitesKnown.way("Sites.boxed", n, Sites::boxed, 1000, 1);
                SitesKnown.way("Sites.boxedLong", n, Sites::boxedLong, 1000L, 1);
                SitesKnown.way("Sites.cached", n, Sites::cached, 1000, 0);
                SitesKnown.way("Sites.lambda", n, Sites::lambda, null, 1);
                SitesKnown.way("Sites.varargs", n, Sites::varargs, new int[3], 1);
                SitesKnown.way("Sites.iterated", n, Sites::iterated, two.iterator(), -1);
                break;
            case "exceptions":
                SitesKnown.way("Sites.exception", n, Sites::exception, new Problem(), 1);
                SitesKnown.way("Sites.thrown", n, Sites::thrown, new Problem(), 1);
                SitesKnown.way("Sites.ofTheVm", n, Sites::ofTheVm, new NullPointerException(), 1);
                SitesKnown.way("Sites.index", n, Sites::index, new ArrayIndexOutOfBoundsException(), 1);
                break;
            case "humongous":
                SitesKnown.way("Sites.humongous", 6, Sites::humongous, new byte[9 << 20], 1);
                SitesKnown.way("Sites.humongousObjects", 6, Sites::humongousObjects, new Object[2 << 20], 1);
                break;
            default:
                throw new IllegalArgumentException(group);
        }
    }

    public static void main(String[] a) throws Throwable {
        group(a[0], Integer.parseInt(a[1]));
        SitesKnown.end();
    }
}
