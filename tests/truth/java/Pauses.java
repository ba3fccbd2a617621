// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Idle for seconds, then a short nap: all of its threads at the same moments. Amount: rounds. */
public class Pauses implements Callable<String> {
    private static final long BEGAN = System.nanoTime();
    private static final long IDLE = 2500, NAP = 50; // ms

    private final int rounds;

    public Pauses(long rounds) { this.rounds = (int) rounds; }

    static void idle(long ms) throws InterruptedException { Thread.sleep(ms); }

    static void nap() throws InterruptedException { Thread.sleep(NAP); }

    @Override
    public String call() throws InterruptedException {
        long idled = 0, forced = 0, napped = 0;
        for (int i = 0; i < rounds; i++) {
            long before = System.nanoTime();
            long rest = IDLE - (before - BEGAN) / 1000000 % IDLE; // to the next moment
            idle(rest);
            long between = System.nanoTime();
            nap();
            idled += between - before;
            forced += rest * 1000000;
            napped += System.nanoTime() - between;
        }
        Account a = new Account().block("sleeping", "Pauses.idle", "-", rounds, idled, forced);
        return a.block("sleeping", "Pauses.nap", "-", rounds, napped, rounds * NAP * 1000000).calls("Pauses.nap", rounds).toString();
    }
}
