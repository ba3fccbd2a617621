// SPDX-License-Identifier: BSD-2-Clause
/** HeapSecrets: secrets of every kind, made while it runs, so no class file or option has them; markers count from 1, as test_heap.py does. */
public class HeapSecrets {
    /** Nothing reads as this value by chance. */
    static long marker(int n) { return 0x5ec7a91e00000000L | 0xd1b54a33L * n & 0xffffffffL; }

    static String word(String kind) {
        StringBuilder b = new StringBuilder();
        for (char c : kind.toCharArray()) { b.append((char) (c ^ 1)); }
        return b.append("!").toString();
    }

    static class Secret {
        final long j; final int i; final double d; final short s; final char c; final boolean z;
        final byte[] bytes; final char[] chars; final long[] longs; final double[] doubles; final int[] ints;
        final String latin, wide;
        final Long boxed;

        Secret(int base, String name) {
            j = marker(base);
            i = (int) marker(base + 1);
            d = Double.longBitsToDouble(marker(base + 2));
            s = 77; c = 'S'; z = true;
            bytes = word(name + "bytes").getBytes();
            chars = word(name + "chars").toCharArray();
            longs = new long[] {marker(base + 3), 1};
            doubles = new double[] {Double.longBitsToDouble(marker(base + 4))};
            ints = new int[] {(int) marker(base + 5) | 1, (int) (marker(base + 5) >>> 32)};
            latin = word(name + "latin");
            wide = word(name + "wide") + "\u4e2d";
            boxed = marker(base + 6);
        }
    }
    static class Plain extends Secret {
        static long statik = marker(11);
        Plain() { super(1, "plain"); }
    }
    static class Kept {
        static long statik = marker(31);
        final long j = marker(21);
        final byte[] bytes = word("keptbytes").getBytes();
        final long[] longs = {marker(24), 1};
        final String latin = word("keptlatin");
    }
    static Object plain, kept;

    public static void main(String[] args) throws Exception {
        plain = HeapTell.tells(new Plain());
        kept = HeapTell.tells(new Kept());
        for (Object o : new Object[] {Plain.class, Kept.class, HeapSecrets.class, Secret.class}) { HeapTell.tells(o); }
        Secret s = (Secret) plain;
        for (Object o : new Object[] {s.bytes, s.chars, s.longs, s.doubles, s.ints, s.latin, s.wide, s.boxed}) { HeapTell.tells(o); }
        HeapTell.tell();
        HeapTell.untilStop();
    }
}
