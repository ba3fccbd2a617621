// SPDX-License-Identifier: BSD-2-Clause
import java.io.File;

/** HeapSites N: in every step 20 methods make N objects and N arrays each. From the second step on every fifth of the older objects is dropped, then collected. */
public class HeapSites {
    static final class Item { final int site; final int[] data; Item(int site, int[] data) { this.site = site; this.data = data; } }
    static Item[][] kept = new Item[20][];

    static Item m0() { return new Item(0, new int[1]); }
    static Item m1() { return new Item(1, new int[2]); }
    static Item m2() { return new Item(2, new int[3]); }
    static Item m3() { return new Item(3, new int[4]); }
    static Item m4() { return new Item(4, new int[5]); }
    static Item m5() { return new Item(5, new int[6]); }
    static Item m6() { return new Item(6, new int[7]); }
    static Item m7() { return new Item(7, new int[8]); }
    static Item m8() { return new Item(8, new int[9]); }
    static Item m9() { return new Item(9, new int[10]); }
    static Item m10() { return new Item(10, new int[11]); }
    static Item m11() { return new Item(11, new int[12]); }
    static Item m12() { return new Item(12, new int[13]); }
    static Item m13() { return new Item(13, new int[14]); }
    static Item m14() { return new Item(14, new int[15]); }
    static Item m15() { return new Item(15, new int[16]); }
    static Item m16() { return new Item(16, new int[17]); }
    static Item m17() { return new Item(17, new int[18]); }
    static Item m18() { return new Item(18, new int[19]); }
    static Item m19() { return new Item(19, new int[20]); }

    static Item make(int k) {
        switch (k) {
            case 0: return m0();
            case 1: return m1();
            case 2: return m2();
            case 3: return m3();
            case 4: return m4();
            case 5: return m5();
            case 6: return m6();
            case 7: return m7();
            case 8: return m8();
            case 9: return m9();
            case 10: return m10();
            case 11: return m11();
            case 12: return m12();
            case 13: return m13();
            case 14: return m14();
            case 15: return m15();
            case 16: return m16();
            case 17: return m17();
            case 18: return m18();
            default: return m19();
        }
    }

    static void work(int step, int n) {
        for (int k = 0; k < 20; k++) {
            Item[] old = kept[k], all = new Item[step * n];
            if (old != null) { System.arraycopy(old, 0, all, 0, old.length); }
            for (int i = 0; old != null && i < old.length; i += 5) { all[i] = null; }
            for (int i = (step - 1) * n; i < all.length; i++) { all[i] = make(k); }
            kept[k] = all;
        }
        System.gc();
    }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]), k = 1;
        System.out.println("ready");
        while (!new File("stop").exists()) {
            if (new File("step" + k).exists()) {
                work(k, n);
                new File("ack" + k++).createNewFile();
            }
            Thread.sleep(5);
        }
        System.out.println("done " + (k - 1));
    }
}
