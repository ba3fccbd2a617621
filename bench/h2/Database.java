// SPDX-License-Identifier: BSD-2-Clause
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Database ROWS: fills tables of an H2 database in memory, changes and asks them; prints the answers. */
public class Database {
    static void print(Statement s, String query) throws SQLException {
        try (ResultSet r = s.executeQuery(query)) {
            int columns = r.getMetaData().getColumnCount(), rows = 0;
            StringBuilder line = new StringBuilder();
            for (; r.next(); rows++) {
                for (int i = 1; i <= columns; i++) {
                    line.append(r.getObject(i)).append(i < columns ? ", " : "; ");
                }
            }
            System.out.println(rows + " rows: " + line);
        }
    }

    public static void main(String[] args) throws Exception {
        int rows = Integer.parseInt(args[0]);
        try (Connection c = DriverManager.getConnection("jdbc:h2:mem:test"); Statement s = c.createStatement()) {
            s.execute("create table person(id int primary key, name varchar(40), city int)");
            s.execute("create table city(id int primary key, name varchar(40))");
            s.execute("create index by_city on person(city)");
            c.setAutoCommit(false);
            try (PreparedStatement p = c.prepareStatement("insert into person values(?, ?, ?)"); PreparedStatement q = c.prepareStatement("insert into city values(?, ?)")) {
                for (int i = 0; i < rows; i++) {
                    p.setInt(1, i);
                    p.setString(2, "name" + i * 7919 % 1000);
                    p.setInt(3, i * 31 % 20);
                    p.executeUpdate();
                }
                for (int i = 0; i < 20; i++) {
                    q.setInt(1, i);
                    q.setString(2, "city" + i);
                    q.executeUpdate();
                }
            }
            c.commit();
            s.executeUpdate("update person set name = name || '!' where mod(id, 3) = 0");
            s.executeUpdate("delete from person where id > " + (rows - 10));
            c.rollback();
            s.executeUpdate("update person set city = 3 where mod(id, 11) = 5");
            c.commit();
            print(s, "select c.name, count(*), min(p.name), max(p.id) from person p join city c on p.city = c.id group by c.name order by 2 desc, 1");
            print(s, "select name, id from person where name like '%99%' order by name, id");
            print(s, "with recursive t(n) as (select 1 union all select n + 1 from t where n < 50) select sum(n), max(n * n) from t");
            print(s, "select p.id, q.id from person p, person q where p.name = q.name and p.id < q.id order by 1, 2 fetch first 20 rows only");
            try {
                s.execute("insert into city values(1, 'again')");
            } catch (SQLException e) {
                System.out.println(e.getErrorCode() + " " + e.getSQLState());
            }
        }
    }
}
