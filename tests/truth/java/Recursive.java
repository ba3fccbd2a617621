// SPDX-License-Identifier: BSD-2-Clause

/** Work at the bottom of deep stacks. */
public class Recursive extends Work {
    public Recursive(long ms) { super(ms); }

    static long down(int depth, long s) {
        if (depth > 0) { return down(depth - 1, s + 1) + 1; }
        for (int i = 0; i < 10000; i++) { s = s * 31 + (i ^ s >>> 7); }
        return s;
    }

    @Override
    long piece(int i) {
        long s = i;
        for (int k = 0; k < 40; k++) { s = down(20 + k % 7, s); }
        return s;
    }
}
