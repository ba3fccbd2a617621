// SPDX-License-Identifier: BSD-2-Clause

/** Stopped ROUNDS: a thread in a recursion is stopped ROUNDS times (Thread.stop), wherever it is: the probes are natives, whose returns deliver that. Then it makes
 *  calls that the test counts. */
public class Stopped {
    static final int DEPTH = 20;
    static volatile int ready, sum;

    static int leaf() {
        return 1;
    }

    static int fib(int n) {
        return n < 2 ? leaf() : fib(n - 1) + fib(n - 2);
    }

    static void after() {
        last();
    }

    static void last() {
        sum++;
    }

    static int down(int n) {
        return n == 0 ? leaf() : down(n - 1) + 1;
    }

    static void beStopped(int round) {
        try {
            ready = round; // only now may the stop come
            while (true) {
                sum += fib(12);
            }
        } catch (ThreadDeath e) {
            sum = 0;
        }
    }

    static void work(int rounds) {
        for (int i = 1; i <= rounds; i++) {
            beStopped(i);
            after();
        }
        finish();
    }

    static void finish() {
        sum += down(DEPTH);
    }

    @SuppressWarnings("deprecation")
    public static void main(String[] args) throws Exception {
        final int rounds = Integer.parseInt(args[0]);
        Thread t = new Thread("stopped") {
            @Override
            public void run() {
                work(rounds);
            }
        };
        t.start();
        for (int i = 1; i <= rounds; i++) {
            while (ready != i) {
                Thread.yield();
            }
            t.stop();
        }
        t.join();
        System.out.println("stopped " + rounds);
    }
}
