import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/**
 * Virtual threads in scopes in scopes: main() opens one and starts a thread in it, which opens the next one and starts a thread in that. Argument: how many. All are parked;
 * the last one is called "last". What StructuredTaskScope is made of, which is no preview.
 */
public final class Scopes {
    private static final CountDownLatch all = new CountDownLatch(1);
    private static Method open, start;

    private Scopes() {
    }

    static void parked() {
        for (;;) {
            LockSupport.park();
        }
    }

    static void opens(int left) {
        try {
            Object scope = open.invoke(null, "scope");
            start.invoke(scope, left > 1 ? Thread.ofVirtual().unstarted(() -> {
                opens(left - 1);
                parked();
            }) : Thread.ofVirtual().name("last").unstarted(() -> {
                all.countDown();
                parked();
            }));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Class<?> scopes = Class.forName("jdk.internal.misc.ThreadFlock");
        open = scopes.getMethod("open", String.class);
        start = scopes.getMethod("start", Thread.class);
        opens(Integer.parseInt(args[0]));
        all.await();
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
        System.out.println("end");
        System.exit(0);
    }
}
