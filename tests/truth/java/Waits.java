// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Object.wait for objects of two classes from one line; the first class twice as long. */
public class Waits implements Callable<String> {
    static class Gate { }
    static class Door { }

    private final long ms;

    public Waits(long ms) { this.ms = ms; }

    static void pause(Object of, long ms) throws InterruptedException {
        synchronized (of) { of.wait(ms); }
    }

    @Override
    public String call() throws InterruptedException {
        Object[] all = {new Gate(), new Door()};
        long[] measured = new long[2], forced = new long[2];
        int[] n = new int[2];
        for (int i = 0; forced[0] + forced[1] < ms * 1000000; i = 1 - i) {
            long pause = 30 / (i + 1), before = System.nanoTime();
            pause(all[i], pause);
            long took = System.nanoTime() - before;
            measured[i] += took;
            forced[i] += Math.min(took, pause * 1000000);
            n[i]++;
        }
        Account a = new Account().calls("Waits.pause", n[0] + n[1]);
        for (int i = 0; i < 2; i++) { a.block("waiting", "Waits.pause", all[i].getClass().getName(), n[i], measured[i], forced[i]); }
        return a.toString();
    }
}
