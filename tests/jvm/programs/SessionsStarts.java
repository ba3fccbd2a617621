/** Begins three sessions and ends those that have begun. Arguments: the library (tests/sessions), the options. */
public class SessionsStarts {
    static volatile int count;

    static void leaf() { count++; }

    public static void main(String[] a) {
        System.load(a[0]);
        for (int i = 0; i < 3; i++) {
            boolean begun = Sessions.begin(a[1] + ",file=" + i);
            for (int k = 0; k < 1000; k++) { leaf(); }
            System.out.println("session " + i + " " + begun + " " + (begun && Sessions.end()));
        }
    }
}
