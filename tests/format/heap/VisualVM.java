// SPDX-License-Identifier: BSD-2-Clause
// VisualVM FILE: opens a heap dump with the heap library of VisualVM and looks at every object, field and element. Prints lines for heap_readers.py.
import java.io.File;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import org.graalvm.visualvm.lib.jfluid.heap.*;

public class VisualVM {
    static long unresolved;

    // The library shows what it does not find as null. The id that the file has is known to methods that are not public.
    static long id(Object value) throws Exception {
        for (Class<?> c = value.getClass(); c != null; c = c.getSuperclass()) {
            for (Method m : c.getDeclaredMethods()) {
                if (m.getName().equalsIgnoreCase("getInstanceId") && m.getParameterCount() == 0) {
                    m.setAccessible(true);
                    return (Long) m.invoke(value);
                }
            }
        }
        throw new IllegalStateException("no id in a " + value.getClass());
    }

    static Object get(Object of, String name) throws Exception {
        for (Class<?> c = of.getClass(); c != null; c = c.getSuperclass()) {
            for (Field f : c.getDeclaredFields()) {
                if (f.getName().equals(name)) {
                    f.setAccessible(true);
                    return f.get(of);
                }
            }
        }
        throw new IllegalStateException("no " + name + " in a " + of.getClass());
    }

    static long element(ArrayItemValue item) throws Exception {
        Object heap = get(get(item, "dumpClass"), "classDumpSegment");
        Object buffer = get(get(heap, "hprofHeap"), "dumpBuffer");
        Method offset = item.getClass().getDeclaredMethod("getInstanceArrayOffset");
        Method read = buffer.getClass().getSuperclass().getDeclaredMethod("getID", long.class);
        offset.setAccessible(true);
        read.setAccessible(true);
        int ids = (Integer) get(buffer, "idSize");
        long at = (Long) offset.invoke(item) + 1 + ids + 4 + 4 + ids + (long) item.getIndex() * ids;
        return (Long) read.invoke(buffer, at);
    }

    static void fields(List<FieldValue> values) throws Exception {
        for (FieldValue v : values) {
            if (!(v instanceof ObjectFieldValue)) {
                v.getValue();
            } else if (((ObjectFieldValue) v).getInstance() == null && id(v) != 0) {
                unresolved++;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(args[0]));
        TreeMap<String, Long> counts = new TreeMap<>();
        for (Iterator<Instance> all = heap.getAllInstancesIterator(); all.hasNext();) {
            Instance o = all.next();
            JavaClass of = o.getJavaClass();
            if (of == null) {
                System.out.println("complaint\tan object without a class");
                continue;
            }
            counts.merge(of.getName(), 1L, Long::sum);
            if (o instanceof ObjectArrayInstance) {
                for (ArrayItemValue item : ((ObjectArrayInstance) o).getItems()) {
                    if (item.getInstance() == null && element(item) != 0) {
                        unresolved++;
                    }
                }
            } else if (o instanceof PrimitiveArrayInstance) {
                List<String> values = ((PrimitiveArrayInstance) o).getValues();
                if (!values.isEmpty()) {
                    values.get(values.size() - 1);
                }
            } else {
                fields(o.getFieldValues());
            }
        }
        for (JavaClass c : heap.getAllClasses()) {
            fields(c.getStaticFieldValues());
        }
        for (GCRoot root : heap.getGCRoots()) {
            if (root.getInstance() == null) {
                System.out.println("complaint\ta root (" + root.getKind() + ") of nothing");
            }
            if (root instanceof ThreadObjectGCRoot) {
                ((ThreadObjectGCRoot) root).getStackTrace();
            } else if (root instanceof JavaFrameGCRoot && ((JavaFrameGCRoot) root).getThreadGCRoot() == null) {
                System.out.println("complaint\ta frame root without its thread");
            }
        }
        counts.forEach((name, n) -> System.out.println("class\t" + n + "\t" + name));
        System.out.println("unresolved\t" + unresolved);
        System.out.println("end");
    }
}
