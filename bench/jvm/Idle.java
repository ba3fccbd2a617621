/* SPDX-License-Identifier: BSD-2-Clause */

/** N threads that wait for MS milliseconds. Arguments: threads, milliseconds. */
public final class Idle {
    public static void main(String[] args) throws InterruptedException {
        Object gate = new Object();
        for (int i = Integer.parseInt(args[0]); i > 0; i--) {
            Thread t = new Thread(null, () -> {
                synchronized (gate) {
                    try {
                        gate.wait();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }
            }, "idle", 131072);
            t.setDaemon(true);
            t.start();
        }
        long began = System.nanoTime();
        Thread.sleep(Long.parseLong(args[1]));
        Figures.line("waited_ms", (System.nanoTime() - began) / 1_000_000);
    }
}
