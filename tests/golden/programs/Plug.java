public class Plug implements Runnable {
    static Object held = new byte[100];
    public void run() { work(); }
    void work() { Object o = new int[10]; o.hashCode(); }
}
// SPDX-License-Identifier: BSD-2-Clause
