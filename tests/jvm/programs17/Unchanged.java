// SPDX-License-Identifier: BSD-2-Clause
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Unchanged: prints what reflection and stack traces say of classes of every kind. The output does not depend on who watches. */
public class Unchanged {
    interface Shape {
        int area();

        default String text() {
            return "shape of " + area() + Traces.here();
        }

        static Shape of(int a) {
            return () -> a;
        }
    }

    record Square(int side) implements Shape {
        Square {
            if (side < 0) {
                throw new IllegalArgumentException("side " + side);
            }
        }

        @Override
        public int area() {
            return side * side;
        }
    }

    enum Colour {
        RED, GREEN {
            @Override
            String note() {
                return "g" + Traces.here();
            }
        };

        String note() {
            return "n" + Traces.here();
        }
    }

    static class Base {
        protected final int n;
        private long hidden = 5;

        Base(int n) {
            this.n = n;
            if (n > 3) {
                throw new IllegalStateException("base " + n);
            }
        }

        synchronized int get() {
            return n;
        }
    }

    static class Derived extends Base {
        Derived(int n) {
            super(check(n));
        }

        static int check(int n) {
            if (n == 2) {
                throw new ArithmeticException("two");
            }
            return n;
        }

        @Override
        public String toString() {
            return "derived" + Traces.here();
        }
    }

    static class Broken {
        static final int VALUE = boom();

        static int boom() {
            throw new UnsupportedOperationException("in <clinit>");
        }
    }

    static class Traces {
        static String here() {
            StringBuilder b = new StringBuilder();
            for (EnumSet<StackWalker.Option> some : Arrays.asList(EnumSet.noneOf(StackWalker.Option.class), EnumSet.of(StackWalker.Option.SHOW_REFLECT_FRAMES),
                    EnumSet.of(StackWalker.Option.SHOW_HIDDEN_FRAMES), EnumSet.allOf(StackWalker.Option.class))) {
                b.append("\n  walk ").append(some).append(':').append(StackWalker.getInstance(some).<String>walk(s -> s.map(some.toString().contains("DROP_METHOD_INFO") ? f -> clean(f.getClassName()) : Traces::frame).collect(Collectors.joining(" < "))));
            }
            return b.append("\n  trace ").append(of(new Throwable())).toString();
        }

        static String frame(StackWalker.StackFrame f) {
            return clean(f.getClassName()) + "." + clean(f.getMethodName()) + f.getLineNumber() + "@" + f.isNativeMethod();
        }

        static String of(Throwable t) {
            return t + ": " + Stream.of(t.getStackTrace()).map(e -> clean(e.toString())).collect(Collectors.joining(" < ")) + (t.getCause() == null ? "" : "\n  cause " + of(t.getCause()));
        }

        /** Numbers and addresses of generated classes. */
        static String clean(String name) {
            return name.replaceAll("0x[0-9a-f]+", "0x").replaceAll("(Lambda|LambdaForm\\$\\w+|Accessor|Proxy|H|Invokers\\$Holder)[$/]?[0-9]+", "$1");
        }
    }

    static void members(Class<?> c) {
        System.out.println(c + " " + c.getModifiers() + " " + c.getSuperclass() + " " + Arrays.toString(c.getInterfaces()));
        Stream.of(c.getDeclaredFields()).map(Field::toGenericString).sorted().forEach(System.out::println);
        Stream.concat(Stream.of(c.getDeclaredMethods()), Stream.of(c.getDeclaredConstructors())).map(Executable::toGenericString).map(Traces::clean).sorted().forEach(System.out::println);
    }

    static void attempt(Supplier<?> s) {
        try {
            System.out.println(s.get());
        } catch (Throwable t) {
            System.out.println(Traces.of(t));
        }
    }

    static int recurse(int n) {
        return n == 0 ? Integer.parseInt("x") : recurse(n - 1) + 1;
    }

    static void threads() throws Exception {
        CountDownLatch inside = new CountDownLatch(1), leave = new CountDownLatch(1);
        Thread t = new Thread(() -> {
            inside.countDown();
            try {
                leave.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "parked");
        t.start();
        inside.await();
        while (t.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        Map<Thread, StackTraceElement[]> all = new TreeMap<>(Comparator.comparing(Thread::getName));
        all.putAll(Thread.getAllStackTraces());
        for (Map.Entry<Thread, StackTraceElement[]> e : all.entrySet()) {
            String frames = Stream.of(e.getValue()).map(f -> Traces.clean(f.toString())).collect(Collectors.joining(" < "));
            if (e.getKey() == t || e.getKey() == Thread.currentThread()) {
                System.out.println(e.getKey().getName() + ": " + frames);
            } else if (frames.contains("hprofx") || frames.contains("Tracker")) {
                System.out.println(e.getKey().getName() + " is inside: " + frames);
            }
        }
        leave.countDown();
        t.join();
    }

    public static void main(String[] args) throws Exception {
        for (Class<?> c : new Class<?>[] {Unchanged.class, Shape.class, Square.class, Colour.class, Base.class, Derived.class, Traces.class, Object.class, String.class,
                Thread.class, java.util.HashMap.class, Shape.of(1).getClass()}) {
            if (!c.isHidden()) {
                members(c);
            }
        }
        attempt(() -> new Square(-1));
        attempt(() -> new Square(3).text());
        attempt(() -> Shape.of(4).text());
        attempt(() -> Colour.RED.note());
        attempt(() -> Colour.GREEN.note());
        attempt(() -> new Derived(1).toString());
        attempt(() -> new Derived(2));
        attempt(() -> new Derived(4));
        attempt(() -> Broken.VALUE);
        attempt(() -> Broken.VALUE);
        attempt(() -> recurse(5));
        attempt(() -> Stream.of(1, 2).map(i -> 1 / (i - 1)).toList());
        attempt(() -> {
            try {
                return Derived.class.getDeclaredConstructor(int.class).newInstance(4);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        });
        attempt(() -> {
            try {
                return Traces.class.getDeclaredMethod("here").invoke(null);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        });
        threads();
    }
}
