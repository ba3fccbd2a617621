// SPDX-License-Identifier: BSD-2-Clause
/** Objects that live at the end, of classes and lengths that nobody else has. Prints "instance CLASS COUNT" and "array CLASS ELEMENTS COUNT". */
public class JvmpiGraph {
    static class Node {
        Node next;
        int number;
        long wide = -1;
        byte small;
    }

    static class Leaf extends Node {
        double real = 0.5;
        Object text = "text";
    }

    interface Bare {
    }

    enum Colour implements Bare {
        RED, GREEN
    }

    static Node first;
    static final Object[] kept = new Object[7777];
    static final long CONSTANT = 42;
    static boolean flag = true;
    static char letter = 'x';

    public static void main(String[] args) {
        for (int i = 0; i < 1000; i++) {
            Node n = i % 4 == 0 ? new Leaf() : new Node();
            n.next = first;
            n.number = i;
            first = n;
        }
        for (int i = 0; i < 10; i++) {
            kept[i] = new int[12345];
            kept[10 + i] = new boolean[2347];
            kept[20 + i] = new long[3451];
            kept[30 + i] = new Node[4513][];
            kept[40 + i] = Colour.values();
        }
        System.out.println("instance JvmpiGraph$Node 750\ninstance JvmpiGraph$Leaf 250\ninstance JvmpiGraph$Colour 2");
        System.out.println("array int[] 12345 10\narray boolean[] 2347 10\narray long[] 3451 10\narray JvmpiGraph$Node[][] 4513 10");
        System.out.println("array java.lang.Object[] 7777 1\narray JvmpiGraph$Colour[] 2 11");
    }
}
