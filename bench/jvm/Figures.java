/* SPDX-License-Identifier: BSD-2-Clause */
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.ObjLongConsumer;
import java.util.function.Predicate;

/** What a benchmark program knows about itself, as "key value" lines on its output. */
final class Figures {
    private final long begin = System.nanoTime();

    static void line(String key, long value) {
        System.out.println(key + " " + value);
    }

    private static String read(Path p) {
        try {
            return Files.readString(p, StandardCharsets.ISO_8859_1).trim();
        } catch (IOException | RuntimeException e) {
            return ""; // the thread has ended
        }
    }

    /** Calls with the name and the CPU time so far, in nanoseconds, of each thread; false: there is no such account. */
    private static boolean forEachThread(ObjLongConsumer<String> taken) {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                String[] figures = read(task.resolve("schedstat")).split(" ");
                String name = read(task.resolve("comm"));
                if (figures.length == 3) {
                    taken.accept(name, Long.parseLong(figures[0]));
                }
            }
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** CPU time so far of the threads whose name is wanted, in nanoseconds. */
    private static long cpu(Predicate<String> wanted) {
        long[] sum = new long[1];
        return forEachThread((name, ns) -> sum[0] += wanted.test(name) ? ns : 0) ? sum[0] : -1;
    }

    static long cpuOf(String word) {
        return cpu(name -> name.contains(word));
    }

    /** Of all threads of the process but its compilers and the main thread, which measures. */
    static long cpuOfWorkers() {
        return cpu(name -> !name.contains("CompilerThre") && !name.equals("java"));
    }

    static long rssKilobytes() {
        for (String l : read(Path.of("/proc/self/status")).split("\n")) {
            if (l.startsWith("VmRSS:")) {
                return Long.parseLong(l.replaceAll("[^0-9]", ""));
            }
        }
        return -1;
    }

    /** "thread NANOSECONDS NAME" for each thread, then the CPU time of the process: that of threads that have ended is in it too. */
    static void threads() {
        forEachThread((name, ns) -> System.out.println("thread " + ns + " " + name));
        ProcessHandle.current().info().totalCpuDuration().ifPresent(all -> line("process_ns", all.toNanos()));
    }

    /** The end of the work: wall time since this object was made. */
    void end() {
        line("wall_ns", System.nanoTime() - begin);
    }
}
