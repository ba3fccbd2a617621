// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** HeapCells N: one thread writes v, v + 1, ... in order through N cells of each kind: whoever sees the heap at one time sees two neighbours at most. Another one allocates. */
public class HeapCells {
    static final class Box { final long v; Box(long v) { this.v = v; } }
    static AtomicLongArray longs;
    static AtomicReferenceArray<Box> boxes;
    static volatile boolean ended;
    static volatile Object sink;

    static void write(int n) {
        for (long v = 1; !ended; v++) {
            Box b = new Box(v);
            for (int i = 0; i < n; i++) { longs.set(i, v); }
            for (int i = 0; i < n; i++) { boxes.set(i, b); }
        }
    }

    static void allocate() {
        for (int i = 0; !ended; i++) {
            Object[] a = new Object[64];
            for (int k = 0; k < 64; k++) { a[k] = new int[k]; }
            sink = a;
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        longs = new AtomicLongArray(n);
        boxes = new AtomicReferenceArray<>(n);
        Thread w = new Thread(() -> write(n)), a = new Thread(HeapCells::allocate);
        w.start();
        a.start();
        while (boxes.get(n - 1) == null) { Thread.sleep(1); }
        HeapTell.untilStop();
        ended = true;
        w.join();
        a.join();
    }
}
