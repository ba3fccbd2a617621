// SPDX-License-Identifier: BSD-2-Clause
package real;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jetbrains.kotlin.cli.common.ExitCode;
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler;

/** A source for each question, compiled into a folder. */
public class Kotlinc implements Real.Program {
    @Override
    public void start(String[] args) {
        // each call of the compiler stands for itself
    }

    @Override
    public String answer(int n) throws Exception {
        Path folder = Files.createTempDirectory(Paths.get(""), "kotlinc"), source = folder.resolve("Q" + n + ".kt"), to = folder.resolve("classes");
        String text = "sealed interface T" + n + "\ndata class A" + n + "(val x: Int, val y: String) : T" + n + "\nobject B" + n + " : T" + n + "\n"
                + "inline fun <R> twice(f: (Int) -> R) = listOf(f(1), f(2))\n"
                + "fun f(t: T" + n + ", xs: List<Int>): String? = when (t) {\n"
                + "is A" + n + " -> xs.map { it * t.x }.filter { it % 3 == 0 }.firstOrNull()?.let { \"${t.y}$it\" }\n"
                + "B" + n + " -> sequence { yieldAll(twice { it + " + n + " }) }.joinToString() }\n" + (n % 3 == 0 ? "val wrong: Int = \"\"\n" : "");
        Files.write(source, text.getBytes("UTF-8"));
        String path = Stream.of(System.getProperty("java.class.path").split(":")).filter(j -> j.contains("kotlin-stdlib")).findFirst().get();
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        ExitCode code = new K2JVMCompiler().exec(new PrintStream(said), "-no-stdlib", "-no-reflect", "-cp", path, "-d", to.toString(), source.toString());
        String made = "";
        if (Files.exists(to)) {
            try (Stream<Path> all = Files.walk(to)) {
                made = all.map(p -> p.getFileName().toString()).sorted().collect(Collectors.joining(","));
            }
        }
        return code + " " + made + " " + said.toString().contains("mismatch");
    }
}
