// SPDX-License-Identifier: BSD-2-Clause
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Callable;
import java.util.concurrent.SynchronousQueue;

/** Reads a socket whose other end writes late. */
public class Reads implements Callable<String> {
    private final long ms;
    private final SynchronousQueue<Long> sends = new SynchronousQueue<>();

    public Reads(long ms) { this.ms = ms; }

    static int read(Socket from) throws IOException { return from.getInputStream().read(); }

    private void feed(Socket to) {
        try {
            for (long late = sends.take(); late > 0; late = sends.take()) {
                Thread.sleep(late);
                to.getOutputStream().write(1);
            }
        } catch (InterruptedException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public String call() throws Exception {
        long measured = 0;
        int n = 0;
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()); Socket reads = new Socket(server.getInetAddress(), server.getLocalPort());
             Socket writes = server.accept()) {
            Thread feeder = new Thread(() -> feed(writes), "feeder");
            feeder.setDaemon(true);
            feeder.start();
            for (; measured < ms * 1000000; n++) {
                sends.put(10L + n % 11);
                long before = System.nanoTime();
                read(reads);
                measured += System.nanoTime() - before;
            }
            sends.put(0L);
        }
        // What the reader waits for a CPU before and behind is not forced.
        return new Account().block("io", "Reads.read", "-", n, measured, measured * 7 / 10).calls("Reads.read", n).toString();
    }
}
