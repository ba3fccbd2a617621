/** Unusual names. */
public class Names {
    static class Ünïcødé { int größe = 1; Object ссылка = "s"; void метод() { 漢字(new Object[1]); } void 漢字(Object o) { new Ünïcødé(); } }
    static class $Dollar$ { static void $() { _(); } static void _() { new $Dollar$(); } }
    interface Greeter { Object greet(); }
    static void run(String threadName, final Runnable r) throws Exception { Thread t = new Thread(r, threadName); t.start(); t.join(); }
    public static void main(String[] args) throws Exception {
        final Ünïcødé u = new Ünïcødé();
        run("線程-ü", new Runnable() { public void run() { u.метод(); } });
        run("quote\"back\\slash,comma=eq", new Runnable() { public void run() { $Dollar$.$(); } });
        run("line1\nline2\ttab", new Runnable() { public void run() { } });
        run("smile\uD83D\uDE00end", new Runnable() { public void run() { } });
        run("nul\u0000after", new Runnable() { public void run() { } });
        run("percent %s %d %n", new Runnable() { public void run() { } });
        StringBuilder b = new StringBuilder(); for (int i = 0; i < 2000; i++) b.append((char) ('a' + i % 26));
        run(b.toString(), new Runnable() { public void run() { } });
        Greeter g = () -> new StringBuilder("lambda");
        System.out.println("done " + g.greet());
    }
}
// SPDX-License-Identifier: BSD-2-Clause
