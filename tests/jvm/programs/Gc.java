// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Gc THREADS ROUNDS: threads that allocate much, keep some, lock, sort and format. Prints "sum N", which does not depend on the order of anything. */
public class Gc {
    static final Map<Integer, String> SHARED = new LinkedHashMap<Integer, String>() {
        protected boolean removeEldestEntry(Map.Entry<Integer, String> e) { return size() > 5000; }
    };

    static long round(int seed) {
        List<String> l = new ArrayList<>();
        long x = seed;
        for (int i = 0; i < 2000; i++) {
            x = Cpu.chain(x + 1, 3);
            l.add(Long.toString(x & 0xffff) + "-" + i);
        }
        l.sort(null);
        byte[][] big = new byte[8][];
        for (int i = 0; i < big.length; i++) { big[i] = new byte[10000]; }
        synchronized (SHARED) { for (int i = 0; i < 200; i++) { SHARED.put((int) (x & 0xfff) + i, l.get(i)); } }
        return l.get(0).hashCode() + big[7].length;
    }

    public static void main(String[] a) throws Exception {
        final int n = Integer.parseInt(a[0]), rounds = Integer.parseInt(a[1]);
        final long[] sums = new long[n];
        Thread[] t = new Thread[n];
        for (int i = 0; i < n; i++) {
            final int k = i;
            t[i] = new Thread("gc-" + i) { public void run() { for (int r = 0; r < rounds; r++) { sums[k] += Gc.round(k * 1000 + r); } } };
            t[i].start();
        }
        long sum = 0;
        for (int i = 0; i < n; i++) { t[i].join(); sum += sums[i]; }
        System.out.println("sum " + sum);
    }
}
