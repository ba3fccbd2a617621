// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Naps, each of 5 to 20 ms. */
public class Sleeps implements Callable<String> {
    private final long ms;

    public Sleeps(long ms) { this.ms = ms; }

    static void nap(long ms) throws InterruptedException { Thread.sleep(ms); }

    @Override
    public String call() throws InterruptedException {
        long measured = 0, forced = 0;
        int n = 0;
        for (; forced < ms * 1000000; n++) {
            long nap = 5 + n % 16, before = System.nanoTime();
            nap(nap);
            measured += System.nanoTime() - before;
            forced += nap * 1000000;
        }
        return new Account().block("sleeping", "Sleeps.nap", "-", n, measured, forced).calls("Sleeps.nap", n).toString();
    }
}
