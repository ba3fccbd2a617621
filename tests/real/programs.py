# SPDX-License-Identifier: BSD-2-Clause
"""What tests/real runs: programs, the Maven coordinates of their libraries, and how each is started."""
import dataclasses

BOOT = 'org.springframework.boot:spring-boot-starter-parent:4.0.7'


@dataclasses.dataclass(frozen=True)
class Program:
    """libraries: group:artifact:version; the parent gives the versions that are left out. words: the class behind java/Real.java, and its arguments.
    block: questions that take about a tenth of a second. since: the first release of the JDK."""
    name: str
    libraries: tuple
    words: tuple
    block: int
    since: int = 17
    parent: str = ''
    jvm: tuple = ()
    short: bool = False

    @property
    def source(self):
        return self.words[0] + '.java'


PROGRAMS = (
    Program('h2', ('com.h2database:h2:2.5.252',), ('H2',), 60, short=True),
    Program('spring', ('org.springframework.boot:spring-boot-starter-webmvc',), ('Spring',), 25, parent=BOOT, short=True),
    Program('netty', ('io.netty:netty-codec-http:4.2.20.Final',), ('Netty',), 100, short=True),
    Program('spring-virtual', ('org.springframework.boot:spring-boot-starter-webmvc',), ('Spring', 'virtual'), 25, parent=BOOT, since=21),
)
