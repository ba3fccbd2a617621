# SPDX-License-Identifier: BSD-2-Clause
"""Each system and library call that the agent makes fails once, and each from one on: the program is as it was, what is lost is said, the file is a
valid prefix. native/faults.c injects; docs/faults.md has the contract."""
import collections
import errno
import mmap
import re
import struct
import threading

import hprof_text
from harness import DONE, DUMPING, Failure
from preload import preload
from runner import test

OUT = 'faults survived\n'
# The order of KINDS in native/faults.c.
KINDS = ('malloc calloc realloc memalign mmap open write say fsync pthread_create timer_create timer_settime perf_event_open fopen opendir strdup rename ftruncate close '
         'fcntl newlocale sigaction getattr stat flock atfork memory').split()
E = {n: getattr(errno, n) for n in ('ENOMEM', 'EMFILE', 'ENOSPC', 'EIO', 'EINTR', 'EAGAIN', 'EPERM', 'EACCES', 'EDQUOT', 'ENOSYS', 'ENOLCK', 'ENFILE')}
HOWS = {'open': ('EMFILE', 'EINTR', 'ENOSPC'), 'write': ('ENOSPC', 'EIO', 'EINTR', 'short'), 'say': ('EIO', 'EINTR', 'short'), 'fsync': ('EIO',), 'pthread_create': ('EAGAIN',),
        'timer_create': ('EAGAIN', 'EPERM', 'ENOSYS'), 'timer_settime': ('EIO',), 'perf_event_open': ('EMFILE', 'EACCES'), 'fopen': ('EMFILE',), 'opendir': ('ENFILE',),
        'rename': ('EACCES',), 'ftruncate': ('EIO',), 'close': ('EIO', 'EINTR'), 'fcntl': ('EIO',), 'sigaction': ('EIO',), 'stat': ('EIO',), 'flock': ('ENOLCK',)}
# Before main an output that cannot be made may end the start, with a line that says so (docs/shutdown.md).
MAY_REFUSE = ('open', 'stat')
# cpu=samples makes no fsync, and cuts no file back on a disk with room.
MAY_HAVE_NONE = ('fsync', 'ftruncate')
REFUSED = "HPROF ERROR: can't create profile file: java.hprof.txt"
CASES = ['%s %s' % (k, h) for k in KINDS for h in HOWS.get(k, ('ENOMEM',))]
FROM = ['%s %s' % (k, h) for k, h in (('memory', 'ENOMEM'), ('calloc', 'ENOMEM'), ('realloc', 'ENOMEM'), ('memalign', 'ENOMEM'), ('mmap', 'ENOMEM'), ('write', 'ENOSPC'), ('write', 'short'),
                                      ('say', 'EIO'), ('timer_create', 'EAGAIN'), ('perf_event_open', 'EMFILE'), ('fopen', 'EMFILE'), ('rename', 'EACCES'), ('getattr', 'ENOMEM'))]
COUNTED = re.compile(r'hprofx: [A-Za-z ,]+: \d+( \(|$)')
ABOUT = re.compile(r'hprofx: (cpu=samples|profiling is off: no memory for the options|file=\S+)|HPROF ERROR: ')
MOST = 200
STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 30, 50, 80, 120, 200, 0, -2, -6, -15, -40)  # positions of a fault; 0 and below: from the last call on
IN_TURN = 4  # of them in a plain run
_lock = threading.Lock()
_base = {}  # JDK, collector: Counter of calls, samples of a run without faults


class Injection:
    """One run: its stderr apart, the tally, what the file lacks."""

    def __init__(self, t, kind=None, k=0, how=None, onward=False, opts='cpu=samples,interval=1,cutoff=0,depth=64', done=DONE):
        self.t, self.kind, self.onward = t, kind, onward
        for f in t.work.iterdir():
            f.unlink()
        tally = t.dir / 'tally'
        tally.unlink(missing_ok=True)
        env = preload(t, 'faults', HPX_FAULTS_FILE=str(tally))
        if kind:
            env['HPX_FAULTS'] = '%s:%d%s:%s' % (kind, k, '+' if onward else '', E.get(how, how))
        self.run = t.java('Faults', opts=opts, env=env, jvm=['-XX:TieredStopAtLevel=1'])
        self.what = '%s %s %s%s' % (kind, how, k, ' and on' if onward else '')
        with open(tally, 'rb') as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as m:
            numbers = struct.unpack('%dQ' % (2 * len(KINDS)), m[:16 * len(KINDS)])
        self.calls = collections.Counter(dict(zip(KINDS, numbers[::2])))
        self.injected = sum(numbers[1::2])
        lines = self.run.err.splitlines()
        self.done = lines.count(done)
        self.said = [ln for ln in lines if ln != done and not re.match('hprofx: (samples|calls): ', ln)]

    def fail(self, text):
        raise Failure('%s: %s' % (self.what, text))

    def check(self, condition, text):
        if not condition:
            self.fail(text)

    def lines(self):
        """What is said is ours: a counted loss, or a line about an option, once a cause."""
        causes = [ln for ln in self.said if not COUNTED.match(ln)]
        for ln in causes:
            self.check(ABOUT.match(ln) or self.kind == 'say', 'a line that names no option of ours: %r' % ln)
        # Where everything fails from some call on there are several causes. An output that lacks something since before the journal began (a slow run has
        # one by its end) gets the remedy in a line of its own.
        causes = [ln for ln in causes if 'hprofx-read --recover' not in ln or 'the profile is incomplete (write failed)' not in ln or len(causes) == 1]
        self.check(len(causes) <= (3 if self.onward else 1), 'more lines than causes: %s' % causes)

    def lacks(self, samples):
        """What a complete profile of the program has and this file has not."""
        t, final = self.t, self.t.work / 'java.hprof.txt'
        part = final.with_name(final.name + '.part')
        if not final.exists():
            if part.exists() and part.stat().st_size:
                hprof_text.parse(part.read_text('utf-8'), complete=self.kind == 'rename')
            return ['the file']
        try:
            p = hprof_text.parse(final.read_text('utf-8')) if final.stat().st_size else hprof_text.Profile('')
        except hprof_text.Malformed as e:
            self.fail('the file is no valid prefix: %s' % e)
        lack = [] if p.sections == ['CPU SAMPLES'] else ['the table']
        lack += ['START of f%d' % i for i in range(6) if 'f%d' % i not in p.names.values()]
        lack += ['END of f%d' % i for i in range(6) if not any(p.names[s] == 'f%d' % i for s in p.ended)]
        lack += ['the name of Faults.chain'] if 'Faults.chain' not in p.methods() else []
        lack += [m for m in p.methods() if m in ('hprofx.unknown.method', 'hprofx.unknown.unloaded_class')]
        lack += ['lines of Faults.chain'] if 'Faults.chain' in p.methods() and not any(f.method == 'Faults.chain' and f.line for tr in p.traces.values() for f in tr.frames) else []
        lack += ['half of the samples'] if samples and (p.total or 0) < samples / 2 else []
        lack += ['the report'] if 'samples' not in p.report else []
        self.check(bool(self.done) == (p.sections == ['CPU SAMPLES']) or self.kind == 'say', '"done." %d times, sections %s' % (self.done, p.sections))
        return lack

    def judge(self, samples):
        refused = self.run.code == 1 and REFUSED in self.said and self.kind in MAY_REFUSE
        if refused:
            self.t.equal(self.run.out, '', 'stdout of a start that was refused')
            self.check(not list(self.t.work.iterdir()), 'files: %s' % self.t.files())
            return
        self.check((self.run.code, self.run.out) == (0, OUT), 'exit code %s, stdout %r' % (self.run.code, self.run.out))
        self.lines()
        if self.kind == 'say' and self.what.split()[1] in ('short', 'EINTR'):
            self.check(self.done == 1 and '\nhprofx: samples: ' in '\n' + self.run.err, 'stderr has no whole lines: %r' % self.run.err)
        lack = self.lacks(samples)
        silent = self.kind == 'say'  # the fault took the line itself
        self.check(not lack or self.said or silent, 'nothing said of what is missing: %s' % lack)


def _baseline(t):
    with _lock:
        key = t.jdk, t.case.collector
        if key not in _base:
            i = Injection(t)
            i.judge(0)
            p = t.output()
            t.equal(i.said, [], 'lines without a fault')
            _base[key] = (i.calls, p.total)
        return _base[key]


def _steps(t, calls):
    """Numbers of calls to fail: all of the first, then steps, and the last ones; of these some in turn."""
    if t.level == 'long':
        return [k for k in range(1, MOST + 1) if k <= calls + 1] + list(range(MOST + 10, calls + 1, 10))
    return sorted({k for k in (n if n > 0 else max(1, calls + n) for n in t.in_turn(STEPS, IN_TURN)) if k <= calls + 1})


def _note(t, name, runs, injected):
    print('     %s: %d faults injected in %d runs [%d]' % (name, injected, runs, t.jdk.version), flush=True)


def _inject(t, case, onward):
    kind, how = case.split()
    calls, samples = _baseline(t)
    runs = injected = 0
    for k in _steps(t, calls[kind]) + [1]:  # the last one for sure: how many calls there are differs a little from run to run
        if k == 1 and injected:
            break
        i = Injection(t, kind, k, how, onward)
        i.judge(samples)
        runs, injected = runs + 1, injected + i.injected
    t.check(injected or kind in MAY_HAVE_NONE, 'no fault was injected in %d runs; %d calls without one' % (runs, calls[kind]))
    _note(t, case + (' and on' if onward else ''), runs, injected)


@test(cases=CASES, collectors='any', needs=('jit',), one_jdk=True, timeout=3000)
def one_call_fails(t, case):
    _inject(t, case, False)


@test(cases=FROM, collectors='any', needs=('jit',), one_jdk=True, timeout=3000)
def each_call_from_one_on_fails(t, case):
    _inject(t, case, True)


@test(level='long', cases=CASES, collectors='any', needs=('jit',), since=18, timeout=3000)
def one_call_fails_on_further_jdks(t, case):
    _inject(t, case, False)


CALL_CASES = ['malloc ENOMEM', 'calloc ENOMEM', 'realloc ENOMEM', 'memalign ENOMEM', 'mmap ENOMEM', 'memory ENOMEM', 'write ENOSPC', 'write short', 'pthread_create EAGAIN', 'getattr ENOMEM']
CALL_STEPS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233)


class Calls(Injection):
    """A run of cpu=times or cpu=old."""

    def __init__(self, t, mode, kind=None, k=0, how=None, onward=False):
        super().__init__(t, kind, k, how, onward, opts='cpu=%s,cutoff=0,depth=4' % mode, done='Dumping%s done.' % DUMPING[mode])
        self.mode = mode

    def calls_of(self, p):
        if self.mode == 'old':
            return sum(n for names, n, _ in p.old if names.startswith('Faults.deeper'))
        return sum(r.count for r in p.rows if r.method == 'Faults.deeper')

    def judge(self):
        if self.run.code == 1 and 'HPROF ERROR' in self.run.err and self.run.out == '':
            return  # refused before main, with a reason
        self.check((self.run.code, self.run.out) == (0, OUT), 'exit code %s, stdout %r' % (self.run.code, self.run.out))
        self.check(self.kind or self.done == 1, '"done." %d times' % self.done)
        path = self.t.work / 'java.hprof.txt'
        if self.done and path.exists():
            p = hprof_text.parse(path.read_text('utf-8', 'strict'))
            self.check(self.calls_of(p) == 61 or self.said, '%d calls of Faults.deeper, and nothing said' % self.calls_of(p))
        else:
            self.check(self.said, 'no file, and nothing said')


def _inject_calls(t, case, mode, onward):
    kind, how = case.split()
    base = Calls(t, mode)
    base.judge()
    t.equal(base.said, [], 'lines without a fault')
    steps = [k for k in t.in_turn(CALL_STEPS, IN_TURN) if k <= base.calls[kind] + 1]
    injected = 0
    for k in steps + [1]:
        if k == 1 and injected:
            break
        i = Calls(t, mode, kind, k, how, onward)
        i.judge()
        injected += i.injected
    t.check(injected, 'no fault was injected; %d calls without one' % base.calls[kind])
    _note(t, '%s in cpu=%s' % (case, mode), len(steps), injected)


@test(cases=CALL_CASES, collectors='any', needs=('jit',), one_jdk=True, timeout=1200)
def one_call_fails_in_times(t, case):
    _inject_calls(t, case, 'times', False)


@test(cases=['memory ENOMEM', 'write ENOSPC'], collectors='any', needs=('jit',), one_jdk=True, timeout=1200)
def each_call_from_one_on_fails_in_times(t, case):
    _inject_calls(t, case, 'times', True)


@test(cases=['memory ENOMEM', 'write ENOSPC'], collectors='any', needs=('jit',), one_jdk=True, timeout=1200)
def one_call_fails_in_old(t, case):
    _inject_calls(t, case, 'old', False)
