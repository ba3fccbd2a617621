/* SPDX-License-Identifier: BSD-2-Clause */
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * How long a thread is stopped by a dump of a heap with so many objects, of 36 bytes on average: nodes of a tree, each with a string, a boxed number,
 * numbers and references. The thread reads the clock in a loop; what a turn takes longer than usual is a stop. A byte on the input begins a new window,
 * its end ends the program; each window has a line. Argument: objects.
 */
public final class HeapFill {
    private static final int PER_NODE = 6; // 40 + 24 + 32 + 24 + 48 + 48 bytes
    private static final int PIECE = 1000; // steps of work, about 2 us
    private static final long[] TIMES = new long[1 << 14];
    private static final byte[] LETTERS = new byte[12];
    private static volatile int asked;
    private static volatile boolean over;
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

    private static int work(int v) {
        int x = v;
        for (int i = 0; i < PIECE; i++) {
            x = x * 69069 + 1 ^ x >>> 11;
        }
        return x;
    }

    private static void listen() {
        try {
            while (System.in.read() >= 0) {
                asked++;
            }
        } catch (IOException e) {
            System.err.println(e);
        }
        over = true;
    }

    private static long median() {
        int x = 1;
        long before = System.nanoTime();
        for (int n = 0; n < 2 * TIMES.length; n++) {
            x = work(x);
            long now = System.nanoTime();
            TIMES[n % TIMES.length] = now - before;
            before = now;
        }
        sink = x;
        Arrays.sort(TIMES);
        return TIMES[TIMES.length / 2];
    }

    /** Until the next byte or the end of the input. */
    private static void window(int mine, long piece) {
        int x = 1;
        long longest = 0;
        long begin = System.nanoTime();
        long before = begin;
        while (asked == mine && !over) {
            x = work(x);
            long now = System.nanoTime();
            longest = Math.max(longest, now - before - piece);
            before = now;
        }
        sink = x;
        System.out.println("window " + mine + " ns " + (before - begin) + " longest " + longest);
    }

    public static void main(String[] args) {
        Node[] kept = fill(Integer.parseInt(args[0]));
        long piece = median();
        Thread listener = new Thread(HeapFill::listen, "listener");
        listener.setDaemon(true);
        listener.start();
        System.out.println("ready");
        int mine = 0;
        while (!over) {
            window(mine, piece);
            mine++;
        }
        sink = kept[kept.length - 1].number;
    }
}
