// SPDX-License-Identifier: BSD-2-Clause
/** Traps ROUNDS [LIBRARY]: three threads in which the JVM takes signals of its own: null pointers, overflows of the stack, loops stopped by collections.
 *  Prints what they counted: the same in each run. */
public class Traps {
    static class Node { int value = 1; Node next; }

    static volatile Object[] garbage;

    static int read(Node n) { return n.value; }

    static long nulls(int rounds) {
        Node node = new Node();
        long caught = 0, sum = 0;
        for (int i = 0; i < rounds * 2000; i++) {
            try { sum += read(i % 3 == 0 ? null : node); } catch (NullPointerException e) { caught++; }
        }
        return caught * 1000003 + sum;
    }

    static int down(int n) { return n < 0 ? 0 : down(n + 1) + 1; }

    static long overflows(int rounds) {
        long caught = 0;
        for (int i = 0; i < rounds; i++) {
            try { down(0); } catch (StackOverflowError e) { caught++; }
        }
        return caught;
    }

    static long polls(int rounds) {
        long h = 1;
        for (int i = 0; i < rounds * 1000000L; i++) { h = h * 31 + i; }
        return h;
    }

    static Thread start(final String name, final int rounds, final long[] out, final int at) {
        Thread t = new Thread(null, new Runnable() {
            public void run() { out[at] = at == 0 ? nulls(rounds) : at == 1 ? overflows(rounds) : polls(rounds); }
        }, name, 1 << 20);
        t.start();
        return t;
    }

    public static void main(String[] a) throws Exception {
        if (a.length > 1) { System.loadLibrary(a[1]); }
        int rounds = Integer.parseInt(a[0]);
        long[] out = new long[3];
        Thread[] all = {start("nulls", rounds, out, 0), start("overflows", rounds, out, 1), start("polls", rounds, out, 2)};
        for (Thread t : all) {
            while (t.isAlive()) {
                garbage = new Object[10000];
                System.gc();
                t.join(5);
            }
        }
        System.out.println("nulls " + out[0] + " overflows " + out[1] + " polls " + out[2]);
    }
}
