import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Loads the system's classes (java.system.class.loader), and remembers what threads of hprofx ask it for, once main() of Loads says so. */
public final class OwnLoader extends ClassLoader {
    static final Set<String> asked = ConcurrentHashMap.newKeySet();
    static volatile boolean looks;

    public OwnLoader(ClassLoader parent) {
        super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (looks && Thread.currentThread().getName().startsWith("hprofx")) {
            asked.add(name);
        }
        return super.loadClass(name, resolve);
    }
}
