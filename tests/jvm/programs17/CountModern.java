// SPDX-License-Identifier: BSD-2-Clause
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** CountModern CASE: as Count, for what Java got later than 8, and for classes that come while many threads run. */
public class CountModern {
    static final Map<String, Long> expected = new TreeMap<>();
    static volatile Object sink;

    static void expect(String method, long n) { expected.merge(method, n, Long::sum); }

    // --- records: written and generated members, also by way of their bootstrap
    record Point(int x, int y) {
        Point {
            if (x < 0) { throw new IllegalArgumentException("x"); }
        }
        int sum() { return x + y; }
    }

    static void records() {
        for (int i = 0; i < 100; i++) {
            Point p = new Point(i, 1);
            sink = p.x() + p.sum();
            sink = p.equals(new Point(i, 1));
            sink = p.hashCode();
        }
        for (int i = 0; i < 10; i++) {
            sink = new Point(i, i).toString();
            try { sink = new Point(-1, i); } catch (IllegalArgumentException e) { sink = e; }
        }
        expect("CountModern$Point.<init>", 220);
        expect("CountModern$Point.x", 100);
        expect("CountModern$Point.sum", 100);
        expect("CountModern$Point.equals", 100);
        expect("CountModern$Point.hashCode", 100);
        expect("CountModern$Point.toString", 10);
    }

    // --- sealed types, nest mates, patterns of instanceof, switch as an expression, text that is put together by indy
    sealed interface Shape permits Round, Flat {}
    static final class Round implements Shape { private int r() { return 2; } }
    static final class Flat implements Shape { private int w() { return 3; } }
    static int area(Shape s) { return s instanceof Round r ? r.r() : s instanceof Flat f ? f.w() : 0; }
    static int arrow(String s) { return switch (s) { case "a", "b" -> 1; default -> { int h = s.length(); yield h; } }; }
    static String text(int i) { return "i" + i + sink; }

    static void sealed() {
        for (int i = 0; i < 150; i++) { sink = area(i % 3 == 0 ? new Round() : new Flat()); }
        expect("CountModern.area", 150);
        expect("CountModern$Round.r", 50);
        expect("CountModern$Flat.w", 100);
        for (int i = 0; i < 90; i++) { sink = arrow(i % 2 == 0 ? "a" : "other"); }
        expect("CountModern.arrow", 90);
        sink = 0;
        for (int i = 0; i < 70; i++) { sink = text(i).length(); }
        expect("CountModern.text", 70);
    }

    // --- streams, one thread and several
    static int odd(int x) { return 2 * x + 1; }
    static boolean third(int x) { return x % 3 == 0; }

    static void streams() {
        sink = IntStream.range(0, 3000).map(CountModern::odd).filter(CountModern::third).boxed().collect(Collectors.toList());
        sink = IntStream.range(0, 5000).parallel().map(CountModern::odd).sum();
        expect("CountModern.odd", 8000);
        expect("CountModern.third", 3000);
    }

    // --- proxies: their own generated methods; hidden classes: the VM shows them to no agent, what they call is counted
    interface Asked { int ask(int x); default int twice(int x) { return ask(x) + ask(x); } }
    static int answer(Object[] a) { return (Integer) a[0] + 1; }

    static void generated() throws Throwable {
        Asked a = (Asked) Proxy.newProxyInstance(CountModern.class.getClassLoader(), new Class<?>[] {Asked.class}, (p, m, args) -> answer(args));
        for (int i = 0; i < 80; i++) { sink = a.ask(i); }
        expect("CountModern.answer", 80);
        expect(a.getClass().getName() + ".ask", 80);
        byte[] bytes = ClassFile.bytes("HiddenTemplate.class");
        for (int i = 0; i < 20; i++) {
            Class<?> hidden = MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass();
            var burn = MethodHandles.lookup().findStatic(hidden, "burnHidden", MethodType.methodType(void.class, long.class));
            for (int k = 0; k < 5; k++) { burn.invokeExact(0L); }
        }
        expect("HiddenTemplate.burnHidden", 0);
        expect("Cpu.burn", 100);
    }

    // --- parallel class loading: each thread loads all classes at once with the others, from one loader and from one of its own
    static final class Loader extends ClassLoader {
        static { registerAsParallelCapable(); }
        final byte[] template;
        Loader(byte[] template) { super(CountModern.class.getClassLoader()); this.template = template; }
        @Override protected Class<?> findClass(String name) throws ClassNotFoundException {
            Map<String, String> names = new HashMap<>();
            names.put("UnloadTemplate", name.replace('.', '/'));
            names.put("LUnloadTemplate;", "L" + name.replace('.', '/') + ";");
            names.put("run", "run" + name.substring(name.length() - 2));
            try {
                byte[] b = ClassFile.renamed(template, names);
                return defineClass(name, b, 0, b.length);
            } catch (Exception e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static final int THREADS = 8, CLASSES = 60;

    static void loadAll(Loader shared, byte[] template, CountDownLatch go) {
        try {
            go.countDown();
            go.await();
            Loader own = new Loader(template);
            for (int i = 10; i < 10 + CLASSES; i++) {
                shared.loadClass("gen.Shared" + i).getMethod("run" + i).invoke(null);
                own.loadClass("gen.Own" + i).getMethod("run" + i).invoke(null);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static void loading() throws Exception {
        byte[] template = ClassFile.bytes("UnloadTemplate.class");
        Loader shared = new Loader(template);
        CountDownLatch go = new CountDownLatch(THREADS);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread t = new Thread(() -> loadAll(shared, template, go));
            all.add(t);
            t.start();
        }
        for (Thread t : all) { t.join(); }
        for (int i = 10; i < 10 + CLASSES; i++) {
            expect("gen.Shared" + i + ".run" + i, THREADS);
            expect("gen.Own" + i + ".run" + i, THREADS);
        }
        expect("UnloadMany.burn0", 2 * THREADS * CLASSES);
        expect("CountModern.loadAll", THREADS);
    }

    public static void main(String[] a) throws Throwable {
        switch (a[0]) {
            case "records" -> records();
            case "sealed" -> sealed();
            case "streams" -> streams();
            case "generated" -> generated();
            default -> loading();
        }
        expected.forEach((m, n) -> System.out.println("expect " + m + " " + n));
    }
}
