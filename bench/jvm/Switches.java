/* SPDX-License-Identifier: BSD-2-Clause */
import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** PAIRS pairs of virtual threads that wake each other TIMES times and wait for it. Arguments: pairs, times. Takes JDK 21 or later. */
public final class Switches implements Runnable {
    private static int times;
    private static CountDownLatch ended;
    private Thread other;
    private volatile boolean turn;
    private Switches peer;

    @Override public void run() {
        for (int i = 0; i < times; i++) {
            while (!turn) {
                LockSupport.park();
            }
            turn = false;
            peer.turn = true;
            LockSupport.unpark(other);
        }
        ended.countDown();
    }

    /** Without a name of JDK 21, because the oldest JDK compiles this. */
    private static Thread unstarted(Runnable of) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Method make = Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class);
        return (Thread) make.invoke(builder, of);
    }

    private static long switches(int pairs, int n) throws ReflectiveOperationException, InterruptedException {
        times = n;
        ended = new CountDownLatch(2 * pairs);
        Thread[] all = new Thread[2 * pairs];
        for (int i = 0; i < all.length; i += 2) {
            Switches a = new Switches(), b = new Switches();
            a.peer = b;
            b.peer = a;
            a.turn = true;
            all[i] = b.other = unstarted(a);
            all[i + 1] = a.other = unstarted(b);
        }
        long began = System.nanoTime();
        for (Thread t : all) {
            t.start();
        }
        ended.await();
        return (System.nanoTime() - began) / (2L * pairs * n);
    }

    public static void main(String[] args) throws ReflectiveOperationException, InterruptedException {
        int pairs = Integer.parseInt(args[0]), n = Integer.parseInt(args[1]);
        switches(pairs, n / 2); // compiles
        Figures.line("switch_ns", switches(pairs, n));
    }
}
