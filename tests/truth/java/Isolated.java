// SPDX-License-Identifier: BSD-2-Clause
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Passes only java.* upward, and what the JDK's own reflection makes of a class, and defines the classes of the program itself. */
final class Isolated extends ClassLoader {
    Isolated() { super(null); }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            if (name.startsWith("java.") || name.startsWith("jdk.internal.reflect.") || name.startsWith("sun.reflect.")) { return ClassLoader.getSystemClassLoader().loadClass(name); }
            Class<?> known = findLoadedClass(name);
            if (known != null) { return known; }
            byte[] bytes = bytes(name);
            if (bytes == null) { throw new ClassNotFoundException("not of the program: " + name); }
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    static byte[] bytes(String name) throws ClassNotFoundException {
        try (InputStream in = ClassLoader.getSystemResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) { return null; }
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] part = new byte[4096];
            for (int n = in.read(part); n > 0; n = in.read(part)) { out.write(part, 0, n); }
            return out.toByteArray();
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}
