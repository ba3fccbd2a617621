// SPDX-License-Identifier: BSD-2-Clause
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.zip.CRC32;

/** What a program knows of its own objects, by reflection: a heap dump must say the same. An object's number is its index in `all`. */
final class HeapTell {
    static Object[] all;
    private static final List<Object> known = new ArrayList<>();
    private static final IdentityHashMap<Object, Integer> numbers = new IdentityHashMap<>();

    private HeapTell() {}

    /** Gives the object a number, and everything that its class declares will be told. Any thread. */
    static synchronized <T> T tells(T o) {
        if (o != null && numbers.putIfAbsent(o, known.size()) == null) { known.add(o); }
        return o;
    }

    static synchronized int number(Object o) { return numbers.get(o); }

    private static String text(String s) {
        StringBuilder b = new StringBuilder("s");
        for (char c : s.toCharArray()) { b.append(String.format("%04x", (int) c)); }
        return b.toString();
    }

    /** The number, -1 for null, the characters of a string, ? for another object. */
    private static String reference(Object o) {
        Integer n = numbers.get(o);
        return o == null ? "-1" : n != null ? n.toString() : o instanceof String ? text((String) o) : "?";
    }

    private static String bits(Object v) {
        if (v instanceof Boolean) { return (Boolean) v ? "1" : "0"; }
        if (v instanceof Character) { return Integer.toHexString((Character) v); }
        if (v instanceof Float) { return Integer.toHexString(Float.floatToRawIntBits((Float) v)); }
        if (v instanceof Double) { return Long.toHexString(Double.doubleToRawLongBits((Double) v)); }
        long n = ((Number) v).longValue();
        return Long.toHexString(v instanceof Byte ? n & 0xff : v instanceof Short ? n & 0xffff : v instanceof Integer ? n & 0xffffffffL : n);
    }

    private static void fields(PrintStream out, int n, Object o, Class<?> c) throws Exception {
        for (Field f : c.getDeclaredFields()) {
            if (Modifier.isStatic(f.getModifiers()) != (o == null)) { continue; }
            f.setAccessible(true);
            Object v = f.get(o);
            out.println((o == null ? "static " : "field ") + n + " " + c.getName() + " " + f.getName() + " " + (f.getType().isPrimitive() ? f.getType() + " " + bits(v) : "ref " + reference(v)));
        }
    }

    private static void array(PrintStream out, int n, Object a) {
        CRC32 crc = new CRC32();
        int length = Array.getLength(a);
        Class<?> type = a.getClass().getComponentType();
        ByteBuffer b = ByteBuffer.allocate(8 * length);
        if (a instanceof byte[]) { b.put((byte[]) a); }
        if (a instanceof boolean[]) { for (boolean v : (boolean[]) a) { b.put((byte) (v ? 1 : 0)); } }
        if (a instanceof char[]) { for (char v : (char[]) a) { b.putChar(v); } }
        if (a instanceof short[]) { for (short v : (short[]) a) { b.putShort(v); } }
        if (a instanceof int[]) { for (int v : (int[]) a) { b.putInt(v); } }
        if (a instanceof long[]) { for (long v : (long[]) a) { b.putLong(v); } }
        if (a instanceof float[]) { for (float v : (float[]) a) { b.putInt(Float.floatToRawIntBits(v)); } }
        if (a instanceof double[]) { for (double v : (double[]) a) { b.putLong(Double.doubleToRawLongBits(v)); } }
        if (a instanceof Object[]) { for (Object v : (Object[]) a) { b.putInt(v == null ? -1 : numbers.get(v)); } }
        crc.update(b.array(), 0, b.position());
        out.println("array " + n + " " + (type.isPrimitive() ? type.toString() : "ref") + " " + length + " " + crc.getValue());
    }

    static void tell() throws Exception {
        tells(HeapTell.class);
        PrintStream out = new PrintStream(new java.io.FileOutputStream("told"), false, "UTF-8");
        all = known.toArray();
        for (int n = 0; n < all.length; n++) {
            Object o = all[n];
            out.println("object " + n + " " + o.getClass().getName());
            if (o instanceof Class) {
                Class<?> c = (Class<?>) o;
                out.println("class " + n + " " + c.getName() + " " + reference(c.getSuperclass()) + " " + (c.getClassLoader() == null ? "-1" : reference(c.getClassLoader())));
                if (c != HeapTell.class) { fields(out, n, null, c); }
            } else if (o.getClass().isArray()) {
                array(out, n, o);
            } else {
                for (Class<?> c = o.getClass(); c != null && !c.getName().startsWith("java."); c = c.getSuperclass()) { fields(out, n, o, c); }
            }
        }
        out.close();
    }

    /** Until the test has made its dumps. */
    static void untilStop() throws Exception {
        System.out.println("ready");
        while (!new java.io.File("stop").exists()) { Thread.sleep(5); }
        System.out.println("done");
    }
}
