// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Locked ROUNDS MS: a thread parks in locks of java.util.concurrent, for so long at least since another one sees it parked. Prints "parked - METHOD CLASS THREAD COUNT
 * NANOSECONDS FORCED"; a class whose name begins so ends in an asterisk. The count is that of blocks: a lock may park several times in one.
 */
public class Locked {
    static class Blocker { }
    static final String LOCKS = "java.util.concurrent.locks.";

    static String key(String method, String klass) {
        return "parked - Locked." + method + " " + klass;
    }

    static void reentrant(Blocked me, Lock lock) {
        String key = key("reentrant", LOCKS + "ReentrantLock$NonfairSync");
        me.before();
        lock.lock();
        me.after(key);
        lock.unlock();
    }

    static void fair(Blocked me, Lock lock) throws InterruptedException {
        String key = key("fair", LOCKS + "ReentrantLock$FairSync");
        me.before();
        boolean got = lock.tryLock(60, TimeUnit.SECONDS);
        me.after(key);
        if (got) { lock.unlock(); }
    }

    static void reads(Blocked me, Lock lock) {
        String key = key("reads", LOCKS + "ReentrantReadWriteLock$NonfairSync");
        me.before();
        lock.lock();
        me.after(key);
        lock.unlock();
    }

    static void writes(Blocked me, Lock lock) {
        String key = key("writes", LOCKS + "ReentrantReadWriteLock$NonfairSync");
        me.before();
        lock.lock();
        me.after(key);
        lock.unlock();
    }

    static void awaits(Blocked me, Lock lock, Condition condition) throws InterruptedException {
        lock.lock();
        String key = key("awaits", LOCKS + "AbstractQueuedSynchronizer$ConditionObject");
        me.before();
        condition.await();
        me.after(key);
        lock.unlock();
    }

    /** It reads the clock for its time before it parks: none is forced. */
    static void awaitsSome(Blocked me, Lock lock, Condition condition, long ms) throws InterruptedException {
        lock.lock();
        String key = key("awaitsSome", LOCKS + "AbstractQueuedSynchronizer$ConditionObject");
        me.before();
        condition.await(ms, TimeUnit.MILLISECONDS);
        me.after(key);
        lock.unlock();
    }

    static void acquires(Blocked me, Semaphore s) throws InterruptedException {
        String key = key("acquires", "java.util.concurrent.Semaphore$NonfairSync");
        me.before();
        s.acquire();
        me.after(key);
    }

    static void takes(Blocked me, SynchronousQueue<Object> queue) throws InterruptedException {
        String key = key("takes", "java.util.concurrent.*");
        me.before();
        queue.take();
        me.after(key);
    }

    static void parks(Blocked me, Object blocker) {
        String key = key("parks", "Locked$Blocker");
        me.before();
        LockSupport.park(blocker);
        me.after(key);
    }

    static void parksSome(Blocked me, Object blocker, long ms) {
        String key = key("parksSome", "Locked$Blocker");
        me.before(ms);
        LockSupport.parkNanos(blocker, ms * 1000000L);
        me.after(key);
    }

    static void behind(Blocked one, Lock held, Waiting.Wait task, long ms) throws InterruptedException {
        held.lock();
        one.give(Waiting.task(task));
        waiting(one, ms);
        held.unlock();
        one.finish();
    }

    static void waiting(Blocked one, long ms) throws InterruptedException {
        one.untilWaiting(1);
        Thread.sleep(ms);
        one.release();
    }

    static void round(Blocked one, long ms) throws InterruptedException {
        Lock lock = new ReentrantLock(), fair = new ReentrantLock(true);
        ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        behind(one, lock, me -> reentrant(me, lock), ms);
        behind(one, fair, me -> fair(me, fair), ms);
        behind(one, rw.writeLock(), me -> reads(me, rw.readLock()), ms);
        behind(one, rw.readLock(), me -> writes(me, rw.writeLock()), ms);
        Condition condition = lock.newCondition();
        one.give(Waiting.task(me -> awaits(me, lock, condition)));
        waiting(one, ms);
        lock.lock();
        condition.signal();
        lock.unlock();
        one.finish();
        one.give(Waiting.task(me -> awaitsSome(me, lock, condition, ms)));
        one.finish();
        Semaphore semaphore = new Semaphore(0);
        one.give(Waiting.task(me -> acquires(me, semaphore)));
        waiting(one, ms);
        semaphore.release();
        one.finish();
        SynchronousQueue<Object> queue = new SynchronousQueue<>();
        one.give(Waiting.task(me -> takes(me, queue)));
        waiting(one, ms);
        queue.put(queue);
        one.finish();
        Object blocker = new Blocker();
        one.give(me -> {
            me.spendPermit(); // the queue may have unparked it late
            parks(me, blocker);
        });
        waiting(one, ms);
        LockSupport.unpark(one.thread);
        one.finish();
        one.give(me -> parksSome(me, blocker, ms));
        one.finish();
    }

    public static void main(String[] a) throws InterruptedException {
        int rounds = Integer.parseInt(a[0]);
        Blocked one = new Blocked("parker");
        for (int i = 0; i < rounds; i++) { round(one, Long.parseLong(a[1])); }
        one.end();
        System.out.println("done");
    }
}
