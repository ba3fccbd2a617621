/* SPDX-License-Identifier: BSD-2-Clause */
/** A program that loads one class. */
public final class Empty {
    private Empty() {}

    public static void main(String[] args) {}
}
