/* SPDX-License-Identifier: BSD-2-Clause */
import java.util.ArrayDeque;

/** Threads that end soon, at most 8 alive. Arguments: how many, turns of a loop that every one works. */
public final class ShortThreads {
    private static volatile int sink;

    private static void work(int turns) {
        int x = sink;
        for (int i = 0; i < turns; i++) {
            x = x * 69069 + 1;
        }
        sink = x;
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Integer.parseInt(args[0]), turns = Integer.parseInt(args[1]);
        Figures figures = new Figures();
        ArrayDeque<Thread> alive = new ArrayDeque<>();
        for (int i = 0; i < threads; i++) {
            if (alive.size() == 8) {
                alive.remove().join();
            }
            Thread t = new Thread(() -> work(turns));
            t.start();
            alive.add(t);
        }
        for (Thread t : alive) {
            t.join();
        }
        figures.end();
    }
}
