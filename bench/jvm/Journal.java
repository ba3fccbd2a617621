// SPDX-License-Identifier: BSD-2-Clause
import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/**
 * What the journal costs a busy program. A tree of calls, ten a level, each path of which is a stack trace, is gone through once; then nothing
 * happens for a while, so that the journal has it. Then four threads go along paths of it: `all`: along any; `few`: along one each.
 * Arguments: levels (5: 111,110 traces; 6: 1,111,110), seconds, all or few, seconds of rest. Prints figures of a window of that length:
 * CPU time of the process without the four threads', bytes written, paths gone, and the longest time for 16 paths.
 */
public final class Journal {
    private static final int THREADS = 4;
    private static volatile long sink;
    private static volatile boolean looking;
    private static volatile boolean over;

    private Journal() {
    }

    static final class Walker extends Thread {
        private final int levels;
        private final int paths;
        private final boolean all;
        private long state;
        private int at;
        volatile long gone;
        long longest;

        Walker(int number, int levels, int paths, boolean all) {
            this.levels = levels;
            this.paths = paths;
            this.all = all;
            this.state = number;
            this.at = number * (paths / THREADS);
        }

        @Override public void run() {
            long sum = 0;
            long before = System.nanoTime();
            while (!over) {
                for (int i = 0; i < 16; i++) {
                    if (all) {
                        state = state * 6364136223846793005L + 1442695040888963407L;
                        at = (int) ((state >>> 33) % paths);
                    }
                    sum += next(levels, at);
                }
                gone += 16;
                long now = System.nanoTime();
                longest = looking ? Math.max(longest, now - before) : 0;
                before = now;
            }
            sink = sum;
        }
    }

    /** Not counted itself, so that a path has one trace a level. */
    static int next(int levels, int path) {
        if (levels == 0) {
            return 1;
        }
        int rest = path / 10;
        switch (path % 10) {
            case 0: return JournalTree.a(levels - 1, rest);
            case 1: return JournalTree.b(levels - 1, rest);
            case 2: return JournalTree.c(levels - 1, rest);
            case 3: return JournalTree.d(levels - 1, rest);
            case 4: return JournalTree.e(levels - 1, rest);
            case 5: return JournalTree.f(levels - 1, rest);
            case 6: return JournalTree.g(levels - 1, rest);
            case 7: return JournalTree.h(levels - 1, rest);
            case 8: return JournalTree.i(levels - 1, rest);
            default: return JournalTree.j(levels - 1, rest);
        }
    }

    private static long wrote() throws IOException {
        for (String line : Files.readAllLines(Paths.get("/proc/self/io"))) {
            if (line.startsWith("wchar: ")) {
                return Long.parseLong(line.substring(7));
            }
        }
        throw new IOException("no wchar in /proc/self/io");
    }

    private static long cpu(ThreadMXBean threads, List<Walker> walkers) {
        long all = ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
        for (Walker w : walkers) {
            all -= threads.getThreadCpuTime(w.getId());
        }
        return all;
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        int levels = Integer.parseInt(args[0]);
        int paths = (int) Math.pow(10, levels);
        for (int i = 0; i < paths; i++) {
            sink += next(levels, i);
        }
        Thread.sleep((long) (Double.parseDouble(args[3]) * 1e3));
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        List<Walker> walkers = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            walkers.add(new Walker(i, levels, paths, "all".equals(args[2])));
            walkers.get(i).start();
        }
        Thread.sleep(1000);
        long own = cpu(threads, walkers);
        long wrote = wrote();
        long gone = gone(walkers);
        long begin = System.nanoTime();
        looking = true;
        Thread.sleep((long) (Double.parseDouble(args[1]) * 1e3));
        System.out.println("wall_ns " + (System.nanoTime() - begin));
        System.out.println("own_ns " + (cpu(threads, walkers) - own));
        System.out.println("wrote " + (wrote() - wrote));
        System.out.println("paths " + (gone(walkers) - gone));
        over = true;
        long longest = 0;
        for (Walker w : walkers) {
            w.join();
            longest = Math.max(longest, w.longest);
        }
        System.out.println("longest_ns " + longest);
    }

    private static long gone(List<Walker> walkers) {
        long sum = 0;
        for (Walker w : walkers) {
            sum += w.gone;
        }
        return sum;
    }
}

/** The class whose calls are counted. */
final class JournalTree {
    private JournalTree() {
    }

    static int a(int n, int path) {
        return Journal.next(n, path);
    }

    static int b(int n, int path) {
        return Journal.next(n, path);
    }

    static int c(int n, int path) {
        return Journal.next(n, path);
    }

    static int d(int n, int path) {
        return Journal.next(n, path);
    }

    static int e(int n, int path) {
        return Journal.next(n, path);
    }

    static int f(int n, int path) {
        return Journal.next(n, path);
    }

    static int g(int n, int path) {
        return Journal.next(n, path);
    }

    static int h(int n, int path) {
        return Journal.next(n, path);
    }

    static int i(int n, int path) {
        return Journal.next(n, path);
    }

    static int j(int n, int path) {
        return Journal.next(n, path);
    }
}
