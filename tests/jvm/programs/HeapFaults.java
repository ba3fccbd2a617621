// SPDX-License-Identifier: BSD-2-Clause
import java.io.File;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;

/**
 * HeapFaults N [natives]: keeps N items, prints "ready", answers every file stepK in the working directory with a file ackK. Each step closes its
 * listening socket and opens it anew on the same port, and runs a process; with natives it also asks wait(2) for any child. The text of the file
 * "end" says how to end.
 */
public class HeapFaults {
    static final class Item {
        final long[] data = new long[4];
    }

    static Item[] items;

    /** Signals SIGCHLD from now on. */
    static native void count();
    /** The signals so far, and 1000 if wait() knows a child that no Java code has started. */
    static native int children();

    static ServerSocket listen(int port) throws Exception {
        ServerSocket s = new ServerSocket();
        s.setReuseAddress(false);
        s.bind(new InetSocketAddress("127.0.0.1", port));
        return s;
    }

    static void end(String how) throws Exception {
        System.out.println("ending");
        System.out.flush();
        switch (how) {
            case "exit": System.exit(6);
            case "halt": Runtime.getRuntime().halt(5);
            case "throw": throw new RuntimeException("x");
            default: return;
        }
    }

    public static void main(String[] a) throws Exception {
        items = new Item[Integer.parseInt(a[0])];
        for (int i = 0; i < items.length; i++) { items[i] = new Item(); }
        boolean natives = a.length > 1;
        if (natives) { System.loadLibrary("helper"); }
        ServerSocket server = listen(0);
        File end = new File("end");
        System.out.println("ready");
        System.out.flush();
        for (int n = 1; !end.exists(); Thread.sleep(5)) {
            if (!new File("step" + n).exists()) { continue; }
            int port = server.getLocalPort();
            server.close();
            server = listen(port);
            if (natives) { // before the process below, which raises a SIGCHLD of its own
                if (n == 1) { count(); }
                System.out.println("children " + children());
            } else if (new ProcessBuilder("true").start().waitFor() != 0) {
                throw new RuntimeException("true is not");
            }
            new File("ack" + n++).createNewFile();
        }
        end(new String(Files.readAllBytes(end.toPath())));
    }
}
