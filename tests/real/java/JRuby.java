// SPDX-License-Identifier: BSD-2-Clause
package real;

import org.jruby.embed.LocalContextScope;
import org.jruby.embed.ScriptingContainer;

/** A script for each question, in one runtime of Ruby for each client. */
public class JRuby implements Real.Program {
    private final ThreadLocal<ScriptingContainer> ruby = ThreadLocal.withInitial(() -> new ScriptingContainer(LocalContextScope.SINGLETHREAD));

    @Override
    public void start(String[] args) {
        // a client starts its own
    }

    @Override
    public String answer(int n) {
        return String.valueOf(ruby.get().runScriptlet("fib = Hash.new { |h, k| h[k] = k < 2 ? k : h[k - 1] + h[k - 2] }\n"
                + "C" + n + " = Struct.new(:a, :b) do\n  def sum = a + b\nend\n"
                + "words = (0..." + n % 200 + ").map { |i| C" + n + ".new(i, i * " + n + ").sum.to_s(36).reverse }\n"
                + "bad = begin; Integer('x" + n + "'); rescue ArgumentError => e; e.message; end\n"
                + "[fib[" + n % 90 + "], words.grep(/[a-f]/).sort.join(','), bad].inspect"));
    }
}
