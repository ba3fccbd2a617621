/** Many threads blocked on one monitor: enough summed contention for the MONITOR TIME section of the original. */
public class Crowd {
    static final Object gate = new Object();
    static void enter() { synchronized (gate) { gate.hashCode(); } }
    static void enterSlow() { synchronized (gate) { gate.hashCode(); } }
    public static void main(String[] a) throws Exception {
        int n = a.length > 0 ? Integer.parseInt(a[0]) : 500;
        long ms = a.length > 1 ? Long.parseLong(a[1]) : 3000;
        Thread[] t = new Thread[n];
        synchronized (gate) {
            for (int i = 0; i < n; i++) { final boolean slow = i % 4 == 0; t[i] = new Thread(null, new Runnable() { public void run() { if (slow) enterSlow(); else enter(); } }, "crowd" + i, 128 * 1024); t[i].start(); }
            Thread.sleep(ms);
        }
        for (int i = 0; i < n; i++) t[i].join();
        System.out.println("done");
    }
}
// SPDX-License-Identifier: BSD-2-Clause
