# SPDX-License-Identifier: BSD-2-Clause
"""A JDK under test: what kind of VM it is, how it is started, which collectors it offers."""
import dataclasses
import functools
import pathlib
import platform
import re
import subprocess

import build

COLLECTORS = ('Serial', 'Parallel', 'G1', 'ZGC', 'Shenandoah')
FLAGS = {'Serial': '-XX:+UseSerialGC', 'Parallel': '-XX:+UseParallelGC', 'G1': '-XX:+UseG1GC', 'ZGC': '-XX:+UseZGC', 'Shenandoah': '-XX:+UseShenandoahGC'}
KINDS = ('server', 'zero')
# What a test can ask for (needs=), and the kinds of VM that have it. hotspot: the agent reads the VM's internals, which a build with -Dhotspot=false does not, and
# which it can on PROCESSORS (agent/hotspot/processor.h), by their numbers in a file of ELF.
# stops: a thread in an empty loop can be stopped. On the zero VM it cannot, also without the agent: no safepoint is reached, and the program does not end.
PROCESSORS = {62: 'x86_64', 183: 'aarch64'}
OFFERS = {'jit': ('server',), 'jfr': ('server',), 'hotspot': KINDS, 'stops': ('server',)}


@dataclasses.dataclass(frozen=True)
class Jdk:
    """label: as given (8, 17zero). kind: which VM of the JDK. level: how much of the suite runs on it. brief: its first collector only. lacks: what the agent's build has none
    of on any VM."""
    label: str
    version: int
    kind: str
    home: pathlib.Path
    level: str
    brief: bool
    lacks: tuple = ()

    def java(self, within=()):
        """The start of a command; `within`: a command that is to start it (as another user, say) where the VM runs. No core file: `run` sets the limit for
        every version, this spares the attempt."""
        start, _, home = self._inside() if within else ([], '', self.home)
        return start + list(within) + [str(home / 'bin' / 'java')] + (['-zero'] if self.kind == 'zero' else []) + (['-XX:-CreateCoredumpOnCrash'] if self.version >= 9 else [])

    def _inside(self):
        """(start of a command, tree, home in the tree): the JDKs of tools/jdks want the C library of their tree, and bin/java starts the JVM there."""
        wrapper = (self.home / 'bin' / 'java').read_bytes()
        m = re.fullmatch(rb'#!/bin/sh\nexec (\S+) (\S+) (\S+)/bin/java "\$@"\n', wrapper) if len(wrapper) < 4096 else None
        if not m:
            return [], '/', self.home
        return [m.group(1).decode(), m.group(2).decode()], m.group(2).decode(), pathlib.Path(m.group(3).decode())

    def tool(self, name):
        """The start of a command: a program of the JDK."""
        start, _, home = self._inside()
        return start + [str(home / 'bin' / name)]

    def embedding(self):
        """(start of a command, its libjvm) of a program that loads this VM itself."""
        start, tree, home = self._inside()
        found = ['/' + str(f.relative_to(tree)) for f in pathlib.Path(tree, str(home)[1:]).rglob(self.kind + '/libjvm.so')]
        return start, found[0]

    @property
    def emulated(self):
        return self.processor is not None and self.processor != platform.machine()

    def gc(self, collector):
        # ZGC was experimental until 14 (JEP 377).
        return (['-XX:+UnlockExperimentalVMOptions'] if collector == 'ZGC' and self.version < 15 else []) + [FLAGS[collector]]

    def has(self, what):
        return self.kind in OFFERS[what] and what not in self.lacks and (what != 'hotspot' or self.processor is not None)

    @functools.cached_property
    def processor(self):
        """What its code is for, which in an emulator is not the machine's; None: the agent does not know it."""
        library = next(f for pattern in ('lib/*/libjvm.so', 'jre/lib/*/*/libjvm.so') for f in self.home.glob(pattern))
        with library.open('rb') as f:
            return PROCESSORS.get(int.from_bytes(f.read(20)[18:], 'little'))

    @functools.lru_cache(maxsize=None)
    def offered(self):
        """The collectors with which this VM starts; in an emulator, where that takes long, one."""
        if self.emulated:
            return ('G1',)

        def starts(c):
            return subprocess.run(self.java() + self.gc(c) + ['-Xmx64m', '-version'], capture_output=True, env=build.clean_environment()).returncode == 0
        return tuple(c for c in COLLECTORS if starts(c))

    def required(self):
        """The collectors in which something must run: those offered; a VM that no longer starts with one that its release has is a failure, not an offer less.
        Shenandoah is left out by some vendors, ZGC by the zero VM."""
        always = {'Serial', 'Parallel', 'G1'} | ({'ZGC'} if self.version >= 11 and self.kind == 'server' else set())
        return tuple(c for c in COLLECTORS if (c in always and not self.emulated or c in self.offered()) and (not self.brief or c == 'G1'))


def parse(text, level, brief):
    """LABEL=HOME,... A label is a release with, for another VM than the server's, its kind behind it."""
    jdks = []
    for item in text.split(','):
        label, sep, home = item.partition('=')
        m = re.fullmatch(r'(\d+)(%s)?' % '|'.join(KINDS[1:]), label)
        if not sep or not m or not (pathlib.Path(home) / 'bin' / 'java').exists():
            raise ValueError('not LABEL=HOME of a JDK: %s' % item)
        jdks.append(Jdk(label, int(m.group(1)), m.group(2) or KINDS[0], pathlib.Path(home).resolve(), level, brief))
    return jdks
