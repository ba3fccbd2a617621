# SPDX-License-Identifier: BSD-2-Clause
"""A program without the agent, and under it: what must not differ, and what its profiles must be."""
import collections
import json
import math
import os
import re
import signal
import subprocess
import time

from harness import Failure

# Lines that differ from run to run differ in these only.
VARIES = re.compile(r'0x[0-9a-f]+|@[0-9a-f]{4,}|\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\d[\d.,:]*')
# What the agent says of a session that went well.
SAID = re.compile(r'Dumping .* done\.|hprofx: (the file has a second heap dump; .*|the session ends after the heap dump that was asked for \.\.\.|(contentions|heap|sites|samples|calls|wall clock): .*)')
# A thread without Java frames has nothing that could have a name. A stack that drifted, which only sampler=walk and poll have, lacks its callers: that is
# a matter of how soon the sampling thread runs, and so of the load.
UNKNOWN = re.compile(r'hprofx\.unknown\.(?!no_Java_frame|drifted)')
COMMAND_SECONDS = 10
UNKNOWN_SHARE = 0.01
BLOCKS = 4


def begin(t, program, path, ours=(), behind=False):
    """Starts the program; returns when it is ready. path: its classes and jars; the option of the other agent, if it has one. behind: ours is the second agent."""
    dynamic = ['-XX:+EnableDynamicAgentLoading'] if t.jdk.version >= 21 else []
    class_path, other = path
    agents = [*other, *ours] if behind else [*ours, *other]
    cmd = t.jdk.java() + ['-Xmx512m', *t.gc, *dynamic, *program.jvm, *agents, '-cp', ':'.join(map(str, class_path)), 'real.Real', *program.words]
    run = t.start_command(cmd, stdin=subprocess.PIPE)
    run.wait_line('@ready')
    return run


class Work:
    """The questions that a run is asked, in blocks; every run of the program is asked the same. A slow mode gets the first block of each round."""

    def __init__(self, t, run, program, slow=False):
        self.t, self.run, self.size, self.blocks = t, run, program.block, 1 if slow else BLOCKS
        self.answers, self.seconds = {}, []  # (round, block): (answers, hash); of each round

    def ask(self, meanwhile=None):
        """One round. meanwhile(): called while the program works."""
        first, n = BLOCKS * len(self.seconds), len(self.answers)
        for i in range(first, first + self.blocks):
            self.run.process.stdin.write(b'work %d %d\n' % (i * self.size, (i + 1) * self.size))
        self.run.process.stdin.flush()
        if meanwhile:
            meanwhile()
        while True:
            ended = self.run.process.poll() is not None
            done = [ln for ln in self.run.out.splitlines(True) if ln.startswith('@work ') and ln.endswith('\n')][n:]
            if len(done) == self.blocks:
                break
            if ended:
                raise Failure('the program ended in its work')
            self.t.within_time(self.run)
            time.sleep(0.01)
        took = 0
        for i, line in enumerate(done):
            _, count, answers, ns = line.split()
            self.answers[first // BLOCKS, i] = int(count), int(answers)
            took += int(ns) / 1e9
        self.seconds.append(took)


def request(t, run, dumped=None):
    """SIGQUIT; waits for the JVM's own thread dump, and until dumped(): the profile has one more dump, too."""
    before = run.out.count('JNI global ref')
    os.kill(run.pid, signal.SIGQUIT)
    while run.out.count('JNI global ref') == before or (dumped and not dumped()):
        t.within_time(run)
        time.sleep(0.01)


def end(t, run):
    """SIGTERM; the time until the process is gone is bounded by the test's own."""
    run.signal(signal.SIGTERM)
    run.finish()
    return run.code


def log(run):
    """(lines of the program and of the JVM, with what varies left out; lines of hprofx)"""
    out, dump = [], False
    for line in run.out.splitlines():
        if line.startswith('Full thread dump'):
            out, dump = out[:-1], True  # the line before is the time
        if not dump and not line.startswith('@') and line:
            out.append(line)
        dump = dump and not line.startswith('  class space')  # its last; an answer may stand before
    err = [ln for ln in run.err.splitlines() if ln]
    ours = [ln for ln in err if re.match(r'(HPROF|hprofx|Dumping )', ln)]
    return {VARIES.sub('#', ln) for ln in out + [ln for ln in err if ln not in ours]}, ours


def profiles(t, files):
    """The files are sound, and the stacks of their samples have names. Returns the share that has not; below a hundred samples one more or less is chance."""
    totals, unknown = collections.Counter(), collections.Counter()
    for file in files:
        t.check(file.exists(), 'no file %s' % file.name)
        t.read('check', file)
        for view in json.loads(t.read('info', '--json', file))['views']:
            totals[view['view']] += next((m['total'] for m in view['measures'] if m['name'] == view['measure']), 0)
            unknown.update({(view['view'], m['name']): m['total'] for m in view['methods'] if UNKNOWN.match(m['name'])})
    for name, total in totals.items():
        allowed = UNKNOWN_SHARE * total
        without = {method: n for (view, method), n in unknown.items() if view == name}
        t.check(sum(without.values()) <= allowed + 3 * math.sqrt(allowed), '%s: of %s have frames without a name: %s' % (name, total, without))
    return max((sum(n for (view, _), n in unknown.items() if view == name) / total for name, total in totals.items() if total), default=0)
