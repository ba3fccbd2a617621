// SPDX-License-Identifier: BSD-2-Clause
import java.lang.reflect.Method;

/** Work behind Method.invoke. */
public class Reflective extends Work {
    private static final Method LEAF = leaf();

    public Reflective(long ms) { super(ms); }

    private static Method leaf() {
        try {
            return Reflective.class.getMethod("leaf", long.class);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    public static long leaf(long s) {
        for (int k = 0; k < 4000; k++) { s = s * 31 + (k ^ s >>> 7); }
        return s;
    }

    @Override
    long piece(int i) throws Exception {
        long s = i;
        for (int k = 0; k < 100; k++) { s = (Long) LEAF.invoke(null, s); }
        return s;
    }
}
