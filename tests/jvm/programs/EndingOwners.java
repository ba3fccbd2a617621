// SPDX-License-Identifier: BSD-2-Clause
/** Threads that end just after they have owned a monitor that others want. Arguments: milliseconds. */
public class EndingOwners {
    private static final Object LOCK = new Object();
    private static int work;

    private static void own() {
        synchronized (LOCK) {
            for (int i = 0; i < 20; i++) {
                work += i;
            }
        }
    }

    private static void makeThreads(long until) {
        while (System.nanoTime() < until) {
            Thread t = new Thread(EndingOwners::own);
            t.start();
            try {
                t.join();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        Thread[] all = new Thread[8];
        for (int i = 0; i < all.length; i++) {
            boolean owns = i < 2;
            all[i] = new Thread(() -> {
                while (owns && System.nanoTime() < until) {
                    own();
                }
                makeThreads(until);
            });
            all[i].start();
        }
        for (Thread t : all) {
            t.join();
        }
        System.out.println("done");
    }
}
