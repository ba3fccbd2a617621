// SPDX-License-Identifier: BSD-2-Clause
/** Forks COUNT MEGABYTES: a process of that size forks by JNI so often; each child burns CPU, writes what it holds open to child.txt and ends. Prints "forked COUNT". */
public class Forks {
    static native int fork(String report, long burnNs);
    static native void grow(int megabytes);

    public static void main(String[] a) throws Exception {
        System.loadLibrary("helper");
        int n = Integer.parseInt(a[0]);
        grow(Integer.parseInt(a[1]));
        Thread busy = new Thread("busy") { public void run() { for (;;) { Cpu.burn(1000000L); } } };
        busy.setDaemon(true);
        busy.start();
        int good = 0;
        for (int i = 0; i < n; i++) {
            Cpu.burn(5 * 1000000L);
            if (fork("child.txt", i == 0 ? 300000000L : 1000000L) == 0) { good++; }
        }
        System.out.println("forked " + good);
    }
}
