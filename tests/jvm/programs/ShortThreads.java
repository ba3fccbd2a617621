// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;

/** ShortThreads N CPU_US [NAME]: N threads t0.. (NAME0..), at most 8 alive at once, each burns so much. Prints "cpu NS": the sum over them, each read at its own end. */
public class ShortThreads {
    static final AtomicLong SUM = new AtomicLong();

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]);
        String name = a.length > 2 ? a[2] : "t";
        final long ns = Long.parseLong(a[1]) * 1000L;
        ArrayDeque<Thread> alive = new ArrayDeque<>();
        ThreadGroup group = new ThreadGroup("short");
        for (int i = 0; i < n; i++) {
            if (alive.size() == 8) { alive.remove().join(); }
            Thread t = new Thread(group, name + i) { public void run() { if (ns > 0) { Cpu.burn(ns); } SUM.addAndGet(Cpu.now()); } };
            t.start();
            alive.add(t);
        }
        for (Thread t : alive) { t.join(); }
        System.out.println("cpu " + SUM.get());
    }
}
