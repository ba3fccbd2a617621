// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.locks.LockSupport;

/**
 * Locked, in a JVM that runs: LockedLate PARKS: "round" parks so often in parks(), then does rounds of Locked. Unsafe.park is bound before, and compiled if
 * PARKS is large, and the thread that parks runs.
 */
public class LockedLate {
    static int parks;

    static void parks(int n) {
        for (int i = 0; i < n; i++) { LockSupport.parkNanos(1); }
    }

    static void round(Blocked one, int rounds) {
        try {
            parks(parks);
            for (int i = 0; i < rounds; i++) { Locked.round(one, 20); }
            one.tell();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] a) throws Exception {
        parks = Integer.parseInt(a[0]);
        parks(parks);
        Blocked one = new Blocked("parker");
        Attached.round = () -> round(one, 3);
        Attached.main(a);
        one.end();
    }
}
