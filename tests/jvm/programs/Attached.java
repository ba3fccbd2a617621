// SPDX-License-Identifier: BSD-2-Clause
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Does what lines on standard input say, and answers each with "done": "calls N" calls leaf so often; "burn MORE LESS" uses so many ms
 * of CPU in each of two methods; "make N" allocates; "making N" has N threads allocate until "making 0", "copying" one that makes as many
 * objects as copies of an array; "threads N" starts N threads,
 * "threads 0" collects garbage and then ends them; "collections" prints how often the VM has collected garbage; "stubs MS" copies and
 * compares for so long, most of it in stubs of the VM; "short N LENGTH" starts N threads, one after the other has ended, with names so
 * long; "round" does what a program that calls main has for it. Prints "ready" first; ends with its input.
 */
public class Attached {
    static class Made { long a, b; }
    static class Copied { }
    static volatile long sink;
    static Object[] held = new Object[16];
    static Runnable round;
    static volatile boolean makes;
    static volatile CountDownLatch may = new CountDownLatch(1);
    static final List<Thread> started = new ArrayList<>();

    static int leaf(int i) { return i + 1; }
    static void calls(int n) { int x = 0; for (int i = 0; i < n; i++) { x = leaf(x); } sink += x; }
    static void make(int n) { for (int i = 0; i < n; i++) { held[i % held.length] = new Made(); } }
    static void making(int n) {
        makes = n > 0;
        for (int i = 0; i < n; i++) {
            Thread t = new Thread(() -> { while (makes) { make(100); } });
            t.setDaemon(true);
            t.start();
        }
    }
    static void copy(Copied[] from) { held[0] = new Made(); held[1] = from.clone(); }
    static void copying() {
        makes = true;
        Thread t = new Thread(() -> { for (Copied[] from = new Copied[2]; makes;) { copy(from); } });
        t.setDaemon(true);
        t.start();
    }
    static void stubs(long ms) {
        byte[] from = new byte[64], to = new byte[64];
        String a = "abcdefghijklmnopqrstuvwxyzabcdefghijk", b = new String(a), longer = a + "k";
        for (long end = Cpu.now() + ms * 1000000L; Cpu.now() < end;) {
            for (int i = 0; i < 1000; i++) {
                System.arraycopy(from, 0, to, 0, 40 + (i & 15));
                sink += (b.equals(a) ? 1 : 0) + b.indexOf("jk") + b.compareTo(longer);
            }
        }
    }
    static long collections() {
        long n = 0;
        for (GarbageCollectorMXBean b : ManagementFactory.getGarbageCollectorMXBeans()) { n += b.getCollectionCount(); }
        return n;
    }
    static void threads(int n) throws InterruptedException {
        for (int i = 0; i < n; i++) {
            Thread t = new Thread(() -> { try { may.await(); } catch (InterruptedException e) { return; } });
            t.start();
            started.add(t);
        }
        if (n == 0) {
            System.gc();
            may.countDown();
            for (Thread t : started) { t.join(); }
            started.clear();
            may = new CountDownLatch(1);
        }
    }
    static void burnMore(long ms) { Cpu.burn(ms * 1000000L); }
    static void burnLess(long ms) { Cpu.burn(ms * 1000000L); }

    static void shortOnes(int n, int length) throws InterruptedException {
        char[] name = new char[length];
        Arrays.fill(name, 'n');
        for (int i = 0; i < n; i++) {
            Thread t = new Thread(() -> { }, new String(name));
            t.start();
            t.join();
        }
    }

    public static void main(String[] a) throws Exception {
        Thread idle = new Thread(() -> { try { Thread.sleep(Long.MAX_VALUE); } catch (InterruptedException e) { return; } }, "idle");
        idle.setDaemon(true);
        idle.start();
        System.out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int n = 0;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] w = line.split(" ");
            switch (w[0]) {
            case "calls": calls(Integer.parseInt(w[1])); break;
            case "make": make(Integer.parseInt(w[1])); break;
            case "making": making(Integer.parseInt(w[1])); break;
            case "copying": copying(); break;
            case "collections": System.out.println("collections " + collections()); break;
            case "threads": threads(Integer.parseInt(w[1])); break;
            case "round": round.run(); break;
            case "short": shortOnes(Integer.parseInt(w[1]), Integer.parseInt(w[2])); break;
            case "stubs": stubs(Long.parseLong(w[1])); break;
            default: burnMore(Long.parseLong(w[1])); burnLess(Long.parseLong(w[2])); break;
            }
            System.out.println("done " + ++n);
        }
        System.out.println("end");
    }
}
