// SPDX-License-Identifier: BSD-2-Clause
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/** As an agent it changes a constant of a method that runs already, and runs on in its old version. Argument: ms of CPU after the change. */
public class OldVersion {
    static volatile long sink;
    static volatile boolean changed;
    static Instrumentation instrumentation;

    public static void premain(String options, Instrumentation i) { instrumentation = i; }

    static class Runs {
        static void loop(long after) {
            long end = Long.MAX_VALUE;
            for (boolean told = false; Cpu.now() < end;) {
                long s = 0;
                for (int i = 0; i < 100000; i++) {
                    s += i ^ (s * 0x12345678);
                }
                sink += s;
                if (!told && changed) {
                    told = true;
                    end = Cpu.now() + after * 1000000L;
                }
            }
        }
    }

    static byte[] change(byte[] file) {
        for (int i = 0; i + 4 < file.length; i++) {
            if (file[i] == 0x12 && file[i + 1] == 0x34 && file[i + 2] == 0x56 && file[i + 3] == 0x78) {
                file[i + 3] = 0x79;
            }
        }
        return file;
    }

    public static void main(String[] a) throws Exception {
        Thread t = new Thread(() -> Runs.loop(Long.parseLong(a[0])));
        t.start();
        while (sink == 0) {
            Thread.yield();
        }
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> c, ProtectionDomain p, byte[] file) {
                return "OldVersion$Runs".equals(name) ? change(file) : null;
            }
        }, true);
        instrumentation.retransformClasses(Runs.class);
        changed = true;
        t.join();
        System.out.println("done");
    }
}
