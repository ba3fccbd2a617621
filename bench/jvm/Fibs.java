/* SPDX-License-Identifier: BSD-2-Clause */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** fib on several threads at once. Prints the CPU time of a call on its own thread and its share of the wall time, in hundredths of a ns. Arguments: threads, n. */
public final class Fibs {
    private static volatile long sink;

    private static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    public static void main(String[] args) throws InterruptedException {
        int n = Integer.parseInt(args[1]);
        ThreadMXBean clocks = ManagementFactory.getThreadMXBean();
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        long[] cpu = new long[threads.length];
        sink = fib(25); // compiled from here on
        long begin = System.nanoTime();
        for (int i = 0; i < threads.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                long before = clocks.getCurrentThreadCpuTime();
                sink = fib(n);
                cpu[me] = clocks.getCurrentThreadCpuTime() - before;
            });
            threads[i].start();
        }
        long all = 0;
        for (int i = 0; i < threads.length; i++) {
            threads[i].join();
            all += cpu[i];
        }
        long wall = System.nanoTime() - begin, a = 1, b = 1;
        for (int i = 2; i <= n; i++) { // calls(n) = 2 * fib(n + 1) - 1
            long c = a + b;
            a = b;
            b = c;
        }
        long calls = (2 * b - 1) * threads.length;
        Figures.line("cpu_hundredths_ns", all * 100 / calls);
        Figures.line("wall_hundredths_ns", wall * 100 / calls);
        Figures.line("calls", calls);
    }
}
