/** Different ways to end. */
public class Ends {
    public static void main(String[] a) throws Exception {
        System.out.println("ready"); System.out.flush();
        switch (a[0]) {
            case "halt": Runtime.getRuntime().halt(5);
            case "exit": System.exit(6);
            case "throw": throw new RuntimeException("x");
            case "hook": Runtime.getRuntime().addShutdownHook(new Thread("hook") { public void run() { System.out.println("hook"); } }); System.exit(7);
            case "hang": Thread.sleep(30000); break;
            case "exitinthread": new Thread("exiter") { public void run() { System.exit(8); } }.start(); Thread.sleep(30000); break;
            default: return;
        }
    }
}
// SPDX-License-Identifier: BSD-2-Clause
