/** Named threads in named groups, started and joined one after the other. */
public class Fruits {
    static volatile long sink;
    static void peel(int rounds) { for (int r = 0; r < rounds; r++) slice(); }
    static void slice() { long s = 1; for (long i = 0; i < 200000L; i++) s = s * 31 + i; sink += s; }
    static Thread make(ThreadGroup g, String name, final int rounds) {
        return new Thread(g, name) { public void run() { peel(rounds); } };
    }
    public static void main(String[] args) throws Exception {
        int k = args.length > 0 ? Integer.parseInt(args[0]) : 100;
        ThreadGroup fruit = new ThreadGroup("fruit");
        ThreadGroup citrus = new ThreadGroup(fruit, "citrus");
        Thread a = make(fruit, "apples", 3 * k);
        Thread o = make(citrus, "oranges", k);
        a.start(); a.join();
        o.start(); o.join();
        Thread e = make(null, "", 1); e.start(); e.join();
        Thread d = make(fruit, "pips daemon", 1); d.setDaemon(true); d.start(); d.join();
        System.out.println("done");
    }
}
// SPDX-License-Identifier: BSD-2-Clause
