// SPDX-License-Identifier: BSD-2-Clause
// Arguments: threads per kind, ms, whether monitors are among the kinds. Virtual threads that wait: parked, asleep, for a socket, for a monitor, in
// Object.wait with and without a time. Every thread adds up how long its waits took. Prints "ready", and then "spent KIND MS" for every kind.
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

public class VirtualWaits {
    static final LongAdder[] SPENT = new LongAdder[6];
    static volatile boolean over;

    static long some(long most) {
        return ThreadLocalRandom.current().nextLong(most / 10, most);
    }

    static void parks() {
        Object blocker = new StringBuilder();
        while (!over) {
            long from = System.nanoTime();
            LockSupport.parkNanos(blocker, some(40_000_000));
            SPENT[0].add(System.nanoTime() - from);
        }
    }

    static void sleeps() {
        try {
            while (!over) {
                long from = System.nanoTime();
                Thread.sleep(some(80));
                SPENT[1].add(System.nanoTime() - from);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void enters(Object lock) {
        long from = System.nanoTime();
        synchronized (lock) {
            SPENT[3].add(System.nanoTime() - from);
        }
    }

    static void waits(Object lock) throws InterruptedException {
        synchronized (lock) {
            long from = System.nanoTime();
            lock.wait(some(80));
            SPENT[4].add(System.nanoTime() - from);
        }
    }

    static void notified(Object lock) throws InterruptedException {
        synchronized (lock) {
            long from = System.nanoTime();
            if (!over) {
                lock.wait();
            }
            SPENT[5].add(System.nanoTime() - from);
        }
    }

    interface Step {
        void run() throws InterruptedException;
    }

    static Thread repeats(Step step, long pause) {
        return Thread.ofVirtual().start(() -> {
            try {
                while (!over) {
                    step.run();
                    if (pause > 0) {
                        Thread.sleep(some(pause));
                    }
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    // A monitor that is held most of the time, and ten threads that enter it.
    static void block(List<Thread> threads, int n) {
        Object lock = new StringBuffer();
        threads.add(repeats(() -> {
            synchronized (lock) {
                Thread.sleep(some(60));
            }
        }, 10));
        for (int i = 0; i < n; i++) {
            threads.add(repeats(() -> enters(lock), 40));
        }
    }

    static void wake(List<Object> locks) {
        for (Object lock : locks) {
            synchronized (lock) {
                lock.notify();
            }
        }
    }

    static void reads(InputStream in) {
        try {
            for (boolean end = false; !end;) {
                long from = System.nanoTime();
                end = in.read() < 0;
                SPENT[2].add(System.nanoTime() - from);
            }
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static void answers(OutputStream[] to, List<Object> locks, long until) throws Exception {
        while (System.nanoTime() < until) {
            wake(locks);
            for (OutputStream o : to) {
                o.write(1);
            }
            Thread.sleep(some(60));
        }
        for (OutputStream o : to) {
            o.close();
        }
    }

    // The first thread that waits for a socket initialises classes; others would wait for that, unmounted from JDK 26 on.
    static void beginsToPoll(ServerSocket server) throws Exception {
        try (Socket one = new Socket(server.getInetAddress(), server.getLocalPort()); Socket other = server.accept()) {
            Thread t = Thread.ofVirtual().start(() -> {
                try {
                    other.getInputStream().read();
                } catch (java.io.IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            Thread.sleep(100);
            one.getOutputStream().write(1);
            t.join();
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]), sockets = Math.min(n, 100);
        long ms = Long.parseLong(args[1]);
        boolean monitors = Boolean.parseBoolean(args[2]);
        List<Thread> threads = new ArrayList<>();
        List<Object> locks = new ArrayList<>();
        OutputStream[] to = new OutputStream[sockets];
        for (int i = 0; i < SPENT.length; i++) {
            SPENT[i] = new LongAdder();
        }
        try (ServerSocket server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress())) {
            beginsToPoll(server);
            for (int i = 0; i < sockets; i++) {
                Socket one = new Socket(server.getInetAddress(), server.getLocalPort()), other = server.accept();
                to[i] = one.getOutputStream();
                InputStream in = other.getInputStream();
                threads.add(Thread.ofVirtual().start(() -> reads(in)));
            }
            for (int i = 0; i < n; i++) {
                threads.add(Thread.ofVirtual().start(VirtualWaits::parks));
                threads.add(Thread.ofVirtual().start(VirtualWaits::sleeps));
            }
            for (int i = 0; monitors && i < n; i++) {
                Object timed = new ArrayList<>(), lock = new java.util.LinkedList<>();
                threads.add(repeats(() -> waits(timed), 0));
                threads.add(repeats(() -> notified(lock), 0));
                locks.add(lock);
                if (i % 10 == 0) {
                    block(threads, 10);
                }
            }
            System.out.println("ready");
            answers(to, locks, System.nanoTime() + ms * 1_000_000);
            over = true;
            wake(locks);
            for (Thread t : threads) {
                t.join();
            }
        }
        String[] kinds = {"parked", "sleeping", "socket", "blocked", "waiting", "notified"};
        for (int i = 0; i < (monitors ? kinds.length : 3); i++) {
            System.out.println("spent " + kinds[i] + " " + SPENT[i].sum() / 1_000_000);
        }
    }
}
