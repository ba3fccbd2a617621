# SPDX-License-Identifier: BSD-2-Clause
"""What every subject gets: where things are, how often to repeat, how to start a JVM."""
import math
import os
import re
import shlex

from machine import compile_agents, compile_programs
from measure import DidNotRun, Run, interleave, read_report, run


class Context:
    """One call of tools/bench."""

    def __init__(self, root, jdks, agent, args, work):
        self.root = root
        self.jdks = jdks        # {"17": home}
        self.agent = agent      # the library under test; may be absent
        self.quick = args.quick
        self.rounds = args.rounds  # None: each subject's own
        self.vm = shlex.split(args.vm)  # arguments of the JVMs of heapdump
        self.factor = 1.0       # of the usual rounds
        self.box = None         # of the subject that runs
        self.work = work        # a folder that goes away
        self.build = os.path.join(root, "build", "bench", "jvm")
        self.classes = os.path.join(self.build, "classes")
        self.agents = {}
        self._help = None       # the product's own

    def prepare(self):
        """Compiles programs and bench agents. They run on every JDK: made with the oldest."""
        oldest = self.jdks[self.oldest[0]]
        compile_programs(self.root, oldest, self.classes)
        self.agents = compile_agents(self.root, oldest, self.build)

    def times(self, usual, quick=1):
        """How many rounds are wanted: what the user said, else the subject's own number, more of them in a larger box."""
        return self.rounds or (quick if self.quick else math.ceil(usual * max(1.0, self.factor)))

    def compare(self, configurations, usual, once, quick=1):
        """Rounds of all configurations within the current share of the box: see interleave()."""
        return interleave(configurations, self.times(usual, quick), once, self.box)

    @property
    def oldest(self):
        """[the oldest JDK]: for what goes by the agent's threads and not by the JVM."""
        return [min(self.jdks, key=int)]

    def run(self, argv):
        """Runs a program until the end of the box at most."""
        return run(argv, self.box.left())

    def size(self, usual, quick):
        """An amount of work."""
        return quick if self.quick else usual

    def need_agent(self):
        """DidNotRun if there is no library to measure."""
        if not os.path.exists(self.agent):
            raise DidNotRun("%s is not there" % os.path.relpath(self.agent, self.root))

    def product(self, options):
        """JVM arguments that load the product; its output goes where java() looks for the report."""
        self.need_agent()
        return ["-agentpath:%s=%s,verbose=n,force=y,file=%s" % (self.agent, options, self.output)]

    def offers(self, option):
        """Whether the product has an option of this name: its help lists it."""
        if self._help is None:
            self.need_agent()
            jdk = next(iter(self.jdks))
            self._help = self.run([os.path.join(self.jdks[jdk], "bin", "java"), "-agentpath:%s=help" % self.agent, "-version"]).output
        return re.search(r"^\s*%s=" % re.escape(option), self._help, re.M) is not None

    @property
    def layer_off(self):
        """The option that turns off what the product reads of the VM's own tables; "": it has none."""
        return "vmstructs=n" if self.offers("vmstructs") else ""

    @property
    def output(self):
        """The product's output file."""
        return os.path.join(self.work, "output.txt")

    def java(self, jdk, arguments, vm=(), report=True, home=None) -> Run:
        """Runs java with the bench programs on the class path; the report of the product is read if it was loaded. home: another than that of the JDK."""
        if os.path.exists(self.output):
            os.unlink(self.output)
        done = self.run([os.path.join(home or self.jdks[jdk], "bin", "java"), "-cp", self.classes] + list(vm) + list(arguments))
        if report and any(a.startswith("-agentpath:" + self.agent) for a in vm):
            done.report = read_report(self.output)
        return done
