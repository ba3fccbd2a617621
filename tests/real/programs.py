# SPDX-License-Identifier: BSD-2-Clause
"""What tests/real runs: programs, the Maven coordinates of their libraries, and how each is started."""
import dataclasses

BOOT = 'org.springframework.boot:spring-boot-starter-parent:4.0.7'


@dataclasses.dataclass(frozen=True)
class Program:
    """libraries: group:artifact:version[:classifier]; the parent gives the versions that are left out. words: the class behind java/Real.java, and its arguments.
    block: questions that take about some hundredths of a second. since: the first release of the JDK.
    beside: coordinates of another agent, and its options."""
    name: str
    libraries: tuple
    words: tuple
    block: int
    since: int = 17
    parent: str = ''
    jvm: tuple = ()
    short: bool = False
    beside: tuple = ()

    @property
    def source(self):
        return self.words[0] + '.java'


H2 = ('com.h2database:h2:2.5.252',)
WEB = ('org.springframework.boot:spring-boot-starter-webmvc',)
PROGRAMS = (
    Program('h2', H2, ('H2',), 40, short=True),
    Program('spring', WEB, ('Spring',), 15, parent=BOOT),
    Program('netty', ('io.netty:netty-codec-http:4.2.20.Final',), ('Netty',), 60, short=True),
    Program('spring-virtual', WEB, ('Spring', 'virtual'), 15, parent=BOOT, since=21),
    Program('jsp', ('org.apache.tomcat.embed:tomcat-embed-jasper:11.0.27',), ('Jsp',), 60),
    Program('lucene', ('org.apache.lucene:lucene-queryparser:9.12.3', 'org.apache.lucene:lucene-analysis-common:9.12.3'), ('Lucene',), 6, since=11),
    Program('mocks', ('org.mockito:mockito-core:5.24.0', 'net.bytebuddy:byte-buddy-agent:1.18.17'), ('Mocks',), 10, since=11),
    Program('groovy', ('org.apache.groovy:groovy:5.0.8',), ('Groovy',), 2, since=11),
    Program('felix', ('org.apache.felix:org.apache.felix.framework:7.0.5',), ('Osgi',), 50, short=True),
    Program('equinox', ('org.eclipse.platform:org.eclipse.osgi:3.23.200',), ('Osgi',), 50),
    Program('clojure', ('org.clojure:clojure:1.12.0',), ('Clojure',), 5, since=11),
    Program('jruby', ('org.jruby:jruby-complete:10.0.2.0',), ('JRuby',), 3, since=21),
    Program('hazelcast', ('com.hazelcast:hazelcast:5.7.0',), ('Hazelcast',), 100),
    Program('kafka', ('org.apache.kafka:kafka_2.13:4.3.1', 'org.slf4j:slf4j-nop:1.7.36'), ('Kafka',), 15),
    Program('scalac', ('org.scala-lang:scala-compiler:2.13.18',), ('Scalac',), 2),
    Program('kotlinc', ('org.jetbrains.kotlin:kotlin-compiler-embeddable:2.4.21',), ('Kotlinc',), 1),
    Program('spark', ('org.apache.spark:spark-sql_2.13:4.2.0',), ('Spark',), 1, jvm=('--add-exports=java.base/sun.nio.ch=ALL-UNNAMED', *(
        '--add-opens=java.base/%s=ALL-UNNAMED' % p for p in ('java.lang', 'java.lang.invoke', 'java.net', 'java.nio', 'java.util', 'java.util.concurrent', 'sun.nio.ch', 'sun.security.action')))),
    Program('h2-jacoco', H2, ('H2',), 40, beside=('org.jacoco:org.jacoco.agent:0.8.15:runtime', 'destfile=cover.exec')),
    Program('h2-telemetry', H2, ('H2',), 40, beside=('io.opentelemetry.javaagent:opentelemetry-javaagent:2.33.1', ''),
            jvm=tuple('-Dotel.%s.exporter=none' % s for s in ('traces', 'metrics', 'logs'))),
)
