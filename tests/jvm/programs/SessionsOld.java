/** A call that begins in one session goes on in the next, in code of the first. Arguments: the library (tests/sessions), the options. */
public class SessionsOld {
    static class Old { long a; }
    static volatile Object sink;
    static volatile int made;
    static volatile boolean stop;

    static void make() {
        while (!stop) {
            sink = new Old();
            made++;
            Thread.yield();
        }
    }

    static void await(int more) throws InterruptedException {
        for (int until = made + more; made < until;) { Thread.sleep(1); }
    }

    public static void main(String[] a) throws Exception {
        System.load(a[0]);
        if (!Sessions.begin(a[1] + ",file=first")) { System.exit(3); }
        Thread t = new Thread(SessionsOld::make, "old");
        t.start();
        await(1000);
        if (!Sessions.end() || !Sessions.begin(a[1] + ",file=next")) { System.exit(4); }
        await(1000);
        if (!Sessions.end()) { System.exit(5); }
        stop = true;
        t.join();
        System.out.println("done");
    }
}
