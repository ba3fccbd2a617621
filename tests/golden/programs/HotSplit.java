/** Single thread; three leaf methods doing the same kernel 6 : 3 : 1. */
public class HotSplit {
    static volatile long sink;
    static long unit;
    static void hotA() { long s = 1; for (long i = 0, n = 6 * unit; i < n; i++) { s = s * 6364136223846793005L + i; } sink += s; }
    static void hotB() { long s = 1; for (long i = 0, n = 3 * unit; i < n; i++) { s = s * 6364136223846793005L + i; } sink += s; }
    static void hotC() { long s = 1; for (long i = 0, n = 1 * unit; i < n; i++) { s = s * 6364136223846793005L + i; } sink += s; }
    static void round() { hotA(); hotB(); hotC(); }
    public static void main(String[] args) {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 200;
        unit = args.length > 1 ? Long.parseLong(args[1]) : 1000000L;
        for (int i = 0; i < rounds; i++) round();
        System.out.println("done " + (sink != 0));
    }
}
// SPDX-License-Identifier: BSD-2-Clause
