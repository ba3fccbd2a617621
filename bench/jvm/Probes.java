/* SPDX-License-Identifier: BSD-2-Clause */

/**
 * What a pair of probes may cost: fib as it is, with two natives a call that read the TSC, with two critical downcalls that do. Prints the
 * time of a call in hundredths of a nanosecond, the least of the rounds. Arguments: plain|clock|downcall-clock, n, rounds, the library of
 * the natives.
 */
public final class Probes {
    static String library;

    private static native void clock(int method);

    private static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    private static int fibClock(int n) {
        clock(n);
        int r = n < 2 ? n : fibClock(n - 1) + fibClock(n - 2);
        clock(n);
        return r;
    }

    private static int run(String mode, int n) throws Throwable {
        switch (mode) {
        case "plain": return fib(n);
        case "downcall-clock": return Downcalls.fibClock(n);
        default: return fibClock(n);
        }
    }

    public static void main(String[] args) throws Throwable {
        int n = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        if (args.length > 3) {
            library = args[3];
            System.load(library);
        }
        long calls = 2;
        for (int i = 2, a = 1, b = 1, c; i <= n; i++, a = b, b = c) { // calls(n) = 2 * fib(n + 1) - 1
            c = a + b;
            calls = 2L * c;
        }
        calls--;
        long least = Long.MAX_VALUE;
        int result = 0;
        for (int i = 0; i < rounds; i++) {
            long begin = System.nanoTime();
            result += run(args[0], n);
            least = Math.min(least, System.nanoTime() - begin);
        }
        Figures.line("result", result);
        Figures.line("calls", calls);
        Figures.line("call_hundredths_ns", least * 100 / calls);
    }
}
