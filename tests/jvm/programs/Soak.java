// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** Soak SECONDS: threads that do, over and over, what makes walking a stack hard: classes that come and go, code that is thrown away, exceptions, deep and
 *  overflowing stacks, short threads, intrinsics, large arrays, reflection, virtual threads where there are any. Each checks its own results.
 *  Prints "soak whole" or what was wrong. */
public class Soak {
    public interface Shape { long area(long x); }
    static final class Square implements Shape { public long area(long x) { return x * x; } }
    static final class Stripe implements Shape { public long area(long x) { return x * 3; } }
    static class Node { int value = 1; }

    interface Work { void round(int k); }

    static volatile boolean stop;
    static volatile Object sink;
    static final AtomicLong rounds = new AtomicLong();
    static final List<String> wrong = new ArrayList<>();

    static void require(boolean ok, String what) {
        if (!ok) { synchronized (wrong) { if (wrong.size() < 10) { wrong.add(what); } } }
    }

    // --- classes that come and go, each with a shape that the compiler has not seen

    static class Loader extends ClassLoader {
        Loader() { super(Soak.class.getClassLoader()); }
        Class<?> define(String name, byte[] b) { return defineClass(name, b, 0, b.length); }
    }

    static byte[] template;
    static final AtomicLong names = new AtomicLong();

    static Shape fresh() {
        String name = "S" + names.incrementAndGet();
        Map<String, String> to = new HashMap<>();
        to.put("SoakTemplate", "gen/" + name);
        to.put("LSoakTemplate;", "Lgen/" + name + ";");
        try {
            return (Shape) new Loader().define("gen." + name, ClassFile.renamed(template, to)).getConstructor().newInstance();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static long sum(Shape s, int n) {
        long h = 0;
        for (int i = 0; i < n; i++) { h += s.area(i); }
        return h;
    }

    static void classes(int k) {
        Shape s = fresh();
        // Compiled in a while; the class, with its code, is dropped.
        require(sum(s, 20000) == 20000L * 19999 / 2 * 5 + 20000, "area of " + s.getClass().getName());
        if (k % 400 == 399) { System.gc(); }
    }

    // --- assumptions of compiled code that break: one target, then two, then many; a branch never taken, then taken

    static void assumptions(int k) {
        Shape a = new Square(), b = new Stripe(), c = fresh();
        long h = 0;
        for (int i = 0; i < 30000; i++) {
            Shape s = i < 20000 ? a : i < 29000 ? b : c;
            h += s.area(i) & 7;
            if (i == 29999 - k % 100) { h += rare(h); }
        }
        sink = h;
    }

    static long rare(long h) { Object o = h % 2 == 0 ? (Object) Long.valueOf(h) : (Object) String.valueOf(h); return o.hashCode() & 3; }

    // --- exceptions: made by the program and by the VM, through many frames

    static int thrown(int depth, int kind, Object[] o, Node n) {
        if (depth > 0) { return thrown(depth - 1, kind, o, n) + 1; }
        switch (kind) {
        case 0: throw new IllegalStateException("at the bottom");
        case 1: return n.value;
        case 2: return ((Object[]) o[0]).length + o[o.length].hashCode();
        case 3: return (int) (Integer) o[1];
        default: return 1 / (o.length - 2);
        }
    }

    static void exceptions(int k) {
        Object[] o = {new Object[1], "x"};
        int caught = 0;
        for (int i = 0; i < 200; i++) {
            try { thrown(i % 60, i % 5, o, null); } catch (RuntimeException e) { caught++; }
        }
        require(caught == 200, "exceptions caught: " + caught);
    }

    // --- stacks: deep, wide, overflowing

    static int down(int n, long a, long b) { return n == 0 ? (int) (a + b) & 1 : down(n - 1, b, a) + 1; }
    static int endless(int n) { return n < 0 ? 0 : endless(n + 1) + 1; }

    static void stacks(int k) {
        require(down(1500, k, 1) >= 1500, "depth");
        if (k % 20 == 0) {
            boolean over = false;
            try { endless(0); } catch (StackOverflowError e) { over = true; }
            require(over, "no overflow");
        }
    }

    // --- short threads

    static void threads(int k) {
        Thread[] t = new Thread[8];
        final AtomicLong n = new AtomicLong();
        for (int i = 0; i < t.length; i++) {
            t[i] = new Thread(new Runnable() { public void run() { sum(new Square(), 50000); n.incrementAndGet(); } });
            t[i].start();
        }
        for (Thread x : t) { join(x); }
        require(n.get() == t.length, "threads that ran: " + n);
    }

    static void join(Thread x) {
        while (true) {
            try { x.join(); return; } catch (InterruptedException e) { require(false, "interrupted"); }
        }
    }

    // --- what the VM has by hand: stubs, intrinsics, large copies

    static void intrinsics(int k) {
        char[] c = new char[20000];
        Arrays.fill(c, (char) ('a' + k % 20));
        String s = new String(c), t = new String(c);
        require(s.equals(t) && s.compareTo(t + "x") < 0 && s.indexOf("zz") < 0 && s.hashCode() == t.hashCode(), "strings");
        byte[] bytes = s.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        java.util.zip.CRC32 crc = new java.util.zip.CRC32();
        crc.update(bytes, 0, bytes.length);
        long[] big = new long[100000];
        for (int i = 0; i < big.length; i++) { big[i] = (i * 2654435761L) ^ crc.getValue(); }
        long[] copy = Arrays.copyOf(big, big.length + 50000);
        Arrays.sort(copy);
        require(copy[0] <= copy[1], "order");
        Integer[] boxes = new Integer[2000];
        for (int i = 0; i < boxes.length; i++) { boxes[i] = (i * 7919) % 2000; }
        Arrays.sort(boxes, (x, y) -> x.compareTo(y));
        require(boxes[1] == 1, "boxes");
        sink = new byte[1 << 20];
        sink = Math.sin(k) + Math.pow(k, 1.5) + Math.sqrt(k);
    }

    // --- reflection, lambdas, monitors, allocation

    static synchronized long held(long x) { return x + 1; }

    static void mixed(int k) {
        try {
            long h = 0;
            java.lang.reflect.Method m = Soak.class.getDeclaredMethod("held", long.class);
            for (int i = 0; i < 500; i++) { h = (Long) m.invoke(null, h); }
            require(h == 500, "reflection: " + h);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        Map<String, Long> map = new HashMap<>();
        for (int i = 0; i < 3000; i++) { map.merge("k" + i % 100, 1L, (a, b) -> a + b); }
        require(map.get("k7") == 30L, "merge");
        long n = java.util.stream.LongStream.range(0, 5000).filter(x -> x % 3 == 0).map(x -> x * 2).sum();
        require(n == 8331666L, "stream: " + n);
    }

    static void virtual(int k) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> c = Class.forName("java.lang.Thread$Builder");
            List<Thread> all = new ArrayList<>();
            final AtomicLong done = new AtomicLong();
            Runnable r = () -> {
                sum(new Square(), 20000);
                Thread.yield();
                down(200, 1, 2);
                done.incrementAndGet();
            };
            for (int i = 0; i < 16; i++) { all.add((Thread) c.getMethod("start", Runnable.class).invoke(builder, r)); }
            for (Thread t : all) { join(t); }
            require(done.get() == 16, "virtual threads that ran: " + done);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static Thread start(final String name, final Work w) {
        Thread t = new Thread(null, () -> {
            try {
                for (int k = 0; !stop; k++) { w.round(k); rounds.incrementAndGet(); }
            } catch (Throwable e) {
                require(false, name + ": " + e);
            }
        }, name, 1 << 20);
        t.start();
        return t;
    }

    static boolean hasVirtualThreads() {
        try {
            Thread.class.getMethod("ofVirtual").invoke(null);
            return true;
        } catch (ReflectiveOperationException e) {
            return false; // absent, or a preview that was not asked for
        }
    }

    public static void main(String[] a) throws Exception {
        template = ClassFile.bytes("SoakTemplate.class");
        List<Thread> all = new ArrayList<>(Arrays.asList(start("classes", Soak::classes), start("assumptions", Soak::assumptions),
            start("exceptions", Soak::exceptions), start("stacks", Soak::stacks), start("threads", Soak::threads), start("intrinsics", Soak::intrinsics),
            start("mixed", Soak::mixed)));
        if (hasVirtualThreads()) { all.add(start("virtual", Soak::virtual)); }
        Thread.sleep((long) (Double.parseDouble(a[0]) * 1000));
        stop = true;
        for (Thread t : all) { join(t); }
        System.out.println(wrong.isEmpty() && rounds.get() >= all.size() ? "soak whole" : "soak " + rounds + " rounds " + wrong);
    }
}
