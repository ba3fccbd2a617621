import java.io.*;
import java.util.*;
/** Loads Plug in fresh loaders, uses it, drops it and collects. */
public class Unload {
    static class L extends ClassLoader {
        L() { super(null); }
        protected Class<?> findClass(String n) throws ClassNotFoundException {
            if (!n.equals("Plug")) return Unload.class.getClassLoader().loadClass(n);
            try {
                InputStream in = Unload.class.getResourceAsStream("Plug.class");
                ByteArrayOutputStream o = new ByteArrayOutputStream(); int c;
                while ((c = in.read()) >= 0) o.write(c);
                byte[] b = o.toByteArray();
                return defineClass(n, b, 0, b.length);
            } catch (IOException e) { throw new ClassNotFoundException(n); }
        }
    }
    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 5; i++) {
            ((Runnable) new L().loadClass("Plug").newInstance()).run();
            System.gc(); Thread.sleep(100);
        }
        System.gc(); Thread.sleep(300);
        System.out.println("done");
    }
}
// SPDX-License-Identifier: BSD-2-Clause
