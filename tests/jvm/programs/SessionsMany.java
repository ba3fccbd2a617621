// SPDX-License-Identifier: BSD-2-Clause
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/**
 * Begins and ends sessions under threads that start and end all the time. Arguments: the library (tests/sessions), and the option strings in
 * turn. A line of stdin is a number of sessions: tells how many began, and how many of those ended. At its end the JVM ends while they go on.
 */
public class SessionsMany {
    static String[] a;
    static int i, begun, ended;
    static volatile int sink;

    static int leaf(int x) { return x + 1; }

    static void session() {
        String options = a[1 + i++ % (a.length - 1)];
        if (Sessions.begin(options)) {
            begun++;
            for (int k = 0; k < 1000; k++) { sink = leaf(sink); }
            ended += Sessions.end() ? 1 : 0;
        }
    }

    static void startAndJoin() {
        for (;;) {
            Thread t = new Thread(() -> { for (int k = 0; k < 100; k++) { sink = leaf(sink); } }, "short");
            t.start();
            try { t.join(); } catch (InterruptedException e) { return; }
        }
    }

    static void start(Runnable r) {
        Thread t = new Thread(r, "starter");
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] args) throws Exception {
        a = args;
        System.load(a[0]);
        for (int k = 0; k < 3; k++) { start(SessionsMany::startAndJoin); }
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int told = 0;
        for (String l = in.readLine(); l != null; l = in.readLine()) {
            begun = ended = 0;
            for (int n = Integer.parseInt(l); n > 0; n--) { session(); }
            System.out.println("sessions " + begun + " " + ended);
            System.out.println("done " + ++told);
        }
        System.out.println("kept " + Sessions.kept());
        CountDownLatch some = new CountDownLatch(20);
        start(() -> { for (;;) { session(); some.countDown(); } });
        some.await();
        System.out.println("end");
        System.exit(0);
    }
}
