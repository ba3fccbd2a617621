// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Objects and arrays by clone(), and arrays by Arrays.copyOf, which the VM replaces by its own code. */
public class Clones implements Callable<String> {
    static class Copied implements Cloneable {
        long a;
        Object copy() throws CloneNotSupportedException { return clone(); }
    }

    static volatile Object escape;
    private final int n;

    public Clones(long n) { this.n = (int) n; }

    static void objects(int n) throws CloneNotSupportedException {
        Copied c = new Copied();
        for (int i = 0; i < n; i++) { escape = c.copy(); }
    }

    static void arrays(int n) {
        Copied[] all = new Copied[3];
        for (int i = 0; i < n; i++) { escape = all.clone(); }
    }

    static void copies(int n) {
        Copied[] all = new Copied[3];
        for (int i = 0; i < n; i++) { escape = java.util.Arrays.copyOf(all, 5); }
    }

    @Override
    public String call() throws CloneNotSupportedException {
        long before = Account.clock();
        objects(n);
        arrays(n / 2);
        copies(n / 4);
        Account a = new Account().work("Clones", Account.clock() - before);
        return a.made("Clones.objects", "Clones$Copied", n + 1).made("Clones.arrays", "Clones$Copied[]", n / 2 + 1)
            .made("Clones.copies", "Clones$Copied[]", n / 4 + 1).calls("Clones$Copied.copy", n).toString();
    }
}
