# SPDX-License-Identifier: BSD-2-Clause
"""hprofx threads, and the virtual threads of MONITOR DUMP: how many of a program that is known do what, and whom they wait for."""
import json

from attached import Program, does, leaves_nothing
from harness import DUMPING
from runner import test
from waiting import ask

COUNTS = (1000, 500, 200, 100, 50)
EXECUTOR = 'java.util.concurrent.ThreadPerTaskExecutor'
NAMED = ['dürd三', 'first', 's"econd\n']  # all of their group


def _known(stack):
    """The program's own methods, without those that the compiler has made."""
    own = [m['method'].partition('.')[2] for m in stack if m['method'].startswith('Census.')]
    return tuple(dict.fromkeys(m for m in own if '$' not in m))


def _settled(t, p):
    """Until all are parked: some may still be on their way when the program says ready."""
    while True:
        told = json.loads(does(t, 'threads', '--json', p.run.pid, 'maxpause=off'))
        ours = [g for g in told['groups'] if g['virtual'] and _known(g['stack'])]
        if not ours or all(g['state'] != 'running' or _known(g['stack']) == ('burns',) for g in ours):
            return told, ours


@test(level='plain', since=21, collectors='all', needs=('hotspot',), timeout=120)
def every_virtual_thread_is_counted(t):
    p = Program(t, 'Census', *COUNTS)
    told, ours = _settled(t, p)
    asked = [n for n in told['notes'] if n.startswith('virtual threads were asked one after the other, not copied at one moment: ')]
    t.equal([('ZGC' in n) for n in asked], [True] if t.case.collector == 'ZGC' else [], 'notes that they were asked: %s' % told['notes'])
    got = sorted((_known(g['stack']), g['state'], g['count'], g.get('waiting_for'), g.get('owner', {}).get('name')) for g in ours)
    lock, blocker = 'java.util.concurrent.locks.ReentrantLock$NonfairSync', 'java.lang.Object'
    t.equal(got, sorted([(('parked', 'deeper'), 'waiting', COUNTS[0], blocker, None),
                         (('asleep',), 'sleeping', COUNTS[1], None, None),
                         (('reads',), 'waiting', COUNTS[2], None, None),
                         (('wants',), 'waiting', COUNTS[3], lock, 'holder'),
                         (('parked', 'inTask'), 'waiting', COUNTS[4], blocker, None),
                         (('parked',), 'waiting', len(NAMED), blocker, None),
                         (('asleep', 'holds'), 'sleeping', 1, None, None),
                         (('takes',), 'waiting', 1, lock, 'left'), (('takes',), 'waiting', 1, lock, 'right'),
                         (('burns',), 'running', 1, None, None)], key=lambda g: g[:3] + (g[4] or '',)), 'groups')
    by = {_known(g['stack']): g for g in ours}
    t.equal(sorted(w['name'] for w in by['parked',]['threads']), NAMED, 'names')
    t.equal({k: g['container'] for k, g in by.items() if 'container' in g}, {('parked', 'inTask'): EXECUTOR}, 'containers')
    t.check(by['burns',]['carrier']['name'].startswith('ForkJoinPool'), 'carrier: %s' % by['burns',])
    t.equal([g['count'] for g in told['groups'] if not g['virtual'] and any(w['name'] == 'main' for w in g['threads'])], [1], 'the thread main')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', since=21, collectors='any', needs=('hotspot',))
def a_monitor_dump_has_the_same_groups(t):
    p = Program(t, 'Census', *COUNTS)
    _settled(t, p)
    does(t, '-d', '0.1', '-o', t.work / 'all.txt', p.run.pid, 'monitor=y,depth=64,maxpause=off')
    d = t.parse(t.work / 'all.txt', dumps=None).monitor_dumps[-1]
    counts = [g.count for g in d.virtual]
    t.check(set(COUNTS) <= set(counts) and counts == sorted(counts, reverse=True), 'groups: %s' % d.virtual)
    t.equal([list(g.owner.values()) for g in d.virtual if g.count == COUNTS[3]], [['holder']], 'owner of the lock')
    t.equal([g.container for g in d.virtual if g.count in COUNTS], [EXECUTOR if n == COUNTS[4] else None for n in COUNTS], 'containers')
    t.equal([[w.name for w in dead] for dead in d.deadlocks], [['left', 'right']], 'deadlocks')
    t.check(all(w.serial < 0 and w.kind == 'LOCK' for w in d.deadlocks[0]), 'deadlock: %s' % d.deadlocks)
    p.end(t)


@test(level='plain', since=21, collectors='any', needs=('hotspot',))
def threads_are_chosen_by_their_name_or_their_container_s(t):
    p = Program(t, 'Census', *COUNTS)
    _settled(t, p)
    for name, of in (('PerTask', {COUNTS[4]}), (EXECUTOR, {COUNTS[4]}), ('main', {1}), ('hold', {1}), ('s*ond*', {len(NAMED)}), ('nobody', set())):
        groups = json.loads(does(t, 'threads', '--json', '--thread', name, p.run.pid, 'maxpause=off'))['groups']
        t.equal({g['count'] for g in groups if _known(g['stack'])}, of, 'threads with %s' % name)  # the JDK has some in executors, too
        t.check(name != 'main' or not groups[0]['virtual'], 'it is of the platform: %s' % groups)
    p.end(t)


@test(level='plain', since=21, collectors='any', needs=('hotspot',))
def groups_that_may_hide_a_name_are_noted(t):
    p = Program(t, 'Loads', 'worker-1', 'worker-2', 'worker-3', 'worker-4')
    while [g['count'] for g in json.loads(does(t, 'threads', '--json', p.run.pid, 'maxpause=off'))['groups'] if g['virtual']] != [4]:
        pass  # until all are parked
    note = 'groups left out of which other threads may have the name, as three of each are named: 1'
    chosen = {}
    for name in ('worker-1', 'worker-2', 'worker-3', 'worker-4', 'nobody'):
        told = json.loads(does(t, 'threads', '--json', '--thread', name, p.run.pid, 'maxpause=off'))
        chosen[name] = [g['count'] for g in told['groups']]
        t.equal(told['notes'].count(note), 0 if told['groups'] else 1, 'notes for %s: %s' % (name, told['notes']))
    t.equal(sorted(chosen.values()), [[], [], [4], [4], [4]], 'groups by name: %s' % chosen)
    p.end(t)


@test(level='plain', since=21, collectors='any', needs=('hotspot',))
def short_stacks_are_those_of_the_program(t):
    """The methods by which a thread leaves its carrier are no part of it, and who sleeps is known without the frame."""
    p = Program(t, 'Census', *COUNTS)
    _settled(t, p)
    does(t, '-d', '0.1', '-o', t.work / 'all.txt', p.run.pid, 'monitor=y,depth=6,maxpause=off')
    q = t.parse(t.work / 'all.txt', dumps=None)
    by = {g.count: (g.status, [f.method for f in q.traces[g.trace].frames]) for g in q.monitor_dumps[-1].virtual}
    t.equal(by[COUNTS[0]][0], 'CW', 'status of those that are parked')
    t.equal((len(by[COUNTS[0]][1]), by[COUNTS[0]][1][-1]), (6, 'Census.deeper'), 'stack of those that are parked')
    t.equal(by[COUNTS[1]][0], 'SL', 'status of those that sleep')
    p.end(t)


@test(level='plain', since=21, collectors='any', needs=('hotspot',))
def elements_of_arrays_begin_where_the_vm_has_them(t):
    """Behind the length, or aligned to 8 bytes: that depends on the release and on both flags."""
    for flags in (('-XX:-UseCompressedClassPointers',), ('-XX:-UseCompressedOops',), ('-XX:-UseCompressedClassPointers', '-XX:-UseCompressedOops')):
        p = Program(t, 'Census', 3, 1, 1, 1, 1, jvm=('-XX:+IgnoreUnrecognizedVMOptions', *flags))
        told, ours = _settled(t, p)
        t.equal(sorted(w['name'] for g in ours for w in g['threads'] if _known(g['stack']) == ('parked',)), NAMED, 'names with %s' % (flags,))
        t.check(not any('virtual' in n for n in told['notes']), 'notes: %s' % told['notes'])
        p.end(t)


@test(level='plain', since=21, collectors='any', needs=('hotspot',))
def threads_that_the_jdk_does_not_know_are_noted(t):
    p = Program(t, 'Census', 1, 1, 1, 1, 7, jvm=('-Djdk.trackAllThreads=false',))
    told, ours = _settled(t, p)
    t.equal([(_known(g['stack']), g['count'], g['container']) for g in ours], [(('parked', 'inTask'), 7, EXECUTOR)], 'groups')
    note = 'virtual threads that no executor or scope has started are not listed: with jdk.trackAllThreads=false the JDK does not know them'
    t.check(note in told['notes'], 'notes: %s' % told['notes'])
    p.end(t)


@test(level='plain', since=21, collectors='all', needs=('hotspot',))
def scopes_may_be_in_scopes_to_any_depth(t):
    p = Program(t, 'Scopes', 50, jvm=('--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED',))
    told = json.loads(does(t, 'threads', '--json', p.run.pid, 'maxpause=off'))
    groups = [g for g in told['groups'] if g.get('container') == 'scope']
    t.equal(sum(g['count'] for g in groups), 50, 'threads in scopes')
    t.check('last' in [w['name'] for g in groups for w in g['threads']], 'the innermost one is named: %s' % groups)
    p.end(t)


@test(level='plain', since=21, collectors='all', needs=('hotspot',))
def a_loader_of_the_program_s_is_not_asked(t):
    """It may wait for a lock that is never given back."""
    p = Program(t, 'Loads', opts='monitor=y', jvm=('-Djava.system.class.loader=OwnLoader',))
    t.check(ask(p.run, 'Dumping%s done.' % DUMPING['monitor']), 'the program has ended')
    p.end(t)
    t.equal([ln for ln in p.run.out.splitlines() if ln.startswith('asked')], ['asked []'], 'what it was asked for')
    dumps = t.parse(t.work / 'java.hprof.txt', dumps=None).monitor_dumps
    t.equal([sum(g.count for g in d.virtual) for d in dumps], [1, 0], 'virtual threads')


@test(level='plain', since=21, collectors='any', needs=('hotspot',))
def the_dump_when_the_jvm_ends_says_that_it_lacks_virtual_threads(t):
    for args, noted in ((('Census', 1, 1, 1, 1, 1), True), (('Waiting', 5, 20), False)):
        _, d = t.profile(*args, opts='monitor=y')
        t.equal('virtual threads are not listed: the JVM ends' in d.monitor_dumps[-1].notes, noted, 'notes: %s' % d.monitor_dumps[-1].notes)


@test(level='plain', since=21, collectors='any', needs=('hotspot',))
def a_heap_dump_with_a_census_is_a_copy_s(t):
    """The memory of the census is not taken for the heap."""
    p = Program(t, 'Census', 1, 1, 1, 1, 1)
    for name in ('first.txt', 'second.txt'):
        does(t, '-d', '0.1', '-o', t.work / name, p.run.pid, 'heap=dump,sites=none,monitor=y,maxpause=off')
    t.check('shared mapping' not in p.run.err, 'it says: %s' % p.run.err)
    t.equal([b'shared mapping' in (t.work / n).read_bytes() for n in ('first.txt', 'second.txt')], [False, False], 'reports')
    p.end(t)


@test(level='plain', since=21, collectors='any', needs=('hotspot',))
def no_question_waits_for_the_program(t):
    """A class whose initializer waits is named all the same; a ring of both kinds of threads."""
    p = Program(t, 'Entangled')
    groups = json.loads(does(t, 'threads', '--json', p.run.pid, 'maxpause=off'))['groups']
    stacks = [[m['method'] for m in g['stack']] for g in groups if any(w['name'] == 'initializes' for w in g['threads'])]
    t.check(len(stacks) == 1 and 'Entangled$Unready.<clinit>' in stacks[0], 'stacks: %s' % stacks)
    does(t, '-d', '0.1', '-o', t.work / 'all.txt', p.run.pid, 'monitor=y,maxpause=off')
    d = t.parse(t.work / 'all.txt', dumps=None).monitor_dumps[-1]
    t.equal([sorted(w.name for w in dead) for dead in d.deadlocks], [['platform', 'virtual']], 'deadlocks')
    p.end(t)


@test(since=21, collectors='any', needs=('hotspot',))
def a_stop_that_is_too_long_is_refused(t):
    p = Program(t, 'Census', 1, 1, 1, 1, 1)
    said = does(t, 'threads', p.run.pid, 'maxpause=1ms')
    t.check('note: virtual threads were asked one after the other, not copied at one moment: to copy the process would stop the program for about ' in said,
            'it says: %s' % said)
    p.end(t)
