// SPDX-License-Identifier: BSD-2-Clause

/** A virtual thread, which an agent of JVMPI sees as its carrier. Argument: the agent's library. */
public class JvmpiVirtual {
    static void inside() {
        JvmpiCore.virtual(Thread.currentThread());
    }

    public static void main(String[] args) throws Exception {
        System.load(args[0]);
        Object lock = new Object();
        Thread v = Thread.ofVirtual().name("one").unstarted(() -> {
            inside();
            synchronized (lock) {
                JvmpiCore.virtual(Thread.currentThread());
            }
        });
        synchronized (lock) {
            v.start();
            while (v.getState() != Thread.State.BLOCKED) {
                Thread.yield();
            }
        }
        v.join();
        JvmpiCore.check(JvmpiCore.count(JvmpiCore.OURS) == 0, "a virtual thread was announced");
        System.out.println("done virtual");
    }
}
