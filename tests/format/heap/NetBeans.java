// SPDX-License-Identifier: BSD-2-Clause
// NetBeans FILE: opens a heap dump with the heap library of NetBeans as jvmtool has it, and looks at every object and field. Prints lines for
// heap_readers.py. What the library does not find it shows as null, so it tells no unresolved references.
import java.io.File;
import java.util.List;
import java.util.TreeMap;
import org.netbeans.lib.profiler.heap.FieldValue;
import org.netbeans.lib.profiler.heap.GCRoot;
import org.netbeans.lib.profiler.heap.Heap;
import org.netbeans.lib.profiler.heap.HeapFactory;
import org.netbeans.lib.profiler.heap.Instance;
import org.netbeans.lib.profiler.heap.JavaClass;
import org.netbeans.lib.profiler.heap.ObjectArrayInstance;
import org.netbeans.lib.profiler.heap.PrimitiveArrayInstance;

public class NetBeans {
    static void fields(List<FieldValue> values) {
        for (FieldValue v : values) {
            v.getValue();
        }
    }

    public static void main(String[] args) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(args[0]));
        TreeMap<String, Long> counts = new TreeMap<>();
        for (Instance o : heap.getAllInstances()) {
            JavaClass of = o.getJavaClass();
            if (of == null) {
                System.out.println("complaint\tan object without a class");
                continue;
            }
            counts.merge(of.getName(), 1L, Long::sum);
            if (o instanceof ObjectArrayInstance) {
                ((ObjectArrayInstance) o).getValues().size();
            } else if (o instanceof PrimitiveArrayInstance) {
                ((PrimitiveArrayInstance) o).getValues().size();
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
        }
        counts.forEach((name, n) -> System.out.println("class\t" + n + "\t" + name));
        System.out.println("end");
    }
}
