// SPDX-License-Identifier: BSD-2-Clause
package real;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.function.IntFunction;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import org.osgi.framework.Bundle;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;
import org.osgi.framework.launch.Framework;
import org.osgi.framework.launch.FrameworkFactory;

/** OSGi: bundles that import packages only, each with a class loader that finds no other classes. */
public class Osgi implements Real.Program {
    private static final int BUNDLES = 4;
    private Framework framework;

    /** Of every bundle: it answers as a service. */
    public static final class Activator implements BundleActivator {
        @Override
        public void start(BundleContext context) {
            String name = context.getBundle().getSymbolicName();
            context.registerService(IntFunction.class, (IntFunction<String>) n -> new Recursion().text(name, n), null);
        }

        @Override
        public void stop(BundleContext context) {
            // services end with their bundle
        }
    }

    public static final class Recursion {
        public String text(String name, int n) {
            return n % 50 == 0 ? name + " in " + getClass().getClassLoader().getClass().getSimpleName() : text(name, n - 1) + n % 10;
        }
    }

    private static byte[] bundle(int i) throws Exception {
        Manifest m = new Manifest();
        Attributes a = m.getMainAttributes();
        a.putValue("Manifest-Version", "1.0");
        a.putValue("Bundle-ManifestVersion", "2");
        a.putValue("Bundle-SymbolicName", "bundle" + i);
        a.putValue("Bundle-Activator", Activator.class.getName());
        a.putValue("Import-Package", "org.osgi.framework");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JarOutputStream jar = new JarOutputStream(bytes, m)) {
            for (Class<?> c : new Class<?>[] {Activator.class, Recursion.class}) {
                String name = c.getName().replace('.', '/') + ".class";
                jar.putNextEntry(new ZipEntry(name));
                try (InputStream in = Osgi.class.getClassLoader().getResourceAsStream(name)) {
                    byte[] buffer = new byte[4096];
                    for (int n; (n = in.read(buffer)) > 0;) {
                        jar.write(buffer, 0, n);
                    }
                }
            }
        }
        return bytes.toByteArray();
    }

    @Override
    public void start(String[] args) throws Exception {
        Map<String, String> settings = new HashMap<>();
        settings.put("org.osgi.framework.storage", "osgi");
        settings.put("org.osgi.framework.storage.clean", "onFirstInit");
        framework = ServiceLoader.load(FrameworkFactory.class).iterator().next().newFramework(settings);
        framework.start();
        for (int i = 0; i < BUNDLES; i++) {
            framework.getBundleContext().installBundle("memory:" + i, new ByteArrayInputStream(bundle(i))).start();
        }
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    @Override
    public String answer(int n) throws Exception {
        BundleContext context = framework.getBundleContext();
        if (n % 16 == 0) {
            Bundle b = context.installBundle("memory:new" + n, new ByteArrayInputStream(bundle(100 + n)));
            b.start();
            String text = b.getRegisteredServices().length + b.getSymbolicName();
            b.uninstall();
            return text;
        }
        Bundle b = context.getBundle("memory:" + n % BUNDLES);
        IntFunction<String> service = (IntFunction) context.getService(b.getRegisteredServices()[0]);
        return service.apply(n);
    }
}
