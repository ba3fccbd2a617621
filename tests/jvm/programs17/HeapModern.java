// SPDX-License-Identifier: BSD-2-Clause
import java.lang.invoke.MethodHandles;

/** What HeapGraph adds on later JDKs: records, hidden classes, sealed ones, nested interfaces of records. */
public class HeapModern implements Runnable {
    interface Named { String CONSTANT = "of a record"; int N = 77; }
    record Point(int x, double y, Object to, byte small) implements Named { static Object origin; static final short ZERO = 3; }
    sealed interface Shape permits Circle {}
    record Circle(Point centre, float r) implements Shape {}

    static Object[] kept;

    @Override
    public void run() {
        try {
            Point p = new Point(-3, 2.5, null, (byte) -1), q = new Point(4, Double.NaN, p, (byte) 2);
            Point.origin = q;
            MethodHandles.Lookup hidden = MethodHandles.lookup().defineHiddenClass(ClassFile.bytes("HeapHidden.class"), true);
            MethodHandles.Lookup second = MethodHandles.lookup().defineHiddenClass(ClassFile.bytes("HeapHidden.class"), true, MethodHandles.Lookup.ClassOption.STRONG);
            kept = new Object[] {Named.class, Point.class, Shape.class, Circle.class, hidden.lookupClass(), second.lookupClass(), p, q, new Circle(q, 1.5f),
                                 hidden.lookupClass().getConstructor(int.class).newInstance(5), second.lookupClass().getConstructor(int.class).newInstance(6)};
            for (Object o : kept) { HeapTell.tells(o); }
            HeapTell.tells(kept);
            HeapTell.tells(HeapModern.class);
            Class.forName("HeapModern$Named", true, HeapModern.class.getClassLoader());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
