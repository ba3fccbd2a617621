# SPDX-License-Identifier: BSD-2-Clause
"""Sessions that begin and end in a running JVM, one after the other, with other options each."""
import collections
import dataclasses
import errno
import os
import pathlib
import re
import shutil

import balance
from attached import Program, leaves_nothing
from faults import Control, Fault
from hprof_text import CALLS, SAMPLES, SITES, TIMES, WAIT_TIME
from peer import EXIT, Peer, command
from preload import preload
from runner import test

OPTIONS = ['cpu=samples,interval=1', 'cpu=times,cutoff=0', 'heap=sites,sites=exact,cutoff=0', 'monitor=y,waits=y', 'heap=dump,format=b', 'cpu=samples,sampler=walk,interval=1',
           'cpu=samples,cpu=times,heap=sites,monitor=y,cutoff=0', 'heap=sites,sites=counts,cutoff=0', 'cpu=times,times=sampled,cutoff=0,vmstructs=n', 'heap=all,monitor=y',
           'cpu=samples,sampler=poll,interval=1', 'cpu=times,times=counts,cutoff=0']
# Code that was compiled before the session has its inlined methods counted for their callers.
SEPARATE = ['-Xms64m', '-Xmx64m', '-XX:+AlwaysPreTouch', '-XX:CompileCommand=quiet', '-XX:CompileCommand=dontinline,Sessions.burn*', '-XX:CompileCommand=dontinline,Sessions.cpu']


def _library(t, name='libsessions.so'):
    found = next((f / 'tests' / 'sessions' / name for f in t.env.agent.resolve().parents if (f / 'tests' / 'sessions' / name).is_file()), None)
    if found is None:
        t.skip('this build has no tests/sessions')
    return found


def _counts(p, name):
    return p.table(name).counts()


def _true(t, i, options, calls, made, waits, split):
    path = t.work / ('%d.hprof' % i)
    if 'format=b' in options:
        p = t.binary(path)
        t.equal(len(p.heaps), 1, 'heap dumps of session %d' % i)
        return
    p = t.parse(path, None)
    kept = re.fullmatch(r'(\d+) bytes, for (\d+) states of threads', p.report['kept by the process'])
    t.check(kept and int(kept[1]) < 1 << 20, 'what session %d says is kept: %s' % (i, p.report['kept by the process']))
    if t.jdk.has('hotspot') and t.jdk.kind != 'zero':
        t.equal(p.report.get('thread ids'), 'by name, vmstructs=n' if 'vmstructs=n' in options else None, 'what session %d says of thread ids' % i)
    if 'cpu=samples' in options and 'sampler' not in options:  # the other engines take a stack later than its signal
        seen = _counts(p, SAMPLES)
        split.update({name: seen.get('Sessions.' + name, 0) for name in ('burnMore', 'burnLess')})
    if 'cpu=times' in options:
        seen = _counts(p, CALLS if 'times=counts' in options else TIMES)
        t.equal((seen.get('Sessions.leaf'), seen.get('Sessions.calls')), (calls, 1), 'calls of leaf and calls in session %d (%s)' % (i, options))
    if 'sites=exact' in options or 'sites=counts' in options:
        rows = [r for r in p.table(SITES).rows if r.name == 'Sessions$Made']
        t.equal(sum(r.objects for r in rows), made, 'objects made in session %d (%s)' % (i, options))
    if 'waits=y' in options:
        rows = [r for r in p.table(WAIT_TIME).rows if any(f.method == 'Sessions.waits' for f in p.traces[r.trace].frames)]
        t.equal(sum(r.count for r in rows), waits, 'waits of session %d' % i)


def _run(t, n, library='libsessions.so', env=None, jvm=()):
    options = [o for o in OPTIONS if not ('sites=' in o and t.jdk.version < 11 and 'counts' in o)]
    run = t.java('Sessions', _library(t, library), n, *[o + ',verbose=n' for o in options], opts=None, jvm=[*SEPARATE, *jvm], env=env)
    t.equal(run.code, 0, 'exit code: %s %s' % (run.out[-300:], run.err[-300:]))
    sessions = re.findall(r'^session (\d+) calls (\d+) made (\d+) waits (\d+)$', run.out, re.M)
    t.equal(len(sessions), n, 'sessions')
    split = collections.Counter()
    for s in sessions:
        i, calls, made, waits = map(int, s)
        _true(t, i, options[i % len(options)], calls, made, waits, split)
    # three times as much CPU time
    t.check(1.8 <= split['burnMore'] / max(1, split['burnLess']) <= 5, 'samples of the two parts: %s' % dict(split))
    between = [dict(zip(b.split()[2::2], map(int, b.split()[3::2]))) for b in re.findall(r'^between .*$', run.out, re.M)]
    t.equal([b['awake'] for b in between], [0] * ((n + 9) // 10), 'threads and timers of the agent between sessions')
    return run, between


@test(level='plain', collectors='any')
def each_tells_the_truth(t):
    _run(t, len(OPTIONS))


@test(level='plain', collectors='any')
def one_that_is_refused_leaves_room_for_the_next(t):
    run = t.java('SessionsRefused', _library(t), opts=None)
    t.equal(run.code, 0, 'exit code')
    errors = re.findall(r'^error (-\d+)', run.out, re.M)
    t.equal(errors, ['-2', '-3', '-7', '-7'] * 3, 'codes of the errors')
    told = [line for line in run.out.splitlines() if not line.startswith('error')]
    each = ['wrong option false', 'wrong file false', 'none to end false', 'begins true', 'second one false', 'ends true']
    t.equal(told, each * 3 + ['begins true'], 'answers')
    for name in ('0.txt', '1.txt', '2.txt', 'last.txt'):  # the last one is written when the JVM ends
        t.output(name)
    t.check('Dumping CPU usage by sampling running threads ... done.' in run.err, 'the last one says nothing')


@test(level='plain', collectors='any', params=('calls', 'objects'))
def a_native_thread_that_comes_again_is_counted(t, what):
    """In the same session, and after one between which and the next it has attached again."""
    options = {'calls': 'cpu=samples,interval=1,cpu=times', 'objects': 'heap=sites,sites=exact'}[what]
    run = t.java('SessionsOutside', _library(t), 3, options + ',cutoff=0,verbose=n', opts=None)
    t.equal((run.code, run.out), (0, 'done\n'), 'exit code, stdout')
    for i in range(3):
        for name, times in (('twice', 2), ('once', 1)):
            p = t.parse(t.work / ('%s%d' % (name, i)), None)
            if what == 'calls':
                t.equal(_counts(p, TIMES).get('SessionsOutside.leaf'), 1000 * times, 'calls in %s%d' % (name, i))
            else:
                t.equal(sum(r.objects for r in p.table(SITES).rows if r.name == 'SessionsOutside$Made'), 100 * times, 'objects in %s%d' % (name, i))


@test(level='plain', collectors='any', params=('exact', 'counts'))
def what_no_instruction_makes_is_counted(t, sites):
    n = 3000
    run = t.java('SessionsCopies', _library(t), 'heap=sites,sites=%s,depth=8,cutoff=0,verbose=n' % sites, n, opts=None)
    t.equal((run.code, run.out), (0, 'done\n'), 'exit code, stdout')
    want = {'Copied': n + 1, 'Own': n + 1, 'Same': 1, 'None': 1, 'Kept[]': n + 1, 'Never[]': n + 1, 'Reflected': n, 'Element[]': 3 * n, 'Element[][]': n, 'Listed[]': n + 1}
    for i in range(2):
        made = collections.Counter()
        for r in t.parse(t.work / str(i), None).table(SITES).rows:
            made[r.name] += r.objects
        t.equal({name: made['SessionsCopies$' + name] for name in want}, want, 'objects in session %d' % i)
        seen = 'not counted by probes' if sites == 'counts' or t.jdk.version < 11 else 'not seen'
        t.check(seen in t.parse(t.work / str(i), None).report, 'what is not seen')


@test(level='plain', collectors='any', since=11)
def code_of_an_earlier_one_counts_in_the_next(t):
    run = t.java('SessionsOld', _library(t), 'heap=sites,sites=counts,live=n,cutoff=0,verbose=n', opts=None)
    t.equal((run.code, run.out), (0, 'done\n'), 'exit code, stdout')
    for name in ('first', 'next'):
        objects = sum(r.objects for r in t.parse(t.work / name, None).table(SITES).rows if r.name == 'SessionsOld$Old')
        t.check(objects >= 1000, '%d objects of the %s' % (objects, name))


@test(since=17)
def they_leave_no_constants_in_the_classes(t):
    """Except in classes with a NaN, which HotSpot never finds again. JDK 17 adds two to the program's own class, why is not known."""
    options = 'heap=sites,sites=counts,cutoff=0,verbose=n', 'cpu=times,cutoff=0,verbose=n'
    run = t.java('Sessions', _library(t), 6, *options, opts=None,
                 jvm=[*SEPARATE, '-Xlog:redefine+class+constantpool=debug,redefine+class+load=info:file=%s:none' % (t.work / 'log')])
    t.equal(run.code, 0, 'exit code')
    merged, constants = collections.deque(), collections.defaultdict(list)  # the VM merges a batch and then names its classes
    for line in (t.work / 'log').read_text().splitlines():
        if m := re.match(r'merge_cp_len=(\d+), ', line):
            merged.append(int(m[1]))
        elif m := re.match(r'redefined name=(\S+), ', line):
            constants[m[1]].append(merged.popleft())
    always = {name: seen for name, seen in constants.items() if len(seen) == 12}  # each begin and end
    t.check(len(always) > 500, 'classes: %d' % len(always))
    grown = [name for name, seen in always.items() if seen[-1] > seen[6] and name.startswith('java.')]
    t.check(set(grown) <= {'java.lang.Math', 'java.lang.Float', 'java.lang.Double'}, 'classes with more constants after 6 sessions than after 3: %s' % grown[:9])


@test(collectors='any')
def one_whose_threads_cannot_be_started_leaves_room_for_the_next(t):
    name, failed = t.dir / 'libhprofx.so', []  # by which native/faults.c knows the agent
    shutil.copyfile(_library(t), name)
    for k in range(1, 8):  # some threads before these are not needed
        env = preload(t, 'faults', HPX_FAULTS_FILE=str(t.dir / ('faults%d' % k)), HPX_FAULTS='pthread_create:%d:%d' % (k, errno.EPERM))
        run = t.java('SessionsStarts', name, 'cpu=times,cutoff=0,verbose=n,force=y', opts=None, env=env)
        failed += re.findall(r'cannot start (?:the|thread) (\S+)', run.err)
        begun = 'false false' if 'cannot start' in run.err else 'true true'
        told = re.findall(r'^session .*$', run.out, re.M)
        t.equal((run.code, told), (0, ['session 0 ' + begun, 'session 1 true true', 'session 2 true true']), 'exit code, sessions (%s)' % run.err)
        for i in (1, 2):
            t.equal(_counts(t.parse(t.work / str(i), None), TIMES).get('SessionsStarts.leaf'), 1000, 'calls in session %d' % i)
    t.equal(failed, ['hprofx-out:', 'hprofx-service:', 'aggregator'], 'threads that could not be started')


@test(level='plain', collectors='any')
def the_heap_at_its_end_stops_no_longer_than_maxpause(t):
    run = t.java('Sessions', _library(t), 1, 'heap=dump,format=b,heapdump=walk,maxpause=1ms', opts=None, jvm=SEPARATE)
    t.equal(run.code, 0, 'exit code')
    t.check('maxpause=1ms allows less' in run.err, 'nothing said: %s' % run.err)
    t.equal(len(t.binary(t.work / '0.hprof').heaps), 0, 'heap dumps')


@test(level='plain', collectors='any')
def each_has_a_peer_of_its_own(t):
    peer = Peer(t)
    run = t.java('Sessions', _library(t), 3, 'cpu=times,cutoff=0,net=127.0.0.1:%d' % peer.port, opts=None, jvm=SEPARATE)
    t.equal(run.code, 0, 'exit code: %s' % run.err)
    peer.wait_end()
    calls = [int(n) for n in re.findall(r'^session \d+ calls (\d+)', run.out, re.M)]
    t.equal(len(peer.streams), 3, 'connections')
    for n, stream in zip(calls, peer.streams):
        (t.work / 'stream').write_bytes(stream)
        t.equal(_counts(t.parse(t.work / 'stream', None), TIMES).get('Sessions.leaf'), n, 'calls')
    t.equal(re.findall(r'^between .* awake (\d+) ', run.out, re.M), ['0'], 'threads of the agent')


@test(level='plain', collectors='any')
def a_fork_while_one_with_a_peer_ends_closes_nothing_of_the_program(t):
    """The child closes the socket of the agent, whose memory is being freed."""
    peer = Peer(t)
    run = t.java('Sessions', _library(t), 1, 'cpu=times,cutoff=0,net=127.0.0.1:%d' % peer.port, opts=None, jvm=SEPARATE, env=preload(t, 'forkatend'))
    t.equal(run.code, 0, 'exit code: %s' % run.err)
    peer.wait_end()
    t.check(run.err.count('forked\n') >= 2, 'it was not forked: %s' % run.err)
    t.equal(run.err.count('closed\n'), 0, 'children that have lost their descriptor 0')


def _held(t, what, options):
    """What the program says: (what it did, whether that succeeded). The last two are of a session that follows."""
    run = t.java('SessionsHeld', _library(t, 'libsessions-held.so'), what, options + ',cutoff=0,verbose=n', opts=None)
    t.equal(run.code, 0, 'exit code (%s)' % run.err)
    told = [tuple(line.split()) for line in run.out.splitlines() if not line.startswith('error')]
    t.equal(told[-2:], [('begins', 'true'), ('ends', 'true')], 'the session that follows')
    if 'format=b' not in options:
        t.parse(t.work / 'last', None)
    return run, told[:-2]


@test(collectors='any')
def one_with_a_suspended_thread_in_it_ends_when_that_goes_on(t):
    run, told = _held(t, 'suspended', 'heap=sites,sites=exact')
    t.equal([f for f in told if f[0] != 'begins'], [('suspended', 'true'), ('ends', 'false'), ('resumed', 'true'), ('ends', 'true')], 'what was done')
    t.equal([f for f in told if f[0] == 'begins'], [('begins', 'true'), ('begins', 'false')], 'beginnings')
    t.check('a callback of the profiler does not return; the session has not ended' in run.err, 'stderr: %s' % run.err)
    t.check(any(r.name == 'SessionsHeld$Made' for r in t.parse(t.work / '0', None).table(SITES).rows), 'its profile lacks what was counted')


@test(collectors='any')
def one_that_stalled_ends_with_the_program(t):
    run = t.java('SessionsHeld', _library(t, 'libsessions-held.so'), 'stalled', 'heap=sites,sites=exact,cutoff=0,verbose=n', opts=None)
    told = [line for line in run.out.splitlines() if not line.startswith('error')]
    t.equal((run.code, told), (0, ['begins true', 'ends false']), 'exit code, what was done (%s)' % run.err)
    t.check('the session has not ended' in run.err and 'the program ends' not in run.err, 'stderr: %s' % run.err)
    t.check(any(r.name == 'SessionsHeld$Made' for r in t.parse(t.work / '0', None).table(SITES).rows), 'its profile lacks what was counted')


@test(collectors='any')
def one_whose_sampling_thread_is_still_in_the_vm_does_not_end(t):
    """The VM's environment of the session is disposed of with it, and that thread uses it."""
    _, told = _held(t, 'sampler', 'cpu=samples,sampler=walk,interval=1')
    t.equal(told, [('begins', 'true'), ('ends', 'false'), ('ends', 'true')], 'what was done')


@test(level='plain', collectors='any', needs=('hotspot',))
def a_thread_that_is_in_its_handler_at_its_end_keeps_what_it_reads(t):
    """The table that all threads share is not unmapped while one may read it."""
    if t.jdk.kind == 'zero':
        t.skip('the zero VM has no anchors, so its stacks are not looked up in the table')
    _, told = _held(t, 'table', 'cpu=samples,sampler=async,interval=1')
    t.equal(told, [('begins', 'true'), ('ends', 'true'), ('goesOn', 'true')], 'what was done')


@test(level='plain', collectors='any')
def a_thread_that_is_in_a_probe_at_its_end_does_not_miss_it(t):
    """The probe asks the VM for the number of frames, when the session has ended."""
    _, told = _held(t, 'stackEnd', 'cpu=times')
    t.equal(told, [('begins', 'true'), ('ends', 'true'), ('overflows', 'true')], 'what was done')


@test(level='plain', collectors='any', params=('probeOfCalls', 'probeOfCounts'))
def a_thread_that_is_in_a_probe_at_its_end_counts_in_the_next(t, what):
    if what == 'probeOfCounts' and t.jdk.version < 11:
        t.skip('sites=counts is tested from JDK 11 on')
    _, told = _held(t, what, 'cpu=times' if what == 'probeOfCalls' else 'heap=sites,sites=counts,live=n')
    t.equal(told, [('begins', 'true'), ('ends', 'true')] * 2, 'what was done')
    p = t.parse(t.work / '1', None)
    if what == 'probeOfCalls':
        t.equal(_counts(p, TIMES).get('SessionsHeld.leaf'), 1000, 'calls')
    else:
        t.equal(sum(r.objects for r in p.table(SITES).rows if r.name == 'SessionsHeld$Made'), 1000, 'objects')


@test(level='plain', collectors='any', params=('start', 'end'))
def a_thread_that_the_vm_tells_the_one_before_of_is_the_next_ones_once(t, what):
    """ThreadStart or ThreadEnd of an environment that is disposed of comes to the gate when the next session has opened it."""
    _, told = _held(t, what, 'cpu=samples,interval=1')
    t.equal(told, [('begins', 'true'), ('ends', 'true')] * 2, 'what was done')
    threads = t.parse(t.work / '1', None).threads.values()
    work = [h.ended for h in threads if h.name == 'work']  # a VM may list one that ends
    t.check(work == [True] or what == 'end' and work == [], 'the thread is there, and has ended: %s' % work)
    t.check(all(h.name for h in threads), 'a thread without a name')


@test(level='plain', collectors='any')
def a_class_that_loads_while_one_begins_is_counted(t):
    _, told = _held(t, 'classes', 'cpu=times')
    t.equal(told, [('begins', 'true'), ('ends', 'true')], 'what was done')
    t.equal(_counts(t.parse(t.work / '0', None), TIMES).get('SessionsHeld$Late.leaf'), 1000, 'calls')


@test(level='plain', collectors='any', until=17)
def a_program_that_refuses_to_end_may_outlive_the_session_that_asked(t):
    peer = Peer(t)
    run = t.start('SessionsVeto', _library(t), 'cpu=times,verbose=n,allow-exit=y,net=127.0.0.1:%d' % peer.port, opts=None)
    peer.wait_streams(1)
    peer.send(command(EXIT))
    run.finish()
    t.equal((run.code, run.out), (0, 'session true true\nsession true true\n'), 'exit code, stdout (%s)' % run.err)
    t.check('received exit event' in run.err and 'the program continues' not in run.err, 'stderr: %s' % run.err)
    t.output('last')


# What may grow while the program does: (kind, end of FUNCTION@FILE of the innermost call) -> blocks.
GROWS = {
    ('heap', 'find_or_make@class_numbers.c'): 1000,  # once for a class: those that were loaded in the first sessions
    ('jvmti', 'hand_over@classes.c'): 1 << 20,  # class files, which the VM frees
    ('heap', 'make@tally.c'): 40, ('mapping', 'reserve@tally.c'): 41,  # counters for as many threads as ever counted at once, and what leads there
}


@test(timeout=240)
def what_they_allocate_they_give_back(t):
    _run(t, 23, 'libsessions-counted.so', {'HPX_BALANCE': str(t.work / 'b')})
    b = balance.Balance(next(t.work.glob('b.[0-9]*')), _library(t, 'libsessions-counted.so'))
    t.equal((b.complete, b.notes), (True, dict.fromkeys(b.notes, 0)), 'complete, what should not be')
    grown = collections.Counter()
    for stage, sign in (('before', -1), ('after', 1)):
        for g in b.groups[stage]:
            owner = next((k for k in GROWS if k[0] == g.kind and g.calls and g.calls[0].endswith(k[1])), (g.kind,) + g.calls)
            grown[owner] += sign * g.blocks
    t.check(b.groups['after'], 'nothing was counted')
    t.equal({k: n for k, n in grown.items() if n > GROWS.get(k, 0)}, {}, 'blocks more after 22 sessions than after 11')


@test(level='long', timeout=3600)
def two_hundred_leave_nothing_behind(t):
    _, between = _run(t, 200, env={'MALLOC_ARENA_MAX': '1'}, jvm=['-XX:NativeMemoryTracking=summary'])  # each arena has reserves of its own
    t.check(all(b['classes'] <= between[1]['classes'] + 40 for b in between), 'classes: %s' % [b['classes'] for b in between])
    t.check(all(b['descriptors'] <= between[0]['descriptors'] + 2 for b in between), 'descriptors: %s' % [b['descriptors'] for b in between])
    t.check(all(b['threads'] <= between[0]['threads'] + 8 for b in between), 'threads: %s' % [b['threads'] for b in between])
    t.check(all(b['kept'] <= between[1]['kept'] + 40 for b in between), 'states that are kept: %s' % [b['kept'] for b in between])
    # The heap has its size from the start. The VM keeps some 300 bytes for each class that is rewritten, some 1900 in a session.
    t.check(between[0]['vm'] > 0, "no account of the VM's memory")
    resident = [b['rss'] - b['vm'] for b in between]
    t.check(max(resident) <= resident[0] + 20000 and resident[-1] <= resident[9] + 4000, "resident memory that is not the VM's, kB: %s" % resident)


MANY = ['cpu=samples,interval=1', 'cpu=times,cutoff=0,include=SessionsMany', 'monitor=y,waits=y', 'wall=10', 'cpu=samples,monitor=y,thread=y,interval=1']
FAILING = [('pthread_create', 'EAGAIN'), ('memory', 'ENOMEM'), ('timer_create', 'EAGAIN'), ('open', 'EMFILE'), ('write', 'ENOSPC'), ('process_vm_readv', 'EPERM'), ('fopen', 'EMFILE')]


def _steady(t):
    """For a JVM whose heap has its size from the start, and which purges code soon: it keeps the old versions of a class as long as code of them, and each stop
    for probes takes longer the more there are (docs/attach.md)."""
    purges = ['-XX:SweeperThreshold=0.02'] if t.jdk.version >= 16 else ['-XX:StartAggressiveSweepingAt=100'] if t.jdk.version >= 9 else []
    return ['-Xms64m', '-Xmx64m', '-XX:+AlwaysPreTouch', *purges]


@dataclasses.dataclass(frozen=True)
class Figures:
    """Of a process."""
    cpu: float
    rss: int
    descriptors: int
    threads: int

    @staticmethod
    def of(pid):
        p = pathlib.Path('/proc/%d' % pid)
        status, ticks = (p / 'status').read_text(), (p / 'stat').read_text().rsplit(')', 1)[1].split()
        threads, rss = (int(re.search(r'^%s:\s+(\d+)' % name, status, re.M)[1]) for name in ('Threads', 'VmRSS'))
        return Figures(sum(map(int, ticks[11:13])) / os.sysconf('SC_CLK_TCK'), rss, len(list((p / 'fd').iterdir())), threads)


@test(collectors='any', timeout=3600)
def many_under_threads_that_start_and_end_failing_calls_and_the_end_of_the_jvm(t):
    """In each round of 50 another call of the agent fails once, early or late; the session after that begins and ends."""
    rounds = 200 if t.level == 'long' else 7
    library, control = t.dir / 'libhprofx.so', Control(t)  # the name by which native/faults.c knows the agent
    shutil.copyfile(_library(t), library)
    p = Program(t, 'SessionsMany', library, *[o + ',verbose=n,force=y,file=x' for o in MANY], env=control.environment(t, '-'), jvm=_steady(t))
    seen = []
    for i in range(rounds):
        kind, how = FAILING[i % len(FAILING)]
        control.arm(Fault(kind, how, 1 + i * i % 97))
        p.tell('50')
        control.disarm()
        p.tell('1')
        leaves_nothing(t, p.run.process.pid)
        seen.append(Figures.of(p.run.process.pid))
    (t.dir / 'figures').write_text(''.join('%s\n' % f for f in seen))
    told = [tuple(map(int, s)) for s in re.findall(r'^sessions (\d+) (\d+)$', p.run.out, re.M)]
    t.check(all(b >= 49 and e >= 49 for b, e in told[::2]), 'sessions begun and ended in each round: %s; %s' % (told[::2], re.findall('^error.*', p.run.out, re.M)))
    t.equal(told[1::2], [(1, 1)] * rounds, 'sessions behind each round (%s)' % re.findall('^error.*', p.run.out, re.M))
    for name, more in (('descriptors', 3), ('threads', 40), ('rss', 48 << 10)):  # some threads are the VM's compilers; each thread may take another arena of malloc
        of = [getattr(f, name) for f in seen]
        t.check(min(of[-3:]) <= max(of[:3]) + more, '%s after each round: %s' % (name, of))  # threads that have ended may still be there
    p.run.process.stdin.close()
    p.run.finish()
    t.check(p.run.code == 0 and '\nend\n' in p.run.out, 'exit code: %s %s' % (p.run.code, p.run.err[-2000:]))
    t.check(int(re.search(r'^kept (\d+)$', p.run.out, re.M)[1]) < 200, 'states that are kept')
