// SPDX-License-Identifier: BSD-2-Clause
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.util.CheckClassAdapter;

/** AsmCheck IN OUT: every class below OUT by ASM's CheckClassAdapter, with its data flow; a complaint that the class of the same path below IN raises too is none. */
public class AsmCheck {
    static String complaint(Path file) throws Exception {
        try {
            new ClassReader(Files.readAllBytes(file)).accept(new CheckClassAdapter(new ClassNode(), true), 0);
            return null;
        } catch (RuntimeException e) {
            return String.valueOf(e.getMessage()).lines().findFirst().orElse(e.toString());
        }
    }

    public static void main(String[] args) throws Exception {
        Path in = Path.of(args[0]), out = Path.of(args[1]);
        AtomicInteger bad = new AtomicInteger(), both = new AtomicInteger(), n = new AtomicInteger();
        List<Path> files;
        try (var walk = Files.walk(out)) {
            files = walk.filter(p -> p.toString().endsWith(".class")).toList();
        }
        files.parallelStream().forEach(file -> {
            try {
                n.incrementAndGet();
                String after = complaint(file);
                if (after != null) {
                    Path before = in.resolve(out.relativize(file));
                    if (Files.exists(before) && complaint(before) != null) {
                        both.incrementAndGet();
                    } else {
                        bad.incrementAndGet();
                        System.out.println(file + ": " + after);
                    }
                }
            } catch (Exception e) {
                throw new RuntimeException(file.toString(), e);
            }
        });
        System.out.println(n + " classes, " + bad + " bad, " + both + " as bad before");
        System.exit(bad.get() > 0 ? 1 : 0);
    }
}
