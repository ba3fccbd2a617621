// SPDX-License-Identifier: BSD-2-Clause

/** OddProbe PROBE BEHIND INSTEAD ROUNDS: a recursion in which an exception comes out of a probe (native/oddprobe.c), caught inside it. PROBE: 0 enter, 1 exit,
 *  2 thrown; BEHIND: its how-many-th call; INSTEAD: 1 if the probe does not run. Prints how many calls of f are below leaf when it is called. */
public class OddProbe {
    static final int DEPTH = 12;

    static class Stop extends Error {
        Stop() {
            super(null, null, false, false);
        }
    }

    static class Odd extends Error {
        Odd() {
            super(null, null, false, false);
        }
    }

    static final Stop STOP = new Stop();
    static final Odd ODD = new Odd();
    static int which, behind, caughtIn;
    static boolean instead;

    static native void arm(int which, int calls, boolean instead, Throwable what);

    static native boolean between();

    static int leaf() {
        return 1;
    }

    static int below() {
        return leaf();
    }

    static int f(int n) {
        if (n == 0) {
            arm(which, behind, instead, STOP);
            if (which == 2) {
                throw ODD;
            }
            return which == 0 ? below() : 0;
        }
        int r;
        // The return is outside: a handler of the method's own that covers it catches what comes out of its exit probe, and the method exits again.
        try {
            r = f(n - 1) + 1;
        } catch (Stop e) {
            caughtIn = n;
            r = leaf();
        }
        return r;
    }

    static int after() {
        return leaf();
    }

    public static void main(String[] args) {
        System.loadLibrary("oddprobe");
        which = Integer.parseInt(args[0]);
        behind = Integer.parseInt(args[1]);
        instead = args[2].equals("1");
        int rounds = Integer.parseInt(args[3]), sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum += f(DEPTH);
            sum += after();
        }
        System.out.println((between() ? "caught in " : "not between: caught in ") + caughtIn + " " + sum);
    }
}
