// SPDX-License-Identifier: BSD-2-Clause
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;

/**
 * An OSGi container with a bundle that imports packages only; the plug of Loaders is its class. Arguments: "now" or "told" (Attached.round is
 * it), the container's class of FrameworkFactory, a folder for what it stores.
 */
public class Osgi {
    static final String FRAMEWORK = "org.osgi.framework.launch.Framework";

    static Object call(String type, String name, Object on, Class<?>[] types, Object... arguments) throws Exception {
        return Class.forName(type).getMethod(name, types).invoke(on, arguments);
    }

    static InputStream bundle(File folder) throws Exception {
        Manifest m = new Manifest();
        m.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        m.getMainAttributes().putValue("Bundle-ManifestVersion", "2");
        m.getMainAttributes().putValue("Bundle-SymbolicName", "plug");
        m.getMainAttributes().putValue("Import-Package", "org.osgi.framework");
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JarOutputStream jar = new JarOutputStream(bytes, m)) {
            for (String name : new String[] {"LoadersPlug.class", "LoadersPlugMore.class"}) {
                jar.putNextEntry(new ZipEntry(name));
                jar.write(ClassFile.bytes(name));
                jar.closeEntry();
            }
        }
        File file = new File(folder, "plug.jar");
        java.nio.file.Files.write(file.toPath(), bytes.toByteArray());
        return new FileInputStream(file);
    }

    static void run(Class<?> plug) {
        try {
            System.out.println(((Callable<?>) plug.getConstructor().newInstance()).call());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] a) throws Exception {
        File folder = new File(a[2]);
        folder.mkdirs();
        Map<String, String> settings = new HashMap<>();
        settings.put("org.osgi.framework.storage", new File(folder, "storage").getPath());
        settings.put("felix.service.urlhandlers", "false");
        settings.put("felix.cache.locking", "false");
        Object factory = Class.forName(a[1]).getConstructor().newInstance();
        Object framework = call("org.osgi.framework.launch.FrameworkFactory", "newFramework", factory, new Class<?>[] {Map.class}, settings);
        call(FRAMEWORK, "start", framework, new Class<?>[0]);
        Object context = call("org.osgi.framework.Bundle", "getBundleContext", framework, new Class<?>[0]);
        Object bundle = call("org.osgi.framework.BundleContext", "installBundle", context, new Class<?>[] {String.class, InputStream.class}, "plug", bundle(folder));
        call("org.osgi.framework.Bundle", "start", bundle, new Class<?>[0]);
        Class<?> plug = (Class<?>) call("org.osgi.framework.Bundle", "loadClass", bundle, new Class<?>[] {String.class}, "LoadersPlug");
        if (plug.getClassLoader() == Osgi.class.getClassLoader()) { throw new IllegalStateException("the plug is not the bundle's"); }
        if (a[0].equals("now")) {
            run(plug);
        } else {
            Attached.round = () -> run(plug);
            Attached.main(new String[0]);
        }
        call(FRAMEWORK, "stop", framework, new Class<?>[0]);
        call(FRAMEWORK, "waitForStop", framework, new Class<?>[] {long.class}, 0L);
    }
}
