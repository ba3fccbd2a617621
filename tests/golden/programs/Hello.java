public class Hello { public static void main(String[] a){ System.out.println("hi"); } }
// SPDX-License-Identifier: BSD-2-Clause
