// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Numbers in boxes. */
public class Boxed implements Callable<String> {
    static volatile Object escape;
    private final int n;

    public Boxed(long n) { this.n = (int) n; }

    static void longs(int n) {
        for (int i = 0; i < n; i++) { escape = (long) i + 1000; }
    }

    static void doubles(int n) {
        for (int i = 0; i < n; i++) { escape = i + 0.5; }
    }

    @Override
    public String call() {
        long before = Account.clock();
        longs(n);
        doubles(n);
        Account a = new Account().work("Boxed", Account.clock() - before);
        return a.made("Boxed.longs", "java.lang.Long", n).made("Boxed.doubles", "java.lang.Double", n).toString();
    }
}
