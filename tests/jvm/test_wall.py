# SPDX-License-Identifier: BSD-2-Clause
"""wall=: where the time of threads goes. What programs know of their own time, compared with WALL CLOCK."""
import math
import os
import re
import time

from attached import Program, does
from preload import preload
from text_lines import sum_by
from runner import test

OPTS = 'thread=y,depth=16,cutoff=0'


def _per_look(p):
    """ms for which a look stands: at a thread that ran, and at another."""
    return [float(ms) for ms in re.findall(r'(\S+) ms of', p.report['wall clock, time per look'])]


def _naps(p):
    """ms asleep by cycle: how often nap() is on the stack."""
    return sum_by((sum(f.method == 'Naps.nap' for f in p.traces[r.trace].frames), r.count) for r in p.wall.rows if r.state == 'sleeping')


@test(level='long', measures=True, params=(('apart', 200, 12000, 100, 3), ('step', 60, 11000, 50, 4)), timeout=180)
def short_waits_after_idling(t, how):
    """A thread that has been idle for more than ten seconds is looked at seldom; what it does then counts in full. Threads that do it at one moment are found
    independently: each cycle has its time."""
    order, threads, idle, nap, cycles = how
    run, p = t.profile('Naps', threads, idle, nap, cycles, order, opts='wall=20,depth=16,cutoff=0')
    asleep, got = {int(k): int(ms) for k, ms in re.findall(r'^napped (\d+) (\d+)$', run.out, re.M)}, _naps(p)
    t.equal(len(asleep), cycles, 'cycles that the program tells')
    period, n = max(_per_look(p)), threads
    quiet = [k for k in asleep if asleep[k] < 1.2 * n * nap]  # else the threads got no CPU when they woke, nor did the looks come in time
    if not quiet:
        t.skip('a busy machine: %s ms asleep, %d of them wanted' % (asleep, n * nap))
    for cycles in [[k] for k in quiet] + [quiet]:
        least, found, most = len(cycles) * n * nap, sum(got[k] for k in cycles), sum(asleep[k] for k in cycles)
        off = 5 * period * math.sqrt(len(cycles) * n / 3)  # two changes each, which decide a period, and the look is uniform in it; five standard deviations
        # from its end on the program counts to the nap, until the thread has a CPU, what is runnable
        t.check(least - off <= found <= most + off, 'cycles %s: asleep %d ms, truth %d to %d, +- %.1f %%, a look per %.3g ms' % (cycles, found, least, most, 100 * off / least, period))


def _told_for(run, name):
    return {of: int(ms) for who, of, ms in re.findall(r'^spent (\S+) (\S+) (\d+)$', run.out, re.M) if who == name}


def _by_class(p, name):
    """ms by class of what the thread waits for, in the state that is its name."""
    return sum_by((r.klass, r.count) for r in p.wall.rows if p.traces[r.trace].thread == p.serial(name) and r.state == name)


def _is_told(t, p, state):
    """Whether of every wait in this state it is known what it is for."""
    return state != 'waiting' or t.jdk.version < 22 or 'wall clock, monitors not told' not in p.report


def _stacks_are_read_without_the_vm(t, p, off):
    """All of them are compared with GetStackTrace."""
    taken, walked = (int(x) for x in re.search(r'(\d+) stacks taken, (\d+) of them without the VM', p.report['wall clock, looks']).groups())
    if off:
        t.equal((walked, p.report['stacks of events not walked']), (0, off[1:]), 'the report')
        return
    compared, different = (int(x) for x in re.findall(r'\d+', p.report['stacks of events compared'])[:2])
    t.check(walked > taken / 2 and compared > taken / 2, '%d of %d stacks without the VM, %d compared' % (walked, taken, compared))
    t.equal(different, 0, 'stacks that are not those of GetStackTrace')


@test(level='plain', params=('', ',vmstructs=n'))
def rows_name_the_class_of_what_threads_wait_for(t, off):
    if off and t.jdk.version < 16:
        t.skip('every stack stops all threads, so there are few looks')
    run, p = t.profile('WallClasses', 1200, opts='wall=5,%s%s' % (OPTS, off), env={'HPROFX_VERIFY': '1'})
    for name in ('blocked', 'waiting', 'parked'):
        truth, got = set(_told_for(run, name)), set(_by_class(p, name))
        t.equal(len(truth), 2, 'classes that the program tells of %s' % name)
        if _is_told(t, p, name):
            t.equal(got, truth, 'classes for which %s waits' % name)
        else:
            t.check(got == {''} or len(got) == 1 and got <= truth, '%s: classes %s of %s' % (name, got, truth))
    unread = p.report.get('wall clock, monitors not told', '')
    t.check(not off or t.jdk.version < 22 or unread == 'vmstructs=n', 'the report: why not read: %s' % unread)
    if t.jdk.has('hotspot') and t.jdk.has('jit'):
        _stacks_are_read_without_the_vm(t, p, off)


@test(level='plain')
def an_attached_session_names_the_class_of_monitors(t):
    run = Program(t, 'WallClasses', '3000').run
    does(t, 'start', '-e', 'wall', '-o', t.work / 'x', run.pid, 'wall=5,' + OPTS)
    run.finish()
    p = t.parse(t.work / 'x', 1)
    moving = t.case.collector in ('ZGC', 'Shenandoah')  # while the program runs
    reads = t.jdk.version >= 17 and t.jdk.has('hotspot') and t.jdk.has('jit') and not moving
    for name in ('blocked', 'waiting', 'parked'):
        truth, got = set(_told_for(run, name)), set(_by_class(p, name))
        t.equal(len(truth), 2, 'classes that the program tells of %s' % name)
        t.equal(got, truth if reads or name == 'parked' else {''}, 'classes for which %s waits' % name)
    t.equal('wall clock, monitors not told' in p.report, not reads, 'whether the report says that monitors are not told')


@test(level='plain')
def the_end_of_a_session_is_not_that_of_its_threads(t):
    """Three threads wait in known methods. Others want a CPU all the time, and most of them have none when the session ends: the kernel has not told yet for how
    long. They wait for nothing else."""
    spinning = 4 * len(os.sched_getaffinity(0))
    program = Program(t, 'Queued', str(spinning))
    does(t, 'start', '-o', t.work / 'x', program.run.pid, 'wall=10,' + OPTS)
    time.sleep(1)
    does(t, 'stop', program.run.pid)
    p = t.parse(t.work / 'x', 1)
    of = {name: [(r, [f.method for f in p.traces[r.trace].frames]) for r in p.wall.rows if p.traces[r.trace].thread == p.serial(name)]
          for name in ['sleeping', 'waiting', 'parked'] + ['spins%d' % i for i in range(spinning)]}
    for name in ('sleeping', 'waiting', 'parked'):
        t.equal({(r.state, 'Queued.' + name in methods) for r, methods in of[name]}, {(name, True)}, 'where it waits')
    strange = sum_by((m, r.count) for r in p.wall.rows for m in [p.traces[r.trace].frames[0].method] if m.startswith('hprofx.unknown.') and not m.endswith('.no_Java_frame'))
    t.check('hprofx.unknown.thread_ended' not in strange, 'no thread ended: %s' % strange)
    spun = sum_by((r.state, r.count) for i in range(spinning) for r, _ in of['spins%d' % i])
    elsewhere = sum(ms for state, ms in spun.items() if state not in ('running', 'runnable'))
    t.check(elsewhere <= 0.03 * sum(spun.values()), 'ms of threads that always want a CPU: %s' % dict(spun))
    lasted = max(sum(r.count for r, _ in of[name]) for name in ('sleeping', 'waiting', 'parked'))
    t.check(abs(sum(spun.values()) - spinning * lasted) <= 0.1 * spinning * lasted, 'threads that always want a CPU have %d ms, the session %d times %d' % (sum(spun.values()), spinning, lasted))


@test(level='plain', emulated=True)
def binary(t):
    run = t.java('WallClasses', 1500, opts='wall=y,format=b,file=java.hprof,' + OPTS)
    t.equal(run.code, 0, 'exit code')
    t.sound(t.work / 'java.hprof', [])
    data = (t.work / 'java.hprof').read_bytes()
    found = [s.decode() for s in re.findall(rb'hprofx: WALL CLOCK ([^,]+), total \d+ ms, 1 ms per count', data)]
    t.check({'blocked', 'parked', 'sleeping', 'waiting'} <= {s.split()[0] for s in found}, 'states %s' % found)
    t.equal(len(found), len(set(found)), 'a record for every state and class')


@test(level='plain')
def signals_to_a_thread_that_waits_would_be_seen(t):
    """What test_neighbours counts: a signal to a waiting thread is an EINTR of the program."""
    counts = []
    for prod in ((), ('prod',)):
        run = t.java('Eintr', 10, *prod, opts='wall=y', native=True)
        t.equal(run.code, 0, 'exit code')
        counts.append(int(re.match(r'eintr (\d+) of', run.out).group(1)))
    t.check(counts[1] > counts[0], 'calls that saw EINTR without and with signals: %s' % counts)


@test(level='plain')
def threads_whose_last_look_never_comes_are_counted(t):
    run = t.java('BusyExit', 5, 'return', opts='wall=y,' + OPTS, env=preload(t, 'latewall'))
    t.complete(run, 0, 'end\n', done='Dumping time of threads by state ... done.')
    lost = t.output().report.get('wall clock lost', '0')
    t.check(int(re.match(r'\d+', str(lost))[0]) > 5, 'threads lost: %s' % lost)


@test(level='plain')
def libjsig_leaves_the_stacks_to_the_vm(t):
    """It keeps the handlers of faults that hprofx installs from running."""
    found = [f for f in t.jdk.home.rglob('libjsig.so') if 'server' not in f.parts]
    if not found:
        t.skip('no libjsig below %s' % t.jdk.home)
    run, p = t.profile('WallClasses', 1000, opts='wall=y,' + OPTS, env={'LD_PRELOAD': str(found[0])})
    t.check(', 0 of them without the VM' in p.report['wall clock, looks'], 'the report: %s' % p.report)
    t.check(sum(_by_class(p, 'parked').values()) > 0, 'time parked')


@test(level='plain')
def a_handler_taken_by_another_profiler_leaves_the_waits(t):
    run, p = t.profile('OtherAgents', 'thread', 0, 400, opts='wall=1,cutoff=0', native=True, stdout='timers false\n')
    t.check('the program replaced the handler of SIGPROF' in run.err, 'stderr %s' % run.err)
    t.check(any(r.state in ('waiting', 'parked', 'sleeping') for r in p.wall.rows), 'rows %s' % p.wall.rows)


@test(level='plain')
def a_signal_that_a_thread_blocks_leaves_the_waits(t):
    run, p = t.profile('OtherAgents', 'attach', 2, 1, 50, True, True, opts='wall=1,cutoff=0', native=True, stdout='attached\n')
    t.equal(int(str(p.report['threads blocking the signal']).split()[0]), 2, 'threads blocking the signal')
    t.check(any(r.state != 'running' for r in p.wall.rows), 'rows %s' % p.wall.rows)


@test(level='plain')
def threads_that_end_attached(t):
    """Without ThreadEnd: their stacks are gone, and the VM has them still."""
    run, p = t.profile('OtherAgents', 'attach', 8, 1, 50, False, False, opts='wall=1,cutoff=0', native=True, stdout='attached\n')
    t.equal(p.sections, ['WALL CLOCK (ms)'], 'sections')


KINDS = {'parked': ('parks', 'parked', 'java.lang.StringBuilder'), 'sleeping': ('sleeps', 'sleeping', ''), 'socket': ('reads', 'io', '')}
MONITORS = {'blocked': ('enters', 'blocked', 'java.lang.StringBuffer'), 'waiting': ('waits', 'waiting', 'java.util.ArrayList'),
            'notified': ('notified', 'waiting', 'java.util.LinkedList')}
UNMOUNTS = 24  # the release from which on monitors unmount virtual threads


def _kinds(t):
    return KINDS | (MONITORS if t.jdk.version >= UNMOUNTS else {})


def _monitors(t):
    return str(t.jdk.version >= UNMOUNTS).lower()


def _virtual_waits(p, method):
    """ms by state and class of the rows that VirtualWaits.METHOD is on, but those of carriers. A thread that is notified may then be blocked."""
    return sum_by((('waiting' if method == 'notified' and r.state == 'blocked' else r.state, r.klass), r.count) for r in p.wall.rows
                  if r.state not in ('running', 'runnable') and any(f.method == 'VirtualWaits.' + method for f in p.traces[r.trace].frames))


def _recorded(p):
    return int(re.search(r'(\d+) waits recorded', p.report['wall clock, virtual threads'])[1])


@test(level='plain', since=21, measures=True, params=((200, 3000), (2000, 8000)), timeout=180)
def waits_of_unmounted_virtual_threads_have_rows(t, how):
    """A record stands for an interval at least, so n records of equal waits are right to 1/sqrt(n); five standard deviations."""
    n = how[0] if t.jdk.version >= UNMOUNTS else how[0] * 5 // 2  # of each of five kinds, else of two
    run, p = t.profile('VirtualWaits', n, how[1], _monitors(t), opts='wall=20,depth=24,cutoff=0', jvm=['-XX:+UnlockDiagnosticVMOptions', '-XX:+BytecodeVerificationLocal'])
    spent = {kind: int(ms) for kind, ms in re.findall(r'^spent (\S+) (\d+)$', run.out, re.M)}
    total, n = sum(spent.values()), _recorded(p)
    t.equal(set(spent), set(_kinds(t)), 'kinds')
    for kind, (method, state, klass) in _kinds(t).items():
        found = _virtual_waits(p, method)
        t.equal(set(found), {(state, klass)}, 'states and classes of ' + kind)
        off = 5 * spent[kind] / math.sqrt(n * spent[kind] / total)
        t.check(abs(found[state, klass] - spent[kind]) <= off, '%s: %d ms, truth %d +- %d, %d records' % (kind, found[state, klass], spent[kind], off, n))
    t.check(n < 4 * how[1] + 2000, 'records: %d' % n)
    plumbing = {f.method for r in p.wall.rows for f in p.traces[r.trace].frames if 'HprofxWaits' in f.method}
    t.equal(plumbing, set(), 'frames of the probe')


@test(level='plain', since=21, measures=True)
def waits_that_pin_virtual_threads_are_rows_of_their_carriers(t):
    """Monitors and Object.wait, from JDK 24 on in an initialiser. The stack is the carrier's: it does not say where. A look stands for 20 ms; five
    standard deviations."""
    run, p = t.profile('PinnedWaits', 6000, opts='wall=20,depth=24,cutoff=0', jvm=['-Djdk.virtualThreadScheduler.parallelism=4'])
    for kind, ms in re.findall(r'^spent (\S+) (\d+)$', run.out, re.M):
        found = sum(r.count for r in p.wall.rows if r.state == kind and any(f.method == 'jdk.internal.vm.Continuation.run' for f in p.traces[r.trace].frames))
        t.check(abs(found - int(ms)) <= 5 * 20 * math.sqrt(int(ms) / 20), '%s: %d ms, truth %s' % (kind, found, ms))
    own = [r for r in p.wall.rows if r.state in ('blocked', 'waiting') and any(f.method.startswith('PinnedWaits.') and f.method != 'PinnedWaits.main'
                                                                               for f in p.traces[r.trace].frames)]
    t.equal(own, [], 'rows of the virtual threads')


@test(level='plain', since=UNMOUNTS, measures=True, params=(100000,), plain_params=(5000,), timeout=300)
def contentions_that_begin_on_one_carrier_and_end_on_another(t, moved):
    """Each is counted once, in the row of its stack. Records are right as above, and the time between two ticks as often as there are rounds, in which all
    threads wait together."""
    run, p = t.profile('ContendCarriers', moved, 100, 10, opts='wall=20,depth=24,cutoff=0', jvm=['-Djdk.virtualThreadScheduler.parallelism=8', '-Djdk.virtualThreadScheduler.maxPoolSize=8'])
    found = sum_by(((r.state, r.klass, f.method), r.count) for r in p.wall.rows for f in p.traces[r.trace].frames
                   if r.state not in ('running', 'runnable') and f.method in ('ContendCarriers.left', 'ContendCarriers.right'))
    told = {'ContendCarriers.' + method: [int(x) for x in rest] for method, *rest in re.findall(r'^(left|right) (\d+) (\d+) (\d+)$', run.out, re.M)}
    t.equal(set(found), {('blocked', 'ContendCarriers$Gate', method) for method in told}, 'states, classes, methods')
    rounds, tick = int(re.search(r'^rounds (\d+)$', run.out, re.M)[1]), float(re.search(r'every ([0-9.]+) ms', p.report['wall clock, rounds'])[1])
    total, n = sum(most for _, _, most in told.values()), _recorded(p)
    for method, (count, least, most) in told.items():
        ms = found['blocked', 'ContendCarriers$Gate', method]
        off = 5 * math.hypot(most / 1e6 / math.sqrt(n * most / total), tick * count / math.sqrt(rounds))
        t.check(least / 1e6 - off <= ms <= most / 1e6 + off, '%s: %d ms, truth %d to %d +- %d, %d records' % (method, ms, least / 1e6, most / 1e6, off, n))


@test(level='plain', since=21)
def waits_of_virtual_threads_belong_to_what_they_were_started_with(t):
    """Files name no thread for them; the command does, as for samples."""
    for name, more in (('java.hprof.txt', ''), ('java.hprof', ',format=b')):
        run = t.java('VirtualWaits', 50, 1000, False, opts='wall=20,thread=y,depth=64,cutoff=0,file=%s%s' % (name, more))
        t.equal(run.code, 0, 'status of the program')
        shown = t.read('view', '-t', '--view', 'wall', t.work / name)
        t.check('<unknown thread>' not in shown, 'threads of %s: %s' % (name, shown))
        for method in ('parks', 'sleeps'):
            t.check(re.search(r'VirtualWaits\.' + method + r' \(virtual\)$', shown, re.M), '%s in %s: %s' % (method, name, shown))


@test(level='plain', since=21)
def attached_sessions_rewrite_virtual_threads_and_restore_them(t):
    program = Program(t, 'VirtualWaits', '50', '6000', _monitors(t))
    for name in ('x', 'y'):
        does(t, 'start', '-o', t.work / name, program.run.pid, 'wall=20,depth=24,cutoff=0')
        time.sleep(1)
        does(t, 'stop', program.run.pid)
    program.run.finish()
    for p in (t.parse(t.work / 'x', 1), t.parse(t.work / 'y', 1)):
        line = p.report['wall clock, virtual threads']
        if t.jdk.version < 25:
            t.check('throw away all compiled code' in line, 'the report: ' + line)
            continue
        for kind, (method, state, klass) in _kinds(t).items():
            found = _virtual_waits(p, method)
            t.equal(set(found), {(state, klass)}, 'states and classes of ' + kind)
            t.check(found[state, klass] > 10000, '%s: %d ms of 50 threads, each a second' % (kind, found[state, klass]))


@test(level='plain', since=21)
def virtual_threads_are_told(t):
    run, p = t.profile('CountVirtual', 50, opts='wall=y,depth=8,cutoff=0')
    t.check('not shown' in p.report['wall clock, virtual threads'], 'the report: %s' % p.report)
    run, p = t.profile('WallClasses', 300, opts='wall=y,' + OPTS)
    t.check('wall clock, virtual threads' not in p.report, 'the report of a program without them: %s' % p.report)
