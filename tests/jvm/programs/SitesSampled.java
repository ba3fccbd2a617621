// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.locks.LockSupport;

/**
 * SitesSampled MB: five sites, each of MB MiB of what it makes, each in a thread that begins later; pauses for a millisecond every 256 KiB,
 * so that a thread without a processor can catch up. Prints "truth METHOD CLASS N BYTES".
 */
public class SitesSampled {
    static class Small { int a; }
    static class Large { long a, b, c, d, e, f, g, h, i, j, k, l; }
    static volatile Object sink;

    static Object small() { return new Small(); }
    static Object large() { return new Large(); }
    static Object kilobyte() { return new byte[1000]; }
    static Object page() { return new int[1000]; }
    static Object beyond() { return new long[5000]; }

    interface Way { Object make(); }

    static void site(String method, long bytes, Way way) throws InterruptedException {
        Thread t = new Thread(() -> {
            long size = SitesJni.size(way.make()), n = bytes / size;
            long pause = Math.max(1, (256 << 10) / size);
            for (long i = 1; i < n; i++) {
                sink = way.make();
                if (i % pause == 0) { LockSupport.parkNanos(1_000_000); }
            }
            System.out.println("truth SitesSampled." + method + " " + SitesKnown.name(sink.getClass()) + " " + n + " " + n * size);
        });
        t.start();
        t.join();
    }

    public static void main(String[] a) throws InterruptedException {
        long bytes = Long.parseLong(a[0]) << 20;
        site("small", bytes, SitesSampled::small);
        site("large", bytes, SitesSampled::large);
        site("kilobyte", bytes, SitesSampled::kilobyte);
        site("page", bytes, SitesSampled::page);
        site("beyond", bytes, SitesSampled::beyond);
    }
}
