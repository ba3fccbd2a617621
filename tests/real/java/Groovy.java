// SPDX-License-Identifier: BSD-2-Clause
package real;

import groovy.lang.GroovyShell;

/** A script for each question, compiled into classes that are unloaded later. */
public class Groovy implements Real.Program {
    @Override
    public void start(String[] args) {
        // nothing runs beside the questions
    }

    @Override
    public String answer(int n) {
        return String.valueOf(new GroovyShell().evaluate("class Account { int sum = 0; def add(x) { sum += x; this } }\n" + "def a = new Account()\n"
                + "(1..200).findAll { it % " + (n % 9 + 2) + " == 0 }.each { a.add(it) }\n"
                + "def words = 'the quick brown fox'.split(' ').collectEntries { [it, it.size() * a.sum] }\n"
                + "try { if (a.sum % 2) throw new IllegalStateException(\"odd ${a.sum}\") } catch (IllegalStateException e) { words.odd = e.message }\n" + "words.sort().toString() + " + n));
    }
}
