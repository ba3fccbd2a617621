// SPDX-License-Identifier: BSD-2-Clause
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ATest {
    static long fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    @ParameterizedTest
    @ValueSource(ints = {20, 21, 22, 23})
    void numbers(int n) {
        System.out.println("fib of " + n + ": " + fib(n));
        assertEquals(fib(n), fib(n - 1) + fib(n - 2));
    }
}
