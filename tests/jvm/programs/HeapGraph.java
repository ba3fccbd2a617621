// SPDX-License-Identifier: BSD-2-Clause
import java.lang.ref.WeakReference;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;

/** HeapGraph: a graph of objects of every kind, told by HeapTell to the file `told`; then it waits for its dumps. Stdout says what reflection does not know: roots. */
public class HeapGraph {
    static class Marker {
        final String name;
        Marker(String name) { this.name = name; }
    }

    static class Kinds {
        boolean z; byte b; char c; short s; int i; long j; float f; double d; Object o;
        Kinds(boolean z, byte b, char c, short s, int i, long j, float f, double d, Object o) {
            this.z = z; this.b = b; this.c = c; this.s = s; this.i = i; this.j = j; this.f = f; this.d = d; this.o = o;
        }
    }

    interface Bare {}
    interface Top { int TOP = 11; String TOPS = "top-constant"; Object TOPO = HeapTell.tells(new Marker("topo")); }
    interface Side extends Top { long SIDE = 22; Object SIDEO = HeapTell.tells(new Marker("sideo")); }
    interface Own { double OWN = 1.5; char OWNC = 'q'; Object[] OWNO = HeapTell.tells(new Object[] {null, TOPO_OF_OWN}); Object LATE = TOPO_OF_OWN; }
    static final Object TOPO_OF_OWN = Top.TOPO;
    static class Base implements Side {
        int same = 1;
        private final Object ref = HeapTell.tells(new Marker("base"));
        static int count = -5;
        long wide = 2;
    }
    static class Middle extends Base implements Own, Top {
        int same = 3;
        byte small = -4;
        static Object middleStatic = HeapTell.tells(new Marker("middle"));
        String text = "middle \u00e9 \u4e2d";
    }
    static class Leaf extends Middle implements Bare, Side {
        int same = 5;
        Object ref = this;
        short tail = -7;
        static final long CONSTANT = 0x1122334455667788L;
        static Object none;
    }
    static class Empty extends Leaf {}
    static class Nothing {}
    static class Node { Node next; Object other; }
    class Inner { int n = 9; }
    enum Colour {
        RED(1.25f), GREEN(-2.5f) { @Override Object more() { return this; } };
        final float shade;
        Colour(float shade) { this.shade = shade; }
        Object more() { return null; }
    }

    static final class Loader extends ClassLoader {
        final int n;
        Loader(int n) { super(HeapGraph.class.getClassLoader()); this.n = n; }
        Class<?> twin(Object[] signers) throws Exception {
            byte[] b = ClassFile.bytes("HeapTwin.class");
            Class<?> c = defineClass("HeapTwin", b, 0, b.length, new ProtectionDomain(new CodeSource(null, (Certificate[]) null), null));
            if (signers != null) { setSigners(c, signers); }
            return c;
        }
    }

    static boolean sz = true;
    static byte sb = Byte.MIN_VALUE;
    static char sc = '\uffff';
    static short ss = Short.MIN_VALUE;
    static int si = Integer.MIN_VALUE;
    static long sj = Long.MIN_VALUE + 3;
    static float sf = Float.intBitsToFloat(0x7fc12345);
    static double sd = -0.0;
    static final boolean FZ = true;
    static final byte FB = 0x5a;
    static final char FC = '\u4e2d';
    static final short FS = 0x1234;
    static final int FI = 0x12345678;
    static final long FJ = 0x123456789abcdef0L;
    static final float FF = 3.25f;
    static final double FD = 1e300;
    static final String FT = "graph-literal";
    static final Object FN = null;
    static Object literal = FT, interned, fresh, lambda, stateless, last;

    static final CountDownLatch standing = new CountDownLatch(4), end = new CountDownLatch(1);
    static final ThreadLocal<Object> local = new ThreadLocal<>();
    static final Object lock = new Object();

    static void await() {
        try {
            standing.countDown();
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Its argument and its variable are roots of this frame. */
    static int holds(Marker argument, int n) {
        Object[] variable = HeapTell.tells(new Object[] {null, argument, null});
        System.out.println("local holder HeapGraph.holds " + HeapTell.number(variable));
        System.out.println("local holder HeapGraph.holds " + HeapTell.number(argument));
        if (n > 0) { deeper(n); } else { await(); }
        return argument.name.length() + variable.length;
    }
    static void deeper(int n) {
        if (n > 0) { deeper(n - 1); } else { await(); }
    }

    static Thread start(String name, Runnable r) {
        Thread t = HeapTell.tells(new Thread(r, name));
        t.start();
        System.out.println("thread " + name + " " + HeapTell.number(t));
        return t;
    }

    static Kinds[] kinds() {
        return new Kinds[] {
            new Kinds(true, Byte.MIN_VALUE, '\0', Short.MIN_VALUE, Integer.MIN_VALUE, Long.MIN_VALUE, Float.NaN, Double.NaN, null),
            new Kinds(false, Byte.MAX_VALUE, '\uffff', Short.MAX_VALUE, Integer.MAX_VALUE, Long.MAX_VALUE, -0.0f, -0.0, "x"),
            new Kinds(true, (byte) -1, '\ud800', (short) -1, -1, -1, Float.intBitsToFloat(0xff812345), Double.longBitsToDouble(0x7ff8deadbeef0001L), ""),
            new Kinds(false, (byte) 0, 'a', (short) 0, 0, 0, Float.MIN_VALUE, Double.MIN_VALUE, "\ud83d\ude00 astral"),
            new Kinds(true, (byte) 1, '\u0100', (short) 256, 1, 1L << 32, Float.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, "caf\u00e9\0")};
    }

    static void graph() throws Exception {
        for (Class<?> c : new Class<?>[] {HeapGraph.class, Marker.class, Kinds.class, Bare.class, Top.class, Side.class, Own.class, Base.class, Middle.class, Leaf.class, Empty.class,
                                          Nothing.class, Node.class, Inner.class, Colour.class, Loader.class, HeapTwin.class}) {
            Class.forName(c.getName(), true, c.getClassLoader());
            HeapTell.tells(c);
        }
        for (Kinds k : HeapTell.tells(kinds())) { HeapTell.tells(k); last = k; }
        for (Object o : new Object[] {new Base(), new Middle(), new Leaf(), new Empty(), new Nothing(), HeapTell.tells(new HeapGraph()).new Inner()}) { HeapTell.tells(o); }
        HeapTell.tells(Colour.RED);
        HeapTell.tells(Colour.GREEN);
        HeapTell.tells(Colour.GREEN.getClass());
        Node a = HeapTell.tells(new Node()), b = HeapTell.tells(new Node()), self = HeapTell.tells(new Node());
        a.next = b; b.next = a; self.next = self; a.other = HeapTell.tells(new Object[] {a, null, b}); self.other = HeapTell.tells(new Object[2]);
        ((Object[]) self.other)[1] = self.other;
        Marker m = HeapTell.tells(new Marker("m"));
        for (Object o : new Object[] {new Object[] {null, null, m}, new Object[] {m, null, m}, new Object[] {m, null, null}, new Object[3], new Object[0], new Marker[] {null, m, null}, new Marker[0],
                                      new Node[40], new Marker[2][3], new Marker[3][0], new int[2][2][2], new int[3][]}) {
            HeapTell.tells(o);
            if (o instanceof Object[][]) { for (Object e : (Object[]) o) { HeapTell.tells(e); if (e instanceof int[][]) { for (int[] x : (int[][]) e) { HeapTell.tells(x); } } } }
        }
        byte[] bytes = HeapTell.tells(new byte[3000000]);
        for (int i = 0; i < bytes.length; i++) { bytes[i] = (byte) (i * 31 >>> 3); }
        Object[] many = HeapTell.tells(new Object[500000]);
        for (int i = 0; i < many.length; i++) { many[i] = i % 5 == 0 || i > 499990 ? null : i % 3 == 0 ? m : i % 3 == 1 ? a : many; }
        for (Object o : new Object[] {new boolean[] {true, false, true}, new byte[] {-128, 127}, new char[] {'\0', '\uffff', '\ud800'}, new short[] {-32768, 32767},
                                      new int[] {Integer.MIN_VALUE, -1, 7}, new long[] {Long.MIN_VALUE, 1L << 40}, new float[] {Float.intBitsToFloat(0x7fc00001), -0.0f},
                                      new double[] {Double.longBitsToDouble(0x7ff8000000000123L), 0.1}, new long[0], new boolean[0], new double[140000], new int[262144], new char[524287]}) { HeapTell.tells(o); }
        interned = new String(FT.toCharArray()).intern();
        fresh = new String(FT.toCharArray());
        if (interned != literal || fresh == literal) { throw new IllegalStateException(); }
        HeapTell.tells(literal);
        HeapTell.tells(fresh);
        int n = m.name.length() + 41;
        Supplier<Object> captures = () -> m.name + n;
        Supplier<Object> captures0 = () -> "none";
        lambda = HeapTell.tells(captures);
        stateless = HeapTell.tells(captures0);
    }

    static void twins() throws Exception {
        for (int k = 1; k <= 2; k++) {
            Loader loader = HeapTell.tells(new Loader(k));
            Object[] signers = k == 2 ? HeapTell.tells(new Object[] {HeapTell.tells(new Marker("signer"))}) : null;
            Class<?> c = HeapTell.tells(loader.twin(signers));
            HeapTell.tells(c.getConstructor(int.class).newInstance(k));
            System.out.println("domain " + HeapTell.number(c) + " " + HeapTell.number(HeapTell.tells(c.getProtectionDomain())));
            if (signers != null) { System.out.println("signers " + HeapTell.number(c)); }
        }
        HeapTell.tells(new HeapTwin(0));
        WeakReference<Object> gone = new WeakReference<>(new Loader(3).twin(null).getConstructor(int.class).newInstance(3).getClass());
        for (int i = 0; i < 20 && gone.get() != null; i++) { System.gc(); Thread.sleep(5); }
        Class<?> stays = (Class<?>) gone.get();
        System.out.println("unloaded " + (stays == null));
        if (stays != null) {
            java.lang.reflect.Field last = stays.getDeclaredField("last");
            last.setAccessible(true);
            for (Object o : new Object[] {stays, stays.getClassLoader(), last.get(null)}) { HeapTell.tells(o); }
        }
    }

    public static void main(String[] args) throws Exception {
        Thread first = new Thread(() -> new ThreadLocal<String>().set("")); // its end loads a class, which no thread shall do during a dump
        first.start();
        first.join();
        graph();
        twins();
        if (args.length > 0) { ((Runnable) Class.forName(args[0]).getConstructor().newInstance()).run(); }
        Marker held = HeapTell.tells(new Marker("held")), ofThread = HeapTell.tells(new Marker("of thread")), global = HeapTell.tells(new Marker("global")), jni = HeapTell.tells(new Marker("jni"));
        System.out.println("global " + HeapTell.number(global));
        HeapJni.global(global);
        System.out.println("threadlocal locals " + HeapTell.number(ofThread));
        Thread[] all = {start("holder", () -> holds(held, 3)), start("locals", () -> { local.set(ofThread); await(); }),
                        start("native", () -> HeapJni.hold(jni)), start("owner", () -> { synchronized (lock) { await(); } })};
        System.out.println("jnilocal native HeapJni.hold " + HeapTell.number(jni));
        HeapTell.tells(lock);
        System.out.println("monitor " + HeapTell.number(lock));
        standing.await();
        Thread blocked = start("blocked", () -> { synchronized (lock) { lock.notifyAll(); } });
        while (blocked.getState() != Thread.State.BLOCKED) { Thread.sleep(1); }
        Thread.sleep(20);
        HeapTell.tell();
        HeapTell.untilStop();
        end.countDown();
        // the dump at the exit finds all as it was: nobody has ended, but for those whom `all` knows
        for (Thread t : all) { t.join(); }
        blocked.join();
    }
}
