/* SPDX-License-Identifier: BSD-2-Clause */
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads, each with an object that only its stack holds. Arguments: how many wait without a carrier; how many more do so of which only the stack of the one
 * before holds each. One more has a carrier. Those that wait are a list, as the VM visits all elements of the first array of a class, and so would follow each stack.
 */
public final class HeapVirtual {
    private static final List<Thread> nested = new ArrayList<>();
    private static volatile boolean runs, released;
    private static long sum;

    private HeapVirtual() {
    }

    private static final class Held {
        final long value;

        Held(long value) {
            this.value = value;
        }
    }

    private static final class Link {
        final Thread thread;
        final Link next;

        Link(Thread thread, Link next) {
            this.thread = thread;
            this.next = next;
        }
    }

    private static synchronized void add(Held held) {
        sum += held.value;
    }

    private static void hold(long value, CountDownLatch end) {
        Held held = new Held(value);
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        add(held);
    }

    private static void run(long value) {
        Held held = new Held(value);
        runs = true;
        while (!released) {
            Thread.onSpinWait();
        }
        add(held);
    }

    private static void nest(long value, int more) {
        Held held = new Held(value);
        Link inner = more > 1 ? new Link(Thread.ofVirtual().unstarted(() -> nest(value + 1, more - 1)), null) : null;
        if (inner != null) {
            synchronized (nested) {
                nested.add(inner.thread);
            }
            inner.thread.start();
        }
        while (!released) {
            LockSupport.park();
        }
        add(held);
        if (inner != null) {
            LockSupport.unpark(inner.thread);
            try {
                inner.thread.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void waits(Thread t) throws InterruptedException {
        while (t.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
    }

    /** From now on only stacks hold these threads. */
    private static void forget(int number) throws InterruptedException {
        for (int i = 0; i < number; i++) {
            Thread t = null;
            while (t == null) {
                synchronized (nested) {
                    t = nested.size() > i ? nested.get(i) : null;
                }
                Thread.sleep(t == null ? 1 : 0);
            }
            waits(t);
        }
        synchronized (nested) {
            nested.clear();
        }
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]), more = Integer.parseInt(args[1]);
        CountDownLatch end = new CountDownLatch(1);
        Link all = null;
        for (int i = 0; i < threads; i++) {
            long value = i;
            all = new Link(Thread.startVirtualThread(() -> hold(value, end)), all);
        }
        for (Link l = all; l != null; l = l.next) {
            waits(l.thread);
        }
        Link outer = new Link(Thread.startVirtualThread(() -> nest(threads, more)), null);
        forget(more - 1);
        waits(outer.thread);
        Thread running = Thread.startVirtualThread(() -> run(threads + more));
        while (!runs) {
            Thread.sleep(1);
        }
        System.out.println("ready");
        while (!Files.exists(Path.of("stop"))) {
            Thread.sleep(5);
        }
        released = true;
        end.countDown();
        LockSupport.unpark(outer.thread);
        for (Link l = all; l != null; l = l.next) {
            l.thread.join();
        }
        outer.thread.join();
        running.join();
        System.out.println("done " + sum);
    }
}
