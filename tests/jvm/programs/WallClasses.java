// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Three threads that wait in turn for objects of two classes, from one line each, for MS milliseconds; the first class twice as long as
 * the other. Prints "ready", then "spent THREAD CLASS MS". Argument: MS. */
public class WallClasses {
    static class Account {
    }

    static class Ledger {
    }

    interface Way {
        void spend(Object of, long ms) throws Exception;
    }

    static final SynchronousQueue<Object[]> orders = new SynchronousQueue<>();
    static final SynchronousQueue<Object> taken = new SynchronousQueue<>();
    static long end;
    static volatile int sink;

    /** Owns what it is told to. */
    static void own() {
        try {
            for (;;) {
                Object[] order = orders.take();
                synchronized (order[0]) {
                    taken.put(order[0]);
                    Thread.sleep((Long) order[1]);
                }
            }
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    static void blockFor(Object of, long ms) throws Exception {
        orders.put(new Object[] {of, ms});
        taken.take();
        synchronized (of) {
            sink++;
        }
    }

    static void waitFor(Object of, long ms) throws Exception {
        synchronized (of) {
            of.wait(ms);
        }
    }

    static void parkFor(Object of, long ms) throws Exception {
        if (of instanceof ReentrantLock) {
            ((ReentrantLock) of).tryLock(ms, TimeUnit.MILLISECONDS);
        } else {
            ((Semaphore) of).tryAcquire(ms, TimeUnit.MILLISECONDS);
        }
    }

    /** A thread is parked for the queue inside a lock. */
    static String classOf(Object o) {
        return o.getClass().getName() + (o.getClass().getName().startsWith("java") ? "$NonfairSync" : "");
    }

    static Thread start(String name, Way way, Object first, Object second) {
        Thread t = new Thread(() -> {
            long[] spent = new long[2];
            Object[] all = {first, second};
            try {
                for (int i = 0; System.nanoTime() < end; i = 1 - i) {
                    long before = System.nanoTime();
                    way.spend(all[i], 120 / (i + 1));
                    spent[i] += System.nanoTime() - before;
                }
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
            System.out.println("spent " + name + " " + classOf(first) + " " + spent[0] / 1000000 + "\nspent " + name + " "
                + classOf(second) + " " + spent[1] / 1000000);
        }, name);
        t.start();
        return t;
    }

    public static void main(String[] args) throws Exception {
        Thread owner = new Thread(WallClasses::own, "other");
        owner.setDaemon(true);
        owner.start();
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        end = System.nanoTime() + Long.parseLong(args[0]) * 1000000;
        Thread[] all = {start("blocked", WallClasses::blockFor, new Account(), new Ledger()),
            start("waiting", WallClasses::waitFor, new Account(), new Ledger()),
            start("parked", WallClasses::parkFor, lock, new Semaphore(0))};
        System.out.println("ready");
        for (Thread t : all) {
            t.join();
        }
    }
}
