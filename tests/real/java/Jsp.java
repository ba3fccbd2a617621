// SPDX-License-Identifier: BSD-2-Clause
package real;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.jasper.servlet.JasperInitializer;

/** Tomcat with pages, which it compiles when they are first asked for. */
public class Jsp implements Real.Program {
    private static final int PAGES = 8;
    private static final Logger TOMCAT = Logger.getLogger("org.apache"); // its levels are kept as long as it is
    private Real.Http server;

    @Override
    public void start(String[] args) throws Exception {
        Path base = new File("tomcat").getAbsoluteFile().toPath(), pages = Files.createDirectories(base.resolve("pages"));
        for (int i = 0; i < PAGES; i++) {
            String page = "<%@ page contentType=\"text/plain\" session=\"" + (i % 2 == 0) + "\" %><%! int sum(int n) { int s = " + i + "; for (int k = 0; k < n; k++) { s += k * k; } return s; } %>"
                    + "<% int n = Integer.parseInt(request.getParameter(\"n\")); for (int k = 0; k < n % 30; k++) { %>line <%= k %>: <%= sum(k * n) %>\n<% } %>${param.n + " + i + "}";
            Files.write(pages.resolve("p" + i + ".jsp"), page.getBytes(StandardCharsets.UTF_8));
        }
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(base.toString());
        tomcat.setPort(0);
        tomcat.getConnector();
        Context context = tomcat.addWebapp("", pages.toString());
        context.addServletContainerInitializer(new JasperInitializer(), null);
        tomcat.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                tomcat.stop();
            } catch (Exception e) {
                e.printStackTrace();
            }
        }));
        TOMCAT.setLevel(Level.WARNING); // at the end of the JVM it is chance how many lines come before their handlers are closed
        server = new Real.Http(tomcat.getConnector().getLocalPort());
    }

    @Override
    public String answer(int n) throws Exception {
        return server.ask("/p" + n % PAGES + ".jsp?n=" + n, null);
    }
}
