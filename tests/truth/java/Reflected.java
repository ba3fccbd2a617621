// SPDX-License-Identifier: BSD-2-Clause
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.util.concurrent.Callable;

/** Objects and arrays by reflection. */
public class Reflected implements Callable<String> {
    public static class Made { }

    static volatile Object escape;
    private final int n;

    public Reflected(long n) { this.n = (int) n; }

    static void objects(int n) throws ReflectiveOperationException {
        Constructor<Made> c = Made.class.getConstructor();
        for (int i = 0; i < n; i++) { escape = c.newInstance(); }
    }

    static void arrays(int n) {
        for (int i = 0; i < n; i++) { escape = Array.newInstance(Made.class, 7); }
    }

    @Override
    public String call() throws ReflectiveOperationException {
        long before = Account.clock();
        objects(n);
        arrays(n / 2);
        Account a = new Account().work("Reflected", Account.clock() - before);
        return a.made("Reflected.objects", "Reflected$Made", n).made("Reflected.arrays", "Reflected$Made[]", n / 2).calls("Reflected$Made.<init>", n).toString();
    }
}
