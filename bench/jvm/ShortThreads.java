/* SPDX-License-Identifier: BSD-2-Clause */
import java.util.ArrayDeque;

/**
 * Threads that end soon, at most 8 alive. Arguments: how many, turns of a loop that every one works, frames below it (0); with frames the
 * loop is one that no compiler shortens.
 */
public final class ShortThreads {
    private static volatile int sink;

    private static void work(int turns) {
        int x = sink;
        for (int i = 0; i < turns; i++) {
            x = x * 69069 + 1;
        }
        sink = x;
    }

    private static void below(int frames, int turns) {
        if (frames > 0) {
            below(frames - 1, turns);
            return;
        }
        int x = sink | 1;
        for (int i = 0; i < turns; i++) {
            x ^= x << 13;
            x ^= x >>> 17;
            x ^= x << 5;
        }
        sink = x;
    }

    private static void run(int turns, int frames) {
        if (frames > 0) {
            below(frames, turns);
        } else {
            work(turns);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Integer.parseInt(args[0]), turns = Integer.parseInt(args[1]), frames = args.length > 2 ? Integer.parseInt(args[2]) : 0;
        Figures figures = new Figures();
        ArrayDeque<Thread> alive = new ArrayDeque<>();
        for (int i = 0; i < threads; i++) {
            if (alive.size() == 8) {
                alive.remove().join();
            }
            Thread t = new Thread(() -> run(turns, frames));
            t.start();
            alive.add(t);
        }
        for (Thread t : alive) {
            t.join();
        }
        figures.end();
    }
}
