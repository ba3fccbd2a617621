// SPDX-License-Identifier: BSD-2-Clause
/** ManyAsleep N: so many threads sleep; prints "ready" and ends with stdin. */
public class ManyAsleep {
    public static void main(String[] a) throws Exception {
        for (int i = 0; i < Integer.parseInt(a[0]); i++) {
            Thread t = new Thread(null, () -> { try { Thread.sleep(1000000); } catch (InterruptedException e) { } }, "asleep", 131072);
            t.setDaemon(true);
            t.start();
        }
        System.out.println("ready");
        while (System.in.read() >= 0) { }
    }
}
