// SPDX-License-Identifier: BSD-2-Clause
/** Defined as a hidden class by Modern. */
public class HiddenTemplate {
    public static void burnHidden(long ns) { Cpu.burn(ns); }
}
