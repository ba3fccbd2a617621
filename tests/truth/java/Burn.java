// SPDX-License-Identifier: BSD-2-Clause

/** A loop. */
public class Burn extends Work {
    public Burn(long ms) { super(ms); }

    @Override
    long piece(int i) { return spin(i + 1, 400000); }

    static long spin(long s, int n) {
        for (int i = 0; i < n; i++) {
            s ^= s << 13;
            s ^= s >>> 7;
            s ^= s << 17;
        }
        return s;
    }
}
