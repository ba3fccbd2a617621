// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Objects and arrays by bytecode, of which every sixteenth object stays. */
public class New implements Callable<String> {
    static class Made {
        long a;
        Object b;
    }

    static class Kept {
        int a;
    }

    static volatile Object escape;
    static final java.util.Queue<Object> kept = new java.util.concurrent.ConcurrentLinkedQueue<>();
    private final int n;

    public New(long n) { this.n = (int) n; }

    static void objects(int n) {
        for (int i = 0; i < n; i++) { escape = new Made(); }
    }

    static void arrays(int n) {
        for (int i = 0; i < n; i++) { escape = new Made[i % 8]; }
    }

    static void ints(int n) {
        for (int i = 0; i < n; i++) { escape = new int[5]; }
    }

    static void nested(int n) {
        for (int i = 0; i < n; i++) { escape = new Made[2][3]; }
    }

    static Object[] keep(int n) {
        Object[] all = new Object[n];
        for (int i = 0; i < n; i++) { all[i] = new Kept(); }
        return all;
    }

    @Override
    public String call() {
        long before = Account.clock();
        objects(n);
        arrays(n / 2);
        ints(n / 3);
        nested(n / 10);
        kept.add(keep(n / 16));
        Account a = new Account().work("New", Account.clock() - before).made("New.objects", "New$Made", n).made("New.arrays", "New$Made[]", n / 2);
        a.made("New.ints", "int[]", n / 3).made("New.nested", "New$Made[][]", n / 10).made("New.nested", "New$Made[]", 2 * (n / 10));
        return a.made("New.keep", "New$Kept", n / 16).line("alive", "New$Kept", n / 16).toString();
    }
}
