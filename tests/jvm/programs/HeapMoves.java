// SPDX-License-Identifier: BSD-2-Clause
/** HeapMoves N: a ring of N nodes in both directions, while one thread allocates and one makes a list of others. No array has the nodes: the VM would visit all its elements. */
public class HeapMoves {
    static final class Node {
        final int number;
        Node next, back;
        final int[] data;

        Node(int number) { this.number = number; data = new int[] {number}; }
    }

    static Node first;
    static volatile Node other = new Node(-1);
    static volatile boolean ended;
    static volatile Object sink;

    static void allocate() {
        for (int i = 0; !ended; i++) {
            Object[] a = new Object[64];
            for (int k = 0; k < 64; k++) { a[k] = new int[k]; }
            sink = a;
        }
    }

    static void replace() {
        for (int i = 0; !ended; i++) {
            Node n = new Node(-1);
            n.next = i % 1000 == 0 ? first : other;
            other = n;
        }
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        first = new Node(0);
        first.next = first.back = first;
        for (int i = 1; i < n; i++) {
            Node at = new Node(i);
            at.next = first;
            at.back = first.back;
            first.back = at.back.next = at;
        }
        Thread a = new Thread(HeapMoves::allocate), r = new Thread(HeapMoves::replace);
        a.start();
        r.start();
        HeapTell.untilStop();
        ended = true;
        a.join();
        r.join();
    }
}
