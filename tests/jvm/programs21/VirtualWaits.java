// SPDX-License-Identifier: BSD-2-Clause
// Arguments: threads per kind, ms. Virtual threads that wait: parked, asleep, for a socket, for a monitor, in Object.wait. Every thread adds up how long its
// waits took. Prints "ready", and then "spent KIND MS" for
// every kind.
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
    static final LongAdder[] SPENT = new LongAdder[3];
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

    static void answers(OutputStream[] to, long until) throws Exception {
        while (System.nanoTime() < until) {
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
        List<Thread> threads = new ArrayList<>();
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
            System.out.println("ready");
            answers(to, System.nanoTime() + ms * 1_000_000);
            over = true;
            for (Thread t : threads) {
                t.join();
            }
        }
        String[] kinds = {"parked", "sleeping", "socket"};
        for (int i = 0; i < kinds.length; i++) {
            System.out.println("spent " + kinds[i] + " " + SPENT[i].sum() / 1_000_000);
        }
    }
}
