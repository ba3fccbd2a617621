// SPDX-License-Identifier: BSD-2-Clause
/**
 * Split KIND CPU_MS [UNIT]: methods that use CPU time 60 : 30 : 10, in pieces that a larger UNIT (20000) makes longer. Prints "truth a b c" in ns,
 * taken with the thread's CPU clock, and "cpu NS" of the thread.
 */
public class Split {
    static long spentA, spentB, spentC;
    static long unit = 20000;
    static final byte[] FROM = new byte[1 << 16], TO = new byte[1 << 16];

    /** The unit changes each round so that no rhythm of the work can fall in step with the timer. */
    static long next(long r) { return 1 + ((r * 2654435761L >>> 7) & 7); }

    // --- plain: loops with a long counter
    static void plainA(long k) { Cpu.sink += loopA(6 * k * unit); }
    static void plainB(long k) { Cpu.sink += loopB(3 * k * unit); }
    static void plainC(long k) { Cpu.sink += loopC(1 * k * unit); }
    static long loopA(long n) { long s = 7; for (long i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; } return s; }
    static long loopB(long n) { long s = 7; for (long i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; } return s; }
    static long loopC(long n) { long s = 7; for (long i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; } return s; }

    // --- counted: an int loop, compiled without a safepoint poll where the JVM is told so
    static void countedA(int k) { Cpu.sink += countA(6 * k * (int) unit); }
    static void countedB(int k) { Cpu.sink += countB(3 * k * (int) unit); }
    static void countedC(int k) { Cpu.sink += countC(1 * k * (int) unit); }
    static int countA(int n) { int s = 7; for (int i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 17; s ^= s << 5; } return s; }
    static int countB(int n) { int s = 7; for (int i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 17; s ^= s << 5; } return s; }
    static int countC(int n) { int s = 7; for (int i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 17; s ^= s << 5; } return s; }

    // --- stub: nearly all of the time is in the copy routine that the compiler calls
    static void stubA(long k) { for (long i = 0; i < 60 * k; i++) { System.arraycopy(FROM, 0, TO, 0, TO.length); } }
    static void stubB(long k) { for (long i = 0; i < 30 * k; i++) { System.arraycopy(FROM, 0, TO, 0, TO.length); } }
    static void stubC(long k) { for (long i = 0; i < 10 * k; i++) { System.arraycopy(FROM, 0, TO, 0, TO.length); } }

    // --- inlined: one loop calls three tiny methods of 12, 6 and 2 dependent links, all inlined into it
    static long link(long s) { s ^= s << 13; s ^= s >>> 7; return s ^ s << 17; }
    static long tinyA(long s) {
        s ^= s << 13; s ^= s >>> 7; s ^= s << 17; s ^= s << 13; s ^= s >>> 7; s ^= s << 17; s ^= s << 13; s ^= s >>> 7; s ^= s << 17;
        s ^= s << 13; s ^= s >>> 7; s ^= s << 17; s ^= s << 13; s ^= s >>> 7; s ^= s << 17; s ^= s << 13; s ^= s >>> 7; s ^= s << 17; return s; }
    static long tinyB(long s) {
        s ^= s << 13; s ^= s >>> 7; s ^= s << 17; s ^= s << 13; s ^= s >>> 7; s ^= s << 17; s ^= s << 13; s ^= s >>> 7; s ^= s << 17; return s; }
    static long tinyC(long s) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; return s; }
    static long mix(long n) { long s = 7; for (long i = 0; i < n; i++) { s = tinyC(tinyB(tinyA(s))); } return s; }

    static void round(String kind, long r) {
        long k = next(r);
        if (kind.equals("inlined")) { Cpu.sink += mix(10 * k * unit / 10); return; }
        long t0 = Cpu.now();
        switch (kind) { case "plain": plainA(k); break; case "counted": countedA((int) k); break; default: stubA(k); }
        long t1 = Cpu.now();
        switch (kind) { case "plain": plainB(k); break; case "counted": countedB((int) k); break; default: stubB(k); }
        long t2 = Cpu.now();
        switch (kind) { case "plain": plainC(k); break; case "counted": countedC((int) k); break; default: stubC(k); }
        long t3 = Cpu.now();
        spentA += t1 - t0; spentB += t2 - t1; spentC += t3 - t2;
    }

    public static void main(String[] a) {
        if (a.length > 2) { unit = Long.parseLong(a[2]); }
        long end = Cpu.now() + Long.parseLong(a[1]) * 1000000L;
        for (long r = 0; Cpu.now() < end; r++) { round(a[0], r); }
        if (a[0].equals("inlined")) { spentA = 60; spentB = 30; spentC = 10; }
        System.out.println("truth " + spentA + " " + spentB + " " + spentC);
        System.out.println("cpu " + Cpu.now());
    }
}
