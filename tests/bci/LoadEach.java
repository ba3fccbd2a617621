// SPDX-License-Identifier: BSD-2-Clause
import java.nio.file.Files;
import java.nio.file.Path;

/** LoadEach DIR: DIR/in/N/T.class and DIR/out/N/T.class, each in a loader of its own: those that link before rewriting must link after. */
public class LoadEach {
    static String verdict(Path file) throws Exception {
        byte[] bytes = Files.readAllBytes(file);
        try {
            new ClassLoader() {
                Class<?> define() {
                    return defineClass(null, bytes, 0, bytes.length);
                }
            }.define().getDeclaredMethods();
            return "links";
        } catch (LinkageError | SecurityException e) { // the second: a class of java.lang
            return e.toString().lines().findFirst().orElse("");
        }
    }

    public static void main(String[] args) throws Exception {
        int bad = 0, linked = 0, n = 0;
        for (; Files.exists(Path.of(args[0], "in", "" + n)); n++) {
            String before = verdict(Path.of(args[0], "in", "" + n, "T.class")), after = verdict(Path.of(args[0], "out", "" + n, "T.class"));
            if (before.equals("links")) {
                linked++;
            }
            if (before.equals("links") != after.equals("links")) {
                System.out.println(n + ": before: " + before + "; after: " + after);
                bad++;
            } else if (args.length > 1) {
                System.out.println(n + ": " + before + "; after: " + after);
            }
        }
        System.out.println(n + " classes, " + linked + " link, " + bad + " changed their verdict");
        System.exit(bad > 0 ? 1 : 0);
    }
}
