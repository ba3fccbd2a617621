// SPDX-License-Identifier: BSD-2-Clause
import java.util.HashMap;
import java.util.Map;

/** Strange CPU_MS: names outside ASCII and names made to break a text format, of classes, methods, source files, threads and groups. Prints "done". */
public class Strange {
    static long each;

    public static void work() { Cpu.burn(each); }

    static class Größe { static void länge() { work(); } }
    static class 大きさ { static void 𝒳𝒴() { work(); } }

    static class Loader extends ClassLoader {
        Class<?> define(String name, byte[] b) { return defineClass(name, b, 0, b.length); }
    }

    static void loaded(String cls, String method, String file) throws Exception {
        Map<String, String> names = new HashMap<>();
        names.put("StrangeTemplate", cls.replace('.', '/'));
        names.put("LStrangeTemplate;", "L" + cls.replace('.', '/') + ";");
        names.put("StrangeTemplate.java", file);
        names.put("run", method);
        new Loader().define(cls, ClassFile.renamed(ClassFile.bytes("StrangeTemplate.class"), names)).getMethod(method).invoke(null);
    }

    static void thread(String group, String name) throws Exception {
        Thread t = new Thread(new ThreadGroup(group), name) { public void run() { work(); } };
        t.start();
        t.join();
    }

    public static void main(String[] a) throws Exception {
        each = Long.parseLong(a[0]) * 1000000L;
        Größe.länge();
        大きさ.𝒳𝒴();
        loaded("p.New\nLine", "tab\tquote\"back\\slash", "C\rR.java");
        loaded("p.Control\u0001\u007f\u0085", "lone\ud800end", "a (b:1) c.java");
        loaded("p.TRACE 300001:", "\nTHREAD END (id = 200001)\n", "CPU SAMPLES END\n");
        loaded("p.Nul\u0000", "x\u0000\ud835\udcb3\udcb3y", "\u00ff.java");
        StringBuilder longName = new StringBuilder();
        for (int i = 0; i < 2000; i++) { longName.append((char) ('a' + i % 26)); }
        loaded("p.Long" + longName, longName.toString(), "Long.java");
        thread("g", "new\nline\r\ttab");
        thread("quote\"back\\slash", "worker \"one\", group=\"x\")\nTHREAD END (id = 200001)");
        thread("\ud835\udcb3", "\ud83d\ude00 smile");
        thread("", "");
        thread("lone \udfff", "\ud800\u0000\u0001\u0085\u009f\u007f");
        thread("long", longName.toString());
        System.out.println("done");
    }
}
