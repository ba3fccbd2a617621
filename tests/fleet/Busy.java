// SPDX-License-Identifier: BSD-2-Clause
/** Computes and allocates until its standard input ends. */
public class Busy {
    static volatile Object kept;
    static long sum;

    static void work() {
        for (int i = 0; i < 5000; i++) {
            kept = new int[i % 64];
            sum += i * 31;
        }
    }

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(() -> {
            while (true) {
                work();
                try {
                    Thread.sleep(5);
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        worker.setDaemon(true);
        worker.start();
        System.out.println("ready");
        System.out.flush();
        while (System.in.read() >= 0) {
        }
    }
}
