/** Known owner, waiters to enter, waiters to be notified, and contended entries. */
public class Locks {
    static class Gate { }
    static class Bell { }
    static final Gate gate = new Gate();
    static final Bell bell = new Bell();
    static Thread daemon(String name, Runnable r) { Thread t = new Thread(r, name); t.setDaemon(true); t.start(); return t; }
    static void sleep(long ms) { try { Thread.sleep(ms); } catch (InterruptedException e) { } }
    static void hold(long ms) { synchronized (gate) { synchronized (gate) { sleep(ms); } } }
    static void enter() { synchronized (gate) { gate.hashCode(); } }
    static void await(long ms) { synchronized (bell) { try { bell.wait(ms); } catch (InterruptedException e) { } } }
    public static void main(String[] args) throws Exception {
        // three contended entries, about 400 ms each
        for (int i = 0; i < 3; i++) {
            Thread h = new Thread(new Runnable() { public void run() { hold(500); } }, "holder" + i); h.start();
            sleep(100);
            Thread c = new Thread(new Runnable() { public void run() { enter(); } }, "entrant" + i); c.start();
            h.join(); c.join();
        }
        await(150);
        // final state seen by the dump at exit
        daemon("owner", new Runnable() { public void run() { hold(60000); } });
        sleep(100);
        daemon("blocked1", new Runnable() { public void run() { enter(); } }); sleep(50);
        daemon("blocked2", new Runnable() { public void run() { enter(); } }); sleep(50);
        daemon("listener1", new Runnable() { public void run() { await(0); } }); sleep(50);
        daemon("listener2", new Runnable() { public void run() { await(60000); } }); sleep(50);
        daemon("sleeper", new Runnable() { public void run() { sleep(60000); } }); sleep(50);
        daemon("spinner", new Runnable() { public void run() { for (;;) { } } }); sleep(50);
        System.out.println("done");
    }
}
// SPDX-License-Identifier: BSD-2-Clause
