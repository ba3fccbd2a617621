// SPDX-License-Identifier: BSD-2-Clause
package demo;

import java.util.List;

/** Sorts the figures of a document by merging, and finds their median and nearest neighbours. */
final class Ranking {
    private final long[] values;
    private final long[] spare;

    Ranking(List<?> figures) {
        values = new long[figures.size()];
        spare = new long[values.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = (Long) figures.get(i);
        }
        sort(0, values.length);
    }

    long median() {
        return values.length == 0 ? 0 : values[values.length / 2];
    }

    /** The sum, over all pairs of the first n figures, of their greatest common divisors: something to compute. */
    long sumOfDivisors(int n) {
        long sum = 0;
        int end = Math.min(n, values.length);
        for (int i = 0; i < end; i++) {
            for (int k = 0; k < i; k++) {
                sum += divisor(Math.abs(values[i]), Math.abs(values[k]));
            }
        }
        return sum;
    }

    private static long divisor(long a, long b) {
        while (b != 0) {
            long rest = a % b;
            a = b;
            b = rest;
        }
        return a;
    }

    private void sort(int from, int to) {
        if (to - from < 2) {
            return;
        }
        int middle = (from + to) >>> 1;
        sort(from, middle);
        sort(middle, to);
        merge(from, middle, to);
    }

    private void merge(int from, int middle, int to) {
        System.arraycopy(values, from, spare, from, to - from);
        int left = from;
        int right = middle;
        for (int i = from; i < to; i++) {
            boolean takeLeft = right >= to || (left < middle && spare[left] <= spare[right]);
            values[i] = takeLeft ? spare[left++] : spare[right++];
        }
    }
}
