# SPDX-License-Identifier: BSD-2-Clause
"""Each function that the agent's library imports fails once, or from one call on, in every mode: the program is as it was, what is lost is said, the file is a
valid prefix. imports.py has the functions, native/faults.c injects; docs/testing.md has the contract."""
import collections
import contextlib
import dataclasses
import pathlib
import re
import signal
import subprocess
import threading
import time

import attached
import hprof_binary
import hprof_text
import imports
from faults import Control, Fault
from harness import DUMPING, Failure
from peer import Peer
from preload import lib
from runner import test
from waiting import ask, step, stop_steps, until

OUT = 'faults survived\n'
DONE = 'Dumping%s done.' % DUMPING['dump']
ITEMS = 61  # of Faults, and calls of its method
KEPT = 2000  # items of HeapFaults
COUNTED = re.compile(r'hprofx: ([A-Za-z ,]+: \d+( \(|$)|net=\S+: \d+ (records|bytes) )')
ABOUT = re.compile(r'HPROF ERROR: cannot listen for commands(?: at|:) /tmp/|hprofx: ([a-z]+=\S+|heap dump|monitor dump)[ :,]|Dumping .* incomplete: net=|hprofx: (profiling is off: no memory for the options|heap: no dump at exit|cannot accept the connection of a command: )')
REFUSED = re.compile(r"HPROF ERROR: (can't create profile file: |can't connect to |gz=y: )")
SUMMARY = re.compile(r'hprofx: (samples|calls|sites|contentions|heap): (?!no dump)')
OF_REQUESTS = re.compile(r'hprofx: (heap: no dump at exit$|sites: |the file has a second heap dump;)')
OUTPUT_LOST = re.compile(r'hprofx: (file=|output bytes lost)|the profile is incomplete')
GOES_ON = re.compile('; the program stops|the program stops meanwhile|; this dump goes to |; it stays, and others')  # the dump comes behind such a line
# Of cpu=old, whose file has none. A loss that it tells is in the summary, too.
REPORT = re.compile('hprofx: (version|times|probes|instrumented|(methods|classes) (not instrumented|without exception probe)|open calls|probe overhead subtracted|'
                    '(missed|unmatched) exits|replaced by the VM|drainers|incomplete|lost|thread ids|own CPU time|tables): ')
OF_OURS = re.compile(r'^(hprofx:|HPROF|Dumping )', re.M)
STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 30, 50, 80, 120, 200, 0, -2, -6, -15, -40)  # positions of a fault; 0 and below: from the last call on
ONWARD = (1, 2, 5, 13, 50)  # positions from which every call fails
AGAIN = ('EINTR', 'EAGAIN', 'EBUSY', 'ETIMEDOUT', 'ECONNABORTED')  # a call that fails so for ever may be tried again for ever
MOST = 100  # a long run takes each of the first calls
FURTHER = 11  # a long run takes one in so many on further JDKs
IN_TURN = 2, 1  # faults of a kind in a plain run: in whole runs, in heap dumps on request
LIMIT = 60  # seconds of a run
MANY = ('memory', 'calloc', 'open', 'write')  # twice as many
EATS_LINES = ('say',)
_lock = collections.defaultdict(threading.Lock)
_base = {}  # JDK, collector, mode: a run without faults


class Injection:
    """One run of a mode with a fault, or with none."""

    def __init__(self, t, mode, fault=None):
        self.t, self.mode, self.fault = t, mode, fault
        self.kind = fault.kind if fault else None
        t.allow(LIMIT)
        for f in t.work.iterdir():
            f.unlink()
        self.control = Control(t)
        self.go()
        self.done = self.dones()
        self.said = self.losses()

    def fail(self, text):
        raise Failure('%s, %s: %s' % (self.mode.name, self.fault, text))

    def check(self, condition, text):
        if not condition:
            self.fail(text)

    def dones(self):
        return self.run.err.splitlines().count('Dumping%s done.' % self.mode.title)

    def losses(self, begin=0):
        """What a run without a fault does not say."""
        usual = SUMMARY if self.mode.lacks else OF_REQUESTS
        lines = [ln for ln in self.run.err[begin:].splitlines() if self.mode.name != 'old' or not REPORT.match(ln)]
        return [ln for ln in lines if ln != 'Dumping%s done.' % self.mode.title and not usual.match(ln)]

    def is_said(self):
        """Or the fault took the line itself."""
        return self.said or self.kind in EATS_LINES

    def files(self):
        """But for what an unlink that failed leaves."""
        return [p for p in sorted(self.t.work.iterdir()) if self.kind != 'unlink' or not p.name.startswith('.hprofx.')]

    def lines(self):
        """What is said is ours: a counted loss, or a line about an option, once a cause."""
        causes = [ln for ln in self.said if not COUNTED.match(ln)]
        for ln in causes:
            self.check(ABOUT.match(ln) or self.kind in EATS_LINES, 'a line that names no option of ours: %r' % ln)
        # Where everything fails from some call on there are several causes. An output that lacks something since before the journal began (a slow run has
        # one by its end) gets the remedy in a line of its own.
        causes = [ln for ln in causes if 'hprofx recover' not in ln or 'the profile is incomplete (write failed)' not in ln or len(causes) == 1]
        self.check(len(causes) <= (4 if self.fault and self.fault.onward else 2), 'more lines than causes: %s' % causes)


class Whole(Injection):
    """Faults from its start to its end, with what the mode writes at the end."""

    def go(self):
        t, mode = self.t, self.mode
        self.peer = Peer(t) if mode.net else None
        opts = mode.opts + (',net=127.0.0.1:%d' % self.peer.port if mode.net else '')
        self.run = t.java('Faults', opts=opts, env=self.control.environment(t, self.fault.text() if self.fault else ''), jvm=['-XX:TieredStopAtLevel=1'])
        if self.peer:
            self.peer.wait(lambda: all(self.peer.closed), 'end of the streams')
            self.peer.close()
        self.calls, self.injected = self.control.tally()

    def outputs(self):
        """The file, or what the peer got: [(path, is it one that may end early)]."""
        t = self.t
        if self.peer:
            for i, stream in enumerate(s for s in self.peer.streams if s):
                (t.work / ('stream%d' % i)).write_bytes(stream)
            return [(path, True) for path in sorted(t.work.glob('stream*'))]
        return [(p, p.name.endswith('.part')) for p in self.files() if '.journal.' not in p.name]

    def lacks(self, base):
        """What a complete profile of the program has and this one has not."""
        lack = ['the file']
        for path, part in self.outputs():
            if path.stat().st_size == 0:
                continue
            begun = not part or re.search(rb'\n--------\n\n|OLD|^JAVA PROFILE 1.0.2\0.{12}|^count ', path.read_bytes()[:20000], re.S)
            if begun:
                self.t.read('check', *(['--part'] if part else []), path)
            if not part or (self.peer and begun):
                try:
                    lack = self.mode.lacks(self, path, base)
                except (hprof_text.Malformed, hprof_binary.Malformed) as e:  # these readers are stricter
                    self.check(self.peer or any('thread events lost' in ln for ln in self.said), 'the file is no valid prefix: %s' % e)
                    lack = [str(e)]
        return lack

    def judge(self, base):
        refused = [ln for ln in self.said if ln.startswith('HPROF ERROR: ')]
        if refused and self.run.code == 1:
            self.check(REFUSED.match(refused[0]), 'ends before main: %s' % refused)
            self.t.equal(self.run.out, '', 'stdout of a start that was refused')
            self.check(not self.files(), 'files: %s' % self.t.files())
            return
        self.check((self.run.code, self.run.out) == (0, OUT), 'exit code %s, stdout %r' % (self.run.code, self.run.out))
        self.lines()
        if self.kind == 'say' and self.fault.how in ('short', 'EINTR'):
            self.check(self.done == 1 and '\nhprofx: ' in '\n' + self.run.err, 'stderr has no whole lines: %r' % self.run.err)
        lack = self.lacks(base)
        self.check(not lack or self.is_said(), 'nothing said of what is missing: %s' % lack)
        self.check(self.done == 1 or self.is_said(), '"done." %d times, and nothing said' % self.done)


class Requested(Injection):
    """Two heap dumps on request: the first with the fault, the second without."""

    def go(self):
        t, mode = self.t, self.mode
        self.run = t.start('HeapFaults', KEPT, opts=mode.opts, env=self.control.environment(t, '-'), jvm=['-XX:TieredStopAtLevel=1', '-Xmx64m'])
        self.run.wait_line('ready')
        files = self.open_files()
        self.control.arm(*([self.fault] if self.fault else []))
        self.run.signal(signal.SIGQUIT)
        # A fault that takes the request, or the line about it, leaves nothing to wait for.
        until(self.run, lambda: self.dones() or self.ends(0) or self.run.process.poll() is not None or (self.silent() and self.control.tally()[1][self.kind]))
        self.control.disarm()
        self.calls, self.injected = self.control.tally()
        first = len(self.run.err)
        dones = self.dones()
        self.second(dones)
        t.check(self.run.process.poll() is None, 'the program has ended')
        until(self.run, lambda: self.open_files() <= files or self.run.process.poll() is not None)  # what the writer's thread still closes
        (t.work / 'ending').write_text('return')
        (t.work / 'ending').rename(t.work / 'end')
        self.run.finish()
        (t.work / 'end').unlink()
        self.after = self.run.err[first:]

    def output_lost(self):
        """Nothing more is written to it."""
        return 'split=y' not in self.mode.opts and any(OUTPUT_LOST.search(ln) for ln in self.losses())

    def ends(self, begin):
        return [ln for ln in self.losses(begin) if not GOES_ON.search(ln)]

    def silent(self):
        return self.fault and (self.kind in EATS_LINES or (self.kind in ('calloc', 'memory') and self.fault.k == 1))

    def open_files(self):
        return collections.Counter(re.sub(r'\[\d+\]$|(\.\d+)?\.part$|\.\d+$', '', str(link)) for link in self._links())

    def _links(self):
        for fd in pathlib.Path('/proc/%d/fd' % self.run.pid).iterdir():
            with contextlib.suppress(OSError):
                yield fd.readlink()

    def second(self, dones):
        """Waits for it, or for the line that says why not."""
        begin = len(self.run.err)
        self.run.signal(signal.SIGQUIT)
        if not self.output_lost():
            until(self.run, lambda: self.dones() > dones or self.ends(begin) or self.run.process.poll() is not None)

    def judge(self, base):
        out = self.run.out.splitlines()
        self.check((self.run.code, out.count('ready'), out.count('ending')) == (0, 1, 1), 'exit code %s, stdout %r' % (self.run.code, out[-3:]))
        self.check(not OF_OURS.search(self.run.out), 'a line of ours in stdout')
        self.lines()
        lost, failed = self.output_lost(), any(OUTPUT_LOST.search(ln) for ln in self.said)
        dumps = []
        for path in self.files():
            self.check(path.name.startswith('java.hprof'), 'a file left behind: %s' % path.name)
            part = path.name.endswith('.part')
            self.check(not part or failed, 'a file left behind: %s' % path.name)
            if '.journal.' not in path.name and path.stat().st_size:
                self.t.read('check', *(['--part'] if part else []), path)
                if not part or self.kind == 'rename':  # which leaves a whole file with that name
                    dumps += self.whole(path)
        self.check(len(dumps) == self.done or lost or self.kind in EATS_LINES, '%d dumps, "done." %d times' % (len(dumps), self.done))
        self.check(self.done == 2 or self.is_said(), '"done." %d times, and nothing said' % self.done)
        self.check('done.' in self.after or lost, 'the dump after the one with the fault is not there')

    def whole(self, path):
        """One entry a dump, which has what the program keeps."""
        dumps, classes = self.t.heap(path)
        if dumps > 0:
            items = classes.get('HeapFaults$Item', (0,))[0]
            self.check(items in (KEPT, KEPT * dumps), '%s items in %d dumps of %s' % (items, dumps, path.name))
        return [path.name] * dumps


class Steered(Injection):
    """Two sessions that a command begins and another ends: the first with the fault, the second without."""

    def go(self):
        t = self.t
        self.program = attached.Program(t, env=self.control.environment(t, '-'), jvm=['-XX:+EnableDynamicAgentLoading'] if t.jdk.version >= 21 else [])
        self.run = self.program.run
        self.control.arm(*([self.fault] if self.fault else []))
        self.failed = self.session('first')
        self.control.disarm()
        self.calls, self.injected = self.control.tally()
        self.failed_after = self.session('second')
        self.program.end(t)

    def session(self, name):
        """What a command says that fails, or None. A session that does not begin leaves nothing either."""
        failed = self.command('start', '-e', 'times', '-o', self.t.work / name, self.run.pid, 'cutoff=0')
        self.program.tell('calls %d' % ITEMS)
        failed = failed or self.command('stop', self.run.pid)
        attached.leaves_nothing(self.t, self.run.pid)
        return failed

    def command(self, *words):
        """(status, stderr) if it fails. A fault that lasts ends when it was said: the command waits for that."""
        t = self.t
        command = subprocess.Popen(attached.command(t) + [str(w) for w in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if self.fault and self.fault.onward:
            until(self.run, lambda: command.poll() is not None or self.losses())
            if command.poll() is None:
                self.control.disarm()
        said = command.communicate(timeout=max(1, t.deadline - time.monotonic()))[1]
        return (command.returncode, said) if command.returncode != attached.OK else None

    def dones(self):
        """Sessions whose profile has all calls."""
        files = [p for p in (self.t.work / 'first', self.t.work / 'second') if p.exists()]
        return [_deeper(hprof_text.parse(p.read_bytes(), complete=True), 'Attached.leaf') for p in files].count(ITEMS)

    def judge(self, base):
        self.lines()
        self.check(not OF_OURS.search(self.run.out), 'a line of ours in stdout')
        self.check(not self.failed_after and self.done == 2 - bool(self.failed), 'profiles: %d; failed: %s, then %s' % (self.done, self.failed, self.failed_after))
        if self.failed:
            status, said = self.failed
            self.check(self.said or 'on stderr of the JVM' not in said, 'the JVM does not say why: %s' % said)
            self.check(status in (1, attached.REFUSED) and re.fullmatch('hprofx: [^\n]+\n', said), 'the command ends with %d and says %r' % (status, said))


# --- what a complete profile has

def _parse(i, path):
    return hprof_text.parse(path.read_bytes(), complete=not i.peer)


def _samples(i, path, base):
    p = _parse(i, path)
    lack = [] if p.sections == ['CPU SAMPLES'] else ['the table']
    lack += ['START of f%d' % k for k in range(6) if 'f%d' % k not in p.names.values()]
    lack += ['END of f%d' % k for k in range(6) if not any(p.names[s] == 'f%d' % k for s in p.ended)]
    lack += ['the name of Faults.chain'] if 'Faults.chain' not in p.methods() else []
    lack += [m for m in p.methods() if m in ('hprofx.unknown.method', 'hprofx.unknown.unloaded_class')]
    lack += ['lines of Faults.chain'] if 'Faults.chain' in p.methods() and not any(f.method == 'Faults.chain' and f.line for tr in p.traces.values() for f in tr.frames) else []
    lack += ['half of the samples'] if base and (p.total or 0) < base.total / 2 else []
    lack += ['the report'] if 'samples' not in p.report else []
    i.check(bool(i.done) == (p.sections == ['CPU SAMPLES']) or i.is_said(), '"done." %d times, sections %s' % (i.done, p.sections))
    i.total = p.total or 0
    return lack


def _binary_samples(i, path, base):
    p = hprof_binary.read(path)
    i.total = sum(table.total for table in p.tables)
    return [] if len(p.tables) == 1 and i.total > (base.total / 2 if base else 0) else ['the table']


def _rows(count, want=ITEMS):
    """Of a text: `count` of a profile is the number of calls, objects or blocks."""
    def lacks(i, path, base):
        p = _parse(i, path)
        n = count(p) if p.sections else -1
        return [] if (want(n) if callable(want) else n == want) else ['all but %d' % n]
    return lacks


def _heap(i, path, base):
    items = i.t.heap(path)[1].get('Faults$Item', (0,))[0]
    return [] if items == ITEMS else ['all but %s items' % items]


def _objects(p):
    return sum(r.objects for r, _ in p.sites if r.name == 'Faults$Item')


def _deeper(p, method='Faults.deeper'):
    return sum(r.count for r in p.rows if r.method == method)


def _old_deeper(p):
    return sum(n for names, n, _ in p.old if names.startswith('Faults.deeper'))


def _blocks(p):
    return sum(r.count for d in p.block_tables for r in d.rows if r.name == 'Faults$Lock')


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str
    opts: str
    dumping: str
    lacks: object = None  # None: two requests
    net: bool = False
    only: str = ''  # kinds that alone are injected

    @property
    def title(self):
        return DUMPING[self.dumping]

    def inject(self, t, fault=None):
        return (Steered if not self.opts else Whole if self.lacks else Requested)(t, self, fault)


SAMPLED = 'cpu=samples,interval=1,cutoff=0,depth=64'
MODES = [
    Mode('samples', SAMPLED, 'samples', _samples),
    Mode('native', SAMPLED + ',native=y', 'samples', _samples),
    Mode('asgct', SAMPLED + ',sampler=asgct', 'samples', _samples, only='sys_rt_tgsigqueueinfo'),
    Mode('times', 'cpu=times,cutoff=0,depth=4', 'times', _rows(_deeper)),
    Mode('old', 'cpu=old,cutoff=0,depth=4', 'old', _rows(_old_deeper)),
    Mode('sites', 'heap=sites,cutoff=0,depth=4', 'sites', _rows(_objects)),
    Mode('counts', 'heap=sites,sites=counts,cutoff=0,depth=4', 'sites', _rows(_objects)),
    Mode('sampled', 'heap=sites,sample=16,cutoff=0,depth=4,file=java.%h.txt', 'sites', _rows(lambda p: len(p.sites), lambda n: n > 0)),
    Mode('monitor', 'monitor=y,cutoff=0,depth=4', 'monitor', _rows(_blocks, 3)),
    Mode('net', SAMPLED, 'samples', _samples, net=True),
    Mode('net-binary', SAMPLED + ',format=b,net-wait=y', 'samples', _binary_samples, net=True),
    Mode('exit', 'heap=dump,heapdump=walk', 'dump', _heap),
    Mode('exit-binary', 'heap=dump,heapdump=walk,format=b,gz=y', 'dump', _heap),
    Mode('fork', 'heap=dump,heapdump=fork,doe=n', 'dump'),
    Mode('fork-binary', 'heap=dump,doe=n,format=b,split=y,keep-files=9,sites=none', 'dump'),  # auto, which checks more; the spool becomes the output
    Mode('walk', 'heap=dump,heapdump=walk,doe=n,split=y,keep-bytes=1g', 'dump'),
    Mode('walk-binary', 'heap=dump,heapdump=walk,doe=n,format=b,gz=y,sites=none', 'dump'),
    Mode('commands', '', 'times', only='accept4 bind fchmod listen sem_clockwait socket'),
]


# --- the rotation

def _baseline(t, mode):
    key = t.jdk, t.case.collector, mode.name
    with _lock[key]:
        if key not in _base:
            i = mode.inject(t)
            i.judge(None)
            # A signal may interrupt a record of its thread at any time: such a loss is counted.
            said = [ln for ln in i.said if not COUNTED.match(ln)]
            t.equal((said, i.done), ([], 1 if mode.lacks else 2), 'lines without a fault, "done." of ' + mode.name)
            t.equal(set(i.calls), set(imports.KINDS) | set(imports.LATE), 'kinds of native/faults.c')
            t.equal(i.calls['sys_clone'], int('fork' in mode.name), 'copies of the process in ' + mode.name)
            _base[key] = i
        return _base[key]


def _faults(t, mode, kind):
    """All faults of a kind in a mode."""
    other = imports.BEHIND.get(kind)
    calls = _baseline(t, mode).calls[other[0] if other else kind]
    if other:
        calls = 1 if calls >= other[2] else 0
    once = {n if n > 0 else max(1, calls + n) for n in STEPS} | (set(range(1, MOST + 1)) if t.level == 'long' and mode.name == 'samples' else set())
    for how in imports.KINDS[kind]:
        for onward, places in ((False, once), (True, ONWARD if how not in AGAIN else ())):
            for k in sorted(k for k in places if k <= calls):
                yield mode, Fault(kind, how, k, onward)


def _inject(t, kind, chosen, others):
    """Others: in their place, where the chosen ones came too late, or the call did not come that they stand behind."""
    injected = runs = 0
    for mode, fault in chosen + others:
        if runs >= len(chosen) and injected:
            break
        i = mode.inject(t, fault)
        i.judge(_baseline(t, mode))
        runs, injected = runs + 1, injected + i.injected[kind]
    t.check(injected, 'no fault was injected in %d runs' % runs)
    print('     %s: %d faults injected in %d runs [%d]' % (kind, injected, runs, t.jdk.version), flush=True)


def _all(t, kind):
    """Those of whole runs, those of heap dumps on request."""
    found = [[f for m in MODES if bool(m.lacks) == whole and (not m.only or kind in m.only.split()) for f in _faults(t, m, kind)] for whole in (True, False)]
    t.check(found[0] or found[1], 'no mode calls %s' % kind)
    return found


@test(params=sorted(imports.KINDS), collectors='any', needs=('jit',), one_jdk=True, timeout=6000, one_in=4)
def calls_fail(t, kind):
    groups = _all(t, kind)
    _inject(t, kind, [f for group, count in zip(groups, IN_TURN) for f in t.in_turn(group, count * (1 + (kind in MANY)))], [f for g in groups for f in g if f[1].k == 1])


@test(level='long', params=sorted(imports.KINDS), collectors='any', needs=('jit',), since=18, timeout=3000)
def calls_fail_on_further_jdks(t, kind):
    groups = _all(t, kind)
    _inject(t, kind, [f for group in groups for f in group[t.case.turn % FURTHER::FURTHER] or group[:1]], [f for g in groups for f in g if f[1].k == 1])


# What ends a first dump behind its list of threads; the child's faults end the child alone.
NO_DUMP = {'spool': (Fault('tmpfile', 'EOPNOTSUPP', onward=True), Fault('mkostemp', 'EACCES', onward=True)), 'disk': (Fault('pwrite', 'ENOSPC', onward=True),),
           'memory': (Fault('mmap', 'ENOMEM', onward=True),), 'child': (Fault('sys_mremap', 'ENOMEM', onward=True),)}
THREADS = (300, 20)


@test(level='plain', params=[(what, how, to) for what in NO_DUMP for how in ('fork', 'walk') for to in ('split', 'net')], plain_params=[('spool', 'fork', 'net')], collectors='any',
      needs=('jit',))
def threads_end_between_a_dump_that_fails_and_the_next(t, what):
    """The second dump has all that is there, and the threads of the first are forgotten."""
    fault, how, to = what
    control, peer = Control(t), Peer(t) if to == 'net' else None
    opts = 'heap=dump,doe=n,format=b,maxpause=off,heapdump=%s,' % how + ('net=127.0.0.1:%d' % peer.port if peer else 'split=y')
    run = t.start('HeapThreads', *THREADS, opts=opts, env=control.environment(t, '-'))
    run.wait_line('ready')
    control.arm(*NO_DUMP[fault])
    run.signal(signal.SIGQUIT)
    until(run, lambda: OF_OURS.search(run.err) or run.process.poll() is not None)
    control.disarm()
    until(run, lambda: DONE in run.err or not GOES_ON.search(run.err) or run.process.poll() is not None)
    t.check(sum(control.tally()[1].values()) or (fault, how) == ('child', 'walk'), 'no fault was injected')
    step(run, 1)
    t.check(ask(run, DONE), 'the program has ended')
    stop_steps(run)
    t.equal((run.code, run.out.splitlines().count('done')), (0, 1), 'exit code (%s), lines of the end' % run.err)
    path = max((p for p in t.work.glob('java.hprof.?')), default=None)
    if peer:
        peer.wait_end()
        path = t.work / 'stream'
        path.write_bytes(peer.streams[-1])
    t.read('check', path)
    dumps, classes = t.heap(path)
    t.check(classes['HeapThreads$Item'][0] in (THREADS[0], THREADS[0] * dumps), 'items: %s' % classes)


@test(level='plain', collectors='any', one_jdk=True, needs=('hotspot',))
def each_import_fails_or_has_a_reason(t):
    if t.env.sanitized:
        t.skip('a sanitizer imports more')
    t.equal(imports.wrong(t.env.agent, lib(t, 'faults')), [], 'the tables of imports.py')
