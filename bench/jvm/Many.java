/* SPDX-License-Identifier: BSD-2-Clause */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that call at the same time, as fast as they can: CPU time a call, theirs and that of the profiler's threads that drain them, in hundredths of a
 * nanosecond, after a round that warms up. Arguments: threads, n of fib, rounds.
 */
public final class Many {
    private static volatile int sink;

    private static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    private static long drainers() {
        return Figures.cpuOf("hprofx-aggr") + Figures.cpuOf("hprofx-drain");
    }

    /** CPU time of the threads. */
    private static long run(int threads, int n, int rounds) throws InterruptedException {
        ThreadMXBean bean = ManagementFactory.getThreadMXBean();
        CountDownLatch start = new CountDownLatch(1);
        AtomicLong cpu = new AtomicLong();
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            all[i] = new Thread(() -> {
                try {
                    start.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                long from = bean.getCurrentThreadCpuTime();
                for (int k = 0; k < rounds; k++) {
                    sink = fib(n);
                }
                cpu.addAndGet(bean.getCurrentThreadCpuTime() - from);
            });
            all[i].start();
        }
        start.countDown();
        for (Thread t : all) {
            t.join();
        }
        return cpu.get();
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Integer.parseInt(args[0]);
        int n = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        run(threads, n, rounds);
        long ours = drainers();
        long began = System.nanoTime();
        long cpu = run(threads, n, rounds);
        long wall = System.nanoTime() - began;
        long a = 1;
        long b = 1;
        for (int i = 1; i < n; i++) {
            long next = a + b;
            a = b;
            b = next;
        }
        double calls = (2.0 * b - 1) * threads * rounds;
        Figures.line("cpu_hundredths_ns", Math.round(100.0 * cpu / calls));
        Figures.line("drainers_hundredths_ns", Math.round(100.0 * (drainers() - ours) / calls));
        Figures.line("wall_hundredths_ns", Math.round(100.0 * wall / calls));
    }
}
