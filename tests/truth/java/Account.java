// SPDX-License-Identifier: BSD-2-Clause

/** The lines that an activity tells of itself, and the clock by which it measures. */
final class Account {
    private final StringBuilder lines = new StringBuilder();

    static boolean virtual() { return Thread.currentThread().getClass().getName().contains("VirtualThread"); }

    /** CPU time of this thread, or, of a virtual one, which has no such clock, the time. */
    static long clock() { return virtual() ? System.nanoTime() : Cpu.now(); }

    Account line(Object... words) {
        lines.append("truth");
        for (Object w : words) { lines.append(' ').append(w); }
        lines.append('\n');
        return this;
    }

    /** Calls of this method were made, n of them. */
    Account calls(String method, long n) { return line("calls", method, n); }

    /** Under this method so many objects of the class were allocated. */
    Account made(String method, String klass, long n) { return line("made", method, klass, n); }

    /** A fixed piece of work cost so much CPU time. */
    Account work(String name, long ns) { return virtual() ? this : line("work", name, ns); }

    /** Blocks of the state STATE (of wall=) in METHOD, for something of the class; forced: what they lasted at least. */
    Account block(String state, String method, String klass, long n, long ns, long forced) {
        return line("block", state, method, klass, Thread.currentThread().getName().replace(' ', '_'), n, ns, forced);
    }

    @Override
    public String toString() { return lines.toString(); }
}
