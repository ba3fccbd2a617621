// SPDX-License-Identifier: BSD-2-Clause
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.LockSupport;

/** One thread for each way to spend time, for MS milliseconds; each thread divides its time: SHARE percent in one way, the rest asleep.
 * Prints "spent THREAD STATE MS" as often as it likes, and "there THREAD MS". Arguments: MS SHARE. */
public class WallShares {
    static final Object contended = new Object(), notified = new Object();
    static long end;
    static volatile long sink;

    interface Way {
        void spend(long ms) throws Exception;
    }

    static void spin(long ms) {
        long until = System.nanoTime() + ms * 1000000, n = 0;
        while (System.nanoTime() < until) {
            n++;
        }
        sink = n;
    }

    static void parkFor(long ms) {
        long until = System.nanoTime() + ms * 1000000;
        for (long left = ms * 1000000; left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    static void waitFor(long ms) throws Exception {
        synchronized (notified) {
            notified.wait(ms);
        }
    }

    static void rest(long ms) throws Exception {
        Thread.sleep(ms);
    }

    static final SynchronousQueue<Long> orders = new SynchronousQueue<>(), taken = new SynchronousQueue<>();

    static void own() {
        try {
            for (;;) {
                long ms = orders.take();
                synchronized (contended) {
                    taken.put(ms);
                    Thread.sleep(ms);
                }
            }
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    /** The owner keeps the monitor for as long. */
    static void blockFor(long ms) throws Exception {
        orders.put(ms);
        taken.take();
        synchronized (contended) {
            sink++;
        }
    }

    static Socket reads;
    static final SynchronousQueue<Long> sends = new SynchronousQueue<>();

    /** A socket whose other end writes late. */
    static void feed() {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            reads = new Socket(server.getInetAddress(), server.getLocalPort());
            try (Socket writes = server.accept()) {
                for (sends.put(0L);;) {
                    Thread.sleep(sends.take());
                    writes.getOutputStream().write(1);
                }
            }
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }

    static void readFor(long ms) throws Exception {
        sends.put(ms);
        sink += reads.getInputStream().read();
    }

    static void divide(String name, String state, long round, int share, Way way, Thread[] all, int at) {
        all[at] = new Thread(() -> {
            long began = System.nanoTime(), spent = 0, rested = 0;
            try {
                while (System.nanoTime() < end) {
                    long before = System.nanoTime();
                    way.spend(round * share / 100);
                    long between = System.nanoTime();
                    rest(round * (100 - share) / 100);
                    spent += between - before;
                    rested += System.nanoTime() - between;
                }
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
            System.out.println("spent " + name + " " + state + " " + spent / 1000000 + "\nspent " + name + " sleeping " + rested / 1000000
                + "\nthere " + name + " " + (System.nanoTime() - began) / 1000000);
        }, name);
    }

    public static void main(String[] args) throws Exception {
        long ms = Long.parseLong(args[0]);
        int share = Integer.parseInt(args[1]);
        for (Runnable other : new Runnable[] {WallShares::own, WallShares::feed}) {
            Thread t = new Thread(other, "other");
            t.setDaemon(true);
            t.start();
        }
        sends.take();
        end = System.nanoTime() + ms * 1000000;
        Thread[] all = new Thread[5];
        divide("runs", "runs", 170, share, WallShares::spin, all, 0);
        divide("parks", "parked", 310, share, WallShares::parkFor, all, 1);
        divide("waits", "waiting", 230, share, WallShares::waitFor, all, 2);
        divide("blocks", "blocked", 270, share, WallShares::blockFor, all, 3);
        divide("reads", "io", 370, share, WallShares::readFor, all, 4);
        for (Thread t : all) {
            t.start();
        }
        for (Thread t : all) {
            t.join();
        }
    }
}
