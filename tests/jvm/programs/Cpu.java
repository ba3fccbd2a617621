// SPDX-License-Identifier: BSD-2-Clause
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU clocks and work that no compiler can shorten, for the other programs. */
final class Cpu {
    static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
    static volatile long sink;

    private Cpu() {}

    static long now() { return BEAN.getCurrentThreadCpuTime(); }

    /** A chain of dependent operations: n links. */
    static long chain(long s, long n) {
        for (long i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; }
        return s;
    }

    /** Burns the CPU time of this thread until it has used ns more. */
    static void burn(long ns) {
        long end = now() + ns;
        long s = 88172645463325252L;
        do { s = chain(s, 5000); } while (now() < end);
        sink += s;
    }
}
