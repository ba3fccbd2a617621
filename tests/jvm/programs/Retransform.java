// SPDX-License-Identifier: BSD-2-Clause
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/** Retransform ROUNDS MS: an agent of java.lang.instrument that hands the program's class out anew in each round, which burns MS. Prints "rounds N". */
public class Retransform implements ClassFileTransformer {
    static Instrumentation inst;
    static volatile int transformed;

    public static void premain(String args, Instrumentation i) {
        inst = i;
        i.addTransformer(new Retransform(), true);
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> of, ProtectionDomain domain, byte[] bytes) {
        if ("Retransform".equals(name) && of != null) {
            transformed++;
            return bytes.clone();
        }
        return null;
    }

    static void burn(long ns) {
        long end = Cpu.now() + ns;
        long s = 7;
        do { for (int i = 0; i < 5000; i++) { s ^= s << 13; s ^= s >>> 7; s ^= s << 17; } } while (Cpu.now() < end);
        Cpu.sink += s;
    }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]);
        for (int i = 0; i < n; i++) {
            inst.retransformClasses(Retransform.class);
            burn(Long.parseLong(a[1]) * 1000000L);
        }
        System.out.println("rounds " + transformed);
    }
}
