// SPDX-License-Identifier: BSD-2-Clause
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntBinaryOperator;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Count CASE: calls methods of its own as often as it says: a line "expect METHOD NUMBER" for each. */
public class Count {
    static final Map<String, Long> expected = new TreeMap<>();
    static volatile Object sink;

    static void expect(String method, long n) { expected.merge(method, n, (a, b) -> a + b); }

    // --- recursion
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static boolean even(int n) { return n == 0 || odd(n - 1); }
    static boolean odd(int n) { return n != 0 && even(n - 1); }

    static void recursion() {
        fib(20);
        expect("Count.fib", 21891);
        for (int i = 0; i < 30; i++) { even(100); }
        expect("Count.even", 30 * 51);
        expect("Count.odd", 30 * 50);
    }

    // --- exceptions through fifty frames
    static int through(int n) {
        if (n == 0) { throw new IllegalStateException("at the bottom"); }
        return through(n - 1) + 1;
    }
    static int withFinally(int n) {
        try { return n == 0 ? through(3) : withFinally(n - 1); } finally { touched(); }
    }
    static void touched() { sink = null; }

    static void exceptions() {
        for (int i = 0; i < 100; i++) {
            try { through(49); } catch (IllegalStateException e) { touched(); }
        }
        expect("Count.through", 5000);
        for (int i = 0; i < 10; i++) {
            try { withFinally(9); } catch (IllegalStateException e) { touched(); }
        }
        expect("Count.withFinally", 100);
        expect("Count.through", 40);
        expect("Count.touched", 100 + 100 + 10);
    }

    // --- lambdas, method references, streams
    static int twice(int x) { return 2 * x; }

    static void lambdas() {
        IntUnaryOperator a = x -> x + 1, b = Count::twice;
        int h = 0;
        for (int i = 0; i < 1000; i++) { h = b.applyAsInt(a.applyAsInt(i)); }
        sink = h;
        expect("Count.lambda$lambdas", 1000);
        expect("Count.twice", 1000);
        sink = IntStream.range(0, 500).map(x -> x * 3).filter(x -> x % 2 == 0).sum();
        expect("Count.lambda$lambdas", 500 + 500);
    }

    // --- switches, interfaces, constructors, initialisers, synchronized
    static int onString(String s) {
        switch (s) { case "one": return 1; case "two": return 2; default: return 0; }
    }
    interface Shape { default int area() { return side() * side(); } int side(); static int unit() { return one(); } static int one() { return 1; } }
    static class Square implements Shape { public int side() { return 3; } }
    static class Made {
        static int loaded = init();
        final int x;
        static int init() { return 7; }
        Made(int x) { this(x, true); }
        Made(int x, boolean ok) { this.x = x; if (!ok) { throw new IllegalArgumentException(); } }
    }
    static synchronized int locked(int x) { return x + 1; }
    synchronized int mine(int x) { return x + 2; }

    static void kinds() {
        String[] words = {"one", "two", "three"};
        for (int i = 0; i < 300; i++) { sink = onString(words[i % 3]); }
        expect("Count.onString", 300);
        Shape s = new Square();
        for (int i = 0; i < 200; i++) { sink = s.area() + Shape.unit(); }
        expect("Count$Shape.area", 200);
        expect("Count$Square.side", 400);
        expect("Count$Shape.unit", 200);
        expect("Count$Shape.one", 200);
        for (int i = 0; i < 150; i++) {
            sink = new Made(i);
            try { sink = new Made(i, i % 2 == 0); } catch (IllegalArgumentException e) { touched(); }
        }
        expect("Count$Made.<init>", 150 * 3);
        expect("Count$Made.<clinit>", 1);
        expect("Count$Made.init", 1);
        expect("Count.touched", 75);
        Count c = new Count();
        for (int i = 0; i < 120; i++) { sink = locked(i) + c.mine(i); }
        expect("Count.locked", 120);
        expect("Count.mine", 120);
        expect("Count.<init>", 1);
    }

    // --- reflection, proxies, method handles
    static int reflected(int x) { return x + 5; }
    interface Asked { int ask(int x); }

    static void indirect() throws Throwable {
        Method m = Count.class.getDeclaredMethod("reflected", int.class);
        for (int i = 0; i < 100; i++) { sink = m.invoke(null, i); }
        java.lang.invoke.MethodHandle h = java.lang.invoke.MethodHandles.lookup().unreflect(m);
        for (int i = 0; i < 100; i++) { sink = (int) h.invokeExact(i); }
        expect("Count.reflected", 200);
        Asked a = (Asked) Proxy.newProxyInstance(Count.class.getClassLoader(), new Class<?>[] {Asked.class}, new Handler());
        for (int i = 0; i < 80; i++) { sink = a.ask(i); }
        expect("Count$Handler.invoke", 80);
    }
    static class Handler implements InvocationHandler {
        public Object invoke(Object proxy, Method m, Object[] a) { return (Integer) a[0] + 1; }
    }

    // --- threads
    static int step(int x) { return x * 31 + 1; }
    static void steps(int n) { int h = 1; for (int i = 0; i < n; i++) { h = step(h); } sink = h; }

    static void threads() throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            Thread t = new Thread(() -> steps(20000));
            all.add(t);
            t.start();
        }
        for (Thread t : all) { t.join(); }
        expect("Count.steps", 16);
        expect("Count.step", 16 * 20000);
        expect("Count.lambda$threads", 16);
    }

    // --- storms
    static long depth;
    static void endless() { depth++; endless(); }
    static int caught(int n) {
        int h = 0;
        for (int i = 0; i < n; i++) {
            try { endless(); } catch (StackOverflowError e) { h += after(); }
        }
        return h;
    }
    static int after() { return 1; }
    static Object[] chain(int n) { return new Object[n]; }
    static int memory(int n) {
        int h = 0;
        for (int i = 0; i < n; i++) {
            try { sink = chain(Integer.MAX_VALUE); } catch (OutOfMemoryError e) { h += after(); }
        }
        return h;
    }

    static void storms() {
        int h = caught(20) + memory(30);
        if (h != 50) { throw new IllegalStateException("caught " + h); }
        expect("Count.after", 50);
        expect("Count.caught", 1);
        expect("Count.memory", 1);
        expect("Count.chain", 30);
    }

    public static void main(String[] a) throws Throwable {
        switch (a[0]) {
        case "recursion": recursion(); break;
        case "exceptions": exceptions(); break;
        case "lambdas": lambdas(); break;
        case "kinds": kinds(); break;
        case "indirect": indirect(); break;
        case "threads": threads(); break;
        default: storms();
        }
        for (Map.Entry<String, Long> e : expected.entrySet()) { System.out.println("expect " + e.getKey() + " " + e.getValue()); }
    }
}
