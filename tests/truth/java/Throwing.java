// SPDX-License-Identifier: BSD-2-Clause

/** Exceptions with stack traces, through some frames. */
public class Throwing extends Work {
    static class Failure extends Exception {
        private static final long serialVersionUID = 1;
    }

    public Throwing(long ms) { super(ms); }

    static long fails(int depth, long s) throws Failure {
        if (depth == 0) { throw new Failure(); }
        return fails(depth - 1, s * 31) + 1;
    }

    static long caught(int depth, long s) {
        try {
            return fails(depth, s);
        } catch (Failure e) {
            return e.hashCode();
        }
    }

    @Override
    long piece(int i) {
        long s = i;
        for (int k = 0; k < 100; k++) { s += caught(k % 10, s); }
        return s;
    }
}
