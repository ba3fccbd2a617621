// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Activities that use CPU time: in pieces of about a millisecond, of the activity's own class. Only those are in the account. */
abstract class Work implements Callable<String> {
    static volatile Object escape;
    static volatile long sink;
    private final long ms;

    Work(long ms) { this.ms = ms; }

    abstract long piece(int i) throws Exception;

    @Override
    public String call() throws Exception {
        long sum = 0, used = 0;
        int n = 0;
        for (; used < ms * 1000000; n++) {
            long before = Account.clock();
            sum += piece(n);
            used += Account.clock() - before;
        }
        sink = sum;
        String of = getClass().getName();
        Account account = new Account().calls(of + ".piece", n);
        return (Account.virtual() ? account : account.line("cpu", of, used)).toString();
    }

    /** Dependent operations, which no compiler shortens. */
    static long mix(long s) {
        s ^= s << 13;
        s ^= s >>> 7;
        return s ^ s << 17;
    }
}
