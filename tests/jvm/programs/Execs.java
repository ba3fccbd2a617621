// SPDX-License-Identifier: BSD-2-Clause
/** Execs COUNT COMMAND...: starts the command so often, while it burns. Prints "executed N": how many ended with 0. */
public class Execs {
    public static void main(String[] a) throws Exception {
        Thread busy = new Thread("busy") { public void run() { for (;;) { Cpu.burn(1000000L); } } };
        busy.setDaemon(true);
        busy.start();
        int good = 0;
        String[] cmd = java.util.Arrays.copyOfRange(a, 1, a.length);
        for (int i = 0; i < Integer.parseInt(a[0]); i++) {
            Process p = new ProcessBuilder(cmd).redirectErrorStream(true).redirectOutput(new java.io.File("exec.txt")).start();
            if (p.waitFor() == 0) { good++; }
        }
        System.out.println("executed " + good);
    }
}
