// SPDX-License-Identifier: BSD-2-Clause
/** Many paths to one method, each a trace of its own: 12 * 2048 calls of step and other, 2048 of leaf and 205 of hot, which has most of the time. */
public class Paths {
    static volatile long sum;

    static void hot() {
        long x = 0;
        for (int i = 0; i < 200_000; i++) x = x * 31 + (i ^ x);
        sum += x;
    }

    static void leaf() {
        sum++;
    }

    static void step(int n, int bits) {
        if (n == 0) leaf();
        else if ((bits & 1) == 0) step(n - 1, bits >> 1);
        else other(n - 1, bits >> 1);
    }

    static void other(int n, int bits) {
        if (n == 0) leaf();
        else if ((bits & 1) == 0) other(n - 1, bits >> 1);
        else step(n - 1, bits >> 1);
    }

    public static void main(String[] args) {
        for (int k = 0; k < 2048; k++) {
            step(11, k);
            if (k % 10 == 0) hot();
        }
        System.out.println("end");
    }
}
