# SPDX-License-Identifier: BSD-2-Clause
"""MONITOR DUMP and DEADLOCKS: states of threads, owners and waiters of monitors, rings of threads, as the program Monitors says they are."""
import re
import signal

from harness import DUMPING
from hprof_text import MONITOR_TIME
from preload import java_agent
from runner import test
from waiting import ask

DONE = 'Dumping%s done.' % DUMPING['monitor']
NAME = 'java.hprof.txt'
ALL = 'LMonitors$'


def _profile(t, path=None):
    return t.parse(path or t.work / NAME, dumps=None)


def _program(t, *what, opts='monitor=y', asked=1, jvm=(), more=()):
    """Runs Monitors, asks for dumps when it is ready, also after each further piece; the last dump is that of the exit. (run, profile)"""
    words = list(what)
    for piece in more:
        words += ['+', piece]
    run = t.start('Monitors', *words, opts=opts, jvm=jvm)
    for i in range(len(more) + 1):
        run.wait_line('ready%d' % i if i else 'ready')
        for _ in range(asked):
            t.check(ask(run, DONE), 'the program has ended')
        (t.work / ('more%d' % (i + 1))).touch()
    (t.work / 'stop').touch()
    run.finish()
    t.equal((run.code, 'HPROF ERROR' in run.err), (0, False), 'exit code, errors')
    p = _profile(t)
    t.equal(len(p.monitor_dumps), asked * (len(more) + 1) + 1, 'dumps')
    return run, p


def _names(p, serials):
    return sorted(p.names.get(s, '?') for s in serials)


def _states(t, run, p, d):
    want = dict(re.findall(r'^state (\S+) (\S+)$', run.out, re.M))
    t.check(want or 'monitor' in run.out, 'the program says nothing')
    got = {p.names[s]: th.status for s, th in d.threads.items() if s in p.names}
    wrong = {name: (got.get(name), status) for name, status in want.items() if got.get(name) != status}
    t.check(not wrong, 'status in the dump, and as the program has it: %s' % wrong)
    t.check('never-started' not in got, 'a thread that never started')
    return got


def _monitors(t, run, p, d):
    """Each monitor that the program tells of is there once; waiters in any order."""
    lines = re.findall(r'^monitor (\S+) (\S+) (\d+) enter=(\S*) notify=(\S*)$', run.out, re.M)
    split = lambda text: sorted(filter(None, text.split(',')))
    wrong = []
    for signature, owner, entries, enter, notify in lines:
        want = (owner, int(entries), split(enter), split(notify))
        got = [(p.names.get(m.owner, '?') if m.owned else '-', m.entry_count, _names(p, m.enter), _names(p, m.notify)) for m in d.of(signature)]
        # classes are also entered by the JDK
        if got.count(want) != 1 or (signature.startswith(ALL) and len(got) != 1):
            wrong.append((signature, got, want))
    t.check(not wrong, 'monitors: (signature, in the dump, as the program has it): %s' % wrong)
    return lines


def _consistent(t, p, d):
    """What is true of any one moment."""
    in_lists = []
    for m in d.monitors:
        both = [s for s in m.enter + m.notify if s is not None]
        t.check(m.owner is None or m.owner not in both, '%s: its owner waits for it: %s' % (m.signature, m))
        t.check(m.owned == (m.entry_count > 0), '%s: owned %s, %d entries' % (m.signature, m.owned, m.entry_count))
        t.check(m.owned or m.enter or m.notify, '%s: a monitor that nobody owns and nobody waits for' % m.signature)
        in_lists += both
    twice = sorted({s for s in in_lists if in_lists.count(s) > 1})
    t.check(not twice, 'threads in two lists: %s' % twice)
    known = [s for s in in_lists + [m.owner for m in d.monitors] if s is not None and s not in d.threads]
    t.check(not known, 'owners and waiters that are no threads of the dump: %s' % known)


def _of_status(p, d, m):
    """Waiters whose status is another one than a waiter's."""
    wrong = [(p.names.get(s), d.threads[s].status) for s in m.enter if s in d.threads and not d.threads[s].status.endswith('MW')]
    return wrong + [(p.names.get(s), d.threads[s].status) for s in m.notify if s in d.threads and not d.threads[s].status.endswith('CW')]


def _as_told(t, run, p):
    for d in p.monitor_dumps:
        _states(t, run, p, d)
        _monitors(t, run, p, d)
        _consistent(t, p, d)
        wrong = [(m.signature, _of_status(p, d, m)) for m in d.monitors if _of_status(p, d, m)]
        t.check(not wrong, 'waiters of another status: %s' % wrong)


@test(level='plain', collectors='all', needs=('stops',))
def every_state(t):
    """On request and at exit, where the thread main has another state."""
    run, p = _program(t, 'states')
    _as_told(t, run, p)
    mains = [_states(t, run, p, d).get('main') for d in p.monitor_dumps]
    t.check(mains[0] in ('SL', 'R', 'native|R') and mains[1] in (None, 'ZO'), 'states of main: %s' % mains)
    for d in p.monitor_dumps:
        stacks = {p.names[s]: [f.method for f in p.traces[th.trace].frames] if th.trace in p.traces else [] for s, th in d.threads.items() if s in p.names}
        innermost = {name: next((m for m in frames if m.startswith('Monitors')), None) for name, frames in stacks.items()}
        # depth=4: what the JDK calls below park and wait differs
        t.equal({n: innermost[n] for n in ('parked', 'blocked', 'waiting', 'holding')},
                {'parked': 'Monitors.park', 'blocked': 'Monitors.enter', 'waiting': 'Monitors.await', 'holding': 'Monitors.park'}, 'innermost methods of the program')
        t.equal((stacks['ended'], d.threads[p.serial('ended')].trace), ([], 300000), 'trace of an ended thread')


@test(level='plain', collectors='all')
def owners_and_waiters(t):
    run, p = _program(t, 'owners', asked=2)
    _as_told(t, run, p)
    t.equal([d.deadlocks for d in p.monitor_dumps], [[]] * 3, 'deadlocks')


@test(level='plain', collectors='any')
def an_owner_without_waiters(t):
    """The frames tell of it."""
    run, p = _program(t, 'alone')
    for d in p.monitor_dumps:
        if t.jdk.version >= 16 or d.of('LMonitors$Alone;'):
            _monitors(t, run, p, d)
        else:
            t.check(d.notes, 'neither the monitor nor a note')


# piece: rings of threads
RINGS = {'two': 1, 'three': 1, 'locks': 1, 'mixed': 1}


def _rings(run):
    """{number: {thread: (kind, signature, owner)}}"""
    found = {}
    for n, name, kind, signature, owner in re.findall(r'^deadlock (\d+) (\S+) (\S+) (\S+) (\S+)$', run.out, re.M):
        found.setdefault(n, {})[name] = (kind, signature, owner)
    return list(found.values())


def _told(run):
    return [ln for ln in run.err.splitlines() if ln.startswith('hprofx: ') and 'deadlock' in ln.lower()]


def _deadlocks(t, p, d, want):
    got = [{th.name: (th.kind, th.signature, p.names.get(th.owner)) for th in ring} for ring in d.deadlocks]
    key = lambda ring: sorted(ring.items())
    t.equal(sorted(got, key=key), sorted(want, key=key), 'deadlocks')
    for ring in d.deadlocks:
        for th in ring:
            t.equal((p.names.get(th.serial), d.threads[th.serial].trace), (th.name, th.trace), 'name and trace of a thread of a deadlock')
            at = [f.method for f in p.traces[th.trace].frames]
            t.check(any(m.startswith('Monitors') or 'park' in m for m in at), 'stack %s' % at)
        # each waits for what the next one in the list owns
        t.equal([th.owner for th in ring], [th.serial for th in ring[1:] + ring[:1]], 'order of a ring')


@test(level='plain', collectors='all', params=sorted(RINGS), plain_params=('two', 'mixed'))
def a_deadlock(t, piece):
    """In each dump; once on stderr."""
    run, p = _program(t, piece, asked=2)
    want = _rings(run)
    t.equal(len(want), 1, 'deadlocks as the program has them')
    for d in p.monitor_dumps:
        _deadlocks(t, p, d, want)
        _consistent(t, p, d)
    t.equal(len(_told(run)), 1, 'lines on stderr: %s' % _told(run))


@test(level='plain', collectors='any')
def later_deadlocks_are_told_too(t):
    run, p = _program(t, 'owners', more=('two', 'three', 'locks', 'mixed'))
    rings = _rings(run)
    t.equal(len(rings), 4, 'deadlocks as the program has them')
    for i, d in enumerate(p.monitor_dumps):
        _deadlocks(t, p, d, rings[:min(i, 4)])
        _monitors(t, run, p, d)
    t.equal(len(_told(run)), 4, 'lines on stderr: %s' % _told(run))


@test(level='plain', collectors='any')
def who_only_waits_is_in_no_deadlock(t):
    run, p = _program(t, 'patient')
    t.equal([d.deadlocks for d in p.monitor_dumps], [[], []], 'deadlocks')
    t.equal(_told(run), [], 'lines on stderr')


@test(level='plain', collectors='all', timeout=180, longer=True)
def many_dumps_of_a_churning_program(t):
    """Lists of one moment: no thread owns and wants a monitor, none waits twice; nothing looks like a deadlock."""
    run = t.start('MonitorChurn', 12, 2000 if t.level == 'plain' else 6000, opts='monitor=y,waitlog=100,dump=100ms,depth=8')
    run.finish()
    t.equal((run.code, run.out), (0, 'entered\n'), 'exit code and stdout')
    p = _profile(t)
    t.check(len(p.monitor_dumps) >= 8, 'only %d dumps' % len(p.monitor_dumps))
    for d in p.monitor_dumps:
        _consistent(t, p, d)
    lists = [m for d in p.monitor_dumps for m in d.monitors if m.signature.startswith('LMonitorChurn$M')]
    found = [sum(1 for m in lists if x(m)) for x in (lambda m: m.owned and m.enter, lambda m: m.notify, lambda m: m.owned and m.entry_count == 2)]
    t.check(found[0] > 5 and found[1] > 5, 'monitors owned and wanted, with waiters to be notified, entered twice: %s in %d dumps' % (found, len(p.monitor_dumps)))
    t.equal((sum(len(d.deadlocks) for d in p.monitor_dumps), _told(run)), (0, []), 'deadlocks, lines on stderr')
    t.check(p.block_sum(MONITOR_TIME)[1] > 100, 'contended entries: %s' % (p.block_sum(MONITOR_TIME),))


@test(collectors='any', timeout=300)
def two_thousand_threads_of_one_monitor(t):
    n = 200 if t.env.sanitized else 2000
    run, p = _program(t, n, asked=2)
    for d in p.monitor_dumps:
        own = d.of('LMonitors$Held;')
        t.equal([(p.names.get(m.owner), m.entry_count, m.notify) for m in own], [('ownCrowd', 1, [])], 'the monitor')
        t.equal(_names(p, own[0].enter), sorted('crowd%d' % i for i in range(n)), 'waiters to enter')
        t.equal({d.threads[s].status for s in own[0].enter}, {'MW'}, 'their states')
        _consistent(t, p, d)


@test(level='plain', collectors='any', params=('term', 'exit'))
def a_deadlock_found_at_the_end(t, how):
    """By a signal, and by the end of main with the ring still there."""
    run = t.start('Monitors', 'three', opts='monitor=y')
    run.wait_line('ready')
    if how == 'term':
        run.signal(signal.SIGTERM)
    else:
        (t.work / 'stop').touch()
    run.finish()
    t.equal(run.code, 143 if how == 'term' else 0, 'exit code')
    p = _profile(t)
    _deadlocks(t, p, p.monitor_dumps[-1], _rings(run))
    t.equal((len(p.monitor_dumps), len(_told(run))), (1, 1), 'dumps, lines on stderr')


@test(collectors='any')
def without_a_dump_at_exit(t):
    run = t.start('Monitors', 'two', opts='monitor=y,doe=n')
    run.wait_line('ready')
    (t.work / 'stop').touch()
    run.finish()
    p = _profile(t)
    t.equal((run.code, p.sections, _told(run)), (0, [], []), 'exit code, sections, deadlocks told')


@test(level='plain')
def a_program_that_ends_before_vminit_has_a_dump(t):
    """Another agent's premain ends it."""
    run, p = t.profile('Early', opts='monitor=y', jvm=[java_agent(t, 'Early') + '=exit'])
    t.equal(len(p.monitor_dumps), 1, 'dumps')
    t.check('have no number' not in run.err, run.err)
