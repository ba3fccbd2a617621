/* SPDX-License-Identifier: BSD-2-Clause */
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Loads and prepares up to N classes of the JDK. Argument: N. */
public final class LoadAll {
    private static final String[] MODULES = {"java.base",  "jdk.compiler", "java.desktop",   "java.xml",
                                             "jdk.javadoc", "java.sql",     "jdk.jshell",     "java.management",
                                             "jdk.jdeps",   "java.rmi",     "java.security.jgss", "jdk.httpserver"};

    private static void add(Path module, List<String> names) throws IOException {
        try (Stream<Path> files = Files.walk(module)) {
            files.map(f -> module.relativize(f).toString()).filter(f -> f.endsWith(".class") && !f.endsWith("-info.class")).sorted()
                .forEach(f -> names.add(f.substring(0, f.length() - 6).replace('/', '.')));
        }
    }

    /** Says how many classes and methods it has loaded. */
    static void load(int most) throws IOException {
        FileSystem image = FileSystems.getFileSystem(URI.create("jrt:/"));
        List<String> names = new ArrayList<>();
        for (String module : MODULES) {
            if (Files.exists(image.getPath("/modules", module))) {
                add(image.getPath("/modules", module), names);
            }
        }
        int classes = 0;
        long methods = 0;
        for (String name : names) {
            if (classes == most) {
                break;
            }
            try {
                Class<?> c = Class.forName(name, false, LoadAll.class.getClassLoader());
                methods += c.getDeclaredMethods().length; // links it
                methods += c.getDeclaredConstructors().length;
                classes++;
            } catch (ClassNotFoundException | LinkageError e) {
                continue; // needs a module that is not there
            }
        }
        Figures.line("classes", classes);
        Figures.line("methods", methods);
    }

    public static void main(String[] args) throws IOException {
        Figures figures = new Figures();
        load(Integer.parseInt(args[0]));
        Figures.line("rss_kb", Figures.rssKilobytes());
        figures.end();
    }
}
