import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads of which all is known: how many are parked, sleep, read a socket, wait for a lock, are in an executor's tasks. "holder" owns the lock, and sleeps. Three
 * have names. Two wait for each other's lock. "burner" runs. Arguments: how many of the first five kinds.
 */
public final class Census {
    private static final ReentrantLock held = new ReentrantLock(), left = new ReentrantLock(), right = new ReentrantLock();
    private static final Object blocker = new Object();
    private static volatile boolean burning;

    private Census() {
    }

    static void parked() {
        for (;;) {
            LockSupport.park(blocker);
        }
    }

    static void deeper(int depth) {
        if (depth > 0) {
            deeper(depth - 1);
        } else {
            parked();
        }
    }

    static void asleep() {
        for (;;) {
            try {
                Thread.sleep(3_600_000);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    static void reads(InetSocketAddress at) {
        try (Socket s = new Socket()) {
            s.connect(at);
            s.getInputStream().read();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static void wants() {
        held.lock();
    }

    static void holds(CountDownLatch has) {
        held.lock();
        has.countDown();
        asleep();
    }

    static void takes(ReentrantLock first, ReentrantLock second, CountDownLatch both) {
        first.lock();
        both.countDown();
        try {
            both.await();
        } catch (InterruptedException e) {
            return;
        }
        second.lock();
    }

    static void burns() {
        burning = true;
        while (burning) {
            Thread.onSpinWait();
        }
    }

    static void inTask() {
        parked();
    }

    private static void start(int n, Runnable r) {
        for (int i = 0; i < n; i++) {
            Thread.startVirtualThread(r);
        }
    }

    public static void main(String[] args) throws Exception {
        int[] n = new int[5];
        for (int i = 0; i < n.length; i++) {
            n[i] = Integer.parseInt(args[i]);
        }
        CountDownLatch has = new CountDownLatch(1), both = new CountDownLatch(2);
        Thread.ofVirtual().name("holder").start(() -> holds(has));
        has.await();
        start(n[0], () -> deeper(3));
        start(n[1], Census::asleep);
        ServerSocket server = new ServerSocket(0, n[2] + 1, InetAddress.getLoopbackAddress());
        InetSocketAddress at = (InetSocketAddress) server.getLocalSocketAddress();
        start(n[2], () -> reads(at));
        start(n[3], Census::wants);
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
        for (int i = 0; i < n[4]; i++) {
            executor.submit(Census::inTask);
        }
        for (String name : new String[] {"first", "s\"econd\n", "d\u00fcrd\u4e09"}) {
            Thread.ofVirtual().name(name).start(Census::parked);
        }
        Thread.ofVirtual().name("left").start(() -> takes(left, right, both));
        Thread.ofVirtual().name("right").start(() -> takes(right, left, both));
        Socket[] accepted = new Socket[n[2]];
        for (int i = 0; i < accepted.length; i++) {
            accepted[i] = server.accept();
        }
        while (held.getQueueLength() < n[3] || !left.hasQueuedThreads() || !right.hasQueuedThreads()) {
            Thread.sleep(10);
        }
        Thread.ofVirtual().name("burner").start(Census::burns);
        while (!burning) {
            Thread.onSpinWait();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
        System.out.println(accepted.length >= 0 ? "end" : "");
        System.exit(0);
    }
}
