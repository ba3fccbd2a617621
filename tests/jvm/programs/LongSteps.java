// SPDX-License-Identifier: BSD-2-Clause
/** LongSteps SECONDS: for each new file step1, step2, ... a tenth of a second of work, then ack1, ack2, ...; "stop" ends. As Steps of the golden cases, which ends after a minute. */
public class LongSteps {
    public static void main(String[] a) throws Exception {
        System.out.println("ready");
        System.out.flush();
        long end = System.nanoTime() + Long.parseLong(a[0]) * 1000000000L;
        int n = 1;
        for (; System.nanoTime() < end && !new java.io.File("stop").exists(); Thread.sleep(20)) {
            if (new java.io.File("step" + n).exists()) {
                Cpu.burn(100000000L);
                new java.io.File("ack" + n++).createNewFile();
            }
        }
        System.out.println("done " + 100 * (n - 1)); // as Steps, which keeps so many objects a step
    }
}
