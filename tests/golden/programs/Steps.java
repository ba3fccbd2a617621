/** Works in steps: for each new file step1, step2, ... in the working directory does one fixed piece of work, then makes ack1, ack2, ...; "stop" ends. */
public class Steps {
    static java.util.ArrayList<Object> kept = new java.util.ArrayList<Object>(4096);
    static volatile long sink;
    static class Item { long v; }
    static void work() { long s = 1; for (long i = 0; i < 200000000L; i++) s = s * 31 + i; sink += s; }
    static void alloc() { for (int i = 0; i < 100; i++) kept.add(new Item()); }
    static void step() { work(); alloc(); }
    public static void main(String[] args) throws Exception {
        System.out.println("ready"); System.out.flush();
        long end = System.currentTimeMillis() + 60000;
        int n = 1;
        while (System.currentTimeMillis() < end && !new java.io.File("stop").exists()) {
            if (new java.io.File("step" + n).exists()) { step(); new java.io.File("ack" + n).createNewFile(); n++; }
            Thread.sleep(20);
        }
        System.out.println("done " + kept.size());
    }
}
// SPDX-License-Identifier: BSD-2-Clause
