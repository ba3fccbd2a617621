/* SPDX-License-Identifier: BSD-2-Clause */
/** Works at the bottom of stacks of a given depth. Arguments: depth, rounds. */
public final class Deep {
    private static int leaf(int v, int n) {
        int x = v;
        for (int i = 0; i < n; i++) {
            x = x * 69069 + 1 ^ x >>> 11;
        }
        return x;
    }

    private static int left(int depth, int path, int v) {
        return depth == 0 ? leaf(v, 20_000) : down(depth - 1, path >>> 1, v + 1) ^ depth;
    }

    private static int right(int depth, int path, int v) {
        return depth == 0 ? leaf(v + 1, 20_000) : down(depth - 1, path >>> 1, v - 1) + depth;
    }

    private static int down(int depth, int path, int v) {
        return (path & 1) == 0 ? left(depth, path, v) : right(depth, path, v);
    }

    public static void main(String[] args) {
        Figures figures = new Figures();
        int depth = Integer.parseInt(args[0]) / 2; // two frames a step
        int rounds = Integer.parseInt(args[1]);
        int v = 1;
        for (int r = 0; r < rounds; r++) {
            v = down(depth, r & 255, v);
        }
        Figures.line("result", v);
        figures.end();
    }
}
