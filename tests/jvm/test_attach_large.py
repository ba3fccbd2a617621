# SPDX-License-Identifier: BSD-2-Clause
"""hprofx and a JVM that is large or busy: many threads, classes, objects, sessions."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

from attached import FAILED, OK, Program, command, does, hprofx, leaves_no_profile, leaves_nothing, library
from hprof_text import SITES, TIMES
from runner import test


def _counts(t, p, more=''):
    """Calls of each method in one round in a session of cpu=times; the code has run before."""
    p.tell('round')
    does(t, 'start', '-e', 'times', '-o', t.work / 'times', p.run.pid, 'cutoff=0' + more)
    p.tell('round')
    does(t, 'stop', p.run.pid)
    p.tell('round')
    return t.parse(t.work / 'times', 1).table(TIMES).counts()


def _samples(t, p):
    t.check('used ' in does(t, '-d', '300ms', p.run.pid, 'interval=1'), 'no profile of samples')
    leaves_nothing(t, p.run.pid)


def _samples_too(t, p):
    _samples(t, p)
    p.end(t)


@test(collectors='any')
def a_thousand_threads_that_are_older_than_the_session(t):
    p = Program(t, 'Large', 'threads', 1000, jvm=['-Xss256k'])
    t.equal(_counts(t, p).get('Large.once'), 1000, 'calls')
    _samples_too(t, p)


@test(collectors='any', timeout=300)
def every_method_of_many_classes(t):
    n = 3000 if t.jdk.version == 8 else 20000 if t.level == 'long' else 5000  # JDK 8 needs minutes to give 20,000 their old code back
    p = Program(t, 'Large', 'classes', n)
    counts = _counts(t, p)
    of_classes = [calls for name, calls in counts.items() if name.startswith('gen.C')]
    t.equal((len(of_classes), sum(of_classes), counts.get('Large.once')), (n, n, n), 'methods and calls of the classes, calls of what they call')
    _samples_too(t, p)


@test(level='plain', collectors='any', since=17, timeout=200)
def a_class_that_cannot_be_linked_fails_no_other(t):
    """Among each 64 that is one. A class of them in a call fails it; each call that succeeds stops the program, and walks all classes."""
    n = 2000
    p = Program(t, 'Large', 'refused', n, jvm=['-Xlog:safepoint:file=%s:none' % (t.work / 'log')])
    counts = _counts(t, p)
    of_classes = [calls for name, calls in counts.items() if name.startswith('gen.C')]
    t.equal((len(of_classes), sum(of_classes)), (n, n), 'methods and calls of the classes')
    stops = (t.work / 'log').read_text().count('RedefineClasses')
    t.check(0 < stops < 150, 'stops: %d' % stops)
    p.end(t)


@test(level='plain', collectors='any', timeout=200)
def classes_that_are_linked_while_a_session_runs_are_counted_from_their_first_call(t):
    n = 100
    p = Program(t, 'Large', 'unlinked', n)
    for i in (1, 2):
        file = t.work / ('times%d' % i)
        does(t, 'start', '-e', 'times', '-o', file, p.run.pid, 'cutoff=0')
        p.tell('round')
        does(t, 'stop', p.run.pid)
        of_classes = [calls for name, calls in t.parse(file, 1).table(TIMES).counts().items() if name.startswith('gen.C')]
        t.equal((len(of_classes), sum(of_classes)), (2 * n, 2 * n), 'methods, with constructors, and calls in session %d' % i)
    p.end(t)


def _seen_cpu(pid, name, until):
    """CPU time in ms of the thread of that name, as last seen before `until` has ended."""
    seen = 0
    while until.poll() is None:
        for task in pathlib.Path('/proc/%d/task' % pid).iterdir():
            with contextlib.suppress(OSError):  # it has ended since
                if (task / 'comm').read_text() == name + '\n':
                    seen = max(seen, int((task / 'schedstat').read_text().split()[0]) / 1e6)
        time.sleep(0.005)
    return seen


@test(level='plain', collectors='any')
def to_begin_is_the_profilers_own_cpu_time(t):
    """The thread that begins rewrites the classes. What it uses before it is attached, and after the session runs, is little."""
    p = Program(t)
    begins = subprocess.Popen([*command(t), 'start', '-e', 'times', '-o', str(t.work / 'x'), str(p.run.pid), 'cutoff=0'], stdout=subprocess.DEVNULL)
    seen = _seen_cpu(p.run.pid, 'hprofx-begin', begins)
    t.equal(begins.returncode, 0, 'status of start')
    does(t, 'stop', p.run.pid)
    own = float(t.parse(t.work / 'x', 1).report['own CPU time'].split()[0])
    t.check(seen > 0, 'the thread that begins was not seen')
    t.check(own > 0.9 * seen, 'own CPU time: %.3f ms, of the thread that begins: %.3f ms' % (own, seen))
    p.end(t)


@test(level='plain', collectors='any', measures=True)
def to_end_is_the_profilers_own_cpu_time(t):
    """The thread that ends asks many threads for their names before the report is written. The program sleeps: what it uses until the session has begun is ours."""
    run = t.start_command(t.command('ManyAsleep', 8000, opts=None), stdin=subprocess.PIPE)
    run.wait_line('ready')
    clock, begins, own = ~run.pid << 3 | 2, 0, 0  # CPUCLOCK_SCHED: the CPU time of that process
    for i in range(4):
        file, before = t.work / ('x%d' % i), time.clock_gettime(clock)
        does(t, 'start', '-o', file, run.pid, 'monitor=y,thread=y,cutoff=0')
        begun = time.clock_gettime(clock)
        does(t, 'stop', run.pid)
        if i > 0:  # the first one loads the library
            begins += 1e3 * (begun - before)
            own += float(t.parse(file, 1).report['own CPU time'].split()[0])
    t.check(own > 1.05 * begins, 'own CPU time: %.0f ms, of the begins: %.0f ms' % (own, begins))
    run.process.stdin.close()
    run.finish()


def _interrupted(t, p, *words):
    """A command that gets SIGTERM while its session begins. What it says: one that begins between two looks says nothing, and another is sent."""
    def begin():
        return subprocess.Popen([*command(t), *map(str, words), '-e', 'times', '-o', str(t.work / 'x'), str(p.run.pid), 'cutoff=0'], stderr=subprocess.PIPE, text=True)
    c = begin()
    said = c.stderr.readline()
    while 'classes: ' not in said and c.wait() == OK and time.monotonic() < t.deadline:
        hprofx(t, 'stop', p.run.pid)  # with -d it has ended
        (t.work / 'x').unlink(missing_ok=True)
        c = begin()
        said = c.stderr.readline()
    t.check('classes: ' in said and 'about' in said and 'include=' in said, 'said first: %s' % said)
    c.send_signal(signal.SIGTERM)
    said += c.communicate(timeout=max(1, t.deadline - time.monotonic()))[1]
    t.equal(c.returncode, FAILED, 'status: %s' % said)
    t.check('interrupted; ' in said and ('old code' in said or 'had begun, and has ended' in said), 'said: %s' % said)
    leaves_no_profile(t, c)
    t.check('session: none' in does(t, 'status', p.run.pid), 'a session')
    return said


@test(level='plain', collectors='any', timeout=300)
def one_that_is_interrupted_while_it_begins_is_undone(t):
    p = Program(t, 'Large', 'classes', 1000 if t.jdk.version == 8 else 4000)
    _interrupted(t, p, '-d', '1s')
    t.equal(t.files(), [], 'files')
    t.check('has what was counted' in _interrupted(t, p, 'start'), 'what is kept is not said')
    (t.work / 'x').unlink()
    n = _counts(t, p).get('Large.once')
    t.equal(n, 1000 if t.jdk.version == 8 else 4000, 'calls in the next one')
    leaves_nothing(t, p.run.pid)
    p.end(t)


def _ways(t):
    """Of -e alloc; the last one is possible on every JDK."""
    return ('sampled', 'exact') if t.jdk.version >= 11 else ('exact',)


@test(collectors='any')
def threads_that_allocate_all_the_time(t):
    p = Program(t, 'Large', 'makers', 3)
    for how in _ways(t):
        does(t, 'start', '-e', 'alloc', '-o', t.work / 'sites', p.run.pid, 'cutoff=0,sites=' + how)
        p.tell('make 1000')
        does(t, 'stop', p.run.pid)
        rows = t.parse(t.work / 'sites', 1).table(SITES).rows
        t.check(sum(r.objects for r in rows if r.name == 'Large$Made') > 1000, 'objects of the threads: %s' % rows[:5])
        (t.work / 'sites').unlink()
    _samples_too(t, p)


@test(collectors='any', since=21, params=('', ',include=LargeVirtual'))
def virtual_threads_of_which_most_are_older_than_the_session(t, more):
    """Their carriers are older, too; with include= these call no probe of their own."""
    p = Program(t, 'LargeVirtual', 2000)
    t.equal(_counts(t, p, more).get('LargeVirtual.once'), 4000, 'calls')
    _samples_too(t, p)


@test(collectors='any', since=21)
def allocations_of_virtual_threads_on_carriers_that_are_older(t):
    p = Program(t, 'LargeVirtual', 200)
    for how in ('exact', 'counts'):
        p.tell('round')
        does(t, 'start', '-e', 'alloc', '-o', t.work / how, p.run.pid, 'cutoff=0,sites=%s,include=LargeVirtual' % how)
        p.tell('round')
        does(t, 'stop', p.run.pid)
        rows = t.parse(t.work / how, 1).table(SITES).rows
        t.equal(sum(r.objects for r in rows if r.name == 'LargeVirtual$Made'), 400, 'objects (%s)' % how)
    p.end(t)


def _held(pid):
    """What the process holds open that is no file, and how many timers."""
    held = []
    for d in pathlib.Path('/proc/%d/fd' % pid).iterdir():
        try:
            to = os.readlink(d)
        except OSError:
            continue
        held += [to.split('[')[0]] if not to.startswith('/') else []
    return sorted(held)


@test(collectors='any', timeout=600)
def sessions_under_load_leave_nothing(t):
    p = Program(t, 'Large', 'makers', 2)
    kinds = (('cpu',), ('times',), ('alloc', 'sites=' + _ways(t)[0]), ('lock',))
    before = None
    for i in range(200 if t.level == 'long' else 10):
        if i == len(kinds):
            before = _held(p.run.pid)
        file = t.work / 'x'
        what, *options = kinds[i % len(kinds)]
        does(t, 'start', '-e', what, '-o', file, p.run.pid, *options)
        p.tell('calls 1000')
        does(t, 'stop', p.run.pid)
        t.parse(file, 1)
        file.unlink()
        leaves_nothing(t, p.run.pid)
    t.equal(_held(p.run.pid), before, 'what the program holds open')
    t.equal(t.files(), [], 'files')
    t.check('session: none' in does(t, 'status', p.run.pid), 'a session')
    p.end(t)


def _jcmd(t, pid, options, agent=None):
    return subprocess.run([*t.jdk.tool('jcmd'), str(pid), 'JVMTI.agent_load', str(agent or library(t)), options], capture_output=True, text=True, timeout=max(1, t.deadline - time.monotonic())).stdout


def _many(t):
    return 1000 if t.jdk.version == 8 else 20000 if t.level == 'long' else 5000


@test(collectors='any', timeout=300, since=9)
def a_session_that_begins_is_not_ended_by_somebody_else(t):
    """jcmd calls the library on another thread than the socket does."""
    p = Program(t, 'Large', 'classes', _many(t))
    begins = subprocess.Popen([*command(t), 'start', '-e', 'times', '-o', str(t.work / 'x'), str(p.run.pid), 'cutoff=0'], stderr=subprocess.PIPE, text=True)
    while begins.poll() is None:
        _jcmd(t, p.run.pid, 'stop')
    t.equal(begins.returncode, 0, 'status of start: %s' % begins.communicate()[1])
    if 'session: running' in does(t, 'status', p.run.pid):
        does(t, 'stop', p.run.pid)
    t.parse(t.work / 'x', 1)
    t.equal(_counts(t, p).get('Large.once'), _many(t), 'calls in the next session')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(collectors='any', since=9)
def a_copy_that_comes_later_keeps_no_command_from_the_first_one(t):
    p, copy = Program(t), t.dir / 'libhprofx-2.so'
    _samples(t, p)
    shutil.copy(library(t), copy)
    t.check('return code: 107' in _jcmd(t, p.run.pid, 'control', copy), 'the copy is not refused')
    t.check(str(copy) in pathlib.Path('/proc/%d/maps' % p.run.pid).read_text(), 'the copy is not loaded')
    _samples(t, p)
    # The command asks the copy, too, if the kernel has mapped it so that it comes first.
    t.check(p.run.err.count('another copy of the library is loaded') in (1, 2), 'refusals')
    p.end(t)


def _threads(pid):
    names = []
    for f in pathlib.Path('/proc/%d/task' % pid).glob('*/comm'):
        with contextlib.suppress(OSError):  # it has ended
            names.append(f.read_text().strip())
    return names


@test(collectors='any', timeout=300)
def a_program_that_ends_while_a_session_begins(t):
    p = Program(t, 'Large', 'classes', _many(t))
    begins = subprocess.Popen([*command(t), 'start', '-e', 'times', '-o', str(t.work / 'x'), str(p.run.pid)], stderr=subprocess.PIPE, text=True)
    while begins.poll() is None and 'hprofx-begin' not in _threads(p.run.pid):
        t.within_time(p.run)
    t.equal(begins.poll(), None, 'status of start')
    p.run.signal(signal.SIGTERM)
    p.run.finish()
    begins.communicate(timeout=max(1, t.deadline - time.monotonic()))
    t.equal(p.run.code, 143, 'exit code: %s' % p.run.err)
    t.check('does not return' not in p.run.err, 'the exit has waited: %s' % p.run.err)
