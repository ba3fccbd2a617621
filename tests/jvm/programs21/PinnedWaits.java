// SPDX-License-Identifier: BSD-2-Clause
// Argument: ms. Two virtual threads enter a monitor that main holds nearly always, two wait in Object.wait; each pair adds up how long that took. Prints "spent
// KIND MS" for both. They do so while they initialise a class, where they keep their carriers also from JDK 24 on. Wants four carriers.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

public class PinnedWaits {
    static final LongAdder BLOCKED = new LongAdder(), WAITING = new LongAdder();
    static final Object HELD = new StringBuilder(), WAITED = new ArrayList<>();
    static volatile boolean over;

    static class First {
        static {
            enters(HELD);
        }
    }

    static class Second {
        static {
            enters(HELD);
        }
    }

    static class Third {
        static {
            waits(WAITED);
        }
    }

    static class Fourth {
        static {
            waits(WAITED);
        }
    }

    static void enters(Object lock) {
        while (!over) {
            long from = System.nanoTime();
            synchronized (lock) {
                BLOCKED.add(System.nanoTime() - from);
            }
        }
    }

    static void waits(Object lock) {
        try {
            while (!over) {
                long from = System.nanoTime();
                synchronized (lock) {
                    lock.wait(30);
                }
                WAITING.add(System.nanoTime() - from);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        List<Thread> threads = new ArrayList<>();
        for (Runnable initialises : List.<Runnable>of(First::new, Second::new, Third::new, Fourth::new)) {
            threads.add(Thread.ofVirtual().start(initialises));
        }
        while (System.nanoTime() < until) {
            synchronized (HELD) {
                Thread.sleep(40);
            }
            Thread.sleep(2);
        }
        over = true;
        for (Thread t : threads) {
            t.join();
        }
        System.out.println("spent blocked " + BLOCKED.sum() / 1_000_000);
        System.out.println("spent waiting " + WAITING.sum() / 1_000_000);
    }
}
