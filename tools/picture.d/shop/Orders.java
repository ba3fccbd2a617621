// SPDX-License-Identifier: BSD-2-Clause
// Orders.java: a shop in a database in memory (H2): three clients order and one reports. Their profile is the picture of the README.
package shop;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

public final class Orders {
    private static final String URL = "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1";
    private final Map<String, Integer> stock = new HashMap<>();
    private final long end;

    private Orders(long seconds) {
        end = System.nanoTime() + seconds * 1_000_000_000L;
    }

    public static void main(String[] arguments) throws Exception {
        Orders shop = new Orders(Long.parseLong(arguments[0]));
        try (Connection c = DriverManager.getConnection(URL)) {
            c.createStatement().execute("create table orders(id identity, customer int, item varchar(40), price int, note varchar(200))");
            c.createStatement().execute("create index by_customer on orders(customer)");
        }
        Thread[] clients = new Thread[3];
        for (int i = 0; i < clients.length; i++) {
            int seed = i;
            clients[i] = new Thread(() -> shop.run(seed, false), "client-" + (i + 1));
            clients[i].start();
        }
        shop.run(9, true);
        for (Thread client : clients) {
            client.join();
        }
    }

    private void run(int seed, boolean reports) {
        Random random = new Random(seed);
        try (Connection c = DriverManager.getConnection(URL)) {
            while (System.nanoTime() < end) {
                if (reports) {
                    report(c);
                } else {
                    order(c, random);
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void order(Connection c, Random random) throws Exception {
        String item = "item " + random.nextInt(500);
        reserve(item);
        try (PreparedStatement insert = c.prepareStatement("insert into orders(customer, item, price, note) values(?, ?, ?, ?)")) {
            insert.setInt(1, random.nextInt(2000));
            insert.setString(2, item);
            insert.setInt(3, random.nextInt(10_000));
            insert.setString(4, Invoice.text(item, random));
            insert.executeUpdate();
        }
        try (PreparedStatement find = c.prepareStatement("select item, price from orders where customer = ? order by price")) {
            find.setInt(1, random.nextInt(2000));
            try (ResultSet rows = find.executeQuery()) {
                while (rows.next()) {
                    Invoice.check(rows.getString(1), rows.getInt(2));
                }
            }
        }
    }

    private synchronized void reserve(String item) {
        int left = stock.merge(item, 1, Integer::sum);
        for (int i = 0; i < 200; i++) {
            left = Integer.rotateLeft(left * 31 + item.hashCode(), 5);
        }
        stock.put(item, left & 0xffff);
    }

    private void report(Connection c) throws Exception {
        try (ResultSet rows = c.createStatement().executeQuery("select item, count(*), sum(price) from orders group by item order by 3 desc limit 20")) {
            StringBuilder page = new StringBuilder();
            while (rows.next()) {
                page.append(String.format("%-20s %6d %9d%n", rows.getString(1), rows.getInt(2), rows.getLong(3)));
            }
            Invoice.keep(page.toString());
        }
    }
}
