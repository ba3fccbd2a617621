// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.CountDownLatch;

/** Early MS: 24 threads of one name that run until the end of stdin before they burn, each in a group g0.. of its own, burn MS, 2 or 3 times MS of CPU time, each kind in its own method. Prints
 * "thread GROUP NS" for each, and "truth NS NS NS": the sums by kind. */
public class Early {
    static final int N = 24;
    static final CountDownLatch GO = new CountDownLatch(1);
    static final Thread[] THREADS = new Thread[N];
    static final long[] USED = new long[N];
    static volatile long unit;

    static void burnA(long ns) { Cpu.burn(ns); }

    static void burnB(long ns) { Cpu.burn(ns); }

    static void burnC(long ns) { Cpu.burn(ns); }

    static void work(int i) {
        try { GO.await(); } catch (InterruptedException e) { return; }
        long before = Cpu.now();
        switch (i % 3) {
            case 0: burnA(unit); break;
            case 1: burnB(2 * unit); break;
            default: burnC(3 * unit);
        }
        USED[i] = Cpu.now() - before;
    }

    /** args: "exit" ends the program at once. */
    public static void premain(String args) {
        if ("exit".equals(args)) { System.exit(0); }
    }

    static void start() {
        Cpu.now();
        for (int i = 0; i < N; i++) {
            final int k = i;
            THREADS[i] = new Thread(new ThreadGroup("g" + i), "early") { public void run() { work(k); } };
            THREADS[i].start();
        }
    }

    public static void main(String[] a) throws Exception {
        unit = Long.parseLong(a[0]) * 1000000L;
        start();
        System.out.println("ready");
        while (System.in.read() >= 0) { }
        GO.countDown();
        long[] kinds = new long[3];
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < N; i++) {
            THREADS[i].join();
            kinds[i % 3] += USED[i];
            out.append("thread g").append(i).append(' ').append(USED[i]).append('\n');
        }
        System.out.print(out.append("truth ").append(kinds[0]).append(' ').append(kinds[1]).append(' ').append(kinds[2]).append('\n'));
    }
}
