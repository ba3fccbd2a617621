// SPDX-License-Identifier: BSD-2-Clause
import java.io.File;
import java.util.concurrent.Semaphore;

/**
 * HeapThreads N LEFT: keeps N items and N threads that wait; prints "ready". For the file "step1" in the working directory all but LEFT threads end, then it makes
 * "ack1". "stop" ends the rest.
 */
public class HeapThreads {
    static class Item { int a; }

    static final Item[] items = new Item[10000];

    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]), left = Integer.parseInt(a[1]);
        Semaphore[] go = new Semaphore[n];
        Thread[] threads = new Thread[n];
        for (int i = 0; i < n; i++) {
            Semaphore s = go[i] = new Semaphore(0);
            items[i] = new Item();
            threads[i] = new Thread("h" + i) {
                public void run() { s.acquireUninterruptibly(); }
            };
            threads[i].start();
        }
        System.out.println("ready");
        System.out.flush();
        for (boolean ended = false; !new File("stop").exists(); Thread.sleep(5)) {
            if (!ended && new File("step1").exists()) {
                for (int i = left; i < n; i++) { go[i].release(); }
                for (int i = left; i < n; i++) {
                    threads[i].join();
                    threads[i] = null;
                }
                ended = new File("ack1").createNewFile();
            }
        }
        for (int i = 0; i < left; i++) { go[i].release(); }
        System.out.println("done");
    }
}
