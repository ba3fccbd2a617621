// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;
import java.util.concurrent.locks.ReentrantLock;

/** A thread parks for a ReentrantLock, which this one holds. */
public class Locks implements Callable<String> {
    private final int rounds;

    public Locks(long rounds) { this.rounds = (int) rounds; }

    static void enter(Blocked me, ReentrantLock lock) {
        me.before();
        lock.lock();
        me.after("truth block parked Locks.enter java.util.concurrent.locks.ReentrantLock$NonfairSync");
        lock.unlock();
    }

    @Override
    public String call() throws InterruptedException {
        Blocked one = new Blocked("locker");
        ReentrantLock lock = new ReentrantLock();
        for (int i = 0; i < rounds; i++) {
            lock.lock();
            one.give(me -> enter(me, lock));
            one.untilWaiting(1);
            Thread.sleep(20);
            one.release();
            lock.unlock();
            one.finish();
        }
        one.end();
        return new Account().calls("Locks.enter", rounds).toString();
    }
}
