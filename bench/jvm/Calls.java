/* SPDX-License-Identifier: BSD-2-Clause */
/** A program that does little but call: fib, mutual recursion, calls through an interface with three receivers. Argument: rounds. */
public final class Calls {
    interface Shape {
        int area(int n);
    }

    static final class Square implements Shape {
        @Override
        public int area(int n) {
            return n * n;
        }
    }

    static final class Strip implements Shape {
        @Override
        public int area(int n) {
            return n + n;
        }
    }

    static final class Stairs implements Shape {
        @Override
        public int area(int n) {
            return n <= 0 ? 0 : n + area(n - 1);
        }
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static boolean even(int n) {
        return n == 0 || odd(n - 1);
    }

    static boolean odd(int n) {
        return n != 0 && even(n - 1);
    }

    public static void main(String[] args) {
        Figures figures = new Figures();
        int rounds = Integer.parseInt(args[0]);
        Shape[] shapes = {new Square(), new Strip(), new Stairs()};
        long sum = 0;
        for (int r = 0; r < rounds; r++) {
            sum += fib(32);
            for (int i = 0; i < 20_000; i++) {
                sum += even(i % 50) ? 1 : 0;
                sum += shapes[i % 3].area(i % 20);
            }
        }
        Figures.line("result", sum);
        figures.end();
    }
}
