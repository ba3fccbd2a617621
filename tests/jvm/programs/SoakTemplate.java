// SPDX-License-Identifier: BSD-2-Clause
/** Loaded over and over by Soak, each time under another name. */
public class SoakTemplate implements Soak.Shape {
    public SoakTemplate() {}
    public long area(long x) { return x * 5 + 1; }
}
