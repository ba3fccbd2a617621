// SPDX-License-Identifier: BSD-2-Clause
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.locks.LockSupport;

/**
 * CPU time in two methods, 3 : 1; allocations of two classes, 3 : 1 by bytes; blocks of every kind that are longer than the thresholds of Flight Recorder; a thread that waits in a native
 * method. Args: ms of CPU, blocks of a kind; "wait": does not end.
 */
public class Recorded {
    static final Object LOCK = new Object();

    static final class Ticket {
    }

    static volatile Object kept;
    static volatile boolean held;
    static volatile double sink;

    static double burn(int rounds) {
        double x = 1;
        for (int i = 0; i < rounds; i++) {
            x = Math.sqrt(x + i);
        }
        return x;
    }

    static void most() {
        for (int i = 0; i < 3; i++) {
            sink += burn(20000);
        }
    }

    static void rest() {
        sink += burn(20000);
    }

    static void cpu(long ms) {
        for (long end = System.nanoTime() + ms * 1000000L; System.nanoTime() < end;) {
            most();
            rest();
        }
    }

    static void large() {
        kept = new long[3 * 128];
    }

    static void small() {
        kept = new char[4 * 128];
    }

    static void allocate(long ms) {
        for (long end = System.nanoTime() + ms * 1000000L; System.nanoTime() < end;) {
            for (int i = 0; i < 100; i++) {
                large();
                small();
            }
        }
    }

    static void hold() throws InterruptedException {
        synchronized (LOCK) {
            held = true;
            Thread.sleep(60);
        }
    }

    static void enter() {
        synchronized (LOCK) {
            held = false;
        }
    }

    static void contend(int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            Thread holder = new Thread("holder") {
                @Override
                public void run() {
                    try {
                        hold();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            };
            holder.start();
            while (!held) {
                Thread.yield();
            }
            enter();
            holder.join();
        }
    }

    static void await(int times) throws InterruptedException {
        Ticket ticket = new Ticket();
        for (int i = 0; i < times; i++) {
            synchronized (ticket) {
                ticket.wait(40);
            }
        }
    }

    static void park(int times) {
        Ticket ticket = new Ticket();
        for (int i = 0; i < times; i++) {
            for (long end = System.nanoTime() + 40000000L, left; (left = end - System.nanoTime()) > 0;) {
                LockSupport.parkNanos(ticket, left);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        long ms = Long.parseLong(args[0]);
        int blocks = Integer.parseInt(args[1]);
        Thread worker = new Thread("worker \u00e9\u4e2d") {
            @Override
            public void run() {
                cpu(ms);
            }
        };
        ServerSocket nobody = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Thread acceptor = new Thread("acceptor") {
            @Override
            public void run() {
                try {
                    nobody.accept();
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        acceptor.setDaemon(true);
        acceptor.start();
        worker.start();
        allocate(ms);
        worker.join();
        contend(blocks);
        await(blocks);
        park(blocks);
        System.out.println("done");
        if (args.length > 2) {
            Thread.sleep(600000);
        }
    }
}
