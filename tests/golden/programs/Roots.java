/** Objects held only by thread stacks, statics, monitors and threads. */
public class Roots {
    static class ByStatic { } static class ByKeeper { } static class ByMain { } static class ByLock { } static class ByLocalOnly { } static class Cyclic { Object me = this; }
    static class Garbage { byte[] b = new byte[50]; Object o = "text"; int i = 9; }
    static final ByStatic st = new ByStatic();
    static volatile boolean ready;
    static void keep(ByKeeper fromMain) {
        ByLocalOnly own = new ByLocalOnly();
        ByLock lock = new ByLock();
        synchronized (lock) { ready = true; try { Thread.sleep(60000); } catch (InterruptedException e) { } }
        System.out.println(fromMain + " " + own);
    }
    public static void main(String[] a) throws Exception {
        final ByKeeper k = new ByKeeper();
        Thread t = new Thread("keeper") { public void run() { keep(k); } };
        t.setDaemon(true); t.start();
        for (int i = 0; i < 5; i++) new Garbage();
        new Cyclic();
        ByMain m = new ByMain();
        while (!ready) Thread.sleep(10);
        System.out.println("done " + (m != null));
        System.exit(3);
    }
}
// SPDX-License-Identifier: BSD-2-Clause
