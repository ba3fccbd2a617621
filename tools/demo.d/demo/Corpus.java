// SPDX-License-Identifier: BSD-2-Clause
package demo;

import java.util.Random;

/** Documents made from a seed: a JSON record with a title, a text of words as frequent as in natural language, and figures. */
final class Corpus {
    private static final int VOCABULARY = 20_000;
    private final String[] words = new String[VOCABULARY];

    Corpus(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < words.length; i++) {
            StringBuilder word = new StringBuilder();
            int syllables = 1 + random.nextInt(4);
            for (int k = 0; k < syllables; k++) {
                word.append("bcdfghklmnprstvz".charAt(random.nextInt(16))).append("aeiou".charAt(random.nextInt(5)));
            }
            words[i] = word.toString();
        }
    }

    String document(long seed, int length) {
        Random random = new Random(seed);
        StringBuilder json = new StringBuilder("{\"title\": \"").append(word(random)).append("\", \"text\": \"");
        for (int i = 0; i < length; i++) {
            json.append(word(random)).append(i % 12 == 11 ? ". " : " ");
        }
        json.append("\", \"figures\": [");
        for (int i = 0; i < length / 4; i++) {
            json.append(i == 0 ? "" : ", ").append(random.nextInt(1_000_000) - 500_000);
        }
        return json.append("]}").toString();
    }

    private String word(Random random) {
        double low = random.nextDouble();
        return words[(int) (low * low * low * VOCABULARY)];
    }
}
