// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** Copies of a class, each in a loader of its own, which run a little and go. */
public class Plugs implements Callable<String> {
    public static class Plug implements Callable<Long> {
        static class Made { }

        static volatile Object escape;

        static long step(long s) {
            escape = new Made();
            return s * 31 + 7;
        }

        @Override
        public Long call() {
            long s = 1;
            for (int i = 0; i < 10; i++) { s = step(s); }
            return s;
        }
    }

    /** Of the copies; everything else is its parent's. */
    static final class Loader extends ClassLoader {
        private final byte[] plug, made;

        Loader(byte[] plug, byte[] made) {
            super(Plugs.class.getClassLoader());
            this.plug = plug;
            this.made = made;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            byte[] own = name.equals("Plugs$Plug") ? plug : name.equals("Plugs$Plug$Made") ? made : null;
            if (own == null) { return super.loadClass(name, resolve); }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : defineClass(name, own, 0, own.length);
            }
        }
    }

    private final int n;

    public Plugs(long n) { this.n = (int) n; }

    @Override
    @SuppressWarnings("unchecked")
    public String call() throws Exception {
        byte[] plug = Isolated.bytes("Plugs$Plug"), made = Isolated.bytes("Plugs$Plug$Made");
        long sum = 0;
        for (int i = 0; i < n; i++) { sum += ((Callable<Long>) new Loader(plug, made).loadClass("Plugs$Plug").getConstructor().newInstance()).call(); }
        Account a = new Account().line("result", "Plugs", sum).calls("Plugs$Plug.step", 10L * n).calls("Plugs$Plug.<init>", n);
        return a.made("Plugs$Plug.step", "Plugs$Plug$Made", 10L * n).toString();
    }
}
