// SPDX-License-Identifier: BSD-2-Clause
import java.util.Arrays;
import java.util.zip.CRC32;

/** Work in code of the VM's own: copies, checksums, sines. */
public class Stubs extends Work {
    private final byte[] from = new byte[60000], to = new byte[60000];
    private final CRC32 crc = new CRC32();

    public Stubs(long ms) { super(ms); }

    double sines(double x) {
        for (int i = 0; i < 2000; i++) { x += Math.sin(x + i); }
        return x;
    }

    @Override
    long piece(int i) {
        double x = i;
        for (int k = 0; k < 10; k++) {
            Arrays.fill(from, (byte) (i + k));
            System.arraycopy(from, 1, to, 0, to.length - 1);
            crc.update(to, 0, to.length);
            x += sines(x);
        }
        return crc.getValue() + (long) x;
    }
}
