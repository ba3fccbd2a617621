// SPDX-License-Identifier: BSD-2-Clause
import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.openjdk.jmc.common.IMCFrame;
import org.openjdk.jmc.common.IMCStackTrace;
import org.openjdk.jmc.common.IMCThread;
import org.openjdk.jmc.common.item.IAttribute;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.common.item.IMemberAccessor;
import org.openjdk.jmc.common.item.IType;
import org.openjdk.jmc.common.unit.IQuantity;
import org.openjdk.jmc.common.unit.UnitLookup;
import org.openjdk.jmc.flightrecorder.JfrAttributes;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/** A recording as the parser of JDK Mission Control has it: a line for each event, "type, thread, length in ns; of each frame, innermost first, its method and line; tabs between". */
public class Jmc {
    static <T> T of(IAttribute<T> attribute, IType<IItem> type, IItem item) {
        IMemberAccessor<T, IItem> accessor = attribute.getAccessor(type);
        return accessor == null ? null : accessor.getMember(item);
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (IItemIterable items : JfrLoaderToolkit.loadEvents(new File(args[0]))) {
            IType<IItem> type = items.getType();
            for (IItem item : items) {
                IMCThread thread = of(JfrAttributes.EVENT_THREAD, type, item);
                IQuantity duration = of(JfrAttributes.DURATION, type, item);
                IMCStackTrace stack = of(JfrAttributes.EVENT_STACKTRACE, type, item);
                StringBuilder line = new StringBuilder(type.getIdentifier()).append('\t').append(thread == null ? "" : thread.getThreadName()).append('\t');
                line.append(duration == null ? "0" : Long.toString(duration.clampedLongValueIn(UnitLookup.NANOSECOND)));
                if (stack != null) {
                    for (IMCFrame frame : stack.getFrames()) {
                        String name = frame.getMethod().getType().getFullName();
                        line.append('\t').append(name).append(name.isEmpty() ? "" : ".").append(frame.getMethod().getMethodName()).append('\t').append(frame.getFrameLineNumber());
                    }
                }
                out.println(line);
            }
        }
        out.flush();
    }
}
