/* SPDX-License-Identifier: BSD-2-Clause */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * What a program costs behind sessions that have ended: a call, an allocation, a critical section, a thread that starts and ends, each the
 * least of the rounds. Arguments: rounds; then a library of tests/sessions, a file for the output, and the options of the sessions, which
 * are begun and ended before, while all of that runs.
 */
public final class Sessions {
    private static final int FIB = 27;
    private static final int MANY = 2_000_000;
    private static final int THREADS = 300;
    private static final int WARM = 60; // times so many threads
    private static final Object LOCK = new Object();
    private static final ThreadMXBean THREAD = ManagementFactory.getThreadMXBean();
    private static volatile Object kept;
    private static long sum;

    static native boolean begin(String options);

    static native boolean end();

    private static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    private static void allocate() {
        for (int i = 0; i < MANY; i++) {
            kept = new long[2];
        }
    }

    private static void enter() {
        for (int i = 0; i < MANY; i++) {
            synchronized (LOCK) {
                sum++;
            }
        }
    }

    private static void start() {
        for (int i = 0; i < THREADS; i++) {
            Thread t = new Thread(() -> sum++);
            t.start();
            try {
                t.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static final String[] NAMES = {"call", "allocation", "section", "thread"};
    private static final Runnable[] WORK = {() -> sum += fib(FIB), Sessions::allocate, Sessions::enter, Sessions::start};
    private static final long[] AMOUNTS = {832_039, MANY, MANY, THREADS}; // fib(27) makes so many calls

    private static void all(int rounds, long[] least) {
        for (int r = 0; r < rounds; r++) {
            for (int k = 0; k < WORK.length; k++) {
                long before = THREAD.getCurrentThreadCpuTime();
                WORK[k].run();
                least[k] = Math.min(least[k], THREAD.getCurrentThreadCpuTime() - before);
            }
        }
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        long[] least = new long[WORK.length];
        all(rounds, least);
        if (args.length > 1) {
            System.load(args[1]);
        }
        for (int i = 3; i < args.length; i++) {
            if (!begin(args[i] + ",verbose=n,force=y,file=" + args[2])) {
                System.exit(1);
            }
            all(2, least);
            if (!end()) {
                System.exit(1);
            }
        }
        for (int i = 0; i < WARM; i++) { // what was rewritten is compiled again, by C2 after some thousand calls
            start();
        }
        all(2 * rounds, least);
        java.util.Arrays.fill(least, Long.MAX_VALUE);
        all(rounds, least);
        for (int k = 0; k < WORK.length; k++) {
            Figures.line(NAMES[k] + "_hundredths_ns", least[k] * 100 / AMOUNTS[k]);
        }
    }
}
