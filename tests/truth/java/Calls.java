// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Tiny methods, each called a number of times. */
public class Calls implements Callable<String> {
    static class Failure extends Exception {
        private static final long serialVersionUID = 1;
        Failure() { super("wanted", null, false, false); }
    }

    static class Base {
        int twice(int x) { return 2 * x; }
    }

    static class Derived extends Base {
        final int n;
        Derived(int n) { this.n = n; }
        @Override int twice(int x) { return 2 * x + n; }
    }

    private static volatile int sink;
    private final int n;

    public Calls(long n) { this.n = (int) n; }

    static int tiny(int x) { return x * 31 + 7; }

    int virtual(int x) { return x ^ n; }

    synchronized int locked(int x) { return x + 1; }

    static int recurse(int depth) { return depth == 0 ? 0 : 1 + recurse(depth - 1); }

    static int fails(int x) throws Failure {
        if (x % 64 == 0) { throw new Failure(); }
        return x;
    }

    int work() {
        int s = 0;
        for (int i = 0; i < n; i++) {
            s = virtual(tiny(s));
            s = locked(new Derived(i).twice(s));
            if (i % 16 == 0) { s += recurse(9); }
            try {
                s += fails(i);
            } catch (Failure e) {
                s--;
            }
        }
        return s;
    }

    @Override
    public String call() {
        long before = Account.clock();
        int result = work();
        sink = result;
        Account a = new Account().work("Calls", Account.clock() - before).calls("Calls.work", 1);
        for (String m : new String[] {"tiny", "virtual", "locked", "fails"}) { a.calls("Calls." + m, n); }
        a.calls("Calls$Derived.twice", n).calls("Calls$Derived.<init>", n).calls("Calls$Base.<init>", n).calls("Calls.recurse", 10L * ((n + 15) / 16));
        return a.calls("Calls$Failure.<init>", (n + 63) / 64).line("result", "Calls", result).toString();
    }
}
