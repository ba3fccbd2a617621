/* SPDX-License-Identifier: BSD-2-Clause */
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/** javac inside this process; arguments are javac's. Says what each thread has used. */
public final class Javac {
    public static void main(String[] args) {
        Figures figures = new Figures();
        JavaCompiler javac = ToolProvider.getSystemJavaCompiler();
        int status = javac.run(null, null, null, args);
        figures.end();
        Figures.threads();
        System.exit(status);
    }
}
