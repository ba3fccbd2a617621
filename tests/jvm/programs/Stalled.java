// SPDX-License-Identifier: BSD-2-Clause
/** Stalled MS MS: two threads burn the first MS each, then the second MS, during which one of them, "stalled", lets no signal in: a single signal
 * stands for that time. Prints "thread NAME NS" for both: their CPU time.
 *  Without arguments: system calls, each twice as long as the one before, up to one that takes 700 ms of CPU; prints "call NS", the CPU time of
 * the last, and "calls NS", that of all, or "refused". */
public class Stalled {
    static native void block(boolean on);
    static native boolean call(long bytes);

    static void free(long ns) { Cpu.burn(ns); }

    static void away(long ns, boolean block) {
        if (block) { block(true); }
        Cpu.burn(ns);
        if (block) { block(false); }
    }

    public static void main(String[] a) throws Exception {
        System.loadLibrary("helper");
        if (a.length == 0) {
            long all = 0, last = 0;
            for (long bytes = 64L << 20; bytes <= 16L << 30 && last < 700000000L; bytes *= 2) {
                long before = Cpu.now();
                if (!call(bytes)) {
                    System.out.println("refused");
                    return;
                }
                last = Cpu.now() - before;
                all += last;
            }
            System.out.println("call " + last);
            System.out.println("calls " + all);
            return;
        }
        final long first = Long.parseLong(a[0]) * 1000000L, second = Long.parseLong(a[1]) * 1000000L;
        final long[] used = new long[2];
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            final int k = i;
            threads[i] = new Thread(k == 0 ? "stalled" : "other") { public void run() { free(first); away(second, k == 0); free(first); used[k] = Cpu.now(); } };
            threads[i].start();
        }
        for (int i = 0; i < 2; i++) {
            threads[i].join();
            System.out.println("thread " + threads[i].getName() + " " + used[i]);
        }
    }
}
