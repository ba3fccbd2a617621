// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Matrix: a small program with a little of everything, for about 0.3 s. Four threads count words, sort, recurse, throw; they share a map under a monitor that
 * they hold for a while, a queue with wait and notify, and a ReentrantLock; from JDK 21 on there are virtual threads. Prints sums; exit code 3.
 */
public class Matrix {
    static final Map<String, Integer> words = new HashMap<String, Integer>();
    static final ArrayDeque<int[]> queue = new ArrayDeque<int[]>();
    static final ReentrantLock lock = new ReentrantLock();
    static final List<Object> kept = new ArrayList<Object>();
    static long sum;

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static void count(int seed) {
        for (int i = 0; i < 60; i++) {
            String word = "w" + (seed * 31 + i * 7) % 50;
            synchronized (words) {
                Integer n = words.get(word);
                words.put(word, n == null ? 1 : n + 1);
                fib(10);
            }
        }
    }

    static int thrown(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("deep");
        }
        return thrown(depth - 1) + 1;
    }

    static int caught() {
        try {
            return thrown(8);
        } catch (IllegalStateException e) {
            return e.getMessage().length();
        }
    }

    static void add(long n) {
        lock.lock();
        try {
            sum += n;
            fib(12);
        } finally {
            lock.unlock();
        }
    }

    static void put(int[] item) {
        synchronized (queue) {
            queue.add(item);
            queue.notifyAll();
        }
    }

    static int[] take() throws InterruptedException {
        synchronized (queue) {
            while (queue.isEmpty()) {
                queue.wait(1000);
            }
            return queue.poll();
        }
    }

    static void work(int seed) {
        for (int round = 0; round < 8; round++) {
            count(seed + round);
            int[] numbers = new int[500];
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = (i * 7919 + seed) % 1000;
            }
            Arrays.sort(numbers);
            put(numbers);
            add(fib(14) + caught());
            synchronized (kept) {
                kept.add(numbers);
                kept.add(new String[] {"seed" + seed, "round" + round});
            }
        }
    }

    /** Holds it long enough for all others to come. */
    static void gate(Object gate) throws InterruptedException {
        synchronized (gate) {
            Thread.sleep(30);
        }
    }

    static Thread virtual(Runnable r) throws Exception {
        try {
            return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, r);
        } catch (NoSuchMethodException e) {
            Thread t = new Thread(r, "not-virtual");
            t.start();
            return t;
        } catch (java.lang.reflect.InvocationTargetException e) { // 19 and 20: a preview
            Thread t = new Thread(r, "not-virtual");
            t.start();
            return t;
        }
    }

    /** Waits once, and lets the first of the threads find the gate closed: both are in every profile, however slow the start is. */
    static List<Thread> startAll(Object gate) throws Exception {
        synchronized (gate) {
            gate.wait(5);
            List<Thread> all = start(gate);
            while (all.get(0).getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
            return all;
        }
    }

    static List<Thread> start(final Object gate) throws Exception {
        List<Thread> all = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) {
            final int seed = i;
            Thread t = new Thread("matrix-" + i) {
                @Override
                public void run() {
                    try {
                        gate(gate);
                    } catch (InterruptedException e) {
                        throw new RuntimeException(e);
                    }
                    work(seed);
                }
            };
            t.start();
            all.add(t);
        }
        for (int i = 0; i < 3; i++) {
            all.add(virtual(new Runnable() {
                public void run() {
                    try {
                        gate(gate);
                    } catch (InterruptedException e) {
                        throw new RuntimeException(e);
                    }
                    add(1);
                }
            }));
        }
        return all;
    }

    public static void main(String[] a) throws Exception {
        List<Thread> all = startAll(new Object());
        long taken = 0;
        for (int i = 0; i < 32; i++) {
            taken += take()[499];
        }
        for (Thread t : all) {
            t.join();
        }
        int counted = 0;
        for (Integer n : words.values()) {
            counted += n;
        }
        System.out.println("taken " + taken + " sum " + sum + " words " + words.size() + " counted " + counted + " kept " + kept.size());
        System.exit(3);
    }
}
