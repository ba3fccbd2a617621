// SPDX-License-Identifier: BSD-2-Clause
/** Throws KIND CPU_MS: exceptions thrown by the program through some frames (explicit) or by the JVM's checks (implicit), for so long. Prints "done". */
public class Throws {
    static class Stop extends Exception { final int n; Stop(int n) { super("stop"); this.n = n; } }

    static int sink;
    static void thrower(int depth) throws Stop { if (depth == 0) { throw new Stop(sink); } thrower(depth - 1); }
    static void explicit() { try { thrower(20); } catch (Stop s) { sink += s.n + 1; } }
    static void implicit() {
        try { Object o = null; sink += o.hashCode(); } catch (NullPointerException e) { sink++; }
        try { sink += new int[2][sink | Integer.MIN_VALUE].length; } catch (RuntimeException e) { sink++; }
        try { Object o = "x"; sink += ((Integer) o).intValue(); } catch (ClassCastException e) { sink++; }
    }

    public static void main(String[] a) {
        long end = Cpu.now() + Long.parseLong(a[1]) * 1000000L;
        while (Cpu.now() < end) { for (int i = 0; i < 100; i++) { if (a[0].equals("explicit")) { explicit(); } else { implicit(); } } }
        System.out.println("done");
    }
}
