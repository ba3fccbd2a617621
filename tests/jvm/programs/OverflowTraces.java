// SPDX-License-Identifier: BSD-2-Clause
import java.util.TreeSet;

/** OverflowTraces ROUNDS: recursions until the stack overflows. Prints how many did, and the methods in their stack traces that are not of this class. */
public class OverflowTraces {
    static int rec(int n) {
        return rec(n + 1) + 1;
    }

    public static void main(String[] args) {
        int caught = 0;
        TreeSet<String> others = new TreeSet<>();
        for (int i = Integer.parseInt(args[0]); i > 0; i--) {
            try {
                rec(0);
            } catch (StackOverflowError e) {
                caught++;
                for (StackTraceElement f : e.getStackTrace()) {
                    if (!f.getClassName().equals("OverflowTraces")) { others.add(f.getClassName() + "." + f.getMethodName()); }
                }
            }
        }
        System.out.println("overflows " + caught + ", others " + others);
    }
}
