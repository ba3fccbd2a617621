// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Executors;

/** Virtual THREADS CPU_US: virtual threads burn, park, and burn again; prints "done". Work is measured with wall-clock loops: a virtual thread has no CPU clock. */
public class Virtual {
    static volatile long sink;

    static void vburn(long n) {
        long s = 7;
        for (long i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; }
        sink += s;
    }

    static void vouter(long n) { vburn(n); }

    public static void main(String[] a) throws Exception {
        int threads = Integer.parseInt(a[0]);
        long n = Long.parseLong(a[1]);
        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < threads; i++) {
                pool.submit(() -> { vouter(n); Thread.sleep(1); vouter(n); return null; });
            }
        }
        System.out.println("done");
    }
}
