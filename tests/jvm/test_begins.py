# SPDX-License-Identifier: BSD-2-Clause
"""Each call that the beginning of a session makes fails once. After that the next begins, or status, start and stop name the one reason why it cannot."""
import collections
import contextlib
import pathlib
import re
import socket

import attached
import imports
from faults import Control, Fault
from hprof_text import TIMES
from peer import Peer
from runner import test
from waiting import until

CALLS = 40
# Of the thread that talks with the command.
TALKS = set('accept4 recv send poll sem_clockwait nanosleep clock_nanosleep clock_gettime say'.split())
PARTS = set('malloc calloc realloc posix_memalign mmap'.split())  # of memory
OPTIONS = {'times': 'cpu=times,include=Attached', 'samples': 'cpu=samples', 'sites': 'heap=sites,sites=exact,include=Attached', 'counts': 'heap=sites,sites=counts,include=Attached', 'lock': 'monitor=y', 'wall': 'wall=10',
           'walk': 'cpu=samples,sampler=walk', 'sampled': 'cpu=times,times=sampled,include=Attached', 'net': 'cpu=samples,net=127.0.0.1:%d', 'gz': 'cpu=times,include=Attached,gz=y,split=y'}
EACH, FEW = 40, 8  # faults, unless all; few: of sessions that rewrite all classes
FIRST, LAST = 60, 5


class Jvm:
    """A program and a connection to its agent."""

    def __init__(self, t):
        self.t, self.control, self.fault = t, Control(t), None
        self.program = attached.Program(t, env=self.control.environment(t, '-'), jvm=['-XX:+EnableDynamicAgentLoading'] if t.jdk.version >= 21 else [])
        self.pid = self.program.run.pid
        attached.does(t, 'start', self.pid)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(60)
        self.socket.connect('/tmp/.hprofx-%d' % self.pid)
        self.lines = self.socket.makefile('r')
        self.lines.readline()
        t.equal(self.ask('stop')[-1], 'ok', 'the end of the first session')

    def ask(self, line):
        self.socket.sendall(line.encode() + b'\n')
        said = []
        while not said or not re.match('ok$|error ', said[-1]):
            said.append(self.lines.readline().strip())
            self.t.check(said[-1], 'no answer to %s, %s: %s' % (line, self.fault, self.program.run.err[-600:]))
        return said

    def begin(self, options, file):
        where = '' if 'net=' in options else ',force=y,file=%s' % (self.t.work / file)
        return self.ask('start 0 %s,cutoff=0,verbose=n%s' % (options, where))

    def has(self):
        """Files that are open, and threads of ours."""
        links, names = [], []
        for f in pathlib.Path('/proc/%d/fd' % self.pid).iterdir():
            with contextlib.suppress(OSError):
                links.append(str(f.readlink()))
        for f in pathlib.Path('/proc/%d/task' % self.pid).iterdir():
            with contextlib.suppress(OSError):
                names.append((f / 'comm').read_text().strip())
        return collections.Counter([f for f in links if not f.startswith(('socket:', 'pipe:'))] + [n for n in names if n.startswith('hprofx')])


def _one(t, jvm, options, fault):
    """The session with the fault, and the next."""
    def fail(what, said):
        t.check(False, '%s, %s: %s: %s (stderr: %s)' % (options, fault, what, said, jvm.program.run.err[-600:]))
    jvm.fault = fault
    jvm.control.arm(fault)
    said = jvm.begin(options, 'fault')
    jvm.control.disarm()
    injected = jvm.control.tally()[1][fault.kind]
    if said[-1] == 'ok':
        if jvm.ask('stop')[-1] != 'ok':
            fail('the session with it does not end', said)
    else:
        status, stop = jvm.ask('status'), jvm.ask('stop')
        if (status, stop) != (['session: none', 'ok'], ['error 7 no session is running']):
            fail('it does not begin, but there is one', (said, status, stop))
        if len(said[-1].split()) < 5:
            fail('the command is not told why', said)
    said = jvm.begin(options, 'next')
    if said[-1] != 'ok':
        fail('the next does not begin', said)
    jvm.program.tell('calls %d' % CALLS)
    said = jvm.ask('stop')
    if said[-1] != 'ok':
        fail('the next does not end', said)
    if options == OPTIONS['times']:
        calls = t.parse(t.work / 'next', None).table(TIMES).counts().get('Attached.leaf')
        if calls != CALLS:
            fail('calls in the next', calls)
    return injected


def _places(calls):
    """Of a kind: each of the first and of the last calls, and fewer between."""
    places, k = set(range(1, min(calls, FIRST) + 1)) | set(range(max(1, calls - LAST), calls + 1)), FIRST
    while k < calls:
        places.add(k)
        k = k * 5 // 4
    return sorted(places)


def _faults(calls):
    kinds = {**imports.KINDS, **imports.LATE}
    for kind in sorted(set(calls) - TALKS - PARTS):
        for how in kinds[kind] if calls[kind] else ():
            for k in _places(calls[kind]):
                yield Fault(kind, how, k)


@test(params=sorted(OPTIONS), collectors='any', needs=('jit',), timeout=900, one_in=3)
def the_next_begins_after_any_call_that_fails(t, what):
    jvm, options = Jvm(t), OPTIONS[what]
    if what == 'net':
        options = options % Peer(t).port
    for _ in range(2):  # the second makes what each session makes
        jvm.control.arm()
        t.equal(jvm.begin(options, 'whole')[-1], 'ok', 'the beginning without a fault')
        jvm.control.disarm()
        t.equal(jvm.ask('stop')[-1], 'ok', 'the end without a fault')
    faults, before = list(_faults(jvm.control.tally()[0])), jvm.has()
    if not faults:
        t.skip('the preloaded library does not see this VM load the agent')
    chosen = t.in_turn(faults, FEW if what in ('sites', 'counts') else EACH)
    injected = sum(_one(t, jvm, options, f) for f in chosen)
    t.check(injected >= len(chosen) / 2, '%d faults of %d were injected' % (injected, len(chosen)))
    until(jvm.program.run, lambda: not jvm.has() - before)  # a thread that was told to leave may still be on its way
    print('     %s: %d of %d faults injected, of %d [%d]' % (what, injected, len(chosen), len(faults), t.jdk.version), flush=True)
    jvm.socket.close()
    jvm.lines.close()
    attached.leaves_nothing(t, jvm.pid)
    jvm.program.end(t)
