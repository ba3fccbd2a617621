/* SPDX-License-Identifier: BSD-2-Clause */
import java.nio.charset.StandardCharsets;

/**
 * How long a thread is stopped, as Windows has it, by a dump of a heap with so many objects, of 36 bytes on average: nodes of a tree, each with a
 * string, a boxed number, numbers and references. Arguments: objects; write: the work of the windows is writing to nodes here and there; idle: no
 * windows, the program waits for the end of its input.
 */
public final class HeapFill {
    private static final int PER_NODE = 6; // 40 + 24 + 32 + 24 + 48 + 48 bytes
    private static final byte[] LETTERS = new byte[12];
    private static volatile int sink;

    private HeapFill() {
    }

    private static final class Node {
        final Node parent;
        final String name;
        final Long box;
        final int[] numbers = new int[8];
        final Object[] references = new Object[8];
        final int number;

        Node(Node parent, int number) {
            this.parent = parent;
            this.number = number;
            LETTERS[number % LETTERS.length] = (byte) ('a' + number % 26);
            name = new String(LETTERS, StandardCharsets.ISO_8859_1);
            box = Long.valueOf(1000L + number);
            numbers[number & 7] = number;
            references[number & 7] = parent;
            references[number + 1 & 7] = name;
        }
    }

    private static Node[] fill(int objects) {
        Node[] nodes = new Node[Math.max(1, objects / PER_NODE)];
        for (int i = 0; i < nodes.length; i++) {
            nodes[i] = new Node(i == 0 ? null : nodes[(i - 1) / 2], i);
        }
        return nodes;
    }

    /** Some 2 us of writing to nodes anywhere in the heap. */
    private static int write(Node[] nodes, int v) {
        int x = v;
        for (int i = 0; i < 16; i++) {
            x = x * 69069 + 1;
            nodes[(x >>> 1) % nodes.length].numbers[i & 7] = x;
        }
        return x;
    }

    public static void main(String[] args) throws java.io.IOException {
        Node[] kept = fill(Integer.parseInt(args[0]));
        if (args.length > 1 && args[1].equals("idle")) {
            System.out.println("ready");
            while (System.in.read() >= 0) {
                sink++;
            }
        } else if (args.length > 1) {
            Windows.run(x -> write(kept, x));
        } else {
            Windows.run();
        }
        sink = kept[kept.length - 1].number;
    }
}
