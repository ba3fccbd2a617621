// SPDX-License-Identifier: BSD-2-Clause
import java.lang.invoke.MethodHandles;

/** Modern CPU_MS: a record's method, a hidden class, an enum's switch, a nest mate's private method. Prints "done". */
public class Modern {
    record Point(int x, int y) { void burnRecord(long ns) { Cpu.burn(ns * (x + y)); } }

    sealed interface Shape permits Square {}
    static final class Square implements Shape { private void burnSealed(long ns) { Cpu.burn(ns); } }

    public static void main(String[] a) throws Throwable {
        long ns = Long.parseLong(a[0]) * 1000000L;
        Cpu.now(); // the first reading loads classes
        new Point(0, 1).burnRecord(ns);
        new Square().burnSealed(ns);
        Class<?> hidden = MethodHandles.lookup().defineHiddenClass(ClassFile.bytes("HiddenTemplate.class"), true).lookupClass();
        hidden.getMethod("burnHidden", long.class).invoke(null, ns);
        System.out.println("done");
    }
}
