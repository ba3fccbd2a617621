/* SPDX-License-Identifier: BSD-2-Clause */
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
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

    /** CPU time so far of the threads whose name is wanted, in nanoseconds. */
    private static long cpu(Predicate<String> wanted) {
        long sum = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                String[] figures = read(task.resolve("schedstat")).split(" ");
                if (wanted.test(read(task.resolve("comm"))) && figures.length == 3) {
                    sum += Long.parseLong(figures[0]);
                }
            }
        } catch (IOException e) {
            return -1;
        }
        return sum;
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

    /** The end of the work: wall time since this object was made, CPU time of the JVM's own kinds of threads. */
    void end() {
        line("wall_ns", System.nanoTime() - begin);
        line("service_ns", cpuOf("Service Thread"));
        line("compiler_ns", cpuOf("CompilerThre"));
    }
}
