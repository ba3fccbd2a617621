// SPDX-License-Identifier: BSD-2-Clause
/** Slower PERCENT CPU_MS: three methods use CPU time as 30 : 30 : 40; the first needs PERCENT % more. */
public class Slower {
    static long unit = 20000;

    static long hot(long n) { long s = 7; for (long i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; } return s; }
    static long same(long n) { long s = 7; for (long i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; } return s; }
    static long rest(long n) { long s = 7; for (long i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; } return s; }

    public static void main(String[] a) {
        long percent = 100 + Long.parseLong(a[0]), end = Cpu.now() + Long.parseLong(a[1]) * 1000000L;
        for (long r = 1; Cpu.now() < end; r++) {
            long k = 1 + ((r * 2654435761L >>> 7) & 7); // changes every round, so that no rhythm falls in step with the timer
            Cpu.sink += hot(3 * k * unit * percent / 100) + same(3 * k * unit) + rest(4 * k * unit);
        }
    }
}
