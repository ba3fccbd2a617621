// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;

/** Burn MS...: one named thread for each number, all at once, each burns so many ms of CPU. Prints "thread NAME NS" for each, "all NS": every Java thread, and "before NS": of these what main had used when it began. */
public class Burn {
    static void work(long ns) { Cpu.burn(ns); }

    public static void main(String[] a) throws Exception {
        long before = Cpu.now();
        final long[] used = new long[a.length];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < a.length; i++) {
            final int k = i;
            final long ns = Long.parseLong(a[i]) * 1000000L;
            threads.add(new Thread("burn-" + i) { public void run() { work(ns); used[k] = Cpu.now(); } });
        }
        for (Thread t : threads) { t.start(); }
        for (Thread t : threads) { t.join(); }
        StringBuilder out = new StringBuilder();
        long all = 0;
        for (int i = 0; i < a.length; i++) { out.append("thread burn-").append(i).append(' ').append(used[i]).append('\n'); all += used[i]; }
        for (long id : Cpu.BEAN.getAllThreadIds()) { long c = Cpu.BEAN.getThreadCpuTime(id); all += c > 0 ? c : 0; }
        System.out.print(out.append("all ").append(all).append("\nbefore ").append(before).append('\n'));
    }
}
