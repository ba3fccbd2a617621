// SPDX-License-Identifier: BSD-2-Clause
package real;

import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Spring [virtual]: a controller in Spring Boot with the Tomcat inside it; its requests run on pooled or virtual threads. */
public class Spring implements Real.Program {
    private Real.Http server;

    public record Word(String text, int times) {
    }

    @RestController
    public static class Words {
        @GetMapping("/count/{n}")
        public Map<String, Object> count(@PathVariable("n") int n) {
            Map<String, Object> all = new TreeMap<>();
            for (int i = 0; i < n % 20; i++) {
                all.put("key" + i, new Word("word" + i, n * i));
            }
            return all;
        }

        @PostMapping("/repeat")
        public String repeat(@RequestBody Word word) {
            if (word.times() % 5 == 0) {
                throw new IllegalArgumentException("not " + word.times() + " times");
            }
            return (word.text() + " ").repeat(word.times() % 10);
        }

        @ExceptionHandler(IllegalArgumentException.class)
        @ResponseStatus(HttpStatus.BAD_REQUEST)
        public String refuse(IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    @Configuration
    @EnableAutoConfiguration
    @Import(Words.class)
    public static class Application {
    }

    @Override
    public void start(String[] args) {
        SpringApplication application = new SpringApplication(Application.class);
        boolean virtual = args.length > 0;
        application.setDefaultProperties(Map.of("server.port", "0", "spring.threads.virtual.enabled", virtual));
        ConfigurableApplicationContext context = application.run();
        server = new Real.Http(Integer.parseInt(context.getEnvironment().getProperty("local.server.port")));
    }

    @Override
    public String answer(int n) throws Exception {
        return server.ask("/count/" + n, null) + server.ask("/repeat", "{\"text\": \"hprof" + n + "\", \"times\": " + n % 50 + "}");
    }
}
