// SPDX-License-Identifier: BSD-2-Clause
/** Loaded thousands of times by UnloadMany, each time under other names. */
public class UnloadTemplate {
    public static void run() { UnloadMany.burn0(); }
}
