/* SPDX-License-Identifier: BSD-2-Clause */
import java.io.IOException;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * How long a thread is stopped while something is asked of the JVM. The thread times short pieces of equal work; what a piece takes longer than the
 * median piece is a stop. A byte on the input begins a new window, its end ends the program; each window has a line, with the number of pieces.
 */
final class Windows {
    private static final int PIECE = 1000; // steps of work, about 2 us
    private static final long[] TIMES = new long[1 << 14];
    private static volatile int asked;
    private static volatile boolean over;
    private static volatile int sink;
    private static IntUnaryOperator work = Windows::compute;

    private Windows() {
    }

    private static int compute(int v) {
        int x = v;
        for (int i = 0; i < PIECE; i++) {
            x = x * 69069 + 1 ^ x >>> 11;
        }
        return x;
    }

    private static void listen() {
        try {
            while (System.in.read() >= 0) {
                asked++;
            }
        } catch (IOException e) {
            System.err.println(e);
        }
        over = true;
    }

    private static long median() {
        int x = 1;
        long before = System.nanoTime();
        for (int n = 0; n < 4 * TIMES.length; n++) {
            x = work.applyAsInt(x);
            long now = System.nanoTime();
            TIMES[n % TIMES.length] = now - before;
            before = now;
        }
        sink = x;
        Arrays.sort(TIMES);
        return TIMES[TIMES.length / 2];
    }

    /** Until the next byte or the end of the input. */
    private static void window(int mine, long piece) {
        int x = 1;
        long longest = 0;
        long pieces = 0;
        long begin = System.nanoTime();
        long before = begin;
        while (asked == mine && !over) {
            x = work.applyAsInt(x);
            long now = System.nanoTime();
            longest = Math.max(longest, now - before - piece);
            before = now;
            pieces++;
        }
        sink = x;
        System.out.println("window " + mine + " ns " + (before - begin) + " longest " + longest + " pieces " + pieces);
    }

    /** As run(), with pieces of this work. */
    static void run(IntUnaryOperator pieces) {
        work = pieces;
        run();
    }

    /** Says "ready" and makes windows until the end of the input. */
    static void run() {
        long piece = median();
        Thread listener = new Thread(Windows::listen, "listener");
        listener.setDaemon(true);
        listener.start();
        System.out.println("ready");
        for (int mine = 0; !over; mine++) {
            window(mine, piece);
        }
    }
}
