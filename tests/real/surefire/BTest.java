// SPDX-License-Identifier: BSD-2-Clause
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.TreeMap;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class BTest {
    @RepeatedTest(5)
    void words() {
        TreeMap<String, Integer> words = new TreeMap<>();
        for (int i = 0; i < 20000; i++) {
            words.merge("word" + i * 7919 % 1000, i, Integer::sum);
        }
        System.err.println("words: " + words.size());
        assertTrue(words.size() == 1000);
    }

    @Test
    void fails() {
        assertThrows(IllegalStateException.class, () -> {
            throw new IllegalStateException();
        });
        assertTrue(1 > 2, "this test fails, with and without the agent");
    }
}
