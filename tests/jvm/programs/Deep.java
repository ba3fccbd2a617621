// SPDX-License-Identifier: BSD-2-Clause
/** Deep LEVELS CPU_MS: burns at the bottom of a recursion. Prints "done". */
public class Deep {
    static long down(int n, long ns) {
        if (n == 0) { Cpu.burn(ns); return 1; }
        return down(n - 1, ns) + 1;
    }

    public static void main(final String[] a) throws Exception {
        Thread t = new Thread(null, new Runnable() { public void run() { down(Integer.parseInt(a[0]), Long.parseLong(a[1]) * 1000000L); } }, "deep", 256L << 20);
        t.start();
        t.join();
        System.out.println("done");
    }
}
