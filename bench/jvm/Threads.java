/* SPDX-License-Identifier: BSD-2-Clause */
import java.util.concurrent.CountDownLatch;

/** Resident memory with N threads alive, each of which has used some CPU. Arguments: threads, milliseconds of work a thread. */
public final class Threads {
    private static volatile int sink;

    private static void spin(long milliseconds) {
        long end = System.nanoTime() + milliseconds * 1_000_000;
        int x = 1;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 1000; i++) {
                x = x * 69069 + 1;
            }
        }
        sink = x;
    }

    public static void main(String[] args) throws InterruptedException {
        int n = Integer.parseInt(args[0]);
        long milliseconds = Long.parseLong(args[1]);
        CountDownLatch done = new CountDownLatch(n);
        CountDownLatch leave = new CountDownLatch(1);
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            threads[i] = new Thread(() -> {
                spin(milliseconds);
                done.countDown();
                try {
                    leave.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            threads[i].start();
            if ((i & 3) == 3) {
                threads[i].join(milliseconds); // a few at a time
            }
        }
        done.await();
        Figures.line("rss_kb", Figures.rssKilobytes());
        leave.countDown();
        for (Thread t : threads) {
            t.join();
        }
    }
}
