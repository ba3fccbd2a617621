// SPDX-License-Identifier: BSD-2-Clause
import java.util.Arrays;

/** Four threads compute and count what they have done. The slow spot: they compute while they have the lock of the counter. */
public class Turnstile {
    static final Object LOCK = new Object();
    static long done;

    static int compute(int seed) {
        int[] numbers = new int[20000];
        for (int i = 0; i < numbers.length; i++) { numbers[i] = seed * 31 + i * 7919 % 1000; }
        Arrays.sort(numbers);
        return numbers[seed & 0xff];
    }

    static void count(int seed) {
        synchronized (LOCK) {
            done += compute(seed) & 1;
        }
    }

    public static void main(String[] args) {
        System.out.println("running");
        for (int t = 0; t < 4; t++) {
            new Thread(() -> {
                for (int i = 0; ; i++) { count(i); }
            }, "worker-" + t).start();
        }
    }
}
