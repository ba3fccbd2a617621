// SPDX-License-Identifier: BSD-2-Clause
/** Stalled MS MS: two threads burn the first MS each, then the second MS, during which one of them, "stalled", lets no signal in: a single signal
 * stands for that time. Prints "thread NAME NS" for both: their CPU time.
 *  Without arguments: one long system call; prints "call NS", or "refused". */
public class Stalled {
    static native void block(boolean on);
    static native boolean call();

    static void free(long ns) { Cpu.burn(ns); }

    static void away(long ns, boolean block) {
        if (block) { block(true); }
        Cpu.burn(ns);
        if (block) { block(false); }
    }

    public static void main(String[] a) throws Exception {
        System.loadLibrary("helper");
        if (a.length == 0) {
            long before = Cpu.now();
            System.out.println(call() ? "call " + (Cpu.now() - before) : "refused");
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
