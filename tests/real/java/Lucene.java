// SPDX-License-Identifier: BSD-2-Clause
package real;

import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.ByteBuffersDirectory;

/** An index in memory, which is searched; every question also writes a small index. */
public class Lucene implements Real.Program {
    private static final String[] WORDS = {"stack", "thread", "sample", "monitor", "class", "method", "heap", "probe", "ring", "table", "writer", "signal", "carrier"};
    private ByteBuffersDirectory all;

    private static ByteBuffersDirectory index(int first, int documents) throws Exception {
        ByteBuffersDirectory to = new ByteBuffersDirectory();
        try (IndexWriter w = new IndexWriter(to, new IndexWriterConfig(new StandardAnalyzer()))) {
            for (int i = first; i < first + documents; i++) {
                StringBuilder text = new StringBuilder();
                for (int k = 0; k < 20 + i % 30; k++) {
                    text.append(WORDS[(i * 31 + k * k) % WORDS.length]).append(' ').append(i * k % 97).append(' ');
                }
                Document d = new Document();
                d.add(new StringField("id", Integer.toString(i), Field.Store.YES));
                d.add(new TextField("text", text.toString(), Field.Store.YES));
                w.addDocument(d);
            }
        }
        return to;
    }

    private static String search(ByteBuffersDirectory in, String query) throws Exception {
        StringBuilder found = new StringBuilder();
        try (DirectoryReader r = DirectoryReader.open(in)) {
            IndexSearcher s = new IndexSearcher(r);
            for (ScoreDoc d : s.search(new QueryParser("text", new StandardAnalyzer()).parse(query), 10).scoreDocs) {
                found.append(s.storedFields().document(d.doc).get("id")).append('=').append(d.score).append(' ');
            }
        }
        return found.toString();
    }

    @Override
    public void start(String[] args) throws Exception {
        all = index(0, 3000);
    }

    @Override
    public String answer(int n) throws Exception {
        String query = WORDS[n % WORDS.length] + " AND (" + n % 97 + " OR \"" + WORDS[n % 7] + " " + n % 11 + "\"~5) NOT st?ck~";
        return search(all, query) + search(index(n, 20), WORDS[n % 5] + "~1");
    }
}
