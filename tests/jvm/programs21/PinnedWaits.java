// SPDX-License-Identifier: BSD-2-Clause
// Argument: ms. Two virtual threads enter a monitor that main holds nearly always, two wait in Object.wait; each pair adds up how long that took. Prints "spent
// KIND MS" for both. Wants four carriers: before JDK 24 these threads keep theirs.
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

public class PinnedWaits {
    static final LongAdder BLOCKED = new LongAdder(), WAITING = new LongAdder();
    static volatile boolean over;

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
        Object held = new StringBuilder(), waited = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            threads.add(Thread.ofVirtual().start(() -> enters(held)));
            threads.add(Thread.ofVirtual().start(() -> waits(waited)));
        }
        while (System.nanoTime() < until) {
            synchronized (held) {
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
