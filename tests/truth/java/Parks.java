// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** LockSupport.parkNanos, with a blocker. */
public class Parks implements Callable<String> {
    static class Blocker { }

    private final long ms;

    public Parks(long ms) { this.ms = ms; }

    static void park(Object blocker, long ns) { LockSupport.parkNanos(blocker, ns); }

    @Override
    public String call() {
        Object blocker = new Blocker();
        long measured = 0;
        int n = 0;
        for (; measured < ms * 1000000; n++) {
            long before = System.nanoTime();
            park(blocker, 1000000L * (7 + n % 13));
            measured += System.nanoTime() - before;
        }
        // A permit that was left ends a park at once, and the time is measured all the same; what a wakened thread waits for a CPU is not forced.
        return new Account().block("parked", "Parks.park", "Parks$Blocker", n, measured, measured * 8 / 10).calls("Parks.park", n).toString();
    }
}
