// SPDX-License-Identifier: BSD-2-Clause
/** Throws CPU_MS: exceptions thrown through some frames and caught, for so long. Prints "done". */
public class Throws {
    static class Stop extends Exception { final int n; Stop(int n) { super("stop"); this.n = n; } }

    static int sink;
    static void thrower(int depth) throws Stop { if (depth == 0) { throw new Stop(sink); } thrower(depth - 1); }
    static void catcher() {
        try { thrower(20); } catch (Stop s) { sink += s.n + 1; }
        try { Object o = null; sink += o.hashCode(); } catch (NullPointerException e) { sink++; }
        try { sink += new int[2][sink | Integer.MIN_VALUE].length; } catch (RuntimeException e) { sink++; }
        try { Object o = "x"; sink += ((Integer) o).intValue(); } catch (ClassCastException e) { sink++; }
    }

    public static void main(String[] a) {
        long end = Cpu.now() + Long.parseLong(a[0]) * 1000000L;
        while (Cpu.now() < end) { for (int i = 0; i < 100; i++) { catcher(); } }
        System.out.println("done");
    }
}
