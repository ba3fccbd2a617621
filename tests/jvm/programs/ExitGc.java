// SPDX-License-Identifier: BSD-2-Clause
/** ExitGc MS HOW: daemon threads contend, allocate and collect all the time; main waits so long, prints "bye" and ends: return or exit. */
public class ExitGc {
    static final Object LOCK = new Object();
    static volatile Object keep;
    static int n;

    static void contend() { for (;;) { synchronized (LOCK) { n++; keep = new byte[512]; } } }
    static void collect() { for (;;) { System.gc(); } }
    static void await() { for (;;) { synchronized (LOCK) { try { LOCK.wait(1); } catch (InterruptedException e) { return; } } } }
    static void start(Runnable r) { Thread t = new Thread(r); t.setDaemon(true); t.start(); }

    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 6; i++) { start(ExitGc::contend); }
        start(ExitGc::collect);
        start(ExitGc::await);
        Thread.sleep(Long.parseLong(a[0]));
        System.out.println("bye");
        if (a[1].equals("exit")) { System.exit(0); }
    }
}
