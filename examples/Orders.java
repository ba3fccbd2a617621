// SPDX-License-Identifier: BSD-2-Clause
/** Answers requests for an order. The slow spot: it asks three services one after the other, and computes hardly anything. */
public class Orders {
    static String ask(String service, int millis) {
        try {
            Thread.sleep(millis); // the network
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return service;
    }

    static String customer() { return ask("customer", 5); }
    static String prices() { return ask("prices", 40); }
    static String stock() { return ask("stock", 15); }

    static String answer() { return customer() + prices() + stock(); }

    public static void main(String[] args) {
        System.out.println("running");
        for (int t = 0; t < 3; t++) {
            new Thread(() -> {
                for (long total = 0; total >= 0; ) { total += answer().length(); }
            }, "request-" + t).start();
        }
    }
}
