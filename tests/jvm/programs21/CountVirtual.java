// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** CountVirtual THREADS: each virtual thread calls, parks in the middle of a call, and calls again, on whatever carrier it comes to. Prints "expect METHOD NUMBER". */
public class CountVirtual {
    static final AtomicLong sum = new AtomicLong();

    static int step(int x) { return x * 31 + 1; }

    static int parked(int x) throws InterruptedException {
        int h = step(x);
        Thread.sleep(1);
        return step(h);
    }

    static void work(int i) {
        int h = i;
        try {
            for (int k = 0; k < 10; k++) { h = step(h); }
            h = parked(h);
            Thread.yield();
            h = parked(h);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        sum.addAndGet(h);
    }

    public static void main(String[] a) throws InterruptedException {
        int n = Integer.parseInt(a[0]);
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int id = i;
            all.add(Thread.ofVirtual().start(() -> work(id)));
        }
        for (Thread t : all) { t.join(); }
        System.out.println("expect CountVirtual.work " + n);
        System.out.println("expect CountVirtual.parked " + 2 * n);
        System.out.println("expect CountVirtual.step " + 14 * n);
    }
}
