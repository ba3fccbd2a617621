/**
 * A native thread attaches, works and leaves, twice in one session, and once more between two. Arguments: the library (tests/sessions), how
 * many pairs of sessions, the options.
 */
public class SessionsOutside {
    static final int ATTACH = 0, WORK = 1, LEAVE = 2;
    static class Made { long a; }
    static volatile Object sink;
    static volatile int count;

    static native void tell(int step);
    static void leaf() { count++; }
    static void work() {
        for (int i = 0; i < 1000; i++) { leaf(); }
        for (int i = 0; i < 100; i++) { sink = new Made(); }
    }

    static void session(String options, int... steps) {
        if (!Sessions.begin(options)) { System.exit(3); }
        for (int step : steps) { tell(step); }
        if (!Sessions.end()) { System.exit(4); }
    }

    public static void main(String[] a) {
        System.load(a[0]);
        for (int i = 0; i < Integer.parseInt(a[1]); i++) {
            tell(ATTACH);
            session(a[2] + ",file=twice" + i, WORK, LEAVE, ATTACH, WORK, LEAVE);
            tell(ATTACH);
            session(a[2] + ",file=once" + i, WORK, LEAVE);
        }
        System.out.println("done");
    }
}
