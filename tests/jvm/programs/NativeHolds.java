// SPDX-License-Identifier: BSD-2-Clause
/** Attached, where each round has a thread load a library (native/holds.c), or waits for that. */
public class NativeHolds {
    static Thread loads;

    static void round() {
        if (loads == null) {
            loads = new Thread(() -> System.loadLibrary("holds"));
            loads.start();
            return;
        }
        try {
            loads.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] a) throws Exception {
        Attached.round = NativeHolds::round;
        Attached.main(a);
    }
}
