// SPDX-License-Identifier: BSD-2-Clause
package demo;

import java.util.HashMap;
import java.util.Map;

/** Word frequencies over all documents that one worker has seen. */
final class Indexer {
    private final Map<String, int[]> counts = new HashMap<>();

    void addText(String text) {
        int start = 0;
        while (start < text.length()) {
            int end = endOfWord(text, start);
            if (end > start) {
                counts.computeIfAbsent(text.substring(start, end), word -> new int[1])[0]++;
            }
            start = end + 1;
        }
    }

    private static int endOfWord(String text, int from) {
        int at = from;
        while (at < text.length() && Character.isLetter(text.charAt(at))) {
            at++;
        }
        return at;
    }

    Map<String, int[]> counts() {
        return counts;
    }
}
