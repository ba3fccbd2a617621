// SPDX-License-Identifier: BSD-2-Clause
/**
 * HeapOom ROUNDS: fills the heap with blocks until it is full, so often; prints how many blocks there were in each round, and "done". 0 rounds: once,
 * and the error ends the program.
 */
public class HeapOom {
    static final class Block {
        final Block next;
        final byte[] data = new byte[100000];
        Block(Block next) { this.next = next; }
    }

    static Block head;

    static void fill() {
        for (;;) { head = new Block(head); }
    }

    public static void main(String[] a) {
        if (a[0].equals("0")) { fill(); }
        for (int i = Integer.parseInt(a[0]); i > 0; i--) {
            int n = 0;
            try {
                for (;;) { head = new Block(head); n++; }
            } catch (OutOfMemoryError e) {
                head = null;
            }
            System.out.println("blocks " + n);
        }
        System.out.println("done");
    }
}
