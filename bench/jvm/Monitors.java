/* SPDX-License-Identifier: BSD-2-Clause */
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Critical sections of several threads, by monitors or by ReentrantLock: wall and CPU time, and how often the JVM says that a thread was blocked.
 * Arguments: "monitor" or "lock"; gates (0: every thread has its own ones, and does nothing in between); least steps of work outside; in one of how
 * many sections the owner yields its processor, so that others have to block and not only to spin (0: none); critical sections of all threads together;
 * then numbers of threads, one after the other.
 */
public final class Monitors {
    private static final int OWN_GATES = 2;    // by turns, so that the compiler cannot make one section of two
    private static final int PIECE = 512;      // critical sections a call
    private static final int DEPTH = 10;       // frames below them
    private static final int INSIDE = 500;     // least steps of work inside, about 1 us; up to twice as many
    private static final long SETTLE_MS = 50;  // in which the profiler reads what the threads left
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private static boolean byLock;
    private static int outside;     // least steps; up to five times as many
    private static int yields;      // one in so many sections; 0: none
    private static volatile int sink;

    /** What a section guards. Gates do not share cache lines. */
    private static class Gate {
        final ReentrantLock lock = new ReentrantLock();
        long entered;
        long pad0;
        long pad1;
        long pad2;
        long pad3;
        long pad4;
        long pad5;
        long pad6;
        long pad7;
    }

    private static final class Red extends Gate {
    }

    private static final class Green extends Gate {
    }

    private static final class Blue extends Gate {
    }

    private static final class Black extends Gate {
    }

    private static Gate[] gates(int n) {
        Gate[] made = new Gate[n];
        for (int i = 0; i < n; i++) {
            made[i] = (i & 3) == 0 ? new Red() : (i & 3) == 1 ? new Green() : (i & 3) == 2 ? new Blue() : new Black();
        }
        return made;
    }

    private static int work(int v, int steps) {
        int x = v;
        for (int i = 0; i < steps; i++) {
            x = x * 69069 + 1 ^ x >>> 11;
        }
        return x;
    }

    private static int next(int random) {
        return random * 1103515245 + 12345;
    }

    /** Nothing but monitors. */
    private static int bareMonitors(Gate[] gates, int seed) {
        for (int i = 0; i < PIECE; i++) {
            Gate gate = gates[i % gates.length];
            synchronized (gate) {
                gate.entered++;
            }
        }
        return seed;
    }

    private static int bareLocks(Gate[] gates, int seed) {
        for (int i = 0; i < PIECE; i++) {
            Gate gate = gates[i % gates.length];
            gate.lock.lock();
            try {
                gate.entered++;
            } finally {
                gate.lock.unlock();
            }
        }
        return seed;
    }

    private static int inside(int v, int random) {
        if (yields != 0 && (random >>> 4) % yields == 0) {
            Thread.yield();
        }
        return work(v, INSIDE + (random >>> 16) % INSIDE);
    }

    private static int monitors(Gate[] gates, int seed) {
        int random = seed;
        int x = seed;
        for (int i = 0; i < PIECE; i++) {
            random = next(random);
            x = work(x, outside + (random >>> 8) % (4 * outside));
            Gate gate = gates[(random >>> 24) % gates.length];
            synchronized (gate) {
                gate.entered++;
                x = inside(x, random);
            }
        }
        sink = x;
        return random;
    }

    private static int locks(Gate[] gates, int seed) {
        int random = seed;
        int x = seed;
        for (int i = 0; i < PIECE; i++) {
            random = next(random);
            x = work(x, outside + (random >>> 8) % (4 * outside));
            Gate gate = gates[(random >>> 24) % gates.length];
            gate.lock.lock();
            try {
                gate.entered++;
                x = inside(x, random);
            } finally {
                gate.lock.unlock();
            }
        }
        sink = x;
        return random;
    }

    private static void pieces(int depth, Gate[] gates, boolean bare, long n, int seed) {
        if (depth > 0) {
            pieces(depth - 1, gates, bare, n, seed);
            return;
        }
        int x = seed;
        for (long i = 0; i < n; i++) {
            if (byLock) {
                x = bare ? bareLocks(gates, x) : locks(gates, x);
            } else {
                x = bare ? bareMonitors(gates, x) : monitors(gates, x);
            }
        }
    }

    /** So many threads: they begin together, and stay until all was read that the JVM knows of them. */
    private static final class Crew {
        final CountDownLatch ready;
        final CountDownLatch go = new CountDownLatch(1);
        final CountDownLatch done;
        final CountDownLatch leave = new CountDownLatch(1);
        final Gate[] shared;
        final long[] ids;
        final Thread[] threads;
        final long piecesEach;
        long entered;

        Crew(int count, int gates, long sections) throws InterruptedException {
            ready = new CountDownLatch(count);
            done = new CountDownLatch(count);
            shared = gates(gates);
            ids = new long[count];
            threads = new Thread[count];
            piecesEach = Math.max(1, sections / PIECE / count);
            for (int i = 0; i < count; i++) {
                int seed = i + 1;
                threads[i] = new Thread(() -> enter(seed), "worker-" + i);
                threads[i].start();
            }
            ready.await();
            for (int i = 0; i < count; i++) {
                ids[i] = id(threads[i]);
            }
        }

        @SuppressWarnings("deprecation") // threadId() is not in every JDK
        private static long id(Thread thread) {
            return thread.getId();
        }

        private void enter(int seed) {
            Gate[] mine = shared.length == 0 ? gates(OWN_GATES) : shared;
            try {
                ready.countDown();
                go.await();
                pieces(DEPTH, mine, mine != shared, piecesEach, seed);
                done.countDown();
                leave.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            if (mine != shared) {
                add(mine);
            }
        }

        private synchronized void add(Gate[] gates) {
            for (Gate gate : gates) {
                entered += gate.entered;
            }
        }

        /** How often the threads were blocked: at a monitor; for locks, parked. */
        private long blocked() {
            long sum = 0;
            for (ThreadInfo info : THREADS.getThreadInfo(ids)) {
                sum += byLock ? info.getWaitedCount() : info.getBlockedCount();
            }
            return sum;
        }

        /** {wall ns, CPU ns, times blocked, sections}. */
        long[] work() throws InterruptedException {
            long blocked = blocked();
            long cpu = Figures.cpuOfWorkers();
            long begin = System.nanoTime();
            go.countDown();
            done.await();
            long wall = System.nanoTime() - begin;
            Thread.sleep(SETTLE_MS);
            cpu = Figures.cpuOfWorkers() - cpu;
            blocked = blocked() - blocked - (byLock ? threads.length : 0); // each of them is now parked at its end
            leave.countDown();
            for (Thread t : threads) {
                t.join();
            }
            add(shared);
            return new long[] {wall, cpu, blocked, entered};
        }
    }

    public static void main(String[] args) throws InterruptedException {
        byLock = args[0].equals("lock");
        int gates = Integer.parseInt(args[1]);
        outside = Integer.parseInt(args[2]);
        yields = Integer.parseInt(args[3]);
        long sections = Long.parseLong(args[4]);
        long blocked = new Crew(2, gates, sections / 4).work()[2]; // until it is compiled
        long lost = 0;
        for (int i = 5; i < args.length; i++) {
            int count = Integer.parseInt(args[i]);
            Crew crew = new Crew(count, gates, sections);
            long[] got = crew.work();
            blocked += got[2];
            lost += crew.piecesEach * PIECE * count - got[3];
            Figures.line("wall_ns_" + count, got[0]);
            Figures.line("cpu_ns_" + count, got[1]);
            Figures.line("blocked_" + count, got[2]);
            Figures.line("sections_" + count, got[3]);
        }
        Figures.line("blocked_in_all", blocked);
        Figures.line("lost", lost);
    }
}
