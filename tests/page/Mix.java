// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;

/** Mix MILLISECONDS: two threads that compute, allocate, and contend for a lock; one has a name that is no HTML. */
public class Mix {
    static volatile long sink;
    static final Object lock = new Object();

    static long much(int n) {
        long s = 0;
        for (int i = 0; i < n; i++) {
            s += i * 31L ^ s;
        }
        return s;
    }

    static long little(int n) {
        long s = 0;
        for (int i = 0; i < n; i++) {
            s += i * 17L ^ s;
        }
        return s;
    }

    static long again(int depth) {
        return depth == 0 ? much(5000) : again(depth - 1);
    }

    static void work(long end) {
        List<Object> kept = new ArrayList<>();
        while (System.nanoTime() < end) {
            sink += much(60000);
            sink += little(20000);
            sink += again(5);
            synchronized (lock) {
                sink += much(5000);
                kept.add(new byte[100]);
                if (kept.size() > 1000) {
                    kept.clear();
                }
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000L;
        Thread second = new Thread(() -> work(end), "second; <b>");
        second.start();
        work(end);
        second.join();
    }
}
