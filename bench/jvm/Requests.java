/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * How long a thread is stopped by a dump on request, as Windows has it. A tree of calls, ten a level, is gone through once: each path is a stack trace.
 * Argument: levels (5: 111,110 traces; 6: 1,111,110).
 */
public final class Requests {
    private static volatile int sink;

    /** Not counted itself, so that a path has one trace a level. */
    static int grow(int levels) {
        if (levels == 0) {
            return 1;
        }
        int n = levels - 1;
        return RequestTree.a(n) + RequestTree.b(n) + RequestTree.c(n) + RequestTree.d(n) + RequestTree.e(n) + RequestTree.f(n) + RequestTree.g(n)
            + RequestTree.h(n) + RequestTree.i(n) + RequestTree.j(n);
    }

    public static void main(String[] args) {
        sink = grow(Integer.parseInt(args[0]));
        Windows.run();
    }
}

/** The class whose calls are counted. */
final class RequestTree {
    private RequestTree() {
    }

    static int a(int n) {
        return Requests.grow(n);
    }

    static int b(int n) {
        return Requests.grow(n);
    }

    static int c(int n) {
        return Requests.grow(n);
    }

    static int d(int n) {
        return Requests.grow(n);
    }

    static int e(int n) {
        return Requests.grow(n);
    }

    static int f(int n) {
        return Requests.grow(n);
    }

    static int g(int n) {
        return Requests.grow(n);
    }

    static int h(int n) {
        return Requests.grow(n);
    }

    static int i(int n) {
        return Requests.grow(n);
    }

    static int j(int n) {
        return Requests.grow(n);
    }
}
