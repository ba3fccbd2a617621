// SPDX-License-Identifier: BSD-2-Clause
package real;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.Collections;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Time;

/** One broker, which is its own controller; a client sends some records and reads them back. */
public class Kafka implements Real.Program {
    private static final String TOPIC = "questions";
    private final Properties settings = new Properties();
    private final ThreadLocal<KafkaProducer<String, String>> producer = ThreadLocal.withInitial(() -> new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer()));
    private final ThreadLocal<KafkaConsumer<String, String>> consumer = ThreadLocal.withInitial(() -> new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer()));

    private static int free() throws Exception {
        try (ServerSocket s = new ServerSocket(0)) {
            return s.getLocalPort();
        }
    }

    @Override
    public void start(String[] args) throws Exception {
        Path folder = Files.createTempDirectory(Paths.get(""), "kafka").toAbsolutePath();
        int port = free(), controller = free();
        Properties p = new Properties();
        p.setProperty("process.roles", "broker,controller");
        p.setProperty("node.id", "1");
        p.setProperty("controller.quorum.voters", "1@localhost:" + controller);
        p.setProperty("listeners", "PLAINTEXT://localhost:" + port + ",CONTROLLER://localhost:" + controller);
        p.setProperty("controller.listener.names", "CONTROLLER");
        p.setProperty("log.dirs", folder + "/logs");
        p.setProperty("offsets.topic.replication.factor", "1");
        Path file = folder.resolve("server.properties");
        try (PrintStream out = new PrintStream(file.toFile())) {
            p.forEach((k, v) -> out.println(k + "=" + v));
        }
        StorageTool.execute(new String[] {"format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", file.toString()}, new PrintStream(new ByteArrayOutputStream()));
        new KafkaRaftServer(KafkaConfig.fromProps(p), Time.SYSTEM).startup();
        settings.setProperty("bootstrap.servers", "localhost:" + port);
        settings.setProperty("enable.auto.commit", "false");
        settings.setProperty("fetch.max.wait.ms", "5"); // one that was asked for at the end of the log is waited for by the next question
        try (Admin admin = Admin.create(settings)) {
            admin.createTopics(Collections.singleton(new NewTopic(TOPIC, 4, (short) 1))).all().get();
        }
    }

    @Override
    public String answer(int n) throws Exception {
        TopicPartition in = new TopicPartition(TOPIC, n % 4);
        long first = 0;
        int last = 3 + n % 5;
        for (int i = 0; i <= last; i++) {
            long at = producer.get().send(new ProducerRecord<>(TOPIC, n % 4, "q" + n, "value " + n * i)).get().offset();
            first = i == 0 ? at : first;
        }
        KafkaConsumer<String, String> from = consumer.get();
        from.assign(Collections.singleton(in));
        from.seek(in, first);
        StringBuilder all = new StringBuilder();
        for (int got = 0; got <= last;) {
            for (ConsumerRecord<String, String> r : from.poll(Duration.ofSeconds(1)).records(in)) {
                if (r.key().equals("q" + n)) { // others write between
                    all.append(r.value()).append(';');
                    got++;
                }
            }
        }
        return all.toString();
    }
}
