// SPDX-License-Identifier: BSD-2-Clause
package real;

import clojure.lang.Compiler;
import clojure.lang.RT;
import java.io.StringReader;

/** A form for each question, compiled into classes. */
public class Clojure implements Real.Program {
    @Override
    public void start(String[] args) {
        RT.init();
    }

    @Override
    public String answer(int n) {
        return String.valueOf(Compiler.load(new StringReader("(let [fib (fn [n] (loop [a 0N b 1N n n] (if (zero? n) a (recur b (+ a b) (dec n)))))]"
                + " (str (fib " + n % 200 + ") (frequencies (map #(mod (* % %) 7) (range " + n % 100 + "))) (reduce + (filter odd? (range " + n + ")))))")));
    }
}
