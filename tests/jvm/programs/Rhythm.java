// SPDX-License-Identifier: BSD-2-Clause

/** A program with a rhythm: a fifth of each step of STEP ms it is busy; of step BURST nine tenths, in another method; every second step ends with
 * a collection. Prints "steady|burst|gc FROM TO", ms since 1970. Allocates in steady() alone. Arguments: STEPS STEP BURST. */
public class Rhythm {
    static volatile long sink;
    static volatile Object kept;

    static void work(long until) {
        while (System.currentTimeMillis() < until) {
            for (int i = 0; i < 1000; i++) {
                sink += i;
            }
        }
    }

    static void steady(long until) {
        while (System.currentTimeMillis() < until) {
            kept = new byte[10000];
            sink++;
        }
    }

    static void burst(long until) {
        work(until);
    }

    static void tell(String what, long from) {
        System.out.println(what + " " + from + " " + System.currentTimeMillis());
    }

    public static void main(String[] args) throws Exception {
        int steps = Integer.parseInt(args[0]), step = Integer.parseInt(args[1]), burst = Integer.parseInt(args[2]);
        for (int i = 0; i < steps; i++) {
            long from = System.currentTimeMillis();
            if (i == burst) {
                burst(from + step * 9 / 10);
                tell("burst", from);
            } else {
                steady(from + step / 5);
                tell("steady", from);
            }
            if (i % 2 == 1) {
                long before = System.currentTimeMillis();
                System.gc();
                tell("gc", before);
            }
            long left = from + step - System.currentTimeMillis();
            if (left > 0) {
                Thread.sleep(left);
            }
        }
    }
}
