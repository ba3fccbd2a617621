// SPDX-License-Identifier: BSD-2-Clause
import java.security.Permission;
import java.util.concurrent.CountDownLatch;

/**
 * A peer has the agent end the program, which lets it only answer when the session has ended, and says no. Arguments: the library
 * (tests/sessions), the options.
 */
@SuppressWarnings({"deprecation", "removal"})
public class SessionsVeto extends SecurityManager {
    static final CountDownLatch asked = new CountDownLatch(1), ended = new CountDownLatch(1);
    static volatile Thread asks;

    @Override public void checkPermission(Permission p) { }

    @Override public void checkExit(int status) {
        asks = Thread.currentThread();
        asked.countDown();
        try { ended.await(); } catch (InterruptedException e) { throw new SecurityException(e); }
        throw new SecurityException("the program goes on");
    }

    public static void main(String[] a) throws Exception {
        System.load(a[0]);
        System.setSecurityManager(new SessionsVeto());
        boolean begun = Sessions.begin(a[1]);
        asked.await();
        System.out.println("session " + begun + " " + Sessions.end());
        ended.countDown();
        asks.join();
        System.out.println("session " + Sessions.begin("cpu=times,verbose=n,file=last") + " " + Sessions.end());
    }
}
