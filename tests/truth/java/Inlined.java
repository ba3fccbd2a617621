// SPDX-License-Identifier: BSD-2-Clause

/** Callees that the compiler inlines, allocations between. */
public class Inlined extends Work {
    static class Head {
        final Object[] e;
        Head(int n) { e = new Object[n]; }
    }

    public Inlined(long ms) { super(ms); }

    static double burn(int n) {
        double x = n;
        for (int i = 0; i < n; i++) { x = Math.sqrt(x + i) * 1.0001; }
        return Math.floor(x);
    }

    static double handle(int n) {
        double x = burn(n);
        escape = new Head(16);
        return x;
    }

    @Override
    long piece(int i) {
        double x = 0;
        for (int k = 0; k < 20; k++) { x += handle(5000); }
        return (long) x;
    }
}
