// SPDX-License-Identifier: BSD-2-Clause
/** Defined as a hidden class by HeapModern. */
public class HeapHidden implements HeapGraph.Side {
    static Object self;
    static int count;
    final int n;
    final Object me = this;

    public HeapHidden(int n) {
        this.n = n;
        self = this;
        count = n * 1000;
    }
}
