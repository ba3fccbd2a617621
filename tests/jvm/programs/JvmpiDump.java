// SPDX-License-Identifier: BSD-2-Clause
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Has the agent tests/jvmpi/dump.c ask for dumps and compare them. Arguments: the agent's library, then what to do. */
public class JvmpiDump {
    static native void heap(int level);
    static native void refused();
    static native void counts();
    static native void object(Object object, int kind);
    static native void parts(Class<?> of, Object loader, Object domain, Class<?> declared, String constant);
    static native void frame(Object local, long thread, String method);
    static native long self();
    static native void makeGlobal(Object object);
    static native void roots(Object global, Object system, Thread thread, long its);
    static native void jniLocal();
    static native void monitors(Object lock, Object lonely, long owner, long enters, long waits);

    interface Constants {
        int ONE = Integer.getInteger("one", 1);
        Object[] TWO = {new Object()};
    }

    interface Declared extends Constants {
        String THREE = new String("three");
    }

    static class Base {
        int low = 0x01020304;
        Object first = new int[] {1, 2, 3};
        static long baseStatic = 77;
        private byte middle = -3;
    }

    static class Cell extends Base implements Declared {
        static boolean z = true;
        static byte b = -2;
        static char c = '\u20ac';
        static short s = -300;
        static int i = -70000;
        static float f = 1.5f;
        static long j = 1L << 40;
        static double d = -2.25;
        static Object reference = new Cell[2][3];
        boolean zz = true;
        byte bb = -7;
        char cc = '\u00e9';
        short ss = 1234;
        int ii = 0x7fffffff;
        float ff = -0.5f;
        long jj = Long.MIN_VALUE;
        double dd = Math.PI;
        Cell next;
        String text = "constant of Cell";
        Object nothing;
    }

    static class Empty {}

    static Object get(Class<?> of, String name, Object object) throws Exception {
        Field f = of.getDeclaredField(name);
        f.setAccessible(true);
        return f.get(object);
    }

    static int kind(Object o) {
        Class<?> element = o.getClass().getComponentType();
        return element == null ? 0 : !element.isPrimitive() ? 2 : 4 + "ZCFDBSIJ".indexOf(o.getClass().getName().charAt(1));
    }

    static final List<Object> KEPT = new ArrayList<>();

    static Object[] known() {
        Cell one = new Cell();
        one.next = new Cell();
        one.next.next = one;
        KEPT.add(Constants.TWO); // initializes the interfaces
        KEPT.add(Declared.THREE);
        return new Object[] {one, one.next, new Empty(), one.first, new Object[] {one, null, "x", null}, new String[0], Cell.reference,
            new boolean[] {true, false}, new byte[] {1, -1}, new char[] {'a', '\uffff'}, new short[] {-1, 2}, new int[300], new float[] {1.25f},
            new long[] {1L << 50}, new double[] {Math.E}, new int[0], new Cell[][] {{one}, null}, Base.class, Cell.class, Empty.class,
            Constants.class, Declared.class, Runnable[].class};
    }

    static CountDownLatch stands, go;

    static void holds(CountDownLatch unused) {
        Object local = new Empty();
        KEPT.add(local);
        KEPT.add(self());
        stands.countDown();
        try {
            go.await();
        } catch (InterruptedException e) {
            System.out.println("BAD interrupted");
        }
        KEPT.remove(local);
    }

    static void heaps() throws Exception {
        Object[] all = known();
        KEPT.add(all);
        for (int level : new int[] {2, 1}) {
            heap(level);
            for (Object o : all) {
                object(o, kind(o));
            }
            parts(Cell.class, Cell.class.getClassLoader(), Cell.class.getProtectionDomain(), Declared.class, new Cell().text);
        }
        heap(0);
        for (Object o : all) {
            object(o, kind(o));
        }
        refused();
    }

    static void roots() throws Exception {
        stands = new CountDownLatch(1);
        go = new CountDownLatch(1);
        KEPT.clear();
        Thread t = new Thread(() -> holds(null), "holds");
        t.start();
        stands.await();
        Object global = new Empty();
        makeGlobal(global);
        heap(2);
        frame(KEPT.get(0), (Long) KEPT.get(1), "holds");
        roots(global, String.class, t, (Long) KEPT.get(1));
        go.countDown();
        t.join();
        jniLocal();
    }

    static final Object LOCK = new Object(), LONELY = new Object();
    static volatile long owner, enters, waits;

    static void enters() {
        synchronized (LOCK) {
            enters = 0;
        }
    }

    static void until(Thread t, Thread.State state) {
        while (t.getState() != state) {
            Thread.yield();
        }
    }

    static void monitors() throws Exception {
        Thread w = new Thread(() -> {
            waits = self();
            synchronized (LOCK) {
                try {
                    LOCK.wait();
                } catch (InterruptedException e) {
                    System.out.println("BAD interrupted");
                }
            }
        });
        w.start();
        until(w, Thread.State.WAITING);
        stands = new CountDownLatch(1);
        go = new CountDownLatch(1);
        Thread o = new Thread(() -> {
            owner = self();
            synchronized (LOCK) {
                synchronized (LOCK) {
                    synchronized (LONELY) {
                        stands.countDown();
                        try {
                            go.await();
                        } catch (InterruptedException e) {
                            System.out.println("BAD interrupted");
                        }
                    }
                    LOCK.notifyAll();
                }
            }
        });
        o.start();
        stands.await();
        until(o, Thread.State.WAITING);
        Thread e = new Thread(() -> {
            enters = self();
            enters();
        });
        e.start();
        until(e, Thread.State.BLOCKED);
        monitors(LOCK, Boolean.getBoolean("owned") ? LONELY : null, owner, enters, waits);
        go.countDown();
        w.join();
        o.join();
        e.join();
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        for (int i = 1; i < args.length; i++) {
            switch (args[i]) {
            case "heaps":
                heaps();
                break;
            case "roots":
                roots();
                break;
            case "monitors":
                monitors();
                break;
            default:
                KEPT.add(known());
                heap(2);
                counts();
                break;
            }
            System.out.println("done " + args[i]);
        }
    }
}
