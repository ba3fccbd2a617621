// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Virtual threads that yield to each other. */
public class Yields implements Callable<String> {
    private final int n;

    public Yields(long n) { this.n = (int) n; }

    void yields() {
        for (int i = 0; i < n / 8; i++) { step(); }
    }

    static void step() { Thread.yield(); }

    @Override
    public String call() throws InterruptedException {
        long before = System.nanoTime();
        Thread[] all = new Thread[8];
        for (int i = 0; i < all.length; i++) { all[i] = Thread.ofVirtual().start(this::yields); }
        for (Thread t : all) { t.join(); }
        return new Account().line("work", "Yields", System.nanoTime() - before).calls("Yields.step", n / 8 * 8).calls("Yields.yields", 8).toString();
    }
}
