// SPDX-License-Identifier: BSD-2-Clause
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/** UnloadMany CLASSES CPU_US [NAMES]: class gen.C<k>, each in a loader of its own, runs method r<k>, which calls burn<k % 3>; collected on the way.
 *  With NAMES the class is gen.C<k % NAMES>, collected before its name comes again.
 *  Prints "unloaded MANY" if nine tenths of them went, else the number. */
public class UnloadMany {
    static long each;

    public static void burn0() { Cpu.burn(each); }
    public static void burn1() { Cpu.burn(each); }
    public static void burn2() { Cpu.burn(each); }

    static class Loader extends ClassLoader {
        Loader() { super(UnloadMany.class.getClassLoader()); }
        Class<?> define(String name, byte[] b) { return defineClass(name, b, 0, b.length); }
    }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]);
        each = Long.parseLong(a[1]) * 1000L;
        int names = a.length > 2 ? Integer.parseInt(a[2]) : n, often = Math.min(names, 500);
        byte[] template = ClassFile.bytes("UnloadTemplate.class");
        for (int k = 0; k < n; k++) {
            String name = "C" + k % names;
            Map<String, String> words = new HashMap<>();
            words.put("UnloadTemplate", "gen/" + name);
            words.put("LUnloadTemplate;", "Lgen/" + name + ";");
            words.put("UnloadTemplate.java", name + ".java");
            words.put("run", "r" + k);
            words.put("burn0", "burn" + k % 3);
            new Loader().define("gen." + name, ClassFile.renamed(template, words)).getMethod("r" + k).invoke(null);
            if (k % often == often - 1) { System.gc(); }
        }
        for (int i = 0; i < 4; i++) { System.gc(); Thread.sleep(20); }
        long gone = ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount();
        System.out.println("unloaded " + (gone >= n * 9L / 10 ? "MANY" : String.valueOf(gone)));
    }
}
