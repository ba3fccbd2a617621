// SPDX-License-Identifier: BSD-2-Clause
// Hat FILE: opens a heap dump with the library of jhat, or with its descendant in the JDK's tests, and looks at every object, field and element. Prints
// lines for heap_readers.py, which replaces the package `hat` by the library's.
import hat.model.*;
import hat.parser.Reader;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.lang.reflect.Method;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.TreeMap;

public class Hat {
    static long unresolved;
    static RandomAccessFile file;

    static void look(JavaThing... things) {
        for (JavaThing t : things) {
            if (t != null && t.toString().startsWith("Unresolved object")) {
                unresolved++;
            }
        }
    }

    // The library shows an element that it does not find as null: where the array stands in the file, there are the ids.
    static void elements(Snapshot heap, JavaObjectArray array) throws Exception {
        JavaThing[] found = array.getElements();
        int ids = heap.getIdentifierSize();
        Method offset = JavaLazyReadObject.class.getDeclaredMethod("getOffset");
        offset.setAccessible(true);
        long at = ((Number) offset.invoke(array)).longValue() + ids + 4 + 4 + ids;
        byte[] raw = new byte[found.length * ids];
        file.seek(at);
        file.readFully(raw);
        BigInteger none = BigInteger.ZERO;
        for (int i = 0; i < found.length; i++) {
            if (found[i] == null && !new BigInteger(1, Arrays.copyOfRange(raw, i * ids, (i + 1) * ids)).equals(none)) {
                unresolved++;
            }
        }
    }

    // What the library says while it reads. It also talks when all is well.
    static void complaints(ByteArrayOutputStream said) {
        for (String line : said.toString().split("\n")) {
            if (line.matches("(?i).*(warn|error|fail|illegal|unexpected).*")) {
                System.out.println("complaint\t" + line.trim());
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream out = System.out, err = System.err, to = new PrintStream(said, true);
        System.setOut(to);
        System.setErr(to);
        file = new RandomAccessFile(args[0], "r");
        Snapshot heap;
        try {
            heap = Reader.readFile(args[0], true, 0);
            heap.resolve(true);
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
        complaints(said);
        TreeMap<String, Long> counts = new TreeMap<>();
        for (Enumeration<JavaHeapObject> all = heap.getThings(); all.hasMoreElements();) {
            JavaHeapObject o = all.nextElement();
            if (o instanceof JavaClass) {
                continue;
            }
            counts.merge(o.getClazz().getName(), 1L, Long::sum);
            if (o instanceof JavaObject) {
                look(((JavaObject) o).getFields());
            } else if (o instanceof JavaObjectArray) {
                elements(heap, (JavaObjectArray) o);
            } else if (((JavaValueArray) o).getLength() > 0) {
                ((JavaValueArray) o).getElements();
            }
        }
        for (Iterator<?> all = heap.getClasses(); all.hasNext();) {
            JavaClass c = (JavaClass) all.next();
            for (JavaStatic s : c.getStatics()) {
                look(s.getValue());
            }
            look(c.getSuperclass(), c.getLoader(), c.getSigners(), c.getProtectionDomain());
        }
        counts.forEach((name, n) -> System.out.println("class\t" + n + "\t" + name));
        System.out.println("unresolved\t" + unresolved);
        System.out.println("end");
    }
}
