// SPDX-License-Identifier: BSD-2-Clause
/**
 * OtherAgents timer|take|quiet US MS: native code has a handler of SIGPROF (timer: that of the preload; take: its own, taken in the middle) and a timer of
 * US microseconds; burns MS of CPU before and after. Prints "timers BOOLEAN strangers N": whether the timer's signals came, how many of others did.
 * OtherAgents attach THREADS ROUNDS MS LEAVE BLOCKS: native threads attach, burn, leave (or end without). Prints "attached".
 */
public class OtherAgents {
    static native void take();
    static native void timer(long us);
    static native long timers();
    static native long strangers();
    static native void attach(int threads, int rounds, long ns, boolean leave, boolean blocks);

    static void work(long ns) { Cpu.burn(ns); }
    static void before(long ns) { Cpu.burn(ns); }
    static void after(long ns) { Cpu.burn(ns); }

    public static void main(String[] a) throws Exception {
        System.loadLibrary("other_agents");
        if (a[0].equals("attach")) {
            attach(Integer.parseInt(a[1]), Integer.parseInt(a[2]), Long.parseLong(a[3]) * 1000000L, Boolean.parseBoolean(a[4]), Boolean.parseBoolean(a[5]));
            System.out.println("attached");
            return;
        }
        final long ns = Long.parseLong(a[2]) * 1000000L;
        before(Math.min(ns, 400000000L));
        if (a[0].equals("take") || a[0].equals("thread")) { take(); }
        if (!a[1].equals("0")) { timer(Long.parseLong(a[1])); }
        if (a[0].equals("thread")) {
            Thread t = new Thread("late") { public void run() { after(ns); } };
            t.start();
            t.join();
        } else {
            after(ns);
        }
        timer(0);
        System.out.println("timers " + (timers() > 0) + (a[0].equals("timer") ? " strangers " + strangers() : ""));
    }
}
