// SPDX-License-Identifier: BSD-2-Clause

/** DeepYield: a virtual thread yields at many depths up to where its stack ends. Prints "yielded", or "stuck" and ends at once. */
public class DeepYield {
    static int deepest;

    static int descend(int n) {
        deepest = n;
        return descend(n + 1) + 1;
    }

    static int yieldAt(int n) {
        if (n == 0) {
            Thread.yield();
            return 0;
        }
        return yieldAt(n - 1) + 1;
    }

    static void run() {
        for (int i = 0; i < 3; i++) {
            try { descend(0); } catch (StackOverflowError expected) { }
        }
        int end = deepest;
        for (int n = end / 2; n < end * 6 / 5; n += Math.max(1, end / 400)) {
            try { yieldAt(n); } catch (StackOverflowError expected) { }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread v = Thread.ofVirtual().start(DeepYield::run);
        v.join(60000);
        System.out.println(v.isAlive() ? "stuck" : "yielded");
        System.out.flush();
        if (v.isAlive()) { Runtime.getRuntime().halt(3); }
    }
}
