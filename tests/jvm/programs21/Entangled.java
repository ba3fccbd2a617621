import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads that questions to the VM might wait for: "initializes" is in the initializer of a class, for ever. "virtual" and the thread "platform" wait for each
 * other's lock.
 */
public final class Entangled {
    private static final ReentrantLock left = new ReentrantLock(), right = new ReentrantLock();
    private static volatile boolean initializes;

    private Entangled() {
    }

    static final class Unready {
        static {
            initializes = true;
            while (initializes) {
                LockSupport.park();
            }
        }

        static void touch() {
        }
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

    public static void main(String[] args) throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        Thread.ofVirtual().name("virtual").start(() -> takes(left, right, both));
        Thread.ofPlatform().name("platform").daemon().start(() -> takes(right, left, both));
        while (!left.hasQueuedThreads() || !right.hasQueuedThreads()) {
            Thread.sleep(10);
        }
        Thread.ofVirtual().name("initializes").start(Unready::touch);
        while (!initializes) {
            Thread.onSpinWait();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
        System.out.println("end");
        System.exit(0);
    }
}
