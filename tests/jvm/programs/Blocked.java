// SPDX-License-Identifier: BSD-2-Clause
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A thread of the programs Contend, Waiting, Locked and their like. It is blocked when another one knows it to be. It tells "KEY THREAD COUNT NANOSECONDS FORCED", where the
 * key is "WORD DETAIL METHOD CLASS". The nanoseconds are those between its own readings of the clock around the block, so the block is no longer. FORCED is from where the
 * other thread has seen it asleep in its block to before that one ends the block, or what a timed wait lasts at least: the block is no shorter. Its own waiting is by
 * semaphores, never by monitors.
 */
final class Blocked implements Runnable {
    private final Semaphore go = new Semaphore(0), done = new Semaphore(0);
    private final Map<String, long[]> sums = new TreeMap<>();
    final Thread thread;
    private volatile Consumer<Blocked> task;
    private volatile boolean given;
    private volatile Throwable failure;
    private volatile int at; // the block that it begins or is in, counted from 1 in a task; 0: in none
    private volatile long seen, forced; // by the one that ends the block
    private final boolean virtual;
    private volatile String number = ""; // of the kernel
    private int begun;
    private long began;

    Blocked(String name) {
        this(false, r -> new Thread(r, name));
    }

    /** A virtual one. */
    Blocked(Function<Runnable, Thread> make) {
        this(true, make);
    }

    private Blocked(boolean virtual, Function<Runnable, Thread> make) {
        this.virtual = virtual;
        thread = make.apply(this);
        thread.start();
    }

    @Override
    public void run() {
        number = virtual ? "" : Asleep.self();
        for (go.acquireUninterruptibly(); task != null; go.acquireUninterruptibly()) {
            try {
                begun = 0;
                task.accept(this);
            } catch (Throwable e) {
                failure = e;
            }
            at = 0;
            done.release();
        }
    }

    // --- of the thread itself

    /** So that its next park blocks: a semaphore may unpark a thread that had no need of it, and late. */
    void spendPermit() {
        while (!given) { Thread.yield(); }
        LockSupport.unpark(Thread.currentThread());
        LockSupport.park();
    }

    /** What may block comes next. */
    void before() {
        at = ++begun;
        began = System.nanoTime();
    }

    /** The same, which lasts so long at least. */
    void before(long ms) {
        forced = ms * 1000000L;
        before();
    }

    /** What may block is over. */
    void after(String key) {
        long ns = System.nanoTime() - began;
        at = 0;
        long[] sum = sums.computeIfAbsent(key, k -> new long[3]);
        sum[0]++;
        sum[1] += ns;
        sum[2] += forced;
        forced = 0;
    }

    // --- of others

    void give(Consumer<Blocked> what) {
        given = false;
        task = what;
        go.release();
        given = true;
    }

    /** Until it is blocked for the nth time in its task, in this state or the other. */
    private void until(int n, Thread.State state, Thread.State other) throws InterruptedException {
        for (int i = 0; at != n || !in(state, other) || !(virtual ? Asleep.carriers() : Asleep.thread(number)); i++) { look(i); }
        seen = System.nanoTime();
    }

    /** Its block, in which it has been seen, ends now. */
    void release() {
        forced += System.nanoTime() - seen;
    }

    /** Until it begins its nth block; what it does then is not known. */
    void untilBegun(int n) throws InterruptedException {
        for (int i = 0; at != n; i++) { look(i); }
    }

    private void look(int times) throws InterruptedException {
        if (failure != null) { throw new IllegalStateException(failure); }
        if (done.availablePermits() > 0) { throw new IllegalStateException("its block was over before it was seen"); }
        if (times < 50) { Thread.yield(); } else { Thread.sleep(1); }
    }

    private boolean in(Thread.State state, Thread.State other) {
        Thread.State now = thread.getState();
        return now == state || now == other;
    }

    void untilBlocked(int n) throws InterruptedException {
        until(n, Thread.State.BLOCKED, Thread.State.BLOCKED);
    }

    void untilWaiting(int n) throws InterruptedException {
        until(n, Thread.State.WAITING, Thread.State.TIMED_WAITING);
    }

    /** Until it has done its task. */
    void finish() {
        done.acquireUninterruptibly();
        if (failure != null) { throw new IllegalStateException(failure); }
    }

    /** It has no task: tells what it measured since it told the last time. */
    void tell() {
        sums.forEach((key, sum) -> System.out.println(key + " " + thread.getName() + " " + sum[0] + " " + sum[1] + " " + sum[2]));
        sums.clear();
    }

    void end() throws InterruptedException {
        tell();
        give(null);
        thread.join();
    }
}
