/* SPDX-License-Identifier: BSD-2-Clause */
/** A tree of calls, ten a level: each path is a stack trace (levels 5: 111,110 of them). Then waits for the file "stop". */
public class Tree {
    /** Not counted itself, so that a path has one trace a level. */
    static int grow(int levels) {
        if (levels == 0) {
            return 1;
        }
        int n = levels - 1;
        return TreeNodeWhoseNameIsSoLongThatATableOfAllPathsIsLargerThanTheQueue.a(n)
            + TreeNodeWhoseNameIsSoLongThatATableOfAllPathsIsLargerThanTheQueue.b(n)
            + TreeNodeWhoseNameIsSoLongThatATableOfAllPathsIsLargerThanTheQueue.c(n)
            + TreeNodeWhoseNameIsSoLongThatATableOfAllPathsIsLargerThanTheQueue.d(n)
            + TreeNodeWhoseNameIsSoLongThatATableOfAllPathsIsLargerThanTheQueue.e(n)
            + TreeNodeWhoseNameIsSoLongThatATableOfAllPathsIsLargerThanTheQueue.f(n)
            + TreeNodeWhoseNameIsSoLongThatATableOfAllPathsIsLargerThanTheQueue.g(n)
            + TreeNodeWhoseNameIsSoLongThatATableOfAllPathsIsLargerThanTheQueue.h(n)
            + TreeNodeWhoseNameIsSoLongThatATableOfAllPathsIsLargerThanTheQueue.i(n)
            + TreeNodeWhoseNameIsSoLongThatATableOfAllPathsIsLargerThanTheQueue.j(n);
    }

    public static void main(String[] args) throws Exception {
        System.out.println("leaves " + grow(Integer.parseInt(args[0])));
        System.out.println("ready");
        while (!new java.io.File("stop").exists()) {
            Thread.sleep(20);
        }
    }
}

/** The class whose calls are counted. */
class TreeNodeWhoseNameIsSoLongThatATableOfAllPathsIsLargerThanTheQueue {
    static int a(int n) { return Tree.grow(n); }
    static int b(int n) { return Tree.grow(n); }
    static int c(int n) { return Tree.grow(n); }
    static int d(int n) { return Tree.grow(n); }
    static int e(int n) { return Tree.grow(n); }
    static int f(int n) { return Tree.grow(n); }
    static int g(int n) { return Tree.grow(n); }
    static int h(int n) { return Tree.grow(n); }
    static int i(int n) { return Tree.grow(n); }
    static int j(int n) { return Tree.grow(n); }
}
