// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;

/** LargeVirtual N: N virtual threads come and go on their carriers all the time; then as Attached. A round starts N more, each of which calls and yields. */
public class LargeVirtual {
    static class Made { long a; }
    static volatile Made last;

    static void once() {
        Large.once();
        last = new Made();
    }

    static void keepOn() {
        try {
            for (;;) { Thread.sleep(20); }
        } catch (InterruptedException e) {
            return;
        }
    }

    static void callAndYield() {
        once();
        Thread.yield();
        once();
    }

    static void round(int n) {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < n; i++) { all.add(Thread.ofVirtual().start(LargeVirtual::callAndYield)); }
        try {
            for (Thread t : all) { t.join(); }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]);
        for (int i = 0; i < n; i++) { Thread.ofVirtual().start(LargeVirtual::keepOn); }
        Attached.round = () -> round(n);
        Attached.main(a);
    }
}
