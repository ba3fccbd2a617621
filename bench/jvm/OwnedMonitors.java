/* SPDX-License-Identifier: BSD-2-Clause */
import java.util.concurrent.CountDownLatch;

/**
 * How long a thread is stopped, as Windows has it, by a list of all monitors: so many threads wait, each of which owns so many monitors. Arguments:
 * threads, monitors of each.
 */
public final class OwnedMonitors {
    private static final long STACK_BYTES = 256 << 10;

    private static CountDownLatch owned;
    private static CountDownLatch leave;

    private OwnedMonitors() {
    }

    /** From an array, so that no compiler leaves out the monitor of an object that nobody else sees. */
    private static void own(Object[] monitors, int n) throws InterruptedException {
        if (n == monitors.length) {
            owned.countDown();
            leave.await();
            return;
        }
        synchronized (monitors[n]) {
            own(monitors, n + 1);
        }
    }

    private static void ownAll(int count) {
        Object[] monitors = new Object[count];
        for (int i = 0; i < count; i++) {
            monitors[i] = new OwnedMonitors();
        }
        try {
            own(monitors, 0);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[Integer.parseInt(args[0])];
        int monitors = Integer.parseInt(args[1]);
        owned = new CountDownLatch(threads.length);
        leave = new CountDownLatch(1);
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(null, () -> ownAll(monitors), "owner-" + i, STACK_BYTES);
            threads[i].start();
        }
        owned.await();
        Windows.run();
        leave.countDown();
        for (Thread t : threads) {
            t.join();
        }
    }
}
