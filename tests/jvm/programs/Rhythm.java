// SPDX-License-Identifier: BSD-2-Clause

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** A program with a rhythm: a fifth of each step of STEP ms it is busy; instead of the steps from BURST on, in another method, for as long as LONG of them;
 * the busy part of every EVERY-th step ends with a collection. Allocates in steady() alone.
 * Prints "steady|burst|gc FROM TO", ms since 1970, and at the end "cpu MS NS": the CPU time of its thread, for each ms in which it was busy.
 * Arguments: STEPS STEP BURST LONG EVERY. */
public class Rhythm {
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static volatile long sink;
    static volatile Object kept;
    static long[] used;
    static int n;

    /** Whether the time is not over. Of a second time within a ms nothing is noted. */
    static boolean before(long until) {
        long now = System.currentTimeMillis();
        if (now < until && (n == 0 || now != used[n - 2]) && n < used.length) {
            used[n] = now;
            used[n + 1] = THREADS.getCurrentThreadCpuTime();
            n += 2;
        }
        return now < until;
    }

    static void steady(long until) {
        while (before(until)) {
            kept = new byte[10000];
            sink++;
        }
    }

    static void burst(long until) {
        while (before(until)) {
            for (int i = 0; i < 1000; i++) {
                sink += i;
            }
        }
    }

    static void tell(String what, long from) {
        System.out.println(what + " " + from + " " + System.currentTimeMillis());
    }

    public static void main(String[] args) throws Exception {
        int steps = Integer.parseInt(args[0]), step = Integer.parseInt(args[1]), burst = Integer.parseInt(args[2]), length = Integer.parseInt(args[3]), every = Integer.parseInt(args[4]);
        used = new long[2 * (steps + length) * step];
        before(Long.MAX_VALUE); // loads what it needs
        long start = System.currentTimeMillis();
        for (int i = 0; i < steps; i++) {
            long from = System.currentTimeMillis();
            if (i == burst) {
                burst(from + (long) length * step);
                tell("burst", from);
                i += length - 1;
            } else {
                steady(from + step / 5);
                tell("steady", from);
            }
            if (i % every == every - 1) {
                long before = System.currentTimeMillis();
                System.gc();
                tell("gc", before);
            }
            long left = start + (i + 1L) * step - System.currentTimeMillis();
            if (left > 0) {
                Thread.sleep(left);
            }
        }
        StringBuilder points = new StringBuilder();
        for (int i = 0; i < n; i += 2) {
            points.append("cpu ").append(used[i]).append(' ').append(used[i + 1]).append('\n');
        }
        System.out.print(points);
    }
}
