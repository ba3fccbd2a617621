// SPDX-License-Identifier: BSD-2-Clause
/** As Count, for switches on patterns: of types, of records with records in them, with guards. Prints "expect METHOD NUMBER". */
public class CountPatterns {
    sealed interface Tree permits Leaf, Fork {}
    record Leaf(int x) implements Tree {}
    record Fork(Tree a, Tree b) implements Tree {}

    static boolean small(int x) { return x < 4; }

    static int sum(Tree t) {
        return switch (t) {
            case Leaf l when small(l.x()) -> l.x();
            case Leaf(int x) -> -x;
            case Fork(Leaf(int x), Leaf(int y)) -> x + y;
            case Fork f -> sum(f.a()) + sum(f.b());
        };
    }

    static String kind(Object o) {
        return switch (o) {
            case null -> "none";
            case String s when s.isEmpty() -> "empty";
            case String s -> s;
            case Integer i -> "int" + i;
            default -> "other";
        };
    }

    public static void main(String[] a) {
        Tree pair = new Fork(new Leaf(1), new Leaf(2));
        Tree deep = new Fork(pair, new Leaf(3));
        int h = 0;
        for (int i = 0; i < 100; i++) { h += sum(deep) + sum(new Leaf(9)); }
        Object[] all = {null, "", "x", 1, 2L};
        for (int i = 0; i < 500; i++) { h += kind(all[i % 5]).length(); }
        if (h != 100 * (1 + 2 + 3 - 9) + 100 * (4 + 5 + 1 + 4 + 5)) { throw new IllegalStateException("sum " + h); }
        System.out.println("expect CountPatterns.sum " + 400);      /* a tree: itself, its pair, its leaf; and the leaf alone */
        System.out.println("expect CountPatterns.small " + 200);
        System.out.println("expect CountPatterns$Leaf.<init> " + 103);
        System.out.println("expect CountPatterns$Leaf.x " + 600);   /* two of the pair, a guard and its value, a guard and the pattern behind it */
        System.out.println("expect CountPatterns.kind " + 500);
    }
}
