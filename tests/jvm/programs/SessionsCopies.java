import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.util.Arrays;

/**
 * A thread that was there before makes objects without an instruction for it, in two sessions. Arguments: the library (tests/sessions), the
 * options, how many of each.
 */
public class SessionsCopies {
    static class Copied implements Cloneable {
        long a;
        Object copy() throws Exception { return clone(); }
    }
    /** Its copies are made by super.clone(), although copy() asks its own. */
    static class Own extends Copied {
        static Object last;
        @Override public Object clone() throws CloneNotSupportedException { return super.clone(); }
    }
    /** It has no copies. */
    static class Same extends Copied {
        @Override public Object clone() { return this; }
    }
    /** Nor this one. */
    static class None extends Copied {
        @Override public Object clone() { return null; }
    }
    static class Kept { }
    /** Its own clone() makes none of its objects. */
    static class Reflected {
        @Override public Object clone() { return this; }
    }
    /** Is never initialized. */
    static class Never {
        static final int N = Integer.parseInt("never");
    }
    static class Element { }
    static class Listed { }
    static volatile Object sink;

    static void work(int n) throws Exception {
        Copied copied = new Copied(), own = new Own(), same = new Same(), none = new None();
        Kept[] kept = new Kept[3];
        Never[] never = new Never[1];
        Listed[] listed = new Listed[2];
        Constructor<Reflected> constructor = Reflected.class.getDeclaredConstructor();
        for (int i = 0; i < n; i++) {
            sink = copied.copy();
            sink = own.copy();
            sink = same.copy();
            sink = none.copy();
            sink = kept.clone();
            sink = never.clone();
            sink = constructor.newInstance();
            sink = Array.newInstance(Element.class, 4);
            sink = Array.newInstance(Element.class, 2, 3);
            sink = Arrays.copyOf(listed, 5);
        }
    }

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[2]);
        System.load(a[0]);
        work(n); // compiled, and with what its constructor has become
        for (int i = 0; i < 2; i++) {
            if (!Sessions.begin(a[1] + ",file=" + i)) { System.exit(3); }
            work(n);
            if (!Sessions.end()) { System.exit(4); }
        }
        System.out.println("done");
    }
}
