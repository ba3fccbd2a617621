// SPDX-License-Identifier: BSD-2-Clause

import java.util.ArrayList;
import java.util.List;

/** Work with hot methods, allocations and a monitor that is waited for, as long as its argument says in milliseconds. */
public class Shop {
    static final Object till = new Object();
    static volatile long kept;

    static long price(int depth, long x) {
        if (depth > 0) {
            return price(depth - 1, x * 31 + depth);
        }
        for (int i = 0; i < 20000; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    static long basket(long x) {
        List<byte[]> goods = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            goods.add(new byte[(int) (512 + (x >>> 56))]);
        }
        return goods.size() + String.valueOf(x).length();
    }

    static void pay(long until) {
        while (System.nanoTime() < until) {
            synchronized (till) {
                kept += price(3, kept) + basket(kept);
            }
            kept += price((int) (kept & 7), kept);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long until = System.nanoTime() + Long.parseLong(args[0]) * 1000000;
        Thread[] clerks = new Thread[3];
        for (int i = 0; i < clerks.length; i++) {
            clerks[i] = new Thread(() -> pay(until), "clerk-" + i);
            clerks[i].start();
        }
        for (Thread t : clerks) {
            t.join();
        }
    }
}
