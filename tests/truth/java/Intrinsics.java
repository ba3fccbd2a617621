// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Methods that the VM replaces by its own code where it compiles their callers. */
public class Intrinsics implements Callable<String> {
    private static volatile int sink;
    private final int n;

    public Intrinsics(long n) { this.n = (int) n; }

    static int work(int n) {
        int s = 0;
        for (int i = 0; i < n; i++) {
            s = Math.max(s, i ^ s >> 3);
            s += Integer.bitCount(s);
        }
        return s;
    }

    @Override
    public String call() {
        long before = Account.clock();
        int result = 0;
        for (int i = 0; i < 10; i++) { result += work(n / 10); }
        sink = result;
        Account a = new Account().work("Intrinsics", Account.clock() - before).calls("Intrinsics.work", 10).line("result", "Intrinsics", result);
        return a.line("callee", "java.lang.Math.max", "Intrinsics.work", n / 10 * 10).line("callee", "java.lang.Integer.bitCount", "Intrinsics.work", n / 10 * 10).toString();
    }
}
