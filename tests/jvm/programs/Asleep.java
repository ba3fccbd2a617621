// SPDX-License-Identifier: BSD-2-Clause
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Whether the kernel has threads of this process asleep. A thread has the state BLOCKED or WAITING of the VM before the VM tells an agent that its block begins; when it
 * sleeps the VM has told. Where /proc does not say, all are.
 */
final class Asleep {
    private static final String TASKS = "/proc/self/task/";

    private static String first(String path) {
        byte[] bytes = new byte[400];
        try (FileInputStream f = new FileInputStream(path)) {
            int n = f.read(bytes);
            return n < 0 ? "" : new String(bytes, 0, n, StandardCharsets.US_ASCII);
        } catch (IOException e) {
            return "";
        }
    }

    /** The kernel's number of the calling thread, as text. */
    static String self() {
        String stat = first("/proc/thread-self/stat");
        return stat.substring(0, Math.max(0, stat.indexOf(' ')));
    }

    static boolean thread(String number) {
        String stat = first(TASKS + number + "/stat");
        int state = stat.lastIndexOf(')') + 2;
        return number.isEmpty() || state >= stat.length() || stat.charAt(state) == 'S';
    }

    /** Of the virtual threads. */
    static boolean carriers() {
        String[] all = new File(TASKS).list();
        for (String number : all == null ? new String[0] : all) {
            if (first(TASKS + number + "/comm").startsWith("ForkJoinPool") && !thread(number)) { return false; }
        }
        return true;
    }
}
