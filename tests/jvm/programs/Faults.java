// SPDX-License-Identifier: BSD-2-Clause
/** Faults: six threads f0.. of the group "faults", two alive at once, each burns some 10 ms of CPU in a class of its own; main burns as much at 60
 * depths of a recursion, so that the output is long, keeps an Item of every depth, and blocks a thread three times with its lock. Prints the same line always. */
public class Faults {
    static class A { static long burn(long n) { return chain(n); } }
    static class B { static long burn(long n) { return chain(n); } }
    static class C { static long burn(long n) { return chain(n); } }

    static class Item { int a; }
    static class Lock { }

    static final Item[] items = new Item[61];
    static final Lock lock = new Lock();
    static volatile long sink;

    static long chain(long n) {
        long s = 88172645463325252L;
        for (long i = 0; i < n; i++) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; }
        return s;
    }

    static long deeper(int depth) {
        items[depth] = new Item();
        return chain(300000) + (depth > 0 ? deeper(depth - 1) : 0);
    }

    static class Entering extends Thread {
        public void run() { synchronized (lock) { sink++; } }
    }

    static void block(int times) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            Thread t = new Entering();
            synchronized (lock) {
                t.start();
                while (t.getState() != Thread.State.BLOCKED) { Thread.yield(); }
            }
            t.join();
        }
    }

    public static void main(String[] a) throws Exception {
        ThreadGroup group = new ThreadGroup("faults");
        Thread before = null;
        for (int i = 0; i < 6; i++) {
            final int which = i % 3;
            Thread t = new Thread(group, "f" + i) {
                public void run() {
                    long n = 5000000L;
                    sink += which == 0 ? A.burn(n) : which == 1 ? B.burn(n) : C.burn(n);
                }
            };
            t.start();
            if (before != null) { before.join(); }
            before = t;
        }
        before.join();
        sink += deeper(60);
        block(3);
        System.out.println("faults survived");
    }
}
