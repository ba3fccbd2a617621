# SPDX-License-Identifier: BSD-2-Clause
"""hprofx and async-profiler in one JVM that runs: each comes before, during and after the other, and both sample by SIGPROF."""
import contextlib
import re
import socket
import subprocess

import build
from attached import Program, does, leaves_nothing
from runner import test

BEGIN = 'start,event=ctimer,interval=1000000'  # a timer of SIGPROF for every thread; ns
SOME = 20  # of 400 ms


def _library(t):
    """As the JVM sees it."""
    if not t.jdk.embedding()[0]:
        t.skip('async-profiler comes with a tree of JDKs (tools/jdks), to which this one does not belong')
    found = subprocess.run([str(build.ROOT / 'tools' / 'jdks'), '--async-profiler'], capture_output=True, text=True)
    if found.returncode != 0:
        t.skip('tools/jdks has no async-profiler: %s' % found.stderr[-200:])
    return found.stdout.split()[1]


def _tells(t, p, library, words):
    """As its own command does, by the JVM's socket, which hprofx had it make."""
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
        s.settimeout(60)
        s.connect('/tmp/.java_pid%d' % p.run.pid)
        s.sendall(b''.join(w.encode() + b'\0' for w in ('1', 'load', library, 'true', words)))
        answer = b''
        while chunk := s.recv(4096):
            answer += chunk
    t.check(re.fullmatch(rb'0\n(return code: )?0\n', answer), 'async-profiler, %s: %r' % (words, answer))


def _async_samples(t, p, library):
    """Ends its sampling."""
    file = t.work / 'async'
    _tells(t, p, library, 'stop,collapsed,file=%s' % file)
    n = sum(int(m) for m in re.findall(r'Attached\.burnMore.* (\d+)$', file.read_text(), re.M))
    file.unlink()
    return n


def _begin(t, p, more=''):
    does(t, 'start', '-o', t.work / 'x', p.run.pid, 'interval=1,cutoff=0' + more)


def _samples(t, p):
    does(t, 'stop', p.run.pid)
    n = t.parse(t.work / 'x', 1).having('Attached.burnMore')
    (t.work / 'x').unlink()
    return n


@test(collectors='any', measures=True)
def both_sample_whoever_comes_first(t):
    library = _library(t)
    p = Program(t, agent='-agentpath:%s=%s' % (library, BEGIN))
    _begin(t, p)
    p.tell('burn 400 0')
    theirs, ours = _async_samples(t, p, library), _samples(t, p)
    t.check(theirs > SOME and ours > SOME, 'samples of async-profiler, which came first: %d, of hprofx: %d' % (theirs, ours))
    t.check('replaced the handler' not in p.run.err, 'it says %s' % p.run.err)

    _begin(t, p)
    p.tell('burn 400 0')
    _tells(t, p, library, BEGIN)  # takes the signal
    p.tell('burn 400 0')
    theirs, ours = _async_samples(t, p, library), _samples(t, p)
    t.check(theirs > SOME and ours > SOME, 'samples of async-profiler, which came later: %d, of hprofx: %d' % (theirs, ours))
    t.check('the program replaced the handler of SIGPROF; sampling stops here' in p.run.err, 'it does not say so: %s' % p.run.err)

    _begin(t, p, ',signal=RTMIN+1')  # async-profiler never gives the other one back
    p.tell('burn 400 0')
    t.check(_samples(t, p) > SOME, 'no samples behind async-profiler')
    _tells(t, p, library, BEGIN)
    p.tell('burn 400 0')
    t.check(_async_samples(t, p, library) > SOME, 'async-profiler has no samples behind hprofx')
    leaves_nothing(t, p.run.pid)
    p.run.process.stdin.close()
    p.run.finish()
    t.check(p.run.code == 0 and 'end' in p.run.out.splitlines(), 'the program ends with %d' % p.run.code)
