// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.atomic.AtomicInteger;

/** ForkStorm THREADS COUNT: each thread starts `true` so often, while another one burns. Prints "storm N": how many ended with 0. */
public class ForkStorm {
    public static void main(String[] a) throws Exception {
        final int count = Integer.parseInt(a[1]);
        final AtomicInteger good = new AtomicInteger();
        Thread busy = new Thread("busy") { public void run() { for (;;) { Cpu.burn(1000000L); } } };
        busy.setDaemon(true);
        busy.start();
        Thread[] all = new Thread[Integer.parseInt(a[0])];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Thread("storm" + i) {
                public void run() {
                    try {
                        for (int k = 0; k < count; k++) { good.addAndGet(new ProcessBuilder("true").start().waitFor() == 0 ? 1 : 0); }
                    } catch (Exception e) {
                        throw new RuntimeException(e);
                    }
                }
            };
            all[i].start();
        }
        for (Thread t : all) { t.join(); }
        System.out.println("storm " + good);
    }
}
