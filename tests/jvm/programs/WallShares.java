// SPDX-License-Identifier: BSD-2-Clause
import java.io.InputStream;
import java.util.concurrent.locks.LockSupport;

/** One thread for each way to spend time, for MS milliseconds; each thread divides its time: SHARE percent in one way, the rest asleep.
 * Arguments: MS SHARE. */
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

    /** Time is what the other threads do: the owner of the monitor keeps it for as long. */
    static void blockFor(long ms) throws Exception {
        Thread owner = new Thread(() -> {
            synchronized (contended) {
                synchronized (notified) {
                    notified.notifyAll();
                }
                try {
                    Thread.sleep(ms);
                } catch (InterruptedException e) {
                    throw new RuntimeException(e);
                }
            }
        }, "owner");
        synchronized (notified) {
            owner.start();
            notified.wait();
        }
        synchronized (contended) {
            sink++;
        }
        owner.join();
    }

    static void readFor(long ms) throws Exception {
        Process p = new ProcessBuilder("sleep", String.valueOf(ms / 1000.0)).start();
        try (InputStream in = p.getInputStream()) {
            sink += in.read();
        }
        p.waitFor();
    }

    static void divide(String name, long round, int share, Way way, Thread[] all, int at) {
        all[at] = new Thread(() -> {
            try {
                while (System.nanoTime() < end) {
                    way.spend(round * share / 100);
                    rest(round * (100 - share) / 100);
                }
            } catch (Exception e) {
                throw new RuntimeException(e);
            }
        }, name);
    }

    public static void main(String[] args) throws Exception {
        long ms = Long.parseLong(args[0]);
        int share = Integer.parseInt(args[1]);
        end = System.nanoTime() + ms * 1000000;
        Thread[] all = new Thread[5];
        divide("runs", 170, share, WallShares::spin, all, 0);
        divide("parks", 310, share, WallShares::parkFor, all, 1);
        divide("waits", 230, share, WallShares::waitFor, all, 2);
        divide("blocks", 270, share, WallShares::blockFor, all, 3);
        divide("reads", 370, share, WallShares::readFor, all, 4);
        for (Thread t : all) {
            t.start();
        }
        long began = System.nanoTime();
        for (Thread t : all) {
            t.join();
        }
        System.out.println("threads ms " + (System.nanoTime() - began) / 1000000);
    }
}
