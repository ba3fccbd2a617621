// SPDX-License-Identifier: BSD-2-Clause
package demo;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The program that tools/demo profiles: four workers make documents, parse, index and rank them. Some seconds of CPU; the same output every time.
 * Usage: demo.Main [DOCUMENTS]
 */
public final class Main {
    private static final int WORKERS = 4;
    private static final int WORDS = 3000;
    private static final int END = -1;

    private Main() {
    }

    public static void main(String[] args) throws InterruptedException {
        int documents = args.length > 0 ? Integer.parseInt(args[0]) : 2400;
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>(64);
        AtomicLong checksum = new AtomicLong();
        Corpus corpus = new Corpus(42);
        List<Indexer> indexes = new ArrayList<>();
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            Indexer index = new Indexer();
            indexes.add(index);
            Thread worker = new Thread(() -> work(queue, corpus, index, checksum), "worker-" + i);
            workers.add(worker);
            worker.start();
        }
        for (int i = 0; i < documents; i++) {
            queue.put(i);
        }
        for (int i = 0; i < WORKERS; i++) {
            queue.put(END);
        }
        for (Thread worker : workers) {
            worker.join();
        }
        report(indexes, checksum.get(), documents);
    }

    private static void work(BlockingQueue<Integer> queue, Corpus corpus, Indexer index, AtomicLong checksum) {
        try {
            for (int number = queue.take(); number != END; number = queue.take()) {
                Map<?, ?> record = (Map<?, ?>) JsonParser.parse(corpus.document(number, WORDS));
                index.addText((String) record.get("text"));
                Ranking ranking = new Ranking((List<?>) record.get("figures"));
                checksum.addAndGet(ranking.median() + ranking.sumOfDivisors(200));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void report(List<Indexer> indexes, long checksum, int documents) {
        Map<String, Long> sums = new HashMap<>();
        for (Indexer index : indexes) {
            index.counts().forEach((word, count) -> sums.merge(word, (long) count[0], Long::sum));
        }
        String frequent = sums.entrySet().stream().max(Map.Entry.<String, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
            .map(Map.Entry::getKey).orElse("none");
        System.out.println(documents + " documents, " + sums.size() + " words, most frequent: " + frequent + ", checksum " + checksum);
    }
}
