// SPDX-License-Identifier: BSD-2-Clause

/** Overflow ROUNDS: stacks that overflow in a recursion. Caught outside of it, inside it near its beginning, and near its end; then calls whose callers are known.
 *  Prints how often the bodies of the recursions ran. */
public class Overflow {
    static final int LEVEL = 30; // of rec, whose caller sees what went wrong
    static long recs, pings, pongs, mixes;
    static int deepest, sum;

    static int leaf() {
        return 1;
    }

    static int outside() {
        try {
            return rec(0, -1, -1);
        } catch (StackOverflowError e) {
            return leaf();
        }
    }

    static int afterwards() {
        return leaf();
    }

    /** Catches at level `at`; with `deep` also there, from where it returns as usual. */
    static int rec(int n, int at, int deep) {
        recs++;
        if (n > deepest) {
            deepest = n;
        }
        if (n == at || n == deep) {
            int r;
            try {
                r = rec(n + 1, at, deep);
            } catch (StackOverflowError e) {
                r = 0;
            }
            return n == at ? r + caught() : r;
        }
        return rec(n + 1, at, deep) + 1;
    }

    static int caught() {
        return leaf();
    }

    static int ping(int n) {
        pings++;
        return n == LEVEL ? mutual(n) : pong(n + 1) + 1;
    }

    static int pong(int n) {
        pongs++;
        return ping(n + 1) + 1;
    }

    static int mutual(int n) {
        int r;
        try {
            r = ping(n + 1);
        } catch (StackOverflowError e) {
            r = caught();
        }
        return r;
    }

    /** Frames of many sizes, some of which go away by an exception of the program's own that is caught on the way. */
    static long mix(int n, long a, long b, double c) {
        mixes++;
        if (n == LEVEL) {
            long r;
            try {
                r = mix(n + 1, a, b, c);
            } catch (StackOverflowError e) {
                r = caught();
            }
            return r;
        }
        if (n % 3 == 0) {
            Object[] some = {a, b, n};
            return mix(n + 1, b, a + some.length, c) + some.length;
        }
        try {
            return mix(n + 1, a + 1, b * 3, c / 2) + a;
        } catch (IllegalStateException e) {
            return a;
        }
    }

    static void storm(int rounds) {
        for (int i = 0; i < rounds; i++) {
            sum += outside();
            sum += afterwards();
            sum += rec(0, LEVEL, -1);
            sum += afterwards();
            sum += rec(0, LEVEL, deepest - 40 - i % 100);
            sum += afterwards();
            sum += ping(0);
            sum += (int) mix(0, 1, 2, 3);
            sum += afterwards();
        }
    }

    static void print() {
        System.out.println("ran " + recs + " " + pings + " " + pongs + " " + mixes);
    }

    public static void main(String[] args) {
        storm(Integer.parseInt(args[0]));
        print();
    }
}
