// SPDX-License-Identifier: BSD-2-Clause
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/** Loads the system's classes (java.system.class.loader), and remembers what it was asked for. */
public final class OwnLoader extends ClassLoader {
    static final Set<String> ASKED = new ConcurrentSkipListSet<>();

    public OwnLoader(ClassLoader parent) {
        super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        ASKED.add(name);
        return super.loadClass(name, resolve);
    }
}
