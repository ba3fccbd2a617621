// SPDX-License-Identifier: BSD-2-Clause
import java.util.function.Consumer;

/**
 * ContendInit MS: three classes are initialised by one thread while another one needs them: what the VM reports of that is its own affair, and on some releases is the
 * end of a wait that never began. Then an ordinary contention: "blocked - METHOD CLASS THREAD COUNT NANOSECONDS FORCED". In front "initialised - METHOD CLASS THREAD ...".
 */
public class ContendInit {
    static class Gate { }
    static volatile Blocked one;
    static volatile int sink;
    static long ms;

    // No lambdas: one is a method of the class, which is not initialised.
    static class First {
        static int value = slowly(ContendInit::touchFirst);
    }
    static class Second {
        static int value = slowly(ContendInit::touchSecond);
    }
    static class Third {
        static int value = slowly(ContendInit::touchThird);
    }

    static void touchFirst(Blocked me) {
        me.before();
        sink = First.value;
        me.after("initialised - ContendInit.touchFirst ContendInit$First");
    }

    static void touchSecond(Blocked me) {
        me.before();
        sink = Second.value;
        me.after("initialised - ContendInit.touchSecond ContendInit$Second");
    }

    static void touchThird(Blocked me) {
        me.before();
        sink = Third.value;
        me.after("initialised - ContendInit.touchThird ContendInit$Third");
    }

    /** In the initialiser: the other thread wants the class. In which state it is then depends on the VM. */
    static int slowly(Consumer<Blocked> task) {
        try {
            one.give(task);
            one.untilBegun(1);
            Thread.sleep(ms);
            return 1;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void object(Blocked me, Object lock) {
        me.before();
        synchronized (lock) { me.after("blocked - ContendInit.object ContendInit$Gate"); }
    }

    public static void main(String[] a) throws InterruptedException {
        ms = Long.parseLong(a[0]);
        one = new Blocked("b0");
        sink = First.value;
        one.finish();
        sink = Second.value;
        one.finish();
        sink = Third.value;
        one.finish();
        Object gate = new Gate();
        for (int i = 0; i < 10; i++) { Contend.hold(gate, ms, me -> object(me, gate), one); }
        one.end();
        System.out.println("done");
    }
}
