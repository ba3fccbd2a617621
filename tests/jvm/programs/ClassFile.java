// SPDX-License-Identifier: BSD-2-Clause
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStream;
import java.util.Map;

/** A class file with some of its UTF-8 constants exchanged: classes and methods under names that javac would refuse. */
final class ClassFile {
    private ClassFile() {}

    static byte[] bytes(String resource) throws Exception {
        try (InputStream in = ClassFile.class.getResourceAsStream(resource)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] b = new byte[4096];
            for (int n; (n = in.read(b)) > 0;) { out.write(b, 0, n); }
            return out.toByteArray();
        }
    }

    static byte[] renamed(byte[] from, Map<String, String> names) throws Exception {
        DataInputStream in = new DataInputStream(new java.io.ByteArrayInputStream(from));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeLong(in.readLong());
        int n = in.readUnsignedShort();
        out.writeShort(n);
        for (int i = 1; i < n; i++) {
            int tag = in.readUnsignedByte();
            out.writeByte(tag);
            int size;
            switch (tag) {
                case 1: String s = in.readUTF(); out.writeUTF(names.getOrDefault(s, s)); continue;
                case 5: case 6: size = 8; i++; break;
                case 7: case 8: case 16: case 19: case 20: size = 2; break;
                case 15: size = 3; break;
                default: size = 4;
            }
            for (int k = 0; k < size; k++) { out.writeByte(in.readUnsignedByte()); }
        }
        for (int b; (b = in.read()) >= 0;) { out.write(b); }
        return bytes.toByteArray();
    }
}
