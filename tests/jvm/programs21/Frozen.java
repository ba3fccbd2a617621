// SPDX-License-Identifier: BSD-2-Clause

/**
 * Frozen ROUNDS WORK [DEEPEST]: virtual threads that yield at every depth from 5 to DEEPEST, so that most of their frames are in the heap, and work there:
 * one unit of WORK below `one`, two below `two`, three below `three`. The methods a, b and c call each other in turn.
 * Prints "done".
 */
public class Frozen {
    static volatile long sink;
    static int work;

    /* Three loops, so that the compiler does not make one of them. */
    static void spinOne() {
        long x = sink;
        for (int i = 0; i < work; i++) { x = x * 6364136223846793005L + i; }
        sink = x;
    }

    static void spinTwo() {
        long x = sink;
        for (int i = 0; i < 2 * work; i++) { x = x * 2862933555777941757L - i; }
        sink = x;
    }

    static void spinThree() {
        long x = sink;
        for (int i = 0; i < 3 * work; i++) { x = x * 3202034522624059733L ^ i; }
        sink = x;
    }

    static void rest(int role) {
        Thread.yield();
        switch (role) {
            case 1 -> spinOne();
            case 2 -> spinTwo();
            default -> spinThree();
        }
    }

    static long a(int role, int n, long p, long q, long r, long s) {
        long below = n == 0 ? 0 : b(role, n - 1, q, r, s, p + 1);
        rest(role);
        return below + p;
    }

    static long b(int role, int n, long p, long q, long r, long s) {
        long below = n == 0 ? 0 : c(role, n - 1, q, r, s, p + 2);
        rest(role);
        return below + q;
    }

    static long c(int role, int n, long p, long q, long r, long s) {
        long below = n == 0 ? 0 : a(role, n - 1, q, r, s, p + 3);
        rest(role);
        return below + r;
    }

    static void rounds(int role, int rounds, int deepest) {
        for (int i = 0; i < rounds; i++) { sink += a(role, 5 + i * 29 % (deepest - 4), i, 2, 3, 4); }
    }

    static void one(int rounds, int deepest) { rounds(1, rounds, deepest); }

    static void two(int rounds, int deepest) { rounds(2, rounds, deepest); }

    static void three(int rounds, int deepest) { rounds(3, rounds, deepest); }

    public static void main(String[] args) throws InterruptedException {
        int rounds = Integer.parseInt(args[0]), deepest = args.length > 2 ? Integer.parseInt(args[2]) : 200;
        work = Integer.parseInt(args[1]);
        Thread[] all = new Thread[6];
        for (int i = 0; i < all.length; i++) {
            int role = i % 3;
            all[i] = Thread.ofVirtual().start(() -> {
                if (role == 0) { one(rounds, deepest); } else if (role == 1) { two(rounds, deepest); } else { three(rounds, deepest); }
            });
        }
        for (Thread t : all) { t.join(); }
        System.out.println("done");
    }
}
