// SPDX-License-Identifier: BSD-2-Clause
/** LongSteps SECONDS: as Steps of the golden cases, which ends after a minute. */
public class LongSteps {
    public static void main(String[] a) throws Exception {
        System.out.println("ready");
        System.out.flush();
        long end = System.nanoTime() + Long.parseLong(a[0]) * 1000000000L;
        for (int n = 1; System.nanoTime() < end && !new java.io.File("stop").exists(); Thread.sleep(20)) {
            if (new java.io.File("step" + n).exists()) {
                Steps.step();
                new java.io.File("ack" + n++).createNewFile();
            }
        }
        System.out.println("done " + Steps.kept.size());
    }
}
