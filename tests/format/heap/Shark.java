// SPDX-License-Identifier: BSD-2-Clause
// Shark FILE: opens a heap dump with LeakCanary's library and looks at every object, field and element. Prints lines for heap_readers.py.
import java.io.File;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.Set;
import java.util.TreeMap;
import shark.CloseableHeapGraph;
import shark.GcRoot;
import shark.HeapField;
import shark.HeapObject;
import shark.HeapValue;
import shark.HprofHeapGraph;
import shark.HprofRecordTag;

public class Shark {
    static long unresolved;

    static void look(CloseableHeapGraph heap, HeapValue value) {
        Long id = value.getAsObjectId();
        if (id != null && id != 0 && !heap.objectExists(id)) {
            unresolved++;
        }
    }

    static void fields(CloseableHeapGraph heap, Iterator<HeapField> fields) {
        while (fields.hasNext()) {
            look(heap, fields.next().getValue());
        }
    }

    public static void main(String[] args) throws Exception {
        Set<HprofRecordTag> roots = EnumSet.noneOf(HprofRecordTag.class);
        for (HprofRecordTag tag : HprofRecordTag.values()) {
            if (tag.name().startsWith("ROOT_")) {
                roots.add(tag);
            }
        }
        TreeMap<String, Long> counts = new TreeMap<>();
        try (CloseableHeapGraph heap = HprofHeapGraph.Companion.openHeapGraph(new File(args[0]), null, roots)) {
            for (Iterator<HeapObject> all = heap.getObjects().iterator(); all.hasNext();) {
                HeapObject o = all.next();
                if (o instanceof HeapObject.HeapClass) {
                    fields(heap, ((HeapObject.HeapClass) o).readStaticFields().iterator());
                } else if (o instanceof HeapObject.HeapInstance) {
                    counts.merge(((HeapObject.HeapInstance) o).getInstanceClassName(), 1L, Long::sum);
                    fields(heap, ((HeapObject.HeapInstance) o).readFields().iterator());
                } else if (o instanceof HeapObject.HeapObjectArray) {
                    counts.merge(((HeapObject.HeapObjectArray) o).getArrayClassName(), 1L, Long::sum);
                    for (Iterator<HeapValue> of = ((HeapObject.HeapObjectArray) o).readElements().iterator(); of.hasNext();) {
                        look(heap, of.next());
                    }
                } else {
                    counts.merge(((HeapObject.HeapPrimitiveArray) o).getArrayClassName(), 1L, Long::sum);
                    ((HeapObject.HeapPrimitiveArray) o).readRecord();
                }
            }
            for (GcRoot root : heap.getGcRoots()) {
                if (root.getId() != 0 && !heap.objectExists(root.getId())) {
                    System.out.println("complaint\ta root (" + root.getClass().getSimpleName() + ") of nothing");
                }
            }
        }
        counts.forEach((name, n) -> System.out.println("class\t" + n + "\t" + name));
        System.out.println("unresolved\t" + unresolved);
        System.out.println("end");
    }
}
