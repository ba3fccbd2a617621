// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * SitesCounts N: N times each way of the language to allocate; nothing that the JIT could leave out. Prints what SitesKnown says, live 0: what a method itself
 * makes, the sizes those of the VM.
 */
public class SitesCounts {
    static class Empty { }
    static class Small { byte a; }
    static class Wide { long a, b, c; Object d, e; int f; }
    static class Derived extends Wide { short g; char h; }
    static class Tree { Tree left, right; }
    static class Problem extends RuntimeException {
        private static final long serialVersionUID = 1;
        Problem() { super(null, null, false, false); }
    }
    enum Colour { RED, GREEN }
    interface Make { Object make(int i); }

    static volatile Object sink;
    static volatile String text = "text";

    // --- objects
    static Object empty(int i) { return new Empty(); }
    static Object small(int i) { return new Small(); }
    static Object wide(int i) { return new Wide(); }
    static Object derived(int i) { return new Derived(); }
    static Object anonymous(int i) { return new Object() { int a = i; }; }
    static Object twice(int i) { sink = new Tree(); return new Tree(); }
    static Object tree(int depth) {
        Tree t = new Tree();
        if (depth > 0) {
            t.left = (Tree) tree(depth - 1);
            t.right = (Tree) tree(depth - 1);
        }
        return t;
    }
    static Object thrown(int i) {
        try {
            throw new Problem();
        } catch (Problem e) {
            return e;
        }
    }
    static Object concat(int i) { return text + i + text; }
    static Object branches(int i) { return i % 3 == 0 ? new Small() : i % 3 == 1 ? new Wide() : new int[1]; }

    // --- arrays, of a length that changes
    static final int LENGTHS = 40;
    static Object booleans(int i) { return new boolean[i % LENGTHS]; }
    static Object bytes(int i) { return new byte[i % LENGTHS]; }
    static Object chars(int i) { return new char[i % LENGTHS]; }
    static Object shorts(int i) { return new short[i % LENGTHS]; }
    static Object ints(int i) { return new int[i % LENGTHS]; }
    static Object longs(int i) { return new long[i % LENGTHS]; }
    static Object floats(int i) { return new float[i % LENGTHS]; }
    static Object doubles(int i) { return new double[i % LENGTHS]; }
    static Object objects(int i) { return new Tree[i % LENGTHS]; }
    static Object arrays(int i) { return new int[i % LENGTHS][]; }
    static Object initialised(int i) { return new char[] {'a', 'b', 'c'}; }
    static Object varargs(int... a) { return a; }
    static Object callsVarargs(int i) { return varargs(i, i, i, i); }
    static Object large(int i) { return new byte[100001]; }

    // --- several dimensions
    static Object two(int i) { return new int[3][2]; }
    static Object three(int i) { return new long[2][3][4]; }
    static Object four(int i) { return new byte[2][2][2][5]; }
    static Object open(int i) { return new int[3][2][]; }
    static Object ofTrees(int i) { return new Tree[4][7]; }
    static Object nothing(int i) { return new short[0][9]; }
    static Object short0(int i) { return new short[6][0]; }
    static char[][] changing(int i) { return new char[i % 5][i % 7]; }

    // --- code that the compiler made
    static Object inLambda(int i) {
        Make m = k -> new Tree[k % 4];
        return m.make(i);
    }
    static Object byReference(int i) {
        IntFunction<double[]> f = double[]::new;
        return f.apply(3);
    }

    private static void way(String method, int n, Make make, Object... parts) {
        for (int i = 0; i < n; i++) { sink = make.make(i); }
        for (int i = 0; i < parts.length; i += 2) { expect(method, parts[i], (long) n * (Integer) parts[i + 1]); }
    }

    private static void expect(String method, Object like, long objects) { SitesKnown.say(method, SitesKnown.name(like.getClass()), objects, 0, objects * SitesJni.size(like), 0); }

    /** Arrays whose lengths change: each is measured. */
    private static void lengths(String method, int n, Make make) {
        long bytes = 0;
        String type = null;
        for (int i = 0; i < n; i++) {
            Object o = make.make(i);
            bytes += SitesJni.size(o);
            type = SitesKnown.name(o.getClass());
        }
        SitesKnown.say(method, type, n, 0, bytes, 0);
    }

    private static void changingOnes(int n) {
        long outer = 0, inner = 0, bytes = 0;
        for (int i = 0; i < n; i++) {
            char[][] o = changing(i);
            outer += SitesJni.size(o);
            inner += o.length;
            for (char[] c : o) { bytes += SitesJni.size(c); }
        }
        SitesKnown.say("SitesCounts.changing", "char[][]", n, 0, outer, 0);
        SitesKnown.say("SitesCounts.changing", "char[]", inner, 0, bytes, 0);
    }

    private static void threads(int threads, int n) throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            Thread x = new Thread(() -> shared(n));
            all.add(x);
            x.start();
        }
        for (Thread x : all) { x.join(); }
        expect("SitesCounts.shared", new Wide(), (long) threads * n);
        expect("SitesCounts.shared", new float[2], (long) threads * n);
        expect("SitesCounts.shared", new Small[2][], (long) threads * n);
        expect("SitesCounts.shared", new Small[3], 2L * threads * n);
    }

    static void shared(int n) {
        for (int i = 0; i < n; i++) {
            sink = new Wide();
            sink = new float[2];
            sink = new Small[2][3];
        }
    }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]);
        way("SitesCounts.empty", n, SitesCounts::empty, new Empty(), 1);
        way("SitesCounts.small", n, SitesCounts::small, new Small(), 1);
        way("SitesCounts.wide", n, SitesCounts::wide, new Wide(), 1);
        way("SitesCounts.derived", n, SitesCounts::derived, new Derived(), 1);
        Object like = anonymous(0); // one more
        way("SitesCounts.anonymous", n - 1, SitesCounts::anonymous);
        expect("SitesCounts.anonymous", like, n);
        way("SitesCounts.twice", n, SitesCounts::twice, new Tree(), 2);
        way("SitesCounts.tree", n / 10, i -> tree(4), new Tree(), 31);
        way("SitesCounts.thrown", n, SitesCounts::thrown, new Problem(), 1);
        way("SitesCounts.concat", n, SitesCounts::concat, new StringBuilder(), 1);
        way("SitesCounts.branches", 3 * n, SitesCounts::branches);
        expect("SitesCounts.branches", new Small(), n);
        expect("SitesCounts.branches", new Wide(), n);
        expect("SitesCounts.branches", new int[1], n);
        lengths("SitesCounts.booleans", n, SitesCounts::booleans);
        lengths("SitesCounts.bytes", n, SitesCounts::bytes);
        lengths("SitesCounts.chars", n, SitesCounts::chars);
        lengths("SitesCounts.shorts", n, SitesCounts::shorts);
        lengths("SitesCounts.ints", n, SitesCounts::ints);
        lengths("SitesCounts.longs", n, SitesCounts::longs);
        lengths("SitesCounts.floats", n, SitesCounts::floats);
        lengths("SitesCounts.doubles", n, SitesCounts::doubles);
        lengths("SitesCounts.objects", n, SitesCounts::objects);
        lengths("SitesCounts.arrays", n, SitesCounts::arrays);
        way("SitesCounts.initialised", n, SitesCounts::initialised, new char[3], 1);
        way("SitesCounts.callsVarargs", n, SitesCounts::callsVarargs, new int[4], 1);
        way("SitesCounts.large", n / 10, SitesCounts::large, new byte[100001], 1);
        way("SitesCounts.two", n, SitesCounts::two, new int[3][], 1, new int[2], 3);
        way("SitesCounts.three", n, SitesCounts::three, new long[2][][], 1, new long[3][], 2, new long[4], 6);
        way("SitesCounts.four", n, SitesCounts::four, new byte[2][][][], 1, new byte[2][][], 2, new byte[2][], 4, new byte[5], 8);
        way("SitesCounts.open", n, SitesCounts::open, new int[3][][], 1, new int[2][], 3);
        way("SitesCounts.ofTrees", n, SitesCounts::ofTrees, new Tree[4][], 1, new Tree[7], 4);
        way("SitesCounts.nothing", n, SitesCounts::nothing, new short[0][], 1, new short[9], 0);
        way("SitesCounts.short0", n, SitesCounts::short0, new short[6][], 1, new short[0], 6);
        changingOnes(n);
        lambdas(n);
        threads(16, n);
        SitesKnown.end();
    }

    private static void lambdas(int n) {
        for (int i = 0; i < 4 * n; i++) { sink = inLambda(i); }
        SitesKnown.say("SitesCounts.lambda$inLambda", "SitesCounts$Tree[]", 4L * n, 0, n * (SitesJni.size(new Tree[0]) + SitesJni.size(new Tree[1]) + SitesJni.size(new Tree[2]) + SitesJni.size(new Tree[3])), 0);
        for (int i = 0; i < n; i++) { sink = byReference(i); }
        SitesKnown.say("SitesCounts.lambda$byReference", "double[]", n, 0, n * SitesJni.size(new double[3]), 0);
    }
}
