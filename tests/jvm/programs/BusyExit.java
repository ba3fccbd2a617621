// SPDX-License-Identifier: BSD-2-Clause
/** BusyExit THREADS HOW: daemon threads compute, allocate, lock and throw; main prints "end" and ends: return, exit, halt, or gcexit (a collection is started then). */
public class BusyExit {
    static final Object LOCK = new Object();
    static volatile Object sink;
    static volatile int ready;

    static int deep(int n) { return n == 0 ? 0 : deep(n - 1) + 1; }
    static void compute() { for (;;) { Cpu.sink += Cpu.chain(7, 10000); } }
    static void allocate() { for (;;) { sink = new int[100]; deep(30); } }
    static void lock() { for (;;) { synchronized (LOCK) { sink = new Object(); } } }
    static void fail() { for (;;) { try { throw new Exception("x"); } catch (Exception e) { sink = e; } } }
    static void start() throws Exception { for (;;) { Thread t = new Thread() { public void run() { sink = new long[5]; } }; t.start(); t.join(); } }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]);
        for (int i = 0; i < n; i++) {
            final int k = i % 5;
            Thread t = new Thread("busy-" + i) {
                public void run() {
                    ready++;
                    try { switch (k) { case 0: compute(); case 1: allocate(); case 2: lock(); case 3: fail(); default: start(); } } catch (Exception e) { sink = e; }
                }
            };
            t.setDaemon(true);
            t.start();
        }
        Cpu.burn(30 * 1000000L);
        if (a[1].equals("gcexit")) {
            Thread gc = new Thread("collector") { public void run() { System.gc(); } };
            gc.setDaemon(true);
            gc.start();
        }
        System.out.println("end");
        System.out.flush();
        switch (a[1]) {
            case "halt": Runtime.getRuntime().halt(3);
            case "return": return;
            default: System.exit(3);
        }
    }
}
