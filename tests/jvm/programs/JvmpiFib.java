// SPDX-License-Identifier: BSD-2-Clause
/** fib(20), which is 21,891 calls, on a thread each named fib0, fib1 and so on. Argument: the number of threads. */
public class JvmpiFib {
    static volatile int sum;

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] all = new Thread[Integer.parseInt(args[0])];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Thread("fib" + i) {
                @Override
                public void run() {
                    sum = fib(20);
                }
            };
            all[i].start();
        }
        for (Thread t : all) {
            t.join();
        }
        System.out.println("sum " + sum);
    }
}
