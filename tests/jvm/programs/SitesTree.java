// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** SitesTree N: a known tree of calls that allocate. Prints "row CLASS OBJECTS METHOD<CALLER<...", the methods without their class, leaf first, for each stack. */
public class SitesTree {
    static class Item { int a; }
    static class Node { long b; }
    static class Problem extends RuntimeException {
        private static final long serialVersionUID = 1;
        Problem() { super(null, null, false, false); }
    }
    static class Worker extends Thread {
        final int n;
        Worker(int n) { this.n = n; }
        @Override public void run() {
            for (int i = 0; i < n; i++) {
                leaf(2);
                sink = new Node();
            }
        }
    }

    static volatile Object sink;
    static final Map<String, Long> rows = new LinkedHashMap<>();

    static void leaf(int n) {
        for (int i = 0; i < n; i++) { sink = new Item(); }
    }
    static void a() { leaf(3); }
    static void b() {
        leaf(5);
        sink = new Node();
        leaf(1);
    }
    static void both() {
        a();
        b();
    }
    static void deep(int d) {
        sink = new long[d];
        if (d > 0) { deep(d - 1); }
        sink = new Node[2][d];
    }
    static void fails(int d) {
        if (d == 0) { throw new Problem(); }
        try {
            fails(d - 1);
        } finally {
            sink = new int[d];
        }
    }
    static void catches() {
        try {
            fails(4);
        } catch (Problem e) {
            sink = new short[2];
        }
    }

    static void row(String type, long objects, String stack) { rows.merge(type + " ~ " + stack, objects, Long::sum); }

    static void tell(int n) {
        row("SitesTree$Item", 3L * n, "leaf<a<both<main");
        row("SitesTree$Item", 6L * n, "leaf<b<both<main");
        row("SitesTree$Item", 7L * n, "leaf<main");
        row("SitesTree$Node", n, "b<both<main");
        String stack = "main";
        for (int d = 5; d >= 0; d--) {
            stack = "deep<" + stack;
            row("long[]", n, stack);
            row("SitesTree$Node[][]", n, stack);
            row("SitesTree$Node[]", 2L * n, stack);
        }
        stack = "catches<main";
        row("short[]", n, stack);
        for (int d = 4; d > 0; d--) {
            stack = "fails<" + stack;
            row("int[]", n, stack);
        }
        row("SitesTree$Problem", n, "fails<" + stack);
        row("SitesTree$Item", 2L * 8 * n, "leaf<run");
        row("SitesTree$Node", 8L * n, "run");
    }

    public static void main(String[] a) throws InterruptedException {
        int n = Integer.parseInt(a[0]);
        List<Thread> all = new ArrayList<>();
        for (int t = 0; t < 8; t++) { all.add(new Worker(n)); }
        for (Thread t : all) { t.start(); }
        for (int i = 0; i < n; i++) {
            both();
            leaf(7);
            deep(5);
            catches();
        }
        for (Thread t : all) { t.join(); }
        tell(n);
        rows.forEach((key, objects) -> System.out.println("row " + key.replace("~", String.valueOf(objects))));
    }
}
