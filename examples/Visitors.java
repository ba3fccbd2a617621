// SPDX-License-Identifier: BSD-2-Clause
import java.util.HashMap;
import java.util.Map;

/** Serves users who come and go. The slow spot: what is kept of a user stays when he has gone, and the heap fills. */
public class Visitors {
    static class Visit {
        final byte[] picture = new byte[2000];
        final int user;
        Visit(int user) { this.user = user; }
    }

    static class Store {
        final Map<Integer, Visit> open = new HashMap<>();
        void come(int user) { open.put(user, new Visit(user)); }
        void go(int user) { open.get(user); } // not removed
    }

    static final Store store = new Store();

    public static void main(String[] args) throws InterruptedException {
        for (int user = 0; ; user++) {
            store.come(user);
            store.go(user);
            if (user == 20000) { System.out.println("running"); }
            if (user > 20000) { Thread.sleep(2); }
        }
    }
}
