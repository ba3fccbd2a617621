// SPDX-License-Identifier: BSD-2-Clause
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Work behind method handles. */
public class Handles extends Work {
    private static final MethodHandle LEAF = leaf();

    public Handles(long ms) { super(ms); }

    private static MethodHandle leaf() {
        try {
            MethodHandle one = MethodHandles.lookup().findStatic(Handles.class, "leaf", MethodType.methodType(long.class, long.class));
            return MethodHandles.filterReturnValue(one, one);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static long leaf(long s) {
        for (int k = 0; k < 2000; k++) { s = s * 31 + (k ^ s >>> 7); }
        return s;
    }

    @Override
    long piece(int i) throws Exception {
        long s = i;
        try {
            for (int k = 0; k < 100; k++) { s = (long) LEAF.invokeExact(s); }
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        return s;
    }
}
