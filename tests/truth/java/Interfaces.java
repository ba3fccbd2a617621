// SPDX-License-Identifier: BSD-2-Clause

/** Work behind calls of an interface with many classes. */
public class Interfaces extends Work {
    interface Step {
        long step(long s);
    }

    static class One implements Step {
        @Override public long step(long s) {
            for (int k = 0; k < 3000; k++) { s = s * 31 + (k ^ s >>> 7); }
            return s;
        }
    }

    static class Two implements Step {
        @Override public long step(long s) {
            for (int k = 0; k < 3000; k++) { s = s * 17 + (k ^ s >>> 9); }
            return s;
        }
    }

    static class Three implements Step {
        @Override public long step(long s) {
            for (int k = 0; k < 3000; k++) { s = s * 13 + (k ^ s >>> 5); }
            return s;
        }
    }

    private final Step[] all = {new One(), new Two(), new Three()};

    public Interfaces(long ms) { super(ms); }

    @Override
    long piece(int i) {
        long s = i;
        for (int k = 0; k < 120; k++) { s = all[k % 3].step(s); }
        return s;
    }
}
