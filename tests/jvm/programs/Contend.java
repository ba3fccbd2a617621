// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/**
 * Contend CASE ...: threads contend for monitors. The holder begins its time only when all others are blocked, so that every contention is certain. Cases:
 * threads N ROUNDS MS: N threads, one of which holds. sites ROUNDS MSA MSB: two sites, two holders, two classes. kinds ROUNDS MS: all kinds of monitors.
 * Prints "blocked HOLDER METHOD CLASS THREAD COUNT NANOSECONDS FORCED".
 */
public class Contend {
    static class Gate { }
    static class Other { }
    static class Outer { }
    static class Inner { }
    static class Again { }
    static class Hashed { }
    static class Waited { }
    static class ToHolder { }
    static class ToContender { }
    static class Method {
        synchronized void enter(Blocked me) { me.after("blocked hold Contend$Method.enter Contend$Method"); }
    }
    static class Statics {
        static int touched = 1;
        static synchronized void enter(Blocked me) { me.after("blocked hold Contend$Statics.enter java.lang.Class"); }
    }

    static String key(String holder, String method, Object lock) {
        return "blocked " + holder + " Contend." + method + " " + lock.getClass().getTypeName();
    }

    // --- those that are blocked

    static void object(Blocked me, Object lock, String key) {
        me.before();
        synchronized (lock) { me.after(key); }
    }

    static void siteA(Blocked me, Object lock, String key) {
        me.before();
        synchronized (lock) { me.after(key); }
    }

    static void siteB(Blocked me, Object lock, String key) {
        me.before();
        synchronized (lock) { me.after(key); }
    }

    static void inner(Blocked me, Object lock, String key) {
        me.before();
        synchronized (lock) { me.after(key); }
    }

    static void outer(Blocked me, Object lock, String key, Object inside, String insideKey) {
        me.before();
        synchronized (lock) {
            me.after(key);
            inner(me, inside, insideKey);
        }
    }

    static void again(Blocked me, Object lock, String key) {
        me.before();
        synchronized (lock) {
            me.after(key);
            synchronized (lock) { synchronized (lock) { Statics.touched++; } }
        }
    }

    // --- those that hold

    static void blockAll(long ms, Consumer<Blocked> task, Blocked... all) throws InterruptedException {
        for (Blocked b : all) { b.give(task); }
        for (Blocked b : all) { b.untilBlocked(1); }
        Thread.sleep(ms);
        release(all);
    }

    static void release(Blocked... all) {
        for (Blocked b : all) { b.release(); }
    }

    static void finish(Blocked... all) {
        for (Blocked b : all) { b.finish(); }
    }

    static void hold(Object lock, long ms, Consumer<Blocked> task, Blocked... all) throws InterruptedException {
        synchronized (lock) { blockAll(ms, task, all); }
        finish(all);
    }

    static void holdA(Object lock, long ms, Consumer<Blocked> task, Blocked... all) throws InterruptedException {
        synchronized (lock) { blockAll(ms, task, all); }
        finish(all);
    }

    static void holdB(Object lock, long ms, Consumer<Blocked> task, Blocked... all) throws InterruptedException {
        synchronized (lock) { blockAll(ms, task, all); }
        finish(all);
    }

    static void holdAgain(Object lock, long ms, Consumer<Blocked> task, Blocked... all) throws InterruptedException {
        synchronized (lock) {
            synchronized (lock) {
                synchronized (lock) { blockAll(ms, task, all); }
                Thread.sleep(1);
            }
            Thread.sleep(1);
        }
        finish(all);
    }

    static void holdInner(Object lock, Semaphore held, long ms, Blocked blocked) {
        synchronized (lock) {
            held.release();
            try {
                blocked.untilBlocked(2);
                Thread.sleep(ms);
                blocked.release();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    // --- cases

    static Blocked[] some(int n) {
        Blocked[] all = new Blocked[n];
        for (int i = 0; i < n; i++) { all[i] = new Blocked("b" + i); }
        return all;
    }

    static void threads(int n, int rounds, long ms) throws InterruptedException {
        Blocked[] all = some(n - 1);
        Object gate = new Gate();
        String key = key("hold", "object", gate);
        for (int i = 0; i < rounds; i++) { hold(gate, ms, b -> object(b, gate, key), all); }
        for (Blocked b : all) { b.end(); }
    }

    static void sites(int rounds, long msA, long msB) throws InterruptedException {
        Blocked one = new Blocked("b0");
        Object gate = new Gate(), other = new Other();
        String a = key("holdA", "siteA", gate), b = key("holdB", "siteB", gate), c = key("holdB", "siteA", other);
        for (int i = 0; i < rounds; i++) {
            holdA(gate, msA, me -> siteA(me, gate, a), one);
            holdB(gate, msB, me -> siteB(me, gate, b), one);
            if (i % 4 == 0) { holdB(other, msB, me -> siteA(me, other, c), one); }
        }
        one.end();
    }

    static void biased(Object lock) {
        for (int i = 0; i < 100; i++) { synchronized (lock) { Statics.touched++; } }
    }

    static void nested(Object outer, Object inner, long ms, Blocked one, Blocked second) throws InterruptedException {
        String outerKey = key("hold", "outer", outer), innerKey = key("holdInner", "inner", inner);
        Semaphore held = new Semaphore(0);
        second.give(me -> holdInner(inner, held, ms, one));
        held.acquire();
        hold(outer, ms, me -> outer(me, outer, outerKey, inner, innerKey), one);
        second.finish();
    }

    static void kinds(int rounds, long ms) throws InterruptedException {
        Blocked one = new Blocked("b0"), second = new Blocked("b1");
        Object[] plain = {new Gate(), new int[1], new Gate[1][1], new Hashed(), new Waited()};
        System.identityHashCode(plain[3]);
        synchronized (plain[4]) { plain[4].wait(1); }
        Method method = new Method();
        Object again = new Again(), outer = new Outer(), inner = new Inner();
        for (int i = 0; i < rounds; i++) {
            for (Object lock : plain) { hold(lock, ms, me -> object(me, lock, key("hold", "object", lock)), one); }
            hold(method, ms, me -> { me.before(); method.enter(me); }, one);
            hold(Statics.class, ms, me -> { me.before(); Statics.enter(me); }, one);
            holdAgain(again, ms, me -> again(me, again, key("holdAgain", "again", again)), one);
            nested(outer, inner, ms, one, second);
            Object mine = new ToHolder(), theirs = new ToContender(); // a bias is lost by the first contention
            biased(mine);
            hold(mine, ms, me -> object(me, mine, key("hold", "object", mine)), one);
            one.give(me -> biased(theirs));
            one.finish();
            hold(theirs, ms, me -> object(me, theirs, key("hold", "object", theirs)), one);
        }
        one.end();
        second.end();
    }

    public static void main(String[] a) throws Exception {
        int first = Integer.parseInt(a[1]), second = Integer.parseInt(a[2]);
        switch (a[0]) {
        case "threads": threads(first, second, Long.parseLong(a[3])); break;
        case "sites": sites(first, second, Long.parseLong(a[3])); break;
        default: kinds(first, second);
        }
        System.out.println("done");
    }
}
