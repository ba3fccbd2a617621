// SPDX-License-Identifier: BSD-2-Clause
package real;

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32;

/**
 * Real CLASS ARGUMENTS: starts the program of that class, prints "@ready", and does what it reads: "work FIRST END" asks the questions of these
 * numbers on two threads and prints "@work COUNT HASH NANOSECONDS". The hash is a sum over the answers, so their order does not matter.
 */
public class Real {
    /** An answer may depend on nothing but its question. */
    public interface Program {
        void start(String[] args) throws Exception;

        String answer(int question) throws Exception;
    }

    private static final int CLIENTS = 2;
    private static final ExecutorService CLIENT = Executors.newFixedThreadPool(CLIENTS, task -> {
        Thread thread = new Thread(task, "client");
        thread.setDaemon(true);
        return thread;
    });

    private static void work(Program program, int first, int end) throws Exception {
        AtomicInteger next = new AtomicInteger(first), answers = new AtomicInteger();
        AtomicLong hash = new AtomicLong();
        List<Future<?>> clients = new ArrayList<>();
        long began = System.nanoTime();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(CLIENT.submit(() -> {
                for (int n; (n = next.getAndIncrement()) < end; answers.incrementAndGet()) {
                    CRC32 crc = new CRC32();
                    crc.update((n + " " + program.answer(n)).getBytes(StandardCharsets.UTF_8));
                    hash.addAndGet(crc.getValue());
                }
                return null;
            }));
        }
        for (Future<?> client : clients) {
            try {
                client.get();
            } catch (ExecutionException e) {
                e.printStackTrace();
            }
        }
        System.out.println("@work " + answers + " " + hash + " " + (System.nanoTime() - began));
    }

    public static void main(String[] args) throws Exception {
        Program program = (Program) Class.forName("real." + args[0]).getDeclaredConstructor().newInstance();
        program.start(Arrays.copyOfRange(args, 1, args.length));
        System.out.println("@ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            String[] words = line.split(" ");
            work(program, Integer.parseInt(words[1]), Integer.parseInt(words[2]));
        }
        System.exit(0); // whoever asked is gone
    }

    /** Connections of one thread to a server of HTTP. */
    public static final class Http {
        private final ThreadLocal<Socket> connections;
        private final int port;

        public Http(int port) {
            this.port = port;
            connections = ThreadLocal.withInitial(() -> {
                try {
                    Socket s = new Socket("localhost", port);
                    s.setTcpNoDelay(true);
                    return s;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }

        private static String line(InputStream in) throws IOException {
            StringBuilder text = new StringBuilder();
            for (int c; (c = in.read()) != '\n';) {
                if (c < 0) {
                    throw new IOException("the server closed the connection behind \"" + text + "\"");
                }
                text.append((char) c);
            }
            return text.toString().trim();
        }

        private static void read(InputStream in, int length, ByteArrayOutputStream to) throws IOException {
            byte[] bytes = new byte[length];
            for (int at = 0, n; at < length; at += n) {
                n = in.read(bytes, at, length - at);
                if (n < 0) {
                    throw new IOException("the server closed the connection");
                }
            }
            to.write(bytes, 0, length);
        }

        /** The status and what the server says. body: sent if it is not null. */
        public String ask(String path, String body) throws IOException {
            Socket s = connections.get();
            byte[] bytes = body == null ? new byte[0] : body.getBytes(StandardCharsets.UTF_8);
            ByteArrayOutputStream request = new ByteArrayOutputStream(), got = new ByteArrayOutputStream();
            request.write(((body == null ? "GET " : "POST ") + path + " HTTP/1.1\r\nHost: localhost:" + port + "\r\nContent-Type: application/json\r\nContent-Length: " + bytes.length
                    + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
            request.write(bytes);
            s.getOutputStream().write(request.toByteArray());
            InputStream in = new BufferedInputStream(s.getInputStream());
            String status = line(in).split(" ")[1];
            int length = 0;
            boolean chunked = false;
            for (String header; !(header = line(in)).isEmpty();) {
                String name = header.substring(0, header.indexOf(':')).toLowerCase(Locale.ROOT), value = header.substring(header.indexOf(':') + 1).trim();
                length = name.equals("content-length") ? Integer.parseInt(value) : length;
                chunked |= name.equals("transfer-encoding") && value.equals("chunked");
                if (name.equals("connection") && value.equals("close")) {
                    connections.remove();
                }
            }
            if (!chunked) {
                read(in, length, got);
            }
            for (int n = 1; chunked && n > 0; line(in)) {
                n = Integer.parseInt(line(in), 16);
                read(in, n, got);
            }
            return status + " " + new String(got.toByteArray(), StandardCharsets.UTF_8);
        }
    }
}
