// SPDX-License-Identifier: BSD-2-Clause
/** Loaded by Strange under names that javac would refuse. */
public class StrangeTemplate {
    public static void run() { Strange.work(); }
}
