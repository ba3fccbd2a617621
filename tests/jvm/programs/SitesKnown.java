// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;

/**
 * What a program of allocation sites knows: each way to allocate is a method of its own, called so often; every second result is kept.
 * Prints "site METHOD CLASS OBJECTS LIVE BYTES LIVE_BYTES", the sizes those of the VM.
 */
final class SitesKnown {
    interface Way { Object make(int i) throws Throwable; }

    private static final List<Object> kept = new ArrayList<>();
    private static final List<String> lines = new ArrayList<>();

    private SitesKnown() {}

    /** parts: an object like the one that the method makes (null: its result), how many it makes, and so on. Of what the result does not hold a negative number. */
    static void way(String method, int n, Way way, Object... parts) throws Throwable {
        for (int i = 0; i < n; i++) {
            Object made = way.make(i);
            if (i % 2 == 0) { kept.add(made); }
        }
        for (int i = 0; i < parts.length; i += 2) { expect(method, n, parts[i] != null ? parts[i] : kept.get(kept.size() - 1), (Integer) parts[i + 1]); }
    }

    private static void expect(String method, int n, Object like, int each) {
        long all = (long) n * Math.abs(each), live = each < 0 ? 0 : (n + 1) / 2 * (long) each, size = SitesJni.size(like);
        say(method, name(like.getClass()), all, live, all * size, live * size);
    }

    static void say(String method, String type, long all, long live, long bytes, long liveBytes) {
        lines.add("site " + method + " " + type + " " + all + " " + live + " " + bytes + " " + liveBytes);
    }

    /** Of a class without a name of its own the beginning, with an asterisk. */
    static String name(Class<?> c) {
        return c.isArray() ? name(c.getComponentType()) + "[]" : c.getName().replaceFirst("[$]{2}Lambda.*", "\\$\\$Lambda*").replaceFirst("/.*", ".*");
    }

    static void end() {
        System.gc();
        for (String line : lines) { System.out.println(line); }
    }
}
