/* SPDX-License-Identifier: BSD-2-Clause */
import java.io.File;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/** Loads and drops classes, or starts and ends threads, at a bounded rate, and prints memory and descriptors as it goes.
 *  Arguments: classes or threads, seconds, as many a second at most. A line a second: seconds, how many so far, resident KiB, descriptors.
 *  Figures at the end: how many, the slope of memory behind the first third (least squares), descriptors then and at the end. */
public final class Churn {
    /** The class that is loaded again and again, under names of the same length. */
    public static final class T0000000 {
        public static int run0000000(int x) {
            for (int i = 0; i < 20000; i++) {
                x = x * 69069 + 1;
            }
            return x;
        }
    }

    private static final class Loader extends ClassLoader {
        Loader() { super(Churn.class.getClassLoader()); }
        Class<?> define(byte[] b) { return defineClass(null, b, 0, b.length); }
    }

    private static volatile int sink;
    private static byte[] template;

    private static void oneClass(int number) throws Exception {
        byte[] digits = String.format("%07d", number % 10_000_000).getBytes(StandardCharsets.US_ASCII);
        byte[] b = template.clone();
        for (int i = 0; i + 7 <= b.length; i++) {
            boolean zeros = true;
            for (int k = 0; zeros && k < 7; k++) { zeros = template[i + k] == '0'; }
            if (zeros) { System.arraycopy(digits, 0, b, i, 7); }
        }
        sink = (Integer) new Loader().define(b).getMethods()[0].invoke(null, sink);
    }

    private static final ArrayDeque<Thread> ALIVE = new ArrayDeque<>();

    private static void oneThread(int number) throws InterruptedException {
        if (ALIVE.size() == 8) { ALIVE.remove().join(); }
        Thread t = new Thread(() -> sink = T0000000.run0000000(sink), "short thread " + number);
        t.start();
        ALIVE.add(t);
    }

    private static final long[][] SEEN = new long[100_000][];
    private static int seen;

    private static void look(long second, int done) {
        String[] open = new File("/proc/self/fd").list();
        SEEN[seen] = new long[] {second, done, Figures.rssKilobytes(), open == null ? -1 : open.length};
        System.out.printf("%d %d %d %d%n", SEEN[seen][0], SEEN[seen][1], SEEN[seen][2], SEEN[seen][3]);
        seen++;
    }

    private static void summary() {
        int from = seen / 3;
        double n = seen - from, x = 0, y = 0, xx = 0, xy = 0;
        for (int i = from; i < seen; i++) {
            x += SEEN[i][0];
            y += SEEN[i][2];
            xx += (double) SEEN[i][0] * SEEN[i][0];
            xy += (double) SEEN[i][0] * SEEN[i][2];
        }
        Figures.line("done", SEEN[seen - 1][1]);
        Figures.line("slope_kb_a_minute", Math.round(60 * (n * xy - x * y) / (n * xx - x * x)));
        Figures.line("descriptors_added", SEEN[seen - 1][3] - SEEN[from][3]);
    }

    public static void main(String[] args) throws Exception {
        boolean classes = args[0].equals("classes");
        long seconds = Long.parseLong(args[1]), rate = Long.parseLong(args[2]);
        try (InputStream in = Churn.class.getResourceAsStream("Churn$T0000000.class")) {
            template = in.readAllBytes();
        }
        long begin = System.nanoTime(), next = 0;
        int done = 0;
        for (long now = 0; now < seconds * 1_000_000_000; now = System.nanoTime() - begin) {
            if (now >= next * 1_000_000_000) {
                look(next++, done);
            } else if (done * 1_000_000_000.0 / rate > now) {
                Thread.sleep(1);
            } else if (classes) {
                oneClass(done++);
            } else {
                oneThread(done++);
            }
        }
        summary();
    }
}
