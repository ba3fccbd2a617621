// SPDX-License-Identifier: BSD-2-Clause
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/** SitesUnload CLASSES NAMES: class gen.C<k % NAMES>, each in a loader of its own, makes objects; collected on the way. Prints "made METHOD CLASS N", "unloaded N". */
public class SitesUnload {
    static class Loader extends ClassLoader {
        Loader() { super(SitesUnload.class.getClassLoader()); }
        Class<?> define(String name, byte[] b) { return defineClass(name, b, 0, b.length); }
    }

    static Class<?> define(String name, byte[] b) { return new Loader().define(name, b); }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]), names = Integer.parseInt(a[1]);
        byte[] template = ClassFile.bytes("SitesUnloadTemplate.class");
        for (int k = 0; k < n; k++) {
            String name = "gen.C" + k % names;
            Map<String, String> words = new HashMap<>();
            words.put("SitesUnloadTemplate", name.replace('.', '/'));
            words.put("LSitesUnloadTemplate;", "L" + name.replace('.', '/') + ";");
            words.put("[LSitesUnloadTemplate;", "[L" + name.replace('.', '/') + ";");
            ((Runnable) define(name, ClassFile.renamed(template, words)).getConstructor().newInstance()).run();
            if (k % names == names - 1) { System.gc(); }
        }
        for (int i = 0; i < 4; i++) { System.gc(); Thread.sleep(20); }
        int each = n / names;
        for (int k = 0; k < names; k++) {
            String name = "gen.C" + k;
            System.out.println("made " + name + ".run " + name + " " + 10 * each);
            System.out.println("made " + name + ".run " + name + "[] " + each);
            System.out.println("made SitesUnload.main " + name + " " + 11 * each);
            System.out.println("made " + name + ".<clinit> short[] " + each);
        }
        System.out.println("unloaded " + ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount());
    }
}
