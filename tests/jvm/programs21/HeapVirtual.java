/* SPDX-License-Identifier: BSD-2-Clause */
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * Virtual threads that wait without a carrier, each with an object that only its stack holds. They are a list, as the VM visits all elements of the first array of a
 * class, and so would follow each stack.
 */
public final class HeapVirtual {
    private static final int THREADS = 20;
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

    private static void hold(long value, CountDownLatch end) {
        Held held = new Held(value);
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        synchronized (HeapVirtual.class) {
            sum += held.value;
        }
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        Link all = null;
        for (int i = 0; i < THREADS; i++) {
            long value = i;
            all = new Link(Thread.startVirtualThread(() -> hold(value, end)), all);
        }
        for (Link l = all; l != null; l = l.next) {
            while (l.thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
        System.out.println("ready");
        while (!Files.exists(Path.of("stop"))) {
            Thread.sleep(5);
        }
        end.countDown();
        for (Link l = all; l != null; l = l.next) {
            l.thread.join();
        }
        System.out.println("done " + sum);
    }
}
