// SPDX-License-Identifier: BSD-2-Clause
/** Eintr ROUNDS: sleeps, polls and slow reads in native code, with work between; prints "eintr N": how many of them returned EINTR.
 * Eintr ROUNDS prod: meanwhile a thread sends SIGPROF to the one that calls. */
public class Eintr {
    /** kind 0 nanosleep, 1 poll, 2 read of a pipe that another thread fills late, 3 select, 4 epoll_wait, 5 futex-like sem_timedwait. 1 if the call saw EINTR. */
    static native int call(int kind);
    static native void feed();
    static native int tid();
    /** Sends SIGPROF to this thread, a millisecond later. */
    static native void prod(int tid);

    public static void main(String[] a) throws Exception {
        System.loadLibrary("helper");
        int rounds = Integer.parseInt(a[0]);
        Thread busy = new Thread("busy") { public void run() { for (;;) { Cpu.burn(1000000L); } } };
        busy.setDaemon(true);
        busy.start();
        Thread feeder = new Thread("feeder") { public void run() { for (;;) { feed(); } } };
        feeder.setDaemon(true);
        feeder.start();
        if (a.length > 1) {
            final int self = tid();
            Thread prods = new Thread("prods") { public void run() { for (;;) { prod(self); } } };
            prods.setDaemon(true);
            prods.start();
        }
        int n = 0, calls = 0;
        for (int r = 0; r < rounds; r++) {
            for (int kind = 0; kind < 6; kind++) { n += call(kind); calls++; Cpu.burn(500000L); }
        }
        System.out.println("eintr " + n + " of " + calls);
    }
}
