// SPDX-License-Identifier: BSD-2-Clause
package real;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.h2.tools.Server;

/** A database in memory behind H2's server of TCP; each client has a connection. */
public class H2 implements Real.Program {
    private static final int PEOPLE = 300;
    private String url;
    private Connection keep;
    private final ThreadLocal<Connection> connection = ThreadLocal.withInitial(() -> {
        try {
            return DriverManager.getConnection(url);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    });

    @Override
    public void start(String[] args) throws Exception {
        Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
        url = "jdbc:h2:tcp://localhost:" + server.getPort() + "/mem:test";
        keep = DriverManager.getConnection(url);
        try (Statement s = keep.createStatement()) {
            s.execute("create table person(id int primary key, name varchar(40), city int)");
            s.execute("create table city(id int primary key, name varchar(40))");
            s.execute("create table note(id int primary key, person int, text varchar(100))");
            s.execute("create index by_city on person(city)");
        }
        try (PreparedStatement p = keep.prepareStatement("insert into person values(?, ?, ?)"); PreparedStatement q = keep.prepareStatement("insert into city values(?, ?)")) {
            for (int i = 0; i < PEOPLE; i++) {
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
    }

    private static String rows(PreparedStatement s, Object... parameters) throws SQLException {
        for (int i = 0; i < parameters.length; i++) {
            s.setObject(i + 1, parameters[i]);
        }
        StringBuilder all = new StringBuilder();
        try (ResultSet r = s.executeQuery()) {
            int columns = r.getMetaData().getColumnCount();
            while (r.next()) {
                for (int i = 1; i <= columns; i++) {
                    all.append(r.getObject(i)).append(i < columns ? ',' : ';');
                }
            }
        }
        return all.toString();
    }

    @Override
    public String answer(int n) throws SQLException {
        Connection c = connection.get();
        c.setAutoCommit(false);
        StringBuilder all = new StringBuilder();
        try (PreparedStatement s = c.prepareStatement("select c.name, count(*), min(p.name), max(p.id) from person p join city c on p.city = c.id where p.id > ? group by c.name order by 2 desc, 1")) {
            all.append(rows(s, n % PEOPLE));
        }
        try (PreparedStatement s = c.prepareStatement("insert into note values(?, ?, ?)")) {
            s.setInt(1, n);
            s.setInt(2, n % PEOPLE);
            s.setString(3, "note " + n);
            all.append(s.executeUpdate());
        }
        try (PreparedStatement s = c.prepareStatement("select n.text, p.name from note n join person p on n.person = p.id where n.id = ?")) {
            all.append(rows(s, n));
        }
        if (n % 7 == 0) {
            try (Statement s = c.createStatement()) {
                s.execute("insert into city values(1, 'again')");
            } catch (SQLException e) {
                all.append(e.getErrorCode()).append(e.getSQLState());
            }
        }
        if (n % 2 == 0) {
            c.rollback();
        } else {
            c.commit();
        }
        return all.toString();
    }
}
