/* SPDX-License-Identifier: BSD-2-Clause */
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * How long a thread is stopped while N others are alive, each with a stack of 60 frames, using about half a core together. The thread times short
 * pieces of equal work; what a piece takes longer than the median piece is a stop. Arguments: threads, seconds.
 */
public final class Pauses {
    private static final int PIECE = 1000;      // steps of work, about 2 us
    private static final int FRAMES = 60;
    private static final long LEAST_NS = 10_000; // shorter ones are jitter of the work itself
    private static final long WORK_NS = 100_000;
    private static final long[] TIMES = new long[1 << 15];
    private static final long[] STOPS = new long[1 << 20];
    private static int stopsN;
    private static long stopped;
    private static long longest;
    private static volatile boolean stop;
    private static volatile int sink;

    private static int work(int v) {
        int x = v;
        for (int i = 0; i < PIECE; i++) {
            x = x * 69069 + 1 ^ x >>> 11;
        }
        return x;
    }

    private static int alive(int depth, long period, int v) {
        if (depth > 0) {
            return alive(depth - 1, period, v) + 1;
        }
        int x = v;
        while (!stop) {
            long end = System.nanoTime() + WORK_NS;
            while (System.nanoTime() < end) {
                x = work(x);
            }
            LockSupport.parkNanos(period);
        }
        return x;
    }

    private static int measure(double seconds, long piece) {
        int x = 1;
        int n = 0;
        long before = System.nanoTime();
        long end = before + (long) (seconds * 1e9);
        while (before < end) {
            x = work(x);
            long now = System.nanoTime();
            long gap = now - before - piece;
            if (piece == 0) {
                TIMES[n++ & TIMES.length - 1] = now - before;
            } else if (gap > LEAST_NS) {
                stopped += gap;
                longest = Math.max(longest, gap);
                STOPS[stopsN++ & STOPS.length - 1] = gap;
            }
            before = now;
        }
        return x;
    }

    public static void main(String[] args) throws InterruptedException {
        int n = Integer.parseInt(args[0]);
        double seconds = Double.parseDouble(args[1]);
        long period = n * WORK_NS * 2; // half a core
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            int id = i;
            threads[i] = new Thread(null, () -> sink = alive(FRAMES, period, id), "alive-" + i, 256 << 10);
            threads[i].setDaemon(true);
            threads[i].start();
        }
        int v = measure(0.4, 0);
        long[] sorted = TIMES.clone();
        Arrays.sort(sorted);
        long piece = sorted[sorted.length / 2];
        v += measure(seconds, piece);
        stop = true;
        int kept = Math.min(stopsN, STOPS.length);
        long[] stops = Arrays.copyOf(STOPS, kept);
        Arrays.sort(stops);
        Figures.line("result", v);
        Figures.line("piece_ns", piece);
        Figures.line("stops", stopsN);
        Figures.line("stopped_ns", stopped);
        Figures.line("longest_ns", longest);
        Figures.line("p50_ns", kept == 0 ? 0 : stops[kept / 2]);
        Figures.line("p99_ns", kept == 0 ? 0 : stops[(int) (kept * 0.99)]);
        for (Thread t : threads) {
            t.join();
        }
    }
}
