/** Daemons allocate, call, lock and start threads while the VM exits. */
public class ExitStress {
    static Object lock = new Object();
    static volatile Object sink;
    static int f(int n) { return n == 0 ? 0 : f(n - 1) + 1; }
    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 6; i++) {
            Thread t = new Thread("d" + i) { public void run() { for (;;) { sink = new int[10]; f(20); synchronized (lock) { sink = new Object(); } } } };
            t.setDaemon(true); t.start();
        }
        Thread s = new Thread("starter") { public void run() { for (;;) { Thread t = new Thread() { public void run() { sink = new long[5]; } }; t.start(); try { t.join(); } catch (Exception e) { } } } };
        s.setDaemon(true); s.start();
        Thread.sleep(Integer.parseInt(a[0]));
        System.out.println("done");
        System.exit(4);
    }
}
// SPDX-License-Identifier: BSD-2-Clause
