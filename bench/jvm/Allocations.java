/* SPDX-License-Identifier: BSD-2-Clause */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Small objects of four sites, under a stack of ten frames. Arguments: rate, threads: hundredths of a nanosecond an allocation, on one thread
 * (the least of a few turns; its CPU time, too) and on that number of threads at once. storm, objects: allocates objects that die at once.
 * keep, objects: resident memory that they take while they live, then a collection of all of them.
 */
public final class Allocations {
    private static final int RECURSION = 4; // main, rate, Turn, allocate, five times deep, fill: ten frames
    private static final long ENOUGH_NS = 30_000_000; // of one turn, CPU time
    private static final int TURNS = 3;

    static final class Small {
        final int a;

        Small(int a) {
            this.a = a;
        }
    }

    private static Object[] kept; // what is in here may be read elsewhere: no allocation is removed

    /** n is a multiple of four. */
    private static void fill(Object[] to, int n) {
        int mask = to.length - 1;
        for (int i = 0; i < n; i += 4) {
            to[i & mask] = new Small(i);
            to[i + 1 & mask] = new int[2];
            to[i + 2 & mask] = new byte[8];
            to[i + 3 & mask] = new Object();
        }
    }

    private static void deep(int frames, Object[] to, int n) {
        if (frames == 0) {
            fill(to, n);
        } else {
            deep(frames - 1, to, n);
        }
    }

    private static void allocate(Object[] to, int n) {
        deep(RECURSION, to, n);
    }

    private static Object[] ring() {
        return new Object[64];
    }

    private static final class Turn {
        final long cpu, wall;

        Turn(int n, ThreadMXBean clocks) {
            Object[] to = ring();
            kept = to;
            long cpuBegin = clocks.getCurrentThreadCpuTime(), begin = System.nanoTime();
            allocate(to, n);
            wall = System.nanoTime() - begin;
            cpu = clocks.getCurrentThreadCpuTime() - cpuBegin;
        }
    }

    /** Wall time from the first thread's start to the last one's end. */
    private static long timedThreads(int count, int n) throws InterruptedException {
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = new Thread(() -> allocate(ring(), n));
        }
        long begin = System.nanoTime();
        for (Thread t : threads) {
            t.start();
        }
        for (Thread t : threads) {
            t.join();
        }
        return System.nanoTime() - begin;
    }

    private static void rate(int count) throws InterruptedException {
        ThreadMXBean clocks = ManagementFactory.getThreadMXBean();
        for (int i = 0; i < 32; i++) {
            new Turn(4096, clocks); // compiled by then
        }
        int n = 32_768;
        while (new Turn(n, clocks).cpu < ENOUGH_NS && n < 1 << 29) {
            n *= 2;
        }
        long one = Long.MAX_VALUE, cpu = Long.MAX_VALUE;
        for (int i = 0; i < TURNS; i++) {
            Turn t = new Turn(n, clocks);
            one = Math.min(one, t.wall);
            cpu = Math.min(cpu, t.cpu);
        }
        long all = timedThreads(count, n);
        Figures.line("allocations", n);
        Figures.line("cpu_hundredths_ns", cpu * 100 / n);
        Figures.line("one_hundredths_ns", one * 100 / n);
        Figures.line("all_hundredths_ns", all * 100 / ((long) n * count));
    }

    private static void storm(long objects) {
        Figures figures = new Figures();
        kept = ring();
        for (long left = objects; left > 0; left -= 1 << 20) {
            allocate(kept, 1 << 20);
        }
        figures.end();
    }

    /** Until the thread that tells of frees has nothing more to do. */
    private static long serviceThread() throws InterruptedException {
        long cpu = Figures.cpuOf("Service Thread"), before = -1;
        while (cpu != before) {
            before = cpu;
            Thread.sleep(100);
            cpu = Figures.cpuOf("Service Thread");
        }
        return cpu;
    }

    private static void keep(int objects) throws InterruptedException {
        Object[] all = new Object[objects];
        Small first = new Small(0);
        long rss = Figures.rssKilobytes();
        for (int i = 0; i < objects; i++) {
            all[i] = new Small(i);
        }
        Figures.line("live_rss_kb", Figures.rssKilobytes() - rss);
        kept = all;
        kept = null;
        all = null;
        long service = serviceThread();
        System.gc();
        Figures.line("frees_service_ns", serviceThread() - service);
        Figures.line("result", first.a);
    }

    public static void main(String[] args) throws InterruptedException {
        int n = Integer.parseInt(args[1]);
        switch (args[0]) {
        case "rate": rate(n); break;
        case "storm": storm(n); break;
        default: keep(n);
        }
    }
}
