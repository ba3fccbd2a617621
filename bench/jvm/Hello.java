/* SPDX-License-Identifier: BSD-2-Clause */
/** Start-up and nothing else: subtracted where steady cost is wanted. */
public final class Hello {
    public static void main(String[] args) {
        new Figures().end();
    }
}
