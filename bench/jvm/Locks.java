/* SPDX-License-Identifier: BSD-2-Clause */
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/** Four threads that share a monitor, a lock and two maps, and work between. Argument: operations a thread. */
public final class Locks {
    private static final int THREADS = 4;
    private static final int KEYS = 1 << 12;
    private static final Map<String, Integer> GUARDED = new HashMap<>();
    private static final ConcurrentHashMap<Integer, Long> SHARED = new ConcurrentHashMap<>();
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static long total;

    private static int mix(int v) {
        int x = v;
        for (int i = 0; i < 64; i++) {
            x = x * 1103515245 + 12345 ^ x >>> 7;
        }
        return x;
    }

    private static void work(int seed, int operations) {
        int v = seed;
        for (int i = 0; i < operations; i++) {
            v = mix(v);
            int key = v & KEYS - 1;
            SHARED.merge(key, 1L, Long::sum);
            if ((i & 7) == 0) {
                synchronized (GUARDED) {
                    GUARDED.merge("k" + (key & 255), 1, Integer::sum);
                }
            }
            if ((i & 31) == 0) {
                LOCK.lock();
                try {
                    total += key;
                } finally {
                    LOCK.unlock();
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Figures figures = new Figures();
        int operations = Integer.parseInt(args[0]);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int seed = i + 1;
            threads[i] = new Thread(() -> work(seed, operations), "worker-" + i);
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        Figures.line("result", total);
        figures.end();
    }
}
