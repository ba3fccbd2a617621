import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;

/**
 * Sessions of the agent in this JVM, begun and ended while other threads work. Arguments: the library (tests/sessions), how many, and the
 * option strings in turn. Prints a line for every session: what it did, which nobody else does; then what the process has between two.
 */
public class Sessions {
    static native boolean begin(String options);
    static native boolean end();
    static native int kept();
    static native int classes();

    static class Made { long a, b; }
    static class Held { long a; }
    static final Object lock = new Object(), bell = new Object();
    static volatile boolean stop;
    static volatile long sink;
    static Object[] held;

    static long burn(long n) { long x = 0; for (long i = 0; i < n; i++) { x += i * i ^ x; } return x; }
    static long more(long n) { return burnMore(n); }
    static long less(long n) { return burnLess(n); }
    /** Both until the thread has used so much CPU time: what they are compiled to changes with every session. */
    static long burnMore(long ns) { long x = 0, end = cpu() + ns; do { for (int i = 0; i < 100000; i++) { x += (long) i * i ^ x; } } while (cpu() < end); return x; }
    static long burnLess(long ns) { long x = 1, end = cpu() + ns; do { for (int i = 0; i < 100000; i++) { x += (long) i * i ^ x; } } while (cpu() < end); return x; }
    static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    static long cpu() { return threads.getCurrentThreadCpuTime(); }
    static int leaf(int i) { return i + 1; }
    static void calls(int n) { int x = 0; for (int i = 0; i < n; i++) { x = leaf(x); } sink += x; }
    static void make(int n) { for (int i = 0; i < n; i++) { held[i % held.length] = new Made(); } }
    static void waits(int n) throws InterruptedException { synchronized (bell) { for (int i = 0; i < n; i++) { bell.wait(1); } } }

    static void load() {
        Runnable[] all = {
            () -> { while (!stop) { sink += burn(100000); pause(); } },
            () -> { while (!stop) { synchronized (lock) { sink += burn(20000); } Thread.yield(); pause(); } },
            () -> { while (!stop) { synchronized (lock) { sink += burn(20000); } Thread.yield(); pause(); } },
            () -> {
                while (!stop) {
                    Thread t = new Thread(() -> { synchronized (lock) { sink += burn(1000); } sink += new byte[100].hashCode(); }, "short");
                    t.start();
                    try { t.join(); } catch (InterruptedException e) { return; }
                    pause();
                }
            }};
        for (Runnable r : all) {
            Thread t = new Thread(r, "load");
            t.setDaemon(true);
            t.start();
        }
    }

    /** Virtual threads, where there are such, that have run and wait. */
    static void park(CountDownLatch until) throws Exception {
        java.lang.reflect.Method start;
        try { start = Thread.class.getMethod("startVirtualThread", Runnable.class); } catch (NoSuchMethodException e) { return; }
        CountDownLatch ran = new CountDownLatch(20);
        for (int i = 0; i < 20; i++) {
            start.invoke(null, (Runnable) () -> {
                ran.countDown();
                try { until.await(); } catch (InterruptedException e) { return; }
            });
        }
        ran.await();
    }

    /** A thread that runs until it is told to end. */
    static Thread until(CountDownLatch end) throws InterruptedException {
        CountDownLatch runs = new CountDownLatch(1);
        Thread t = new Thread(() -> {
            runs.countDown();
            try { end.await(); } catch (InterruptedException e) { return; }
        }, "until");
        t.start();
        runs.await();
        return t;
    }

    static void pause() { try { Thread.sleep(1); } catch (InterruptedException e) { stop = true; } }

    static int of(String folder) { return new File("/proc/self/" + folder).list().length; }

    static long rss() throws Exception {
        try (BufferedReader r = new BufferedReader(new FileReader("/proc/self/status"))) {
            for (String l = r.readLine(); l != null; l = r.readLine()) {
                if (l.startsWith("VmRSS:")) { return Long.parseLong(l.replaceAll("[^0-9]", "")); }
            }
        }
        return 0;
    }

    /**
     * kB that the VM has by its own account (-XX:NativeMemoryTracking=summary), with every version of a rewritten class; else 0. From JDK 21 on it
     * tells the number of blocks from malloc, and the 16 bytes that malloc adds to each on the average count, too.
     */
    static long vm() throws Exception {
        Object said = ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "vmNativeMemory",
            new Object[] {new String[] {"summary"}}, new String[] {String[].class.getName()});
        Matcher total = Pattern.compile("Total: .*committed=(\\d+)KB\\s+(?:malloc: \\d+KB #(\\d+))?").matcher((String) said);
        if (!total.find()) { return 0; }
        return Long.parseLong(total.group(1)) + (total.group(2) == null ? 0 : Long.parseLong(total.group(2)) * 16 / 1024);
    }

    /** Threads of the agent, and timers of the process. */
    static int awake() throws Exception {
        int n = 0;
        for (File f : new File("/proc/self/task").listFiles()) {
            try (BufferedReader r = new BufferedReader(new FileReader(new File(f, "comm")))) {
                String name = r.readLine();
                n += name != null && name.startsWith("hprofx") ? 1 : 0;
            } catch (java.io.IOException e) {
                // it has ended
            }
        }
        File timers = new File("/proc/self/timers");
        if (timers.exists()) {
            try (BufferedReader r = new BufferedReader(new FileReader(timers))) {
                while (r.readLine() != null) { n++; }
            }
        }
        return n;
    }

    public static void main(String[] a) throws Exception {
        System.load(a[0]);
        int n = Integer.parseInt(a[1]);
        Held[] alive = new Held[321];
        for (int i = 0; i < alive.length; i++) { alive[i] = new Held(); }
        held = new Object[16];
        load();
        for (int i = 0; i < n; i++) {
            int calls = 1000 + i, made = 100 + i, waits = 3 + i % 5;
            String options = a[2 + i % (a.length - 2)];
            // From the second round on one thread begins before each session and ends in it, and one begins in it and ends behind it.
            boolean cross = i >= a.length - 2;
            CountDownLatch inside = new CountDownLatch(1), behind = new CountDownLatch(1);
            Thread first = cross ? until(inside) : null;
            if (!begin(options.contains("net=") ? options : options + ",file=" + i + ".hprof")) { System.exit(3); }
            Thread second = cross ? until(behind) : null;
            calls(calls);
            make(made);
            waits(waits);
            sink += more(60000000) + less(20000000);
            CountDownLatch parked = new CountDownLatch(1);
            park(parked);
            inside.countDown();
            if (cross) { first.join(); }
            if (!end()) { System.exit(4); }
            parked.countDown();
            behind.countDown();
            if (cross) { second.join(); }
            System.out.println("session " + i + " calls " + calls + " made " + made + " waits " + waits);
            if (i % 10 == 9 || i == n - 1) {
                System.gc();
                for (int k = 0; k < 500 && awake() > 0; k++) { Thread.sleep(20); } // what has left its session may still be on the way out of the kernel
                System.out.println("between " + i + " awake " + awake() + " kept " + kept() + " threads " + of("task") + " descriptors " + of("fd") + " classes "
                    + classes() + " rss " + rss() + " vm " + vm());
            }
        }
        stop = true;
        System.out.println("done " + alive.length);
    }
}
