// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Callable;

/** A thread is blocked by monitors of two classes from one line, which this one holds. */
public class Contended implements Callable<String> {
    static class Gate { }
    static class Door { }

    private final int rounds;

    public Contended(long rounds) { this.rounds = (int) rounds; }

    static void enter(Blocked me, Object lock) {
        String key = "truth block blocked Contended.enter " + lock.getClass().getName();
        me.before();
        synchronized (lock) { me.after(key); }
    }

    @Override
    public String call() throws InterruptedException {
        Blocked one = new Blocked("contender");
        Object[] all = {new Gate(), new Door()};
        for (int i = 0; i < rounds; i++) {
            Object lock = all[i % 2];
            synchronized (lock) {
                one.give(me -> enter(me, lock));
                one.untilBlocked(1);
                Thread.sleep(30 / (i % 2 + 1));
                one.release();
            }
            one.finish();
        }
        one.end();
        return new Account().calls("Contended.enter", rounds).toString();
    }
}
