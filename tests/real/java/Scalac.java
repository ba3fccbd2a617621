// SPDX-License-Identifier: BSD-2-Clause
package real;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import scala.reflect.internal.util.BatchSourceFile;
import scala.reflect.internal.util.SourceFile;
import scala.reflect.io.AbstractFile;
import scala.reflect.io.VirtualDirectory;
import scala.reflect.io.VirtualFile;
import scala.tools.nsc.Global;
import scala.tools.nsc.Settings;
import scala.tools.nsc.reporters.StoreReporter;

/** A source for each question, compiled into memory by the client's own compiler. */
public class Scalac implements Real.Program {
    private final ThreadLocal<Global> compiler = ThreadLocal.withInitial(() -> {
        Settings s = new Settings();
        s.processArgumentString("-usejavacp");
        return new Global(s, new StoreReporter(s));
    });

    @Override
    public void start(String[] args) {
        // a client makes its own compiler
    }

    @Override
    public String answer(int n) throws Exception {
        Global global = compiler.get();
        VirtualDirectory to = new VirtualDirectory("memory", scala.Option.empty());
        global.settings().outputDirs().setSingleOutput(to);
        global.reporter().reset();
        String source = "sealed trait T" + n + "; case class A" + n + "(x: Int, y: String) extends T" + n + "; case object B" + n + " extends T" + n + "\n"
                + "object O" + n + " { def f(t: T" + n + ", xs: List[Int]): Option[String] = t match {\n"
                + "case A" + n + "(x, y) if x > " + n + " => xs.map(_ * x).filter(_ % 3 == 0).headOption.map(v => s\"$y$v\")\n"
                + "case A" + n + "(_, y) => for (x <- xs.headOption; z <- Option(y)) yield z * x\ncase B" + n + " => None }" + (n % 5 == 0 ? " val wrong: Int = \"\"" : "") + " }\n";
        global.new Run().compileSources(scala.jdk.javaapi.CollectionConverters.asScala(Arrays.<SourceFile>asList(new BatchSourceFile(new VirtualFile("Q" + n + ".scala"), source.toCharArray()))).toList());
        Iterable<AbstractFile> made = scala.jdk.javaapi.CollectionConverters.asJava(to);
        return global.reporter().errorCount() + " " + StreamSupport.stream(made.spliterator(), false).map(AbstractFile::name).sorted().collect(Collectors.joining(","));
    }
}
