// SPDX-License-Identifier: BSD-2-Clause
/** Pause CPU_MS: burns, prints "ready", and waits until its input ends or a signal comes. Exit code 0. */
public class Pause {
    public static void main(String[] a) throws Exception {
        Cpu.burn(Long.parseLong(a[0]) * 1000000L);
        System.out.println("ready");
        System.out.flush();
        Thread.sleep(60000);
    }
}
