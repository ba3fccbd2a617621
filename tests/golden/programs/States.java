import java.util.concurrent.locks.*;
/** One daemon thread in each state, all alive at exit. */
public class States {
    static final Object lock = new Object();
    static volatile long n;
    static void start(String name, Runnable r) throws Exception { Thread t = new Thread(r, name); t.setDaemon(true); t.start(); Thread.sleep(60); }
    static Thread spinner(String name) { Thread t = new Thread(new Runnable() { public void run() { for (;;) n++; } }, name); t.setDaemon(true); t.start(); return t; }
    @SuppressWarnings("deprecation")
    public static void main(String[] a) throws Exception {
        start("parked", new Runnable() { public void run() { for (;;) LockSupport.park(); } });
        start("timed-parked", new Runnable() { public void run() { for (;;) LockSupport.parkNanos(60000000000L); } });
        start("accepting", new Runnable() { public void run() { try { new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress()).accept(); } catch (Exception e) { } } });
        start("waiting", new Runnable() { public void run() { synchronized (lock) { try { lock.wait(); } catch (InterruptedException e) { } } } });
        start("timed-waiting", new Runnable() { public void run() { synchronized (lock) { try { lock.wait(60000); } catch (InterruptedException e) { } } } });
        start("sleeping", new Runnable() { public void run() { try { Thread.sleep(60000); } catch (InterruptedException e) { } } });
        start("joining", new Runnable() { public void run() { try { Thread.currentThread().join(); } catch (InterruptedException e) { } } });
        final ReentrantLock rl = new ReentrantLock(); rl.lock();
        start("juc-lock", new Runnable() { public void run() { rl.lock(); } });
        Thread i = spinner("interrupted"); Thread.sleep(60); i.interrupt();
        Thread s = spinner("suspended"); Thread.sleep(60); s.suspend();
        Thread.sleep(60);
        Thread nw = new Thread("never started");
        Thread dead = new Thread("ended"); dead.start(); dead.join();
        System.out.println("done");
    }
}
// SPDX-License-Identifier: BSD-2-Clause
