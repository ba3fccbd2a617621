// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/** A heap whose classes, strings and empty collections are known. Prints "ready"; ends with its input. */
public class HeapWords {
    static class Node { Node next; long value; int small; }
    static class Leaf extends Node { byte more; Object other; }
    static class Bag extends ArrayList<Object> { Bag() { super(10); } }
    static class Table extends HashMap<Object, Object> { }
    static class Shared extends ConcurrentHashMap<Object, Object> { }
    static class Line extends ArrayDeque<Object> { }
    static class Wide { long value; }
    static class Narrow extends Wide { int small; } // JDK 8 leaves a gap in Wide
    static class Item { long value; int small; }

    static final List<Object> held = new ArrayList<>();
    static final HashMap<Integer, Item> cache = new HashMap<>();

    static void text(String text, int times) {
        for (int i = 0; i < times; i++) { held.add(new String(text.toCharArray())); }
    }

    static void collections() {
        for (int i = 0; i < 40; i++) {
            Bag bag = new Bag();
            Table table = new Table();
            Shared shared = new Shared();
            Line line = new Line();
            line.add(table);
            table.put(bag, bag);
            shared.put(bag, bag);
            if (i % 2 == 0) { // every other one was emptied
                line.remove();
                table.remove(bag);
                shared.remove(bag);
            } else {
                bag.add(held);
            }
            held.add(bag);
            held.add(table);
            held.add(shared);
            held.add(line);
        }
        for (int i = 0; i < 7; i++) { held.add(new Table()); } // no table yet
    }

    public static void main(String[] args) throws Exception {
        Node last = null;
        for (int i = 0; i < 50000; i++) {
            Node n = i % 10 == 0 ? new Leaf() : new Node();
            n.next = last;
            last = n;
        }
        held.add(last);
        for (int i = 0; i < 70; i++) { held.add(new Node[i % 7]); }
        for (int i = 0; i < 5000; i++) { cache.put(1000 + i, new Item()); } // the JDK has Integers of small numbers itself
        for (int i = 0; i < 5000; i++) { held.add(new Narrow()); }
        text("a text of HeapWords, often", 1000);
        text("\u0441\u043b\u043e\u0432\u043e of HeapWords", 500);
        collections();
        System.out.println("ready");
        while (System.in.read() >= 0) { }
        System.out.println("end");
    }
}
