import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Has virtual threads that are parked at one place, called as its arguments say, or one without a name. Its last line before "end" is what OwnLoader was asked for since "ready". */
public final class Loads {
    private static CountDownLatch all;

    private Loads() {
    }

    static void parked() {
        all.countDown();
        for (;;) {
            LockSupport.park();
        }
    }

    public static void main(String[] args) throws Exception {
        all = new CountDownLatch(Math.max(1, args.length));
        if (args.length == 0) {
            Thread.startVirtualThread(Loads::parked);
        }
        for (String name : args) {
            Thread.ofVirtual().name(name).start(Loads::parked);
        }
        all.await();
        OwnLoader.ASKED.clear();
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
        System.out.println("asked " + OwnLoader.ASKED);
        System.out.println("end");
    }
}
