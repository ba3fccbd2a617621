// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Objects of value classes, equal ones among them. */
public class Values implements Callable<String> {
    static value class Wide {
        long a, b, c;

        Wide(long a) {
            this.a = a;
            this.b = a + 1;
            this.c = a + 2;
            super();
        }
    }

    static value class Small {
        short x, y;

        Small(int x, int y) {
            this.x = (short) x;
            this.y = (short) y;
            super();
        }
    }

    static volatile Object escape;
    static final java.util.Queue<Object> kept = new java.util.concurrent.ConcurrentLinkedQueue<>();
    private final int n;

    public Values(long n) { this.n = (int) n; }

    static Object[] wides(int n) {
        Object[] all = new Object[n];
        for (int i = 0; i < n; i++) { all[i] = new Wide(i / 2); }
        return all;
    }

    static Small[] flat(int n) {
        Small[] all = new Small[n];
        for (int i = 0; i < n; i++) { all[i] = new Small(3, 4); }
        return all;
    }

    @Override
    public String call() {
        kept.add(wides(n));
        kept.add(flat(n));
        return new Account().made("Values.wides", "Values$Wide", n).calls("Values$Wide.<init>", n).calls("Values$Small.<init>", n).toString();
    }
}
