// SPDX-License-Identifier: BSD-2-Clause
/** Premain: what premain does is known: 1000 calls of call, 1000 objects of Made, 5 waits, 300 ms of CPU time in burn, 400 ms asleep in sleeps. Prints "main". */
public class Premain {
    static class Made { int n; }

    static volatile Object kept;
    static int calls;

    static void call() { calls++; }

    static void make() {
        Object[] all = new Object[1000];
        for (int i = 0; i < all.length; i++) { all[i] = new Made(); }
        kept = all;
    }

    static void burn() { Cpu.burn(300000000L); }

    static void sleeps() throws InterruptedException { Thread.sleep(400); }

    static void waits() throws InterruptedException {
        Object o = new Object();
        for (int i = 0; i < 5; i++) {
            synchronized (o) { o.wait(1); }
        }
    }

    public static void premain(String args) throws InterruptedException {
        if (kept != null) { return; }  // the second of two agents
        for (int i = 0; i < 1000; i++) { call(); }
        make();
        burn();
        sleeps();
        waits();
    }

    public static void main(String[] args) { System.out.println("main"); }
}
