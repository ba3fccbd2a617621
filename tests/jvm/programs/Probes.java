// SPDX-License-Identifier: BSD-2-Clause
/**
 * Probes MS WORKERS: methods that do next to nothing, so that much of the time is in their probes, for MS of CPU time of the main thread. So
 * many other threads do the same under the same lock, still while the JVM ends.
 */
public class Probes {
    static final class Item {
        final int n;

        Item(int n) { this.n = n; }
    }

    static final Object LOCK = new Object();
    static volatile Object kept;

    static int tiny(int n) { return n + 1; }

    static int down(int depth, int n) { return depth == 0 ? tiny(n) : down(depth - 1, tiny(n)); }

    static int round() {
        int sum = 0;
        for (int i = 0; i < 200; i++) { sum += down(8, i); }
        Item[][] items = {{new Item(sum)}, new Item[2]};
        kept = items;
        return sum;
    }

    static void work(long end) {
        for (int i = 0; Cpu.now() < end; i++) { synchronized (LOCK) { round(); } }
    }

    public static void main(String[] a) throws Exception {
        for (int i = 0; i < Integer.parseInt(a[1]); i++) {
            Thread t = new Thread(() -> work(Long.MAX_VALUE), "worker-" + i);
            t.setDaemon(true);
            t.start();
        }
        work(Cpu.now() + Long.parseLong(a[0]) * 1000000L);
    }
}
