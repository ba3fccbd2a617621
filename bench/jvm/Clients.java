/* SPDX-License-Identifier: BSD-2-Clause */
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * Clients of a web server: each keeps one connection and asks for the same page, as fast as it is answered.
 * Arguments: port, path, clients, requests and milliseconds of the warm-up (which ends with the first of the two), milliseconds that are measured,
 * process id of the server. Its CPU time is in ticks of the kernel's clock.
 */
public final class Clients {
    private static final LongAdder ANSWERED = new LongAdder();
    private static final AtomicReference<Throwable> FAILED = new AtomicReference<>();
    private static volatile boolean over;

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final byte[] request;
    private final byte[] body = new byte[1 << 16];

    private Clients(int port, String path) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream(), 1 << 14);
        out = socket.getOutputStream();
        request = ("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    private int read() throws IOException {
        int b = in.read();
        if (b < 0) {
            throw new EOFException("the server closed the connection");
        }
        return b;
    }

    private String line() throws IOException {
        StringBuilder made = new StringBuilder();
        for (int b = read(); b != '\n'; b = read()) {
            if (b != '\r') {
                made.append((char) b);
            }
        }
        return made.toString();
    }

    private void skip(int bytes) throws IOException {
        for (int left = bytes; left > 0;) {
            int n = in.read(body, 0, Math.min(left, body.length));
            if (n < 0) {
                throw new EOFException("the server closed the connection");
            }
            left -= n;
        }
    }

    /** One request and its answer, which has a length or comes in chunks. */
    private void ask() throws IOException {
        out.write(request);
        String status = line();
        if (!status.startsWith("HTTP/1.1 200")) {
            throw new IOException(status);
        }
        int length = -1;
        for (String header = line(); !header.isEmpty(); header = line()) {
            if (header.regionMatches(true, 0, "Content-Length:", 0, 15)) {
                length = Integer.parseInt(header.substring(15).trim());
            }
        }
        if (length >= 0) {
            skip(length);
            return;
        }
        int chunk;
        do {
            chunk = Integer.parseInt(line(), 16);
            skip(chunk);
            line();
        } while (chunk > 0);
    }

    private void run() {
        try {
            while (!over) {
                ask();
                ANSWERED.increment();
            }
            socket.close();
        } catch (IOException | RuntimeException e) {
            if (!over) {
                FAILED.compareAndSet(null, e);
            }
        }
    }

    /** User and system time of the process so far. */
    private static long ticks(String pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", pid, "stat"), StandardCharsets.ISO_8859_1);
        String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(words[11]) + Long.parseLong(words[12]);
    }

    /** Waits for so many answers in all, or so many milliseconds. */
    private static void await(long answers, long ms) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
        while (ANSWERED.sum() < answers && System.nanoTime() - end < 0) {
            if (FAILED.get() != null) {
                throw new IOException(FAILED.get());
            }
            Thread.sleep(1);
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
            Thread thread = new Thread(new Clients(Integer.parseInt(args[0]), args[1])::run);
            thread.setDaemon(true); // one that waits for an answer does not hold the end
            threads.add(thread);
        }
        threads.forEach(Thread::start);
        await(Long.parseLong(args[3]), Long.parseLong(args[4]));
        Figures.line("warm_requests", ANSWERED.sum());
        long before = ticks(args[6]);
        long answered = ANSWERED.sum();
        long begin = System.nanoTime();
        await(Long.MAX_VALUE, Long.parseLong(args[5]));
        answered = ANSWERED.sum() - answered;
        Figures.line("wall_ns", System.nanoTime() - begin);
        Figures.line("cpu_ticks", ticks(args[6]) - before);
        Figures.line("requests", answered);
        over = true;
    }
}
