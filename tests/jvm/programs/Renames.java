// SPDX-License-Identifier: BSD-2-Clause
import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;

/**
 * Renames MS [told | virtual]: threads that rename themselves before the last dump: one that goes on, one that ends, one that does so twice, one that keeps its
 * name; each burns so much. told: by a line of stdin, all of them having started before "ready"; it ends with stdin. virtual: a virtual thread, blocked once by a monitor under its
 * first name, goes on, too.
 */
public class Renames {
    static final Object LOCK = new Object();

    static class Burner extends Thread {
        final String[] names;
        final boolean goesOn;
        final CountDownLatch burnt;

        Burner(String first, boolean goesOn, CountDownLatch burnt, String... names) {
            super(first);
            this.names = names;
            this.goesOn = goesOn;
            this.burnt = burnt;
            setDaemon(true);
        }

        static volatile long ms;
        static final CountDownLatch GO = new CountDownLatch(1);

        public void run() {
            try { GO.await(); } catch (InterruptedException e) { return; }
            for (String name : names) { setName(name); Cpu.burn(ms * 1000000L / names.length); }
            if (names.length == 0) { Cpu.burn(ms * 1000000L); }
            burnt.countDown();
            if (goesOn) { forever(); }
        }
    }

    static void forever() {
        try { Thread.sleep(1000000); } catch (InterruptedException e) { }
    }

    static void blocked(CountDownLatch done) {
        synchronized (LOCK) { Thread.currentThread().setName("v newest"); }
        done.countDown();
        forever();
    }

    static void virtual() throws Exception {
        final CountDownLatch done = new CountDownLatch(1);
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Thread v;
        synchronized (LOCK) {
            v = (Thread) start.invoke(null, (Runnable) () -> { Thread.currentThread().setName("v first"); blocked(done); });
            while (v.getState() != Thread.State.BLOCKED) { Thread.sleep(1); }
            Thread.sleep(50);
        }
        done.await();
    }

    public static void main(String[] a) throws Exception {
        Burner.ms = Long.parseLong(a[0]);
        CountDownLatch burnt = new CountDownLatch(4);
        Burner ends = new Burner("b first", false, burnt, "b \"newest\" \\ \u00e9\n");
        Thread[] all = {new Burner("a first", true, burnt, "a newest"), ends, new Burner("c first", true, burnt, "c second", "c newest"), new Burner("d first", true, burnt)};
        for (Thread t : all) { t.start(); }
        if (a.length > 1 && a[1].equals("virtual")) { virtual(); }
        if (a.length > 1 && a[1].equals("told")) {
            System.out.println("ready");
            System.in.read();
        }
        Burner.GO.countDown();
        burnt.await();
        ends.join();
        System.out.println("done");
        while (a.length > 1 && a[1].equals("told") && System.in.read() >= 0) { }
    }
}
