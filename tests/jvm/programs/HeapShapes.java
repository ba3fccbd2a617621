// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;

/** HeapShapes N: a list of N nodes, a tree of N, N in one array, N in arrays of 100, and an array that has all of those of the other arrays once more. Each node has a number of its own. */
public class HeapShapes {
    static final class Node {
        final int number;
        Node left;
        Node right;

        Node() { number = made++; }
    }

    static int made;
    static Node list;
    static Node tree;
    static Node[] flat;
    static Node[][] nested;
    static Object[] again;

    static Node tree(int n) {
        Node top = new Node();
        if (n > 1) { top.left = tree(n / 2); }
        if (n > 2) { top.right = tree(n - 1 - n / 2); }
        return top;
    }

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            Node first = new Node();
            first.left = list;
            list = first;
        }
        tree = tree(n);
        flat = new Node[n];
        nested = new Node[n / 100][100];
        for (int i = 0; i < n; i++) {
            all.add(flat[i] = new Node());
            all.add(nested[i / 100][i % 100] = new Node());
        }
        again = all.toArray();
        HeapTell.untilStop();
    }
}
