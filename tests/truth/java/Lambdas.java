// SPDX-License-Identifier: BSD-2-Clause
import java.util.function.LongUnaryOperator;

/** Work in lambdas, called by way of the JDK. */
public class Lambdas extends Work {
    public Lambdas(long ms) { super(ms); }

    static long times(LongUnaryOperator f, long s) {
        for (int i = 0; i < 100; i++) { s = f.applyAsLong(s); }
        return s;
    }

    @Override
    long piece(int i) {
        long more = i;
        LongUnaryOperator one = s -> {
            for (int k = 0; k < 2000; k++) { s = s * 31 + (k ^ s >>> 7); }
            return s;
        };
        LongUnaryOperator other = s -> {
            for (int k = 0; k < 2000; k++) { s = s * 17 + (k ^ s >>> 9) + more; }
            return s;
        };
        return times(one.andThen(other), i);
    }
}
