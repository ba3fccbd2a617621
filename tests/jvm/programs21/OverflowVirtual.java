// SPDX-License-Identifier: BSD-2-Clause

/** OverflowVirtual ROUNDS: Overflow in virtual threads, two after one another. */
public class OverflowVirtual {
    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2; i++) {
            Thread.ofVirtual().start(() -> Overflow.storm(Integer.parseInt(args[0]) / 2)).join();
        }
        Overflow.print();
    }
}
