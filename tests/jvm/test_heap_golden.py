# SPDX-License-Identifier: BSD-2-Clause
"""Golden cases of heap=dump and heap=all: our facts beside the recorded ones of the original, by the rules of tests/golden/README.md."""
import collections
import re
import struct

import hprof_binary
import peer as p
from golden import Recorded, compared, facts, of_kind, sections, threads
from runner import test
from waiting import ask, step, stop_steps

INST = re.compile(r'INST (\d+) x (\S+?)(?: sz=(\d+))? @ (.*)')
CLASS = re.compile(r'HEAP class (\S+) instsize=\d+ super=(\S+)')
DEAD = ('Roots$Garbage', 'Roots$Cyclic')  # objects that only the original lists: no root reaches them
CASES = {'dump-alloc-binary': 'Alloc', 'default': 'Roots', 'doe-n': 'Alloc', 'doe-n-binary': 'Alloc'}


def _of_program(frames, prefix):
    """Without frames of the JDK, and without the constructors above the one who says new, which only the original shows."""
    frames = [f for f in frames.split(' < ') if f.split('.')[0].partition('$')[0] == prefix]
    while frames and '.<init>(' in frames[0]:
        frames = frames[1:]
    return tuple(frames)


def _instances(lines, prefix, sizes, traces):
    """{(class, size, frames): objects}"""
    found = collections.Counter()
    for m in filter(None, map(INST.fullmatch, lines)):
        if m[2] not in DEAD:
            # of a Thread, whose fields are those of the JDK, not the size
            found[m[2], m[3] if sizes and m[2] != 'Roots$1' else None, _of_program(m[4], prefix) if traces else None] += int(m[1])
    return found


def _objects(lines, sizes):
    """HEAP facts. The size of an instance of a class of the JDK, or of a subclass of one, is not the program's."""
    lines = [ln for ln in of_kind(lines, 'HEAP') if not (CLASS.fullmatch(ln) and CLASS.fullmatch(ln)[2].startswith('java.lang.Thread'))]
    return sorted(ln if sizes else re.sub(r' sz=\d+', '', ln) for ln in lines)


def _compare(t, path, recorded, prefix):
    got, want = facts(path, prefix), recorded.facts
    sizes = t.jdk.version < 27  # without compact headers; references are compressed, because the heap is small
    t.equal(_objects(got, sizes), _objects(want, sizes), 'HEAP facts')
    # the original's few frames are those of constructors; a walk by tags has none
    traces = 'depth=' not in recorded.options and t.jdk.has('hotspot')
    t.equal(_instances(got, prefix, sizes, traces), _instances(want, prefix, sizes, traces), 'INST facts')
    t.equal(threads(got), threads(want), 'THREAD facts')
    t.equal(sections(got), sections(want), 'SECTIONS facts')


def _options(recorded):
    options = recorded.options if recorded.options != '(none)' else ''
    return options + ',idsize=4' * ('format=b' in options)  # the sizes of instances depend on it


@test(level='plain', emulated=True, collectors='any', params=compared(CASES), plain_params=('dump-alloc-binary', 'default'))
def case(t, name):
    recorded = Recorded(name)
    run = t.java(recorded.program[0], *recorded.program[1:], opts=_options(recorded))
    t.equal((run.code, run.out), (recorded.code, recorded.stdout), 'exit code and stdout')
    for ln in recorded.stderr:
        t.check(ln in run.err.splitlines(), 'stderr has no %r' % ln)
    path = t.work / ('java.hprof' if 'format=b' in recorded.options else 'java.hprof.txt')
    t.read('check', path)
    _compare(t, path, recorded, CASES[name])


def _steps(t, opts, done, requests):
    """The program Steps, with a request behind each step but the last."""
    run = t.start('Steps', opts=opts)
    run.wait_line('ready')
    for n in range(1, requests + 2):
        step(run, n)
        t.check(n > requests or ask(run, done), 'the program has ended')
    stop_steps(run)
    t.equal((run.code, [ln for ln in run.err.splitlines() if ln.startswith('Dumping')]), (0, [done] * (requests + 1)), 'exit code, dumps')


@test(level='plain', emulated=True, collectors='any')
def requests(t):
    """Three dumps, where the original died of its second one."""
    _steps(t, 'heap=dump,format=b,idsize=4,split=y', 'Dumping Java heap ... done.', 2)
    for name, items in (('java.hprof.1', 100), ('java.hprof.2', 200), ('java.hprof', 300)):
        t.read('check', t.work / name)
        got = facts(t.work / name, 'Steps')
        t.equal([m[1] for m in filter(None, map(INST.fullmatch, got)) if m[2] == 'Steps$Item'], [str(items)], 'items in %s' % name)


@test(level='plain', emulated=True, collectors='any')
def requests_beside_others(t):
    """Two complete dumps in one file."""
    _steps(t, 'heap=dump,cpu=samples,monitor=y,cutoff=0.05', 'Dumping contended monitor usage ... Java heap ... CPU usage by sampling running threads ... done.', 1)
    path = t.work / 'java.hprof.txt'
    t.parse(path, dumps=None)
    got = facts(path, 'Steps')
    t.equal(sections(got), ['SECTIONS' + ' MONITOR DUMP HEAP DUMP CPU SAMPLES' * 2], 'SECTIONS facts')
    t.equal([m[1] for m in filter(None, map(INST.fullmatch, got)) if m[2] == 'Steps$Item'], ['200'], 'items in the last heap dump')
    samples = of_kind(got, 'SAMPLE')
    t.check(samples and samples[0].endswith('Steps.work') and float(samples[0].split()[1].rstrip('%')) > 90, 'samples %s' % samples)


@test(level='plain', emulated=True, collectors='any')
def net_binary(t):
    """The commands of a peer, and what they answer; the dump at exit has every section."""
    peer = p.Peer(t)
    run = t.start('Steps', opts='heap=all,cpu=samples,format=b,net=127.0.0.1:%d' % peer.port)
    run.wait_line('ready')
    asked = 0

    def send(*commands):
        """A report follows every answer."""
        nonlocal asked
        for c in commands:
            asked += 1
            peer.send(c)
            peer.wait_for(b'hprofx: version', asked)

    sites = lambda flags: p.command(p.SITES, struct.pack('>Hf', flags, 0.05))
    peer.send(p.command(p.GC))
    step(run, 1)
    send(p.command(p.SUMMARY), sites(0))
    step(run, 2)
    send(sites(3), p.command(p.SUMMARY), p.command(p.HEAP))
    peer.send(p.command(p.TRACES))
    send(p.samples(0.5))
    peer.send(p.control(5))
    step(run, 3)
    send(p.samples(0.5))
    stop_steps(run)
    lines = run.out.splitlines()
    t.equal((run.code, lines[0], lines[-1]), (0, 'ready', 'done 300'), 'exit code, first and last line')
    t.check('Dumping Java heap ... allocation sites ... CPU usage by sampling running threads ... done.' in run.err, 'stderr %s' % run.err)
    peer.wait_end()
    path = t.work / 'stream.b'
    path.write_bytes(bytes(peer.streams[0]))
    t.read('check', path)
    got = hprof_binary.read(path)
    t.equal(len(got.summaries), 2, 'summaries')
    t.equal([x.flags for x in got.lists], [0, 3, 0], 'flags of the lists')
    t.equal(len(got.tables), 3, 'tables of samples')
    items = [sum(1 for o in h.objects.values() if hasattr(o, 'klass') and h.classes[o.klass].name == 'Steps$Item') for h in got.heaps]
    t.equal(items, [200, 300], 'items in the heap on request and at exit')
