// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * ContendCarriers MOVED WIDTH MS: in each round WIDTH virtual threads are blocked at a monitor that main holds for MS, a quarter of them below `left`, the others below
 * `right`; until MOVED of them have gone on on another carrier. Prints "METHOD CONTENTIONS LEAST MOST" of each, in ns: from when main saw that they are blocked
 * until it let go, and what they measured themselves; and "rounds N".
 */
public class ContendCarriers {
    static class Gate { }
    static final AtomicLong moved = new AtomicLong();
    static final AtomicLong[] most = {new AtomicLong(), new AtomicLong()}, counted = {new AtomicLong(), new AtomicLong()};
    static final AtomicInteger coming = new AtomicInteger();
    static final long[] least = new long[2];

    static String carrier() {
        String name = Thread.currentThread().toString();
        return name.substring(name.lastIndexOf('@'));
    }

    static void enter(Object lock, int side) {
        String before = carrier();
        coming.incrementAndGet(); // who is blocked from here on is blocked at the lock
        long from = System.nanoTime();
        synchronized (lock) { most[side].addAndGet(System.nanoTime() - from); }
        counted[side].incrementAndGet();
        if (!carrier().equals(before)) { moved.incrementAndGet(); }
    }

    static void left(Object lock) { enter(lock, 0); }
    static void right(Object lock) { enter(lock, 1); }

    public static void main(String[] a) throws InterruptedException {
        int width = Integer.parseInt(a[1]), ms = Integer.parseInt(a[2]), rounds = 0;
        long wanted = Long.parseLong(a[0]);
        while (moved.get() < wanted) {
            rounds++;
            Object lock = new Gate();
            Thread[] all = new Thread[width];
            synchronized (lock) {
                for (int i = 0; i < width; i++) {
                    boolean left = i % 4 == 0;
                    all[i] = Thread.ofVirtual().start(() -> { if (left) { left(lock); } else { right(lock); } });
                }
                while (coming.get() != width * rounds) { Thread.yield(); }
                long[] sum = new long[2];
                for (int i = 0; i < width; i++) {
                    while (all[i].getState() != Thread.State.BLOCKED) { Thread.yield(); }
                    sum[i % 4 == 0 ? 0 : 1] -= System.nanoTime();
                }
                Thread.sleep(ms);
                long now = System.nanoTime();
                for (int i = 0; i < width; i++) { sum[i % 4 == 0 ? 0 : 1] += now; }
                for (int side = 0; side < 2; side++) { least[side] += sum[side]; }
            }
            for (Thread t : all) { t.join(); }
        }
        for (int side = 0; side < 2; side++) {
            System.out.println((side == 0 ? "left " : "right ") + counted[side] + " " + least[side] + " " + most[side]);
        }
        System.out.println("rounds " + rounds);
    }
}
