/* SPDX-License-Identifier: BSD-2-Clause */
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.nio.file.Path;
import java.util.Optional;

/** The methods of Probes by critical downcalls (JDK 22 on): by reflection, since the programs are compiled by an older JDK, too. */
final class Downcalls {
    private static final MethodHandle CLOCK = find("bench_clock");

    private static Class<?> of(String name) throws ClassNotFoundException {
        return Class.forName("java.lang.foreign." + name);
    }

    /** A function void f(int) of the library. */
    private static MethodHandle find(String function) {
        try {
            Object arena = of("Arena").getMethod("global").invoke(null);
            Object symbols = of("SymbolLookup").getMethod("libraryLookup", Path.class, of("Arena")).invoke(null, Path.of(Probes.library), arena);
            Object address = ((Optional<?>) of("SymbolLookup").getMethod("find", String.class).invoke(symbols, function)).orElseThrow();
            Object arguments = Array.newInstance(of("MemoryLayout"), 1);
            Array.set(arguments, 0, of("ValueLayout").getField("JAVA_INT").get(null));
            Object type = of("FunctionDescriptor").getMethod("ofVoid", arguments.getClass()).invoke(null, arguments);
            Object options = Array.newInstance(of("Linker$Option"), 1);
            Array.set(options, 0, of("Linker$Option").getMethod("critical", boolean.class).invoke(null, false));
            Object linker = of("Linker").getMethod("nativeLinker").invoke(null);
            return (MethodHandle) of("Linker").getMethod("downcallHandle", of("MemorySegment"), of("FunctionDescriptor"), options.getClass())
                .invoke(linker, address, type, options);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    static int fibClock(int n) throws Throwable {
        CLOCK.invokeExact(n);
        int r = n < 2 ? n : fibClock(n - 1) + fibClock(n - 2);
        CLOCK.invokeExact(n);
        return r;
    }

    private Downcalls() {}
}
