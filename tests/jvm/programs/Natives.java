// SPDX-License-Identifier: BSD-2-Clause
import java.util.function.LongUnaryOperator;

/** Natives CPU_MS: a native method, a lambda and a method reference, each burns so much. Prints "done". */
public class Natives {
    static native void burn(long ns);

    static void viaLambda(LongUnaryOperator f, long ns) { f.applyAsLong(ns); }
    static long target(long ns) { Cpu.burn(ns); return ns; }

    public static void main(String[] a) {
        System.loadLibrary("helper");
        long ns = Long.parseLong(a[0]) * 1000000L;
        burn(ns);
        viaLambda(x -> { Cpu.burn(x); return x; }, ns);
        viaLambda(Natives::target, ns);
        System.out.println("done");
    }
}
