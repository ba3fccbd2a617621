// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Threads of a pool whose classes a virtual thread has had loaded: JDK 21 announces none that is loaded in a transition of one. Argument: ms of CPU per thread. */
public class Pools {
    static class Made { long a, b; }
    static volatile Object held;

    static void work(long ms) {
        for (long i = 0; i < ms; i++) {
            Cpu.burn(1000000L);
            for (int k = 0; k < 100; k++) {
                held = new Made();
            }
        }
    }

    public static void main(String[] a) throws Exception {
        Thread v = Thread.ofVirtual().start(() -> {
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                return;
            }
        });
        v.join();
        var pool = Executors.newFixedThreadPool(2);
        long ms = Long.parseLong(a[0]);
        for (int i = 0; i < 2; i++) {
            pool.submit(() -> work(ms));
        }
        pool.shutdown();
        System.out.println(pool.awaitTermination(100, TimeUnit.SECONDS));
    }
}
