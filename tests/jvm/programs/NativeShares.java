// SPDX-License-Identifier: BSD-2-Clause
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * NativeShares KIND CPU_MS: calls C that uses CPU time 60 : 30 : 10 directly, or through C that calls Java back ("shares": both in turn); "deep": below
 * a recursion of C; "deeper": the same through one that calls Java back; "elsewhere": on a stack of its own; "nowhere": in code of no library; "edge": in the same at the end of a stack; "passing LIBRARY": in a library that two threads load and unload. Prints "truth a b c"
 * in ns.
 */
public class NativeShares {
    static native void work(int n);
    static native void through(int n);
    static native long spent(int i);
    static native void deep(int depth, int n);
    static native void deeper(int depth, int n);
    static native void elsewhere(int n);
    static native void nowhere(int n);
    static native void edge(int n);
    static native void passing(String library, int n);

    static void back(int n) { work(n); }

    static Path looking() throws IOException {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Paths.get("/proc/self/task"))) {
            for (Path task : tasks) {
                if (new String(Files.readAllBytes(task.resolve("comm"))).equals("hprofx-native\n")) { return task; }
            }
        }
        return null;
    }

    static long rounds(Path task) throws IOException {
        for (String line : Files.readAllLines(task.resolve("status"))) {
            if (line.startsWith("voluntary_ctxt_switches:")) { return Long.parseLong(line.replaceAll("\\D", "")); }
        }
        throw new IOException("no voluntary_ctxt_switches");
    }

    /** Until the thread that looks which libraries are mapped has gone to sleep twice: it has seen the one that was just loaded. */
    static void awaitLook() throws Exception {
        Path task = looking();
        for (long end = task == null ? 0 : rounds(task) + 3; task != null && rounds(task) < end;) { Thread.sleep(10); }
    }

    public static void main(String[] a) throws Exception {
        System.loadLibrary("shares");
        awaitLook();
        final AtomicBoolean over = new AtomicBoolean();
        Thread other = new Thread(() -> {
            while (!over.get()) { passing(a[2], 1000); }
        });
        if (a[0].equals("passing")) { other.start(); }
        long end = Cpu.now() + Long.parseLong(a[1]) * 1000000L;
        for (int r = 1; Cpu.now() < end; r++) {
            int n = 5000 + (int) ((r * 2654435761L >>> 7) & 8191);
            switch (a[0]) {
                case "deep": deep(20 + r % 300, 20 * n); break;
                case "deeper": deeper(20 + r % 300, n); break;
                case "elsewhere": elsewhere(20 * n); break;
                case "nowhere": nowhere(200 * n); break;
                case "edge": edge(200 * n); break;
                case "passing": passing(a[2], n); break;
                default: work(n); through(n);
            }
        }
        over.set(true);
        other.join();
        System.out.println("truth " + spent(0) + " " + spent(1) + " " + spent(2));
    }
}
