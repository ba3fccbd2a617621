// SPDX-License-Identifier: BSD-2-Clause
import java.util.ArrayList;
import java.util.List;

/** Removes duplicates from lists of words. The slow spot: whether a word is known is asked of a list. */
public class Lookup {
    static List<String> distinct(List<String> words) {
        List<String> known = new ArrayList<>();
        for (String w : words) {
            if (!isKnown(known, w)) { known.add(w); }
        }
        return known;
    }

    static boolean isKnown(List<String> known, String word) { return known.contains(word); }

    static List<String> words(int n) {
        List<String> words = new ArrayList<>();
        for (int i = 0; i < n; i++) { words.add("word-" + i % (n / 2)); }
        return words;
    }

    public static void main(String[] args) {
        System.out.println("running");
        for (long total = 0; total >= 0; ) { total += distinct(words(4000)).size(); }
    }
}
