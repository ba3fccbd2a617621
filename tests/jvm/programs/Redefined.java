// SPDX-License-Identifier: BSD-2-Clause
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.security.ProtectionDomain;

/** Redefined CLASS ROUNDS [FILE...]: an agent that in each round retransforms the class, and with files redefines it by the next of them; then runs it. */
public class Redefined implements ClassFileTransformer {
    static Instrumentation inst;

    public static void premain(String args, Instrumentation i) {
        inst = i;
        i.addTransformer(new Redefined(), true);
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> of, ProtectionDomain domain, byte[] bytes) {
        return null;
    }

    public static void main(String[] a) throws Exception {
        Class<?> c = Class.forName(a[0]);
        Runnable r = (Runnable) c.getConstructor().newInstance();
        r.run();
        for (int i = 0; i < Integer.parseInt(a[1]); i++) {
            if (a.length > 2) {
                inst.redefineClasses(new ClassDefinition(c, Files.readAllBytes(Paths.get(a[2 + i % (a.length - 2)]))));
            } else {
                inst.retransformClasses(c);
            }
            r.run();
        }
    }
}
