// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * CountMany THREADS ROUNDS [daemons]: threads that were all there before the work calls all the time, each from within a frame that stays open;
 * short ones begin and end beside them. With "daemons" as many more go on calling when the VM ends. Prints "expect METHOD NUMBER".
 */
public class CountMany {
    static volatile int sink;

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static int step(int x) { return x * 31 + 1; }
    static void shortOne() { int h = 1; for (int i = 0; i < 100; i++) { h = step(h); } sink = h; }

    static void round(int depth) {
        if (depth > 0) {
            round(depth - 1);
        } else {
            sink = fib(19);
        }
    }

    static void work(int rounds, CountDownLatch start) {
        try {
            start.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        for (int i = 0; i < rounds; i++) { round(30); }
    }

    static void forever() {
        for (int i = 0; ; i++) { sink = step(i); }
    }

    public static void main(String[] a) throws InterruptedException {
        int threads = Integer.parseInt(a[0]), rounds = Integer.parseInt(a[1]);
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Thread t = new Thread(() -> work(rounds, start));
            all.add(t);
            t.start();
        }
        for (int i = 0; a.length > 2 && i < threads; i++) {
            Thread t = new Thread(() -> forever());
            t.setDaemon(true);
            t.start();
        }
        start.countDown();
        for (int i = 0; i < 4 * threads; i++) {
            Thread t = new Thread(() -> shortOne());
            t.start();
            t.join();
        }
        for (Thread t : all) { t.join(); }
        System.out.println("expect CountMany.work " + threads);
        System.out.println("expect CountMany.round " + 31L * threads * rounds);
        System.out.println("expect CountMany.fib " + 13529L * threads * rounds);
        System.out.println("expect CountMany.shortOne " + 4 * threads);
        if (a.length == 2) { System.out.println("expect CountMany.step " + 400 * threads); }
    }
}
