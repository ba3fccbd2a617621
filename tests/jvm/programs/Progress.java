// SPDX-License-Identifier: BSD-2-Clause
/** Progress MS: calls step() for so long. Prints "CALLS CPU_MS AT_MS" now and then: calls made, CPU time of the thread, the monotonic clock; "end". */
public class Progress {
    static volatile int sink;

    static int step(int x) { return x * 31 + 1; }

    static void tell(long calls) {
        System.out.println(calls + " " + Cpu.now() / 1000000 + " " + System.nanoTime() / 1000000);
        System.out.flush();
    }

    public static void main(String[] a) {
        long end = System.nanoTime() + Long.parseLong(a[0]) * 1000000L, next = 0, calls = 0;
        for (long now = System.nanoTime(); now < end; now = System.nanoTime()) {
            for (int i = 0; i < 1000; i++) { sink = step(sink); }
            calls += 1000;
            if (now >= next) {
                tell(calls);
                next = now + 50000000L;
            }
        }
        System.out.println("end");
        System.out.flush();
    }
}
