// SPDX-License-Identifier: BSD-2-Clause
// Invoice.java: text for orders, and a check that takes some time.
package shop;

import java.util.ArrayDeque;
import java.util.Random;
import java.util.regex.Pattern;

final class Invoice {
    private static final Pattern ITEM = Pattern.compile("^item\\s+(\\d+)$");
    private static final ArrayDeque<String> KEPT = new ArrayDeque<>();

    private Invoice() {
    }

    static String text(String item, Random random) {
        StringBuilder text = new StringBuilder("Invoice for ").append(item).append(", ");
        for (int i = 0; i < 8; i++) {
            text.append(Integer.toString(random.nextInt(100_000), 36)).append('-');
        }
        keep(text.toString());
        return text.toString();
    }

    static void check(String item, int price) {
        if (!ITEM.matcher(item).matches() || price < 0) {
            throw new IllegalStateException(item);
        }
    }

    static synchronized void keep(String text) {
        KEPT.add(text);
        if (KEPT.size() > 20_000) {
            KEPT.remove();
        }
    }
}
