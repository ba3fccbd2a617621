// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** What a loader of Loaders defines. Its static initializer runs probes of all kinds. */
public class LoadersPlug implements Callable<String> {
    static final int FIRST = f(10);
    static Object[] kept = {new int[3], new LoadersPlug(), new int[2][2]};

    static int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }

    public String call() {
        Object[] o = new Object[10];
        for (int i = 0; i < o.length; i++) { o[i] = new int[i + 1]; }
        return FIRST + " " + f(15) + " " + kept.length + " " + o.length + " " + LoadersPlugMore.more();
    }
}

class LoadersPlugMore {
    static final Object MADE = new Object();
    static String more() { return MADE == null ? "less" : "more"; }
}
