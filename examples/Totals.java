// SPDX-License-Identifier: BSD-2-Clause
import java.util.HashMap;
import java.util.Map;

/** Adds up sales by customer. The slow spot: a text is made for each look into the map, and thrown away. */
public class Totals {
    static final Map<String, long[]> totals = new HashMap<>();

    static void add(int customer, int cents) { totals.computeIfAbsent(key(customer), k -> new long[1])[0] += cents; }

    static String key(int customer) { return "customer:" + customer; }

    public static void main(String[] args) {
        System.out.println("running");
        for (int i = 0; ; i++) { add(i % 1000, 5); }
    }
}
