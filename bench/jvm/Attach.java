/* SPDX-License-Identifier: BSD-2-Clause */
import java.io.IOException;

/** How a session that begins and ends is felt, as Windows has it; a piece of work is a thousand calls. Argument: classes that are loaded before. */
public final class Attach {
    private Attach() {
    }

    static int leaf(int x) {
        return x * 69069 + 1 ^ x >>> 11;
    }

    static int piece(int v) {
        int x = v;
        for (int i = 0; i < 1000; i++) {
            x = leaf(x);
        }
        return x;
    }

    public static void main(String[] args) throws IOException {
        LoadAll.load(Integer.parseInt(args[0]));
        Windows.run(Attach::piece);
    }
}
