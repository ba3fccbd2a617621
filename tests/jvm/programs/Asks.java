// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.locks.ReentrantLock;

/** Threads wait for a monitor and for a lock. At the end of its input it prints "asked NAME" for each class that OwnLoader was asked for, and "end". */
public final class Asks {
    private static final ReentrantLock LOCK = new ReentrantLock();

    private Asks() {
    }

    public static void main(String[] args) throws Exception {
        Thread[] all = {new Thread() { // no lambda, for which JDK 8 asks
            @Override
            public void run() {
                synchronized (LOCK) {
                    LOCK.notify();
                }
            }
        }, new Thread() {
            @Override
            public void run() {
                LOCK.lock();
                LOCK.unlock();
            }
        }};
        synchronized (LOCK) {
            LOCK.lock();
            for (Thread t : all) {
                t.start();
            }
            System.out.println("ready");
            while (System.in.read() >= 0) {
            }
            LOCK.wait(1000);
            LOCK.unlock();
        }
        for (Thread t : all) {
            t.join();
        }
        for (String name : OwnLoader.ASKED) {
            System.out.println("asked " + name);
        }
        System.out.println("end");
    }
}
