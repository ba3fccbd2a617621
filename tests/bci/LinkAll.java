// SPDX-License-Identifier: BSD-2-Clause
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;

/** LinkAll [JAR...]: links every class of the run-time image (-Devery=N: every N-th, from the one at -Dfrom=K on), or of the jars; prints what does not link, one line each, and how many did. */
public class LinkAll {
    static int linked, failed;

    static void link(String name, ClassLoader loader) {
        try {
            // Asking for methods links: the class is verified.
            Class.forName(name, false, loader).getDeclaredMethods();
            linked++;
        } catch (Throwable e) {
            failed++;
            String message = String.valueOf(e.getMessage());
            System.out.println(name + ": " + e.getClass().getName() + ": " + message.lines().findFirst().orElse(""));
            if (e instanceof VerifyError || e instanceof ClassFormatError) {
                System.err.println(name + ": " + e);
            }
        }
    }

    static void image() throws Exception {
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        List<Path> files = new ArrayList<>();
        try (var walk = Files.walk(modules)) {
            walk.sorted().filter(p -> p.toString().endsWith(".class") && !p.toString().endsWith("module-info.class")).forEach(files::add);
        }
        int every = Integer.getInteger("every", 1), k = every - Integer.getInteger("from", 0) % every;
        for (Path file : files) {
            if (k++ % every != 0) {
                continue;
            }
            Module module = ModuleLayer.boot().findModule(file.getName(1).toString()).orElse(null);
            if (module != null) {
                String path = file.subpath(2, file.getNameCount()).toString();
                link(path.substring(0, path.length() - 6).replace('/', '.'), module.getClassLoader());
            }
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length == 0) {
            image();
        } else {
            URL[] urls = new URL[args.length];
            for (int i = 0; i < args.length; i++) {
                urls[i] = Path.of(args[i]).toUri().toURL();
            }
            ClassLoader loader = new URLClassLoader(urls);
            for (String arg : args) {
                try (JarFile jar = new JarFile(arg)) {
                    jar.stream().map(e -> e.getName()).filter(n -> n.endsWith(".class") && !n.startsWith("META-INF/") && !n.contains("module-info"))
                        .forEach(n -> link(n.substring(0, n.length() - 6).replace('/', '.'), loader));
                }
            }
        }
        System.out.println("linked " + linked + ", failed " + failed);
        System.err.println("linked " + linked + ", failed " + failed);
    }
}
