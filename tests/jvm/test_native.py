# SPDX-License-Identifier: BSD-2-Clause
"""native=y: the C functions below Java, between two parts of Java, and alone."""
import contextlib
import errno
import os
import pathlib
import re
import subprocess

from attached import FAILED, Program, does, hprofx, leaves_nothing, library, refuses
from expect import distance, shares_of, truth
from faults import Control, Fault
from preload import preload
from runner import test
from waiting import until

OPTS = 'cpu=samples,native=y,interval=1,depth=32,cutoff=0'
NONE = 'hprofx: native=y: it needs sampler=async; stacks have Java frames only'
PARTS = ['libshares.so.shares_' + name for name in ('sixty', 'thirty', 'ten')]


def _profile(t, kind, cpu_ms, *more, opts=OPTS, **kw):
    if t.jdk.kind == 'zero':
        t.skip('the zero VM has no raw walks')
    return t.profile('NativeShares', kind, cpu_ms, *more, opts=opts, jvm=['-Djava.library.path=%s' % t.env.native_dir(t.jdk)], **kw)


def _broken(p):
    return float(p.report['C stacks broken off'].split('(')[1].split()[0])


def _libraries_are_known(t, p):
    known, tables = p.report['libraries'].split()[0].rstrip(','), p.report['libraries'].split()[1]
    t.check(int(known) > 5 and known == tables, 'libraries, and those with a table: %s' % p.report['libraries'])


@test(level='plain', needs=('hotspot',), measures=True)
def shares_of_C_functions(t):
    run, p = _profile(t, 'shares', 2000 if t.level == 'plain' else 6000)
    leaves = p.leaves()
    n = [leaves[m] for m in PARTS]
    t.check(sum(n) >= 1000, 'only %d samples in the three functions of %d' % (sum(n), p.total))
    got, want = shares_of(n), truth(run)
    t.check(distance(got, want) <= (0.08 if t.level == 'plain' else 0.04), 'shares %s, the truth %s' % (got, want))
    t.check(_broken(p) <= 1, 'stacks broken off: %s' % p.report['C stacks broken off'])
    _libraries_are_known(t, p)


@test(level='plain', needs=('hotspot',))
def a_chain_of_C_between_two_parts_of_Java_is_whole(t):
    _, p = _profile(t, 'shares', 500)
    through = [[f.method for f in trace.frames] for _, trace in p.stacks() if trace.frames[0].method == PARTS[0] and any(f.method.endswith('.back') for f in trace.frames)]
    t.check(through, 'no sample through Java and back')
    libshares, java = 'libshares.so.', 'NativeShares.'
    for stack in through:
        own = [m for m in stack if m.startswith((libshares, java))]
        t.equal(own, [PARTS[0], libshares + 'Java_NativeShares_work', java + 'work', java + 'back', libshares + 'shares_up',
                      libshares + 'Java_NativeShares_through', java + 'through', java + 'main'], 'the stack')
        between = stack[stack.index(java + 'back') + 1:stack.index(libshares + 'shares_up')]
        t.check(between and all(m.startswith('libjvm.so.') for m in between), 'between Java and C: %s' % between)


@test(level='plain', needs=('hotspot',))
def a_deep_recursion_of_C_is_cut_above_Java(t):
    _, p = _profile(t, 'deep', 500)
    deep = [trace for _, trace in p.stacks() if trace.frames[0].method == 'libshares.so.shares_deep']
    t.check(deep, 'no sample in the recursion')
    for trace in deep:
        methods = [f.method for f in trace.frames]
        n = methods.count('libshares.so.shares_deep')
        t.equal(methods[-2:], ['NativeShares.deep', 'NativeShares.main'], 'the outermost frames')
        t.check(n == 128 and methods[n] == 'hprofx.truncated' or n < 128 and methods[n] == 'libshares.so.Java_NativeShares_deep', 'frames of C: %d, then %s' % (n, methods[n]))


@test(level='plain', needs=('hotspot',))
def a_deep_recursion_of_C_between_two_parts_of_Java_truncates_no_stack(t):
    """A mark stands for what is missing of it, and all of Java is there."""
    _, p = _profile(t, 'deeper', 500)
    cut = 0
    for _, trace in p.stacks():
        methods = [f.method for f in trace.frames]
        if methods[0] == PARTS[0] and 'NativeShares.back' in methods:
            t.equal([m for m in methods if m.startswith('NativeShares.')], ['NativeShares.' + m for m in ('work', 'back', 'deeper', 'main')], 'the frames of Java')
            cut += 'hprofx.truncated' in methods
    t.check(cut, 'no recursion was too deep')
    t.equal([key for key in ('truncated, whole', 'truncated, frames_in_the_heap') if key in p.report], [], 'lines about truncated stacks')


@test(level='plain', needs=('hotspot',))
def code_on_a_stack_of_its_own(t):
    _, p = _profile(t, 'elsewhere', 500)
    there = [trace for _, trace in p.stacks() if trace.frames[0].method == 'libshares.so.shares_there']
    t.check(there, 'no sample on the other stack')
    for trace in there:
        t.equal([f.method for f in trace.frames][-2:], ['NativeShares.elsewhere', 'NativeShares.main'], 'the frames of Java')
    t.equal(p.report.get('faults'), None, 'faults')


@test(level='plain', needs=('hotspot',))
def without_it_a_stack_has_Java_alone(t):
    _, p = _profile(t, 'shares', 500, opts=OPTS.replace(',native=y', ''))
    t.equal([m for m in p.methods() if '.so.' in m], [], 'functions of C')
    t.check('libraries' not in p.report, 'a line of libraries')


@test(level='plain', needs=('hotspot',))
def code_of_no_library_has_its_callers(t):
    _, p = _profile(t, 'nowhere', 500)
    there = [[f.method for f in trace.frames] for _, trace in p.stacks() if trace.frames[0].method == '[unknown].[unknown]']
    t.check(there, 'no sample in the code')
    for stack in there:
        t.equal(stack, ['[unknown].[unknown]', 'libshares.so.Java_NativeShares_nowhere', 'NativeShares.nowhere', 'NativeShares.main'], 'the stack')


@test(level='plain', needs=('hotspot',))
def a_fault_of_the_walk_costs_what_is_behind_it(t):
    _, p = _profile(t, 'edge', 500)
    there = [[f.method for f in trace.frames] for _, trace in p.stacks() if trace.frames[0].method == '[unknown].[unknown]']
    t.check(there, 'no sample at the end of the stack')
    for stack in there:
        t.equal(stack, ['[unknown].[unknown]', 'libshares.so.Java_NativeShares_edge', 'hprofx.truncated', 'NativeShares.edge', 'NativeShares.main'], 'the stack')
    t.check(int(p.report['C stacks broken off, fault'].split()[0]) > 0, 'no fault')
    t.equal(p.report.get('faults'), None, 'faults of the raw walks')


@test(level='plain', needs=('hotspot',))
def a_library_that_comes_and_goes(t):
    """Two threads load and unload it all the time: no frame is out of place. Callers may be missing above a place that the handler does not know yet."""
    path = t.env.native_dir(t.jdk) / 'libpassing.so'
    run, p = _profile(t, 'passing', 1000 if t.level == 'plain' else 4000, path)
    chain, n = ['libpassing.so.passing_inner', 'libpassing.so.passing_run', 'libshares.so.Java_NativeShares_passing', 'NativeShares.passing'], 0
    for _, trace in p.stacks():
        methods = [f.method for f in trace.frames]
        own = [m for m in methods if m in chain]
        t.equal(own, [m for m in chain if m in own], 'frames of the call: %s' % methods)
        if methods[0] == chain[0]:
            n += own == chain
            t.equal(own[-1], chain[-1], 'the method of Java in %s' % methods)
    t.check(n, 'no whole sample in the library')


@test(level='plain', params=('walk', 'asgct'))
def other_engines_have_none(t, engine):
    run, p = t.profile('HotSplit', 30, opts=OPTS + ',sampler=' + engine)
    t.equal([m for m in p.methods() if '.so.' in m], [], 'functions of C')
    t.equal(run.err.splitlines().count(NONE), 1, 'lines that say so: %s' % run.err)


@test(level='plain')
def a_vm_without_raw_walks_has_none(t):
    if t.jdk.kind != 'zero' and t.jdk.has('hotspot'):
        t.skip('this VM has raw walks')
    run, p = t.profile('HotSplit', 30, opts=OPTS)
    t.equal([m for m in p.methods() if '.so.' in m], [], 'functions of C')
    t.equal(run.err.splitlines().count(NONE), 1, 'lines that say so: %s' % run.err)


def _threads(p):
    names = []
    for f in pathlib.Path('/proc/%d/task' % p.run.pid).glob('*/comm'):
        with contextlib.suppress(OSError):  # it has ended
            names.append(f.read_text())
    return names


@test(level='plain', collectors='any', needs=('hotspot',))
def a_session_that_cannot_begin_leaves_nothing_of_it(t):
    """An output that cannot be made, three times."""
    if t.jdk.version < 9 or t.jdk.kind == 'zero':
        t.skip('no jcmd JVMTI.agent_load, or no raw walks')
    p = Program(t)
    for _ in range(3):
        said = subprocess.run([t.jdk.home / 'bin' / 'jcmd', str(p.run.pid), 'JVMTI.agent_load', library(t), '"cpu=samples,native=y,file=/no/such/x"'], capture_output=True, text=True)
        t.check('return code: 0' not in said.stdout, 'the session has begun: %s' % said.stdout)
        t.check('hprofx-native\n' not in _threads(p), 'the thread is there')
    _samples_of_a_command(t, p)


@test(level='plain', collectors='any', needs=('hotspot',))
def a_session_without_its_threads_leaves_nothing_of_it(t):
    if t.jdk.kind == 'zero':
        t.skip('the zero VM has no raw walks')
    failed = []
    for k in range(1, 5):
        env = preload(t, 'faults', HPX_FAULTS_FILE=str(t.dir / ('faults%d' % k)), HPX_FAULTS='pthread_create:%d:%d' % (k, errno.EPERM))
        p = Program(t, opts='cpu=samples,native=y,file=%s' % (t.work / ('own%d' % k)), env=env)
        failed += re.findall(r'cannot start (?:the|thread) ([a-z-]+)', p.run.err)
        if 'native=y: cannot start' in p.run.err:
            p.end(t)
            continue
        t.check('session: none' in does(t, 'status', p.run.pid), 'the status after %s' % p.run.err)
        until(p.run, lambda: 'hprofx-native\n' not in _threads(p))
        _samples_of_a_command(t, p)
    t.equal(failed, ['hprofx-native', 'hprofx-out', 'hprofx-service', 'aggregator'], 'threads that could not be started')


@test(level='plain', collectors='any', needs=('hotspot',), params=('begin', 'end'), plain_params=('begin',))
def a_program_that_holds_the_loader_holds_no_command(t, when):
    """Its thread does not come back from the constructor of a library: who lists what is loaded waits for it, as hprofx-native does."""
    if t.jdk.kind == 'zero':
        t.skip('the zero VM has no raw walks')
    folder, x = t.dir / 'holds', t.work / 'x'
    folder.mkdir()
    for fifo in ('held', 'released'):
        os.mkfifo(folder / fifo)
    control = Control(t)
    p = Program(t, 'NativeHolds', opts='start=n', jvm=['-Djava.library.path=%s' % t.env.native_dir(t.jdk)], env={'HOLDS': str(folder), **control.environment(t, '-')})
    start = ('start', '-o', x, p.run.pid, 'native=y,interval=1')

    def others():
        does(t, 'threads', p.run.pid)
        does(t, 'start', '-o', t.work / 'y', p.run.pid, 'heap=all,wall=20')
        does(t, 'stop', p.run.pid)

    others()
    does(t, *start)  # what is found out about the VM once needs the loader
    does(t, 'stop', p.run.pid)
    p.tell('round')
    (folder / 'held').read_bytes()
    for k in range(1, 4 if when == 'begin' else 1):
        control.arm(Fault('pthread_create', 'EAGAIN', k))
        refuses(t, FAILED, 'cannot start thread', *start)
        control.disarm()
    others()
    if when == 'end':
        does(t, *start)
        stop = hprofx(t, 'stop', p.run.pid)  # it may print what is written already
        t.check(stop.returncode == FAILED and 'the session has not ended: a thread is still in the profiler' in stop.stderr, 'stop: %s' % stop)
    (folder / 'released').write_bytes(b'')
    p.tell('round')
    does(t, 'stop' if when == 'end' else 'status', p.run.pid)
    p.end(t)


def _samples_of_a_command(t, p):
    does(t, 'start', '-o', t.work / 'x', p.run.pid, 'native=y,interval=1')
    p.tell('calls 1000000')
    does(t, 'stop', p.run.pid)
    t.check(t.parse(t.work / 'x', 1).report['libraries'], 'no libraries')
    (t.work / 'x').unlink()
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', needs=('hotspot',))
def binary_files_have_them(t):
    if t.jdk.kind == 'zero':
        t.skip('the zero VM has no raw walks')
    run = t.java('NativeShares', 'shares', 500, opts=OPTS + ',format=b,file=x.hprof', jvm=['-Djava.library.path=%s' % t.env.native_dir(t.jdk)])
    t.complete(run)
    t.check(b'shares_sixty' in (t.work / 'x.hprof').read_bytes(), 'no name of C in the file')
