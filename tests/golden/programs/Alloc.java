/** Known allocation sites: live objects, garbage, every array type. */
public class Alloc {
    static class Node { Node next; int a = 7; long b = 8; }
    class Inner { Object ref = Alloc.this; byte x = 1; }
    static class Junk { byte[] pay = new byte[1000]; }
    static class Base { int i = 1; Object o; }
    static class Derived extends Base { int i = 2; double d = 3.5; boolean z = true; char c = 'x'; short s = -2; float f = 1.5f; byte y = -1; long j = -3L; String str = "derived"; }
    static Node head;
    static Inner[] inners;
    static Object[] keep = new Object[64];
    static int kept;
    static void keep(Object o) { keep[kept++] = o; }
    static final int CONST_INT = 42;
    static long statLong = 123456789012L;
    static boolean statBool = true;
    static String statStr = "static string";
    static Object statNull = null;
    static void nodes(int n) { for (int i = 0; i < n; i++) { Node x = new Node(); x.next = head; head = x; } }
    void inners(int n) { inners = new Inner[n]; for (int i = 0; i < n; i++) inners[i] = new Inner(); }
    static void junk(int n) { for (int i = 0; i < n; i++) new Junk(); }
    static void prims() {
        boolean[] z = new boolean[10]; z[1] = true; keep(z);
        byte[] b = new byte[11]; b[2] = -5; keep(b);
        char[] c = new char[12]; c[3] = '\u20ac'; keep(c);
        short[] s = new short[13]; s[4] = -300; keep(s);
        int[] i = new int[14]; i[5] = 0x01020304; keep(i);
        long[] j = new long[15]; j[6] = 0x0102030405060708L; keep(j);
        float[] f = new float[16]; f[7] = 1.25f; keep(f);
        double[] d = new double[17]; d[8] = -2.5; keep(d);
    }
    static void objectArrays() {
        keep(new Object[20]);                       // only nulls
        Object[] o = new Object[20]; o[3] = "three"; keep(o);   // trailing nulls
        keep(new Object[0]);
        keep(new int[0]);
        keep(new String[] { "p", null, "q" });
    }
    static void multi() {
        keep(new int[3][4]);
        keep(new String[2][3][]);
        keep(new long[2][2][2]);
    }
    static void indirect() throws Exception {
        keep(new int[] { 1, 2, 3 }.clone());
        keep(java.lang.reflect.Array.newInstance(Node.class, 5));
        keep(java.lang.reflect.Array.newInstance(int.class, 6));
        keep(Node.class.newInstance());
        keep(Integer.valueOf(100000));
        keep("a" + kept + "b");
        java.util.ArrayList<Object> l = new java.util.ArrayList<Object>(); l.add(l); keep(l);
    }
    public static void main(String[] args) throws Exception {
        nodes(1000);
        new Alloc().inners(200);
        junk(5000);
        prims();
        objectArrays();
        multi();
        indirect();
        keep(new Derived());
        System.gc();
        Thread.sleep(300);
        System.out.println("done " + kept);
    }
}
// SPDX-License-Identifier: BSD-2-Clause
