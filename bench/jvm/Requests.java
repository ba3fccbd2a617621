/* SPDX-License-Identifier: BSD-2-Clause */
import java.io.IOException;
import java.util.Arrays;

/**
 * How long a thread is stopped by a dump on request. A tree of calls, ten a level, is gone through once: each path is a stack trace. Then the thread
 * times short pieces of equal work; what a piece takes longer than the median piece is a stop. A byte on the input begins a new window, its end ends
 * the program; each window has a line. Argument: levels (5: 111,110 traces; 6: 1,111,110).
 */
public final class Requests {
    private static final int PIECE = 1000; // steps of work, about 2 us
    private static final long[] TIMES = new long[1 << 16];
    private static volatile int asked;
    private static volatile boolean over;
    private static volatile int sink;

    private static int work(int v) {
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
            x = work(x);
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
        long begin = System.nanoTime();
        long before = begin;
        while (asked == mine && !over) {
            x = work(x);
            long now = System.nanoTime();
            long gap = now - before - piece;
            longest = Math.max(longest, gap);
            before = now;
        }
        sink = x;
        System.out.println("window " + mine + " ns " + (before - begin) + " longest " + longest);
    }

    /** Not counted itself, so that a path has one trace a level. */
    static int grow(int levels) {
        if (levels == 0) {
            return 1;
        }
        int n = levels - 1;
        return RequestTree.a(n) + RequestTree.b(n) + RequestTree.c(n) + RequestTree.d(n) + RequestTree.e(n) + RequestTree.f(n) + RequestTree.g(n)
            + RequestTree.h(n) + RequestTree.i(n) + RequestTree.j(n);
    }

    public static void main(String[] args) {
        sink = grow(Integer.parseInt(args[0]));
        long piece = median();
        Thread listener = new Thread(Requests::listen, "listener");
        listener.setDaemon(true);
        listener.start();
        System.out.println("ready");
        int mine = 0;
        while (!over) {
            window(mine, piece);
            mine++;
        }
    }
}

/** The class whose calls are counted. */
final class RequestTree {
    private RequestTree() {
    }

    static int a(int n) {
        return Requests.grow(n);
    }

    static int b(int n) {
        return Requests.grow(n);
    }

    static int c(int n) {
        return Requests.grow(n);
    }

    static int d(int n) {
        return Requests.grow(n);
    }

    static int e(int n) {
        return Requests.grow(n);
    }

    static int f(int n) {
        return Requests.grow(n);
    }

    static int g(int n) {
        return Requests.grow(n);
    }

    static int h(int n) {
        return Requests.grow(n);
    }

    static int i(int n) {
        return Requests.grow(n);
    }

    static int j(int n) {
        return Requests.grow(n);
    }
}
