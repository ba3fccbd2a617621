// SPDX-License-Identifier: BSD-2-Clause
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Program told|alone PHASES END NOISES TASK...: what one seed chose (tests/truth/README.md). A task is CLASS:CARRIER:THREADS:AMOUNT:LOADER. In each phase all tasks run at
 * once; "told": a phase begins with a line on stdin. Prints "phase N", the accounts of the activities ("truth ..."), "done N", and "end".
 */
public class Program {
    static Instrumentation instrumentation;
    static List<Task> early = new ArrayList<>(); // of premain: they and their loaders stay

    static final class Task {
        final String klass, carrier;
        final int threads;
        final long amount;
        final ClassLoader loader;
        final String name;
        ExecutorService pool;

        Task(String text) {
            String[] w = text.split(":");
            klass = w[0];
            carrier = w[1];
            threads = Integer.parseInt(w[2]);
            amount = Long.parseLong(w[3]);
            loader = w[4].equals("isolated") ? new Isolated() : Program.class.getClassLoader();
            name = klass.toLowerCase() + "-" + carrier;
        }

        @SuppressWarnings("unchecked")
        String once(long part) throws Exception {
            Class<?> c = Class.forName(klass, true, loader);
            return ((Callable<String>) c.getConstructor(long.class).newInstance(part)).call();
        }

        String renamed() throws Exception {
            Thread.currentThread().setName(name + "-before");
            String first = once(amount / 2);
            Thread.currentThread().setName(name + "-after");
            return first + once(amount - amount / 2);
        }

        /** Ten threads, one after the other, that live shortly. */
        String briefly() throws Exception {
            StringBuilder told = new StringBuilder();
            for (int i = 0; i < 10; i++) {
                Callable<String> part = () -> once(amount / 10);
                told.append(start(part, name + "-" + i, false).get());
            }
            return told.toString();
        }

        /** On a pool that is made when threads of all kinds have waited. */
        String later() throws Exception {
            Thread.sleep(200);
            ExecutorService own = Executors.newFixedThreadPool(1);
            String told = own.submit(() -> once(amount)).get();
            own.shutdown();
            return told;
        }

        void begin(List<Future<String>> to) throws Exception {
            for (int i = 0; i < threads; i++) { to.add(begin(i)); }
        }

        private Future<String> begin(int i) throws Exception {
            Callable<String> whole = () -> once(amount);
            switch (carrier) {
            case "pool":
                pool = pool != null ? pool : Executors.newFixedThreadPool(threads);
                return pool.submit(whole);
            case "later": // main and the first tasks go on meanwhile
                return start(this::later, name + "-" + i, false);
            case "scheduled":
                pool = pool != null ? pool : Executors.newScheduledThreadPool(threads);
                return pool.submit(whole);
            case "common":
                return java.util.concurrent.ForkJoinPool.commonPool().submit(whole);
            case "virtual":
                return new Given(whole).onVirtual();
            case "short":
                return start(this::briefly, name + "-" + i, false);
            case "renamed":
                return start(this::renamed, name + "-first", false);
            case "idle":
                return start(() -> { Thread.sleep(300); return once(amount); }, name + "-" + i, false);
            default:
                return start(whole, name + "-" + i, carrier.equals("daemon"));
            }
        }
    }

    /** The end of a thread is what the profile may wait for: get() joins it. */
    static final class Given extends java.util.concurrent.FutureTask<String> {
        volatile Thread thread;

        Given(Callable<String> what) { super(what); }

        Given onVirtual() throws Exception {
            thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, this);
            return this;
        }

        @Override
        public String get() throws java.util.concurrent.ExecutionException, InterruptedException {
            String told = super.get();
            thread.join();
            return told;
        }
    }

    static Given start(Callable<String> what, String name, boolean daemon) {
        Given given = new Given(what);
        given.thread = new Thread(given, name);
        given.thread.setDaemon(daemon);
        given.thread.start();
        return given;
    }

    static void phase(int n, List<Task> tasks) throws Exception {
        System.out.println("phase " + n);
        List<Future<String>> all = new ArrayList<>();
        for (Task t : tasks) {
            if (!t.carrier.equals("main") && !t.carrier.equals("premain")) { t.begin(all); }
        }
        StringBuilder told = new StringBuilder();
        for (Task t : tasks) {
            if (t.carrier.equals("main")) { told.append(t.once(t.amount)); }
        }
        for (Future<String> f : all) { told.append(f.get()); }
        System.out.print(told);
        System.out.println("done " + n);
    }

    static List<Task> tasks(String[] a, int from) {
        List<Task> tasks = new ArrayList<>();
        for (int i = from; i < a.length; i++) { tasks.add(new Task(a[i])); }
        return tasks;
    }

    /** As an agent of java.lang.instrument, with the program's arguments, blanks between: tasks of the carrier premain. */
    public static void premain(String args, Instrumentation i) throws Exception {
        instrumentation = i;
        StringBuilder told = new StringBuilder();
        early = tasks(args == null || args.isEmpty() ? new String[0] : args.split(" "), 0);
        for (Task t : early) { told.append(t.once(t.amount)); }
        System.out.print(told);
    }

    public static void main(String[] a) throws Exception {
        BufferedReader in = a[0].equals("told") ? new BufferedReader(new InputStreamReader(System.in)) : null;
        List<Task> tasks = tasks(a, 4);
        if (!a[3].equals("-")) {
            for (String noise : a[3].split(",")) { Noise.begin(noise, tasks); }
        }
        System.out.println("ready");
        for (int n = 1; n <= Integer.parseInt(a[1]); n++) {
            if (in != null && in.readLine() == null) { throw new IllegalStateException("nobody tells"); }
            phase(n, tasks);
        }
        if (in != null) { in.readLine(); }
        System.out.println("end");
        end(a[2]);
        for (Task t : tasks) {
            if (t.pool != null) { t.pool.shutdown(); }
        }
    }

    static void end(String how) throws Exception {
        switch (how) {
        case "exit": System.exit(3); break;
        case "halt": Runtime.getRuntime().halt(4); break;
        case "throw": System.exit(throwing()); break;
        case "term": Thread.sleep(60000); break;
        default: break;
        }
    }

    /** From another thread, whose exception nobody catches. */
    static int throwing() throws Exception {
        Thread t = new Thread(() -> { throw new IllegalStateException("as wanted"); }, "thrower");
        t.setUncaughtExceptionHandler((who, e) -> System.out.println("caught"));
        t.start();
        t.join();
        return 5;
    }
}
