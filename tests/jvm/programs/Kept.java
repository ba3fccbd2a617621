// SPDX-License-Identifier: BSD-2-Clause
/** Kept N: calls step() N times, prints "ready", and makes no other call of its own until its end by a signal. */
public class Kept {
    static volatile int sink;

    static int step(int x) { return x * 31 + 1; }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]);
        for (int i = 0; i < n; i++) { sink = step(i); }
        System.out.println("ready");
        System.out.flush();
        Thread.sleep(60000);
    }
}
