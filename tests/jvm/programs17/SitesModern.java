// SPDX-License-Identifier: BSD-2-Clause
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.stream.IntStream;

/** SitesModern N: ways to allocate that Java 8 does not have, N times each; prints what SitesKnown says. */
public class SitesModern {
    record Point(int x, long y) { }
    record Pair<T>(T left, T right) { }
    sealed interface Shape permits Circle { }
    record Circle(double r) implements Shape { }

    static String left = "left".concat(""), right = "right".concat("");
    static MethodHandle hidden;

    static Object point(int i) { return new Point(i, i); }
    static Object pair(int i) { return new Pair<>(new Point(i, 1), new Point(i, 2)); }
    static Object circle(int i) {
        Shape s = new Circle(i);
        return s instanceof Circle c ? c : null;
    }
    static Object text(int i) { return left + i + right; }
    static Object listOf(int i) { return List.of(left, right); }
    static Object ofStream(int i) { return IntStream.range(0, 5).mapToObj(k -> new Point(k, i)).toArray(); }
    static Object hidden(int i) throws Throwable { return (Object) hidden.invokeExact(); }

    public static void main(String[] a) throws Throwable {
        int n = Integer.parseInt(a[0]);
        MethodHandles.Lookup of = MethodHandles.lookup().defineHiddenClass(ClassFile.bytes("HiddenTemplate.class"), true);
        hidden = of.findConstructor(of.lookupClass(), MethodType.methodType(void.class)).asType(MethodType.methodType(Object.class));
        SitesKnown.way("SitesModern.point", n, SitesModern::point, new Point(1, 2), 1);
        SitesKnown.way("SitesModern.pair", n, SitesModern::pair, new Pair<>(1, 2), 1, new Point(1, 2), 2);
        SitesKnown.way("SitesModern.hidden", n, SitesModern::hidden, null, 1);
        SitesKnown.way(">SitesModern.text", n, SitesModern::text, left, 1);
        SitesKnown.way("SitesModern.listOf", n, SitesModern::listOf, List.of(1, 2), 1);
        SitesKnown.way("SitesModern.ofStream", n, SitesModern::ofStream, new Point(1, 2), 5);
        SitesKnown.way("SitesModern.circle", n, SitesModern::circle, new Circle(1), 1);
        SitesKnown.end();
    }
}
