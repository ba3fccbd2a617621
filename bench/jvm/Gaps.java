/* SPDX-License-Identifier: BSD-2-Clause */
import java.util.Arrays;

/**
 * Sees interruptions from inside: short pieces of work of equal length, timed one by one at a given depth of the stack. What a piece takes
 * longer than the median piece is the length of an interruption. Arguments: depth, seconds, and how many paths of calls lead to the work
 * (256; a power of two).
 */
public final class Gaps {
    private static final int PIECE = 1000;       // steps of work, about 2 us
    private static final int PIECES = 500;       // between two new stacks
    private static final long LEAST_NS = 1000;   // shorter ones are jitter of the work itself
    private static final long MOST_NS = 300_000; // longer ones are other programs
    private static final long[] TIMES = new long[1 << 14];
    private static final long[] GAPS = new long[1 << 16];
    private static int timesN;
    private static int gapsN;
    private static int paths = 256;
    private static long piece = Long.MAX_VALUE / 2;

    private static int work(int v) {
        int x = v;
        for (int i = 0; i < PIECE; i++) {
            x = x * 69069 + 1 ^ x >>> 11;
        }
        return x;
    }

    private static int measure(int v) {
        int x = v;
        long before = System.nanoTime();
        for (int i = 0; i < PIECES; i++) {
            x = work(x);
            long now = System.nanoTime();
            long gap = now - before - piece;
            if (timesN < TIMES.length) {
                TIMES[timesN++] = now - before;
            } else if (gap > LEAST_NS && gap < MOST_NS && gapsN < GAPS.length) {
                GAPS[gapsN++] = gap;
                now = System.nanoTime();
            }
            before = now;
        }
        return x;
    }

    private static int left(int depth, int path, int v) {
        return down(depth - 1, path >>> 1, v + 1) ^ depth;
    }

    private static int right(int depth, int path, int v) {
        return down(depth - 1, path >>> 1, v - 1) + depth;
    }

    private static int down(int depth, int path, int v) {
        if (depth <= 0) {
            return measure(v);
        }
        return (path & 1) == 0 ? left(depth, path, v) : right(depth, path, v);
    }

    private static int run(int depth, double seconds) {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        int v = 1;
        for (int path = 0; System.nanoTime() < end; path = path + 1 & paths - 1) {
            v = down(depth / 2, path, v);
        }
        return v;
    }

    public static void main(String[] args) {
        int depth = Integer.parseInt(args[0]);
        double seconds = Double.parseDouble(args[1]);
        if (args.length > 2) { paths = Integer.parseInt(args[2]); }
        int v = run(depth, Math.min(0.3, seconds)); // until it is compiled
        timesN = 0;
        v += run(depth, 0.15);
        long[] sorted = Arrays.copyOf(TIMES, timesN);
        Arrays.sort(sorted);
        piece = sorted[sorted.length / 2];
        gapsN = 0;
        v += run(depth, seconds);
        long[] gaps = Arrays.copyOf(GAPS, gapsN);
        Arrays.sort(gaps);
        Figures.line("result", v);
        Figures.line("piece_ns", piece);
        Figures.line("gaps", gapsN);
        if (gapsN > 0) {
            Figures.line("gap_p25_ns", gaps[gapsN / 4]);
            Figures.line("gap_p50_ns", gaps[gapsN / 2]);
            Figures.line("gap_p75_ns", gaps[gapsN - 1 - gapsN / 4]);
        }
    }
}
