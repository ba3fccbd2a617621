# SPDX-License-Identifier: BSD-2-Clause
"""monitor=y: contention, waits and parked time, by programs that make every block certain and measure it."""
import collections
import re

from attached import Program, does
from expect import as_long, blocked_in, blocks_are_known, known_blocks, of_blocks, same_blocks
from hprof_text import LOCK_TIME, MONITOR_OWNERS, MONITOR_TIME, PINNED_TIME, SAMPLES, SITES, WAIT_TIME
from preload import agent
from runner import test

EXACT = 'monitor=y,cutoff=0,depth=16'
CARRIERS = ['-Djdk.virtualThreadScheduler.parallelism=8', '-Djdk.virtualThreadScheduler.maxPoolSize=8']  # so that seven of eight are another one
VIRTUAL = ['-Djdk.virtualThreadScheduler.parallelism=2', '-Djdk.virtualThreadScheduler.maxPoolSize=2']


def _reported(p, key):
    """(count, ms) of a line of the report."""
    return tuple(float(x) for x in re.match(r'(\d+), ([0-9.]+) ms', p.report[key]).groups())


# --- contention


def _kinds(t, *jvm):
    """Objects, arrays, classes, methods, nested, entered again, with an identity hash, waited for, biased to the owner and to the other one."""
    run, p = t.profile('Contend', 'kinds', 12, 20, opts=EXACT, jvm=list(jvm))
    blocks = known_blocks(run.out, 'blocked')
    t.equal(len(blocks), 12, 'kinds')
    blocks_are_known(t, p, MONITOR_TIME, blocks)


@test(level='plain', emulated=True, collectors='all', params=('', '-Xint'))
def every_kind_of_monitor(t, flag):
    """By class and trace."""
    _kinds(t, *flag.split())


@test(level='plain', collectors='all', until=17)
def biased_monitors(t):
    _kinds(t, '-XX:+UseBiasedLocking', '-XX:BiasedLockingStartupDelay=0')


@test(collectors='all', since=21, until=25, params=(0, 1, 2))
def ways_of_the_vm_to_lock(t, mode):
    """By inflated monitors alone, on the stack, in the header."""
    _kinds(t, '-XX:+UnlockDiagnosticVMOptions', '-XX:+UnlockExperimentalVMOptions', '-XX:LockingMode=%d' % mode)


@test(level='plain', collectors='all')
def by_owner(t):
    """The stack of the one that holds, at each contention. One that is gone when the VM is asked, which a busy machine may make late, has none."""
    run, p = t.profile('Contend', 'sites', 40, 40, 40, opts=EXACT + ',owner=y')
    blocks = known_blocks(run.out, 'blocked')
    blocks_are_known(t, p, MONITOR_TIME, blocks)
    holders = {'Contend.' + b.detail for b in blocks}
    t.equal(holders, {'Contend.holdA', 'Contend.holdB'}, 'methods that hold')
    t.check(MONITOR_OWNERS in p.sections, 'sections %s' % p.sections)
    holder = {r.owner: [f.method for f in p.traces[r.owner].frames if f.method in holders] for r in p.table(MONITOR_OWNERS).rows if r.owner in p.traces}
    got, hidden = blocked_in(p, MONITOR_OWNERS, {b.method for b in blocks}, lambda r, method, _: (method, r.name, *holder.get(r.owner, ())))
    want = of_blocks(blocks, lambda b: (b.method, b.klass, 'Contend.' + b.detail))
    for key, (count, ms) in got.items():
        if len(key) == 3:
            t.check(key in want and count <= want[key][0] and ms <= want[key][1] + hidden, '%d contentions, %.2f ms of %s; the program says %s' % (count, ms, key, want.get(key)))
    for key, (count, _, forced) in want.items():
        count_got, ms_got = got.get(key, (0, 0))
        t.check(count_got >= 0.7 * count and ms_got >= 0.65 * forced, '%d contentions, %.2f ms of %s; the program says %d, %.2f at least' % (count_got, ms_got, key, count, forced))


@test(level='plain')
def some_owners(t):
    """owner=sampled: of some contentions the owner is known, and it is one that holds; the others count without one, so that the sums are the same."""
    run, p = t.profile('Contend', 'sites', 40, 40, 40, opts=EXACT + ',owner=sampled')
    holders = {'Contend.' + b.detail for b in known_blocks(run.out, 'blocked')}
    owners, blocked = p.table(MONITOR_OWNERS), p.table(MONITOR_TIME)
    t.equal(owners.counts_by(), blocked.counts_by(), 'contentions by class, in MONITOR OWNERS and in MONITOR TIME')
    known = [r for r in owners.rows if r.owner in p.traces and p.traces[r.owner].frames]
    t.check(known and all(holders & {f.method for f in p.traces[r.owner].frames} for r in known), '%d rows with owners, which are %s' % (len(known), holders))
    unknown = int(p.report['contentions without an owner'].split()[0])
    t.equal(unknown, sum(r.count for r in owners.rows) - sum(r.count for r in known), 'contentions without an owner')


@test(level='plain', collectors='all', params=('10', '1'))
def sampled_stacks(t, interval):
    """Count and time of a class are exact, its traces are shares that come by chance: of two sites one is blocked three times as long as the other."""
    run, p = t.profile('Contend', 'sites', 500, 3, 1, opts=EXACT + ',stacks=sampled,interval=' + interval)
    blocks = known_blocks(run.out, 'blocked')
    got, hidden = blocked_in(p, MONITOR_TIME, (), lambda r, *_: r.name)
    same_blocks(t, got, hidden, of_blocks(blocks, lambda b: b.klass), 'by class')
    gate = [b for b in blocks if b.klass == 'Contend$Gate']
    of_site, _ = blocked_in(p, MONITOR_TIME, {b.method for b in gate}, lambda r, method, _: (method, r.name))
    ms = {b.method: of_site.get((b.method, b.klass), (0, 0))[1] for b in gate}
    want = next(b.ms for b in gate if b.method == 'Contend.siteA') / sum(b.ms for b in gate)
    share = ms['Contend.siteA'] / max(1, sum(ms.values()))
    n = sum(b.ms for b in gate) / float(interval)
    t.near(share, want, 4 * (want * (1 - want) / n) ** 0.5, 'share of Contend.siteA, with some %d stacks' % n)


@test(level='plain')
def owners_and_samples_exclude_each_other(t):
    run = t.java('Hello', opts='monitor=y,owner=y,stacks=sampled')
    t.equal((run.code, run.out), (1, ''), 'exit code and stdout')
    t.check('owner=y needs stacks=exact' in run.err, 'stderr: %s' % run.err)


# --- waits


def _lines(p, name):
    """{signature: (timeouts, times waited)} of a thread."""
    lines = collections.defaultdict(lambda: ([], []))
    for w in p.waits:
        if w.thread is not None and p.names[w.thread] == name:
            lines[w.signature][w.kind == 'WAITED'].append(w.ms)
    return lines


def _wait_lines(t, p, waits, name):
    """Of a thread: each wait has its two lines."""
    lines = _lines(p, name)
    by_class = collections.defaultdict(list)
    for w in waits:
        if w.thread == name:
            by_class['L%s;' % w.klass.replace('.', '/')] += [w]
    for signature, known in by_class.items():
        count, ms, forced = (sum(figures) for figures in zip(*((w.count, w.ms, w.forced) for w in known)))
        timeouts, times = lines[signature]
        t.equal(collections.Counter(timeouts), sum((collections.Counter({int(w.detail): w.count}) for w in known), collections.Counter()), 'timeouts of ' + signature)
        t.equal(len(times), count, 'WAITED lines of ' + signature)
        as_long(t, sum(times), ms, forced, count, 'WAITED lines of %s: ms' % signature)
    return lines


@test(level='plain', collectors='all')
def every_way_to_wait(t):
    """With a timeout, notified, interrupted, woken for nothing, not the owner, kept out when it is over; and Thread.join."""
    rounds = 12
    run, p = t.profile('Waiting', rounds, 20, opts=EXACT + ',waits=y')
    waits = known_blocks(run.out, 'waited')
    t.equal(len(waits), 8, 'ways to wait')
    blocks_are_known(t, p, WAIT_TIME, waits)
    lines = _wait_lines(t, p, waits, 'waiter')
    t.check(lines['LWaiting$NotOwned;'] in (([], []), ([0] * rounds, [])), 'waits for a monitor that is not owned: %s' % (lines['LWaiting$NotOwned;'],))
    of_back = [b._replace(method='Waiting.back') for b in known_blocks(run.out, 'back')]
    waited, hidden = blocked_in(p, WAIT_TIME, {'Waiting.back'}, lambda r, method, _: method)
    blocked, more = blocked_in(p, MONITOR_TIME, {'Waiting.back'}, lambda r, method, _: method)
    t.equal((waited['Waiting.back'][0], blocked['Waiting.back'][0]), (rounds, rounds), 'waits that end while another one has the monitor, contentions of their ends')
    as_long(t, waited['Waiting.back'][1] + blocked['Waiting.back'][1], sum(b.ms for b in of_back), sum(b.forced for b in of_back), hidden + more, 'wait and contention together')
    t.check(blocked['Waiting.back'][1] >= rounds * 20 - more, 'contentions of the ends: %.2f ms' % blocked['Waiting.back'][1])


@test(level='plain', params=(5, 0, -1))
def lines_of_waits_are_bounded(t, n):
    run, p = t.profile('Waiting', 4, 5, opts=EXACT + ',waits=y,waitlog=%d' % n)
    waits = known_blocks(run.out, 'waited')
    told = [ln for ln in run.err.splitlines() if 'waitlog=' in ln]
    if n < 0:
        t.equal(told, [], 'lines on stderr')
        _wait_lines(t, p, waits, 'waiter')
    else:
        t.equal((len(p.waits), len(told)), (n, 1 if n else 0), 'WAIT lines, lines on stderr')
        t.check('(waitlog=)' in p.report['wait lines'], 'report %s' % p.report)
    blocks_are_counted = blocked_in(p, WAIT_TIME, {w.method for w in waits}, lambda r, method, _: (method, r.name))[0]
    t.equal({k: blocks_are_counted.get(k, (0,))[0] for k in of_blocks(waits, lambda w: (w.method, w.klass))},
            {k: v[0] for k, v in of_blocks(waits, lambda w: (w.method, w.klass)).items()}, 'waits in the table')
    count, ms = _reported(p, 'waits')
    t.check(count >= sum(w.count for w in waits), 'waits of the report: %d' % count)
    t.check(ms >= sum(w.forced for w in waits) - 1, 'ms of the report: %.1f' % ms)


@test(level='plain', collectors='all')
def a_contended_static_initialiser(t):
    """Whatever the VM reports of it; what comes then is right."""
    run, p = t.profile('ContendInit', 20, opts=EXACT + ',waits=y,pinned=y')
    initialised = known_blocks(run.out, 'initialised')
    t.equal(len(initialised), 3, 'initialisers')
    blocks_are_known(t, p, MONITOR_TIME, known_blocks(run.out, 'blocked'))
    longest = sum(b.ms for b in initialised) + 2
    for title in (MONITOR_TIME, WAIT_TIME):
        got, _ = blocked_in(p, title, {b.method for b in initialised}, lambda r, method, _: method)
        got = {k: v for k, v in got.items() if k}
        t.check(all(ms <= longest and count <= 3 for count, ms in got.values()), '%s of the initialisers: %s' % (title, got))
    t.equal([w for w in p.waits if w.kind == 'WAITED' and w.ms > longest + 100], [], 'WAITED lines of a wait that never began')


# --- parked


@test(level='plain', collectors='all')
def parked_in_locks(t):
    """The time is exact; a lock may park several times in one block."""
    rounds = 12
    run, p = t.profile('Locked', rounds, 20, opts=EXACT + ',locks=y')
    known = known_blocks(run.out, 'parked')
    t.equal(len(known), 10, 'ways to park')
    got, hidden = blocked_in(p, LOCK_TIME, {b.method for b in known}, lambda r, method, _: method)
    same_blocks(t, got, hidden, of_blocks(known, lambda b: b.method), LOCK_TIME, counts=False)
    classes, _ = blocked_in(p, LOCK_TIME, {b.method for b in known}, lambda r, method, _: (method, r.name))
    for b in known:
        count = got[b.method][0]
        t.check(count == rounds if b.method == 'Locked.parks' else rounds <= count <= 2 * rounds, 'count of %s: %d' % (b.method, count))
        names = [name for method, name in classes if method == b.method]
        t.check(len(names) == 1 and (names[0].startswith(b.klass[:-1]) if b.klass.endswith('*') else names[0] == b.klass), '%s: %s, expected %s' % (b.method, names, b.klass))


def _late_session(t, p, name, *more):
    """A session of -e lock in a JVM that runs, with one round of LockedLate: what that tells, and the profile."""
    does(t, 'start', '-e', 'lock', '-o', t.work / name, p.run.pid, *more)
    before = len(p.run.out)
    p.tell('round')
    does(t, 'stop', p.run.pid)
    return known_blocks(p.run.out[before:], 'parked'), t.parse(t.work / name, None)


def _parked_as_known(t, known, profile, parks):
    got, hidden = blocked_in(profile, LOCK_TIME, {b.method for b in known} | {'LockedLate.parks'}, lambda r, method, _: method)
    same_blocks(t, got, hidden, of_blocks(known, lambda b: b.method), LOCK_TIME, counts=False)
    t.equal(got.get('LockedLate.parks', (0,))[0], parks, 'parks')


@test(level='plain', collectors='any', params=('', '-Xint', '-Xcomp', '-Xcheck:jni'), plain_params=('',))
def parked_in_locks_of_a_jvm_that_runs(t, jvm):
    """The VM has bound Unsafe.park long ago, and code that calls it is compiled. Between sessions nothing is counted."""
    p = Program(t, 'LockedLate', 5000, jvm=[jvm] if jvm else [])
    for name in ('0.txt', '1.txt'):
        known, profile = _late_session(t, p, name, 'cutoff=0')
        t.equal(len(known), 10, 'ways to park')
        _parked_as_known(t, known, profile, 5000)
        p.tell('round')
    p.end(t)
    t.check(not re.search(r'Re-registering|(WARNING|FATAL ERROR) in native', p.run.out.split('ready\n', 1)[1] + p.run.err), 'the VM warns: %s' % p.run.out[-1000:])


@test(level='plain', collectors='any', params=('once', 'always'), needs=('hotspot',))
def another_agent_that_replaces_park_goes_on(t, hook):
    """It counts every call: before the sessions, in them and between them."""
    p = Program(t, 'LockedLate', 500, jvm=[agent(t, 'parkhook', hook)])
    for name in ('0.txt', '1.txt'):
        known, profile = _late_session(t, p, name, 'cutoff=0')
        _parked_as_known(t, known, profile, 500)
        p.tell('round')
    p.run.process.stdin.close()
    p.run.finish()
    hooked = int(re.search(r'^hooked (\d+)$', p.run.out, re.M)[1])
    t.check(hooked >= 5 * 500, 'the other agent saw %d of more than 2500 calls' % hooked)


@test(level='plain', collectors='any', params=('once', 'always'), needs=('hotspot',))
def another_agent_that_replaces_park_goes_on_beside_one_from_the_start(t, hook):
    run, p = t.profile('Locked', 3, 5, opts=EXACT + ',locks=y', jvm=[agent(t, 'parkhook', hook)])
    known = known_blocks(run.out, 'parked')
    got, hidden = blocked_in(p, LOCK_TIME, {b.method for b in known}, lambda r, method, _: method)
    same_blocks(t, got, hidden, of_blocks(known, lambda b: b.method), LOCK_TIME, counts=False)
    t.check(int(re.search(r'^hooked (\d+)$', run.out, re.M)[1]) >= 3 * 10, 'the other agent saw few: %s' % run.out[-200:])


# --- virtual threads


def _virtual(t, case, opts):
    rounds, width = (12, 2) if t.jdk.version < 24 else (6, 50)  # until JDK 23 one that is blocked keeps its carrier
    return t.profile('ContendVirtual', case, rounds, width, 20, opts=EXACT + opts, jvm=VIRTUAL)


@test(level='plain', since=21, collectors='all')
def a_virtual_thread_that_owns_a_monitor_is_shown_or_counted(t):
    """JDK 21 names it. Later VMs name no owner: the contention is among the owners without a stack, and counted; the monitor has a note."""
    rounds, width = 4, 3
    run, p = t.profile('ContendVirtual', 'held', rounds, width, 20, opts=EXACT + ',owner=y', jvm=VIRTUAL)
    t.check(run.out.endswith('done\n'), 'stdout: %s' % run.out)
    named = t.jdk.version < 22
    owners, blocked = p.table(MONITOR_OWNERS), p.table(MONITOR_TIME)
    t.equal(owners.counts_by(), blocked.counts_by(), 'contentions by class, in MONITOR OWNERS and in MONITOR TIME')
    gate = [r for r in owners.rows if r.name == 'ContendVirtual$Gate']
    t.equal(sum(r.count for r in gate), rounds * width, 'contentions of the program')
    methods = lambda trace: {f.method for f in p.traces[trace].frames} if trace in p.traces else set()
    with_stack = sum(r.count for r in gate if 'ContendVirtual.holds' in methods(r.owner))
    t.equal(with_stack, rounds * width if named else 0, 'contentions with the stack of the virtual owner')
    unknown = int(p.report['contentions without an owner'])
    t.check(unknown <= sum(r.count for r in owners.rows) and (named or unknown >= rounds * width), 'contentions without an owner: %d' % unknown)
    d = p.monitor_dumps[-1]
    bell = d.of('LContendVirtual$Bell;')
    t.equal([(m.owned, p.names.get(m.owner), [p.names.get(s) for s in m.enter]) for m in bell], [(named, 'holder' if named else None, ['wants'])], 'the monitor at the end')
    t.equal([n for n in d.notes if 'virtual threads may own' in n], [] if named else ['unowned monitors that threads wait to enter, which virtual threads may own: 1'], 'notes')


@test(level='plain', since=21)
def pinned_virtual_threads(t):
    """What keeps the carrier: up to JDK 23 monitors, and parking with one; on any a static initialiser."""
    run, p = _virtual(t, 'pinned', ',pinned=y')
    known = known_blocks(run.out, 'pinned')
    if t.jdk.version < 24:
        known += known_blocks(run.out, 'waited') + known_blocks(run.out, 'blocked')
    else:
        known = [b for b in known if 'Initialised' in b.method]
    if t.jdk.version < 24:
        blocks_are_known(t, p, PINNED_TIME, [b for b in known if b.word != 'pinned'])
    blocks_are_known(t, p, PINNED_TIME, [b for b in known if b.word == 'pinned'], counts=False)  # to park may take a lock of the VM's scheduler
    got, _ = blocked_in(p, PINNED_TIME, {b.method for b in known_blocks(run.out, '(?:pinned|waited|blocked)')}, lambda r, method, _: method)
    t.equal({k for k in got if k}, {b.method for b in known}, 'methods that keep the carrier')
    for b in known:
        t.check(got[b.method][0] >= b.count, 'count of %s: %d' % (b.method, got[b.method][0]))


@test(level='plain', since=24, collectors='all', params=(100000,), plain_params=(5000,), timeout=300)
def contentions_that_begin_on_one_carrier_and_end_on_another(t, moved):
    """Each is counted once, with the stack of who was blocked, and as long as it was."""
    run, p = t.profile('ContendCarriers', moved, 100, 10, opts=EXACT, jvm=CARRIERS)
    got, hidden = blocked_in(p, MONITOR_TIME, {'ContendCarriers.left', 'ContendCarriers.right'}, lambda r, method, _: (r.name, method))
    for method, count, least, most in re.findall(r'^(left|right) (\d+) (\d+) (\d+)$', run.out, re.M):
        counted, ms = got.pop(('ContendCarriers$Gate', 'ContendCarriers.' + method))
        t.equal(counted, int(count), 'contentions below ' + method)
        as_long(t, ms, int(most) / 1e6, int(least) / 1e6, hidden, method)
    t.check(not any(name == 'ContendCarriers$Gate' for name, _ in got), 'contentions on other stacks: %s' % got)


# --- the rest


@test(level='plain', params=('cpu=samples', 'cpu=samples,monitor=n', 'heap=sites,waits=y,locks=y,owner=y,waitlog=-1'))
def not_asked_for(t, opts):
    run, p = t.profile('Waiting', 2, 5, opts=opts)
    t.check(all(s in (SAMPLES, SITES) for s in p.sections), 'sections %s' % p.sections)
    t.equal((p.waits, [k for k in p.report if k in ('contentions', 'waits', 'monitor dump')]), ([], []), 'WAIT lines, report')


@test(level='plain', collectors='any')
def jni_is_used_as_it_should_be(t):
    """JDK 8 warns of its own launcher. What the programs print of themselves differs from run to run."""
    virtual = [('ContendVirtual', 'pinned', 2, 2, 5)] if t.jdk.version >= 21 else []
    for program in [('Contend', 'kinds', 2, 5), ('Waiting', 2, 5), ('Locked', 2, 5), ('ContendInit', 5)] + virtual:
        jvm = ['-Xcheck:jni'] + (VIRTUAL if program in virtual else [])
        plain = t.java(*program, opts=None, jvm=jvm)
        run, _ = t.profile(*program, opts=EXACT + ',locks=y,waits=y,owner=y,pinned=y,thread=y', jvm=jvm)
        told = re.compile(r'(\w+ \S+ \S+ \S+ \S+ \d+ \d+ \d+|done)$')
        t.equal([ln for ln in run.out.splitlines() if not told.match(ln) and ln not in plain.out.splitlines()][:9], [], 'what -Xcheck:jni says of %s' % program[0])
        t.equal([ln for ln in run.err.splitlines() if not ln.startswith(('hprofx: ', 'Dumping ')) and ln not in plain.err.splitlines()], [], 'other lines on stderr')


@test(level='plain', collectors='all', params=(',owner=y', ',dump=100ms'))
def threads_that_attach_meanwhile(t, more):
    """A thread of native code is among those of the VM before it has an object: from JDK 23 on GetObjectMonitorUsage reads that of each."""
    run = t.java('Contend', 'threads', 16, 40, 20, opts=EXACT + more, jvm=[agent(t, 'attacher', 2000)])
    t.equal((run.code, run.out.splitlines()[-1]), (0, 'done'), 'exit code, stdout')
    blocks_are_known(t, t.output(dumps=None), MONITOR_TIME, known_blocks(run.out, 'blocked'))


@test(until=8)
def threads_that_end_meanwhile(t):
    """Before JDK 10 GetObjectMonitorUsage takes a lock of the owner, even if that has ended and is freed: the VM crashed or stood in one of three runs of 30 s."""
    run = t.java('EndingOwners', 10000, opts=EXACT + ',owner=y,waitlog=0')
    t.equal((run.code, run.out.splitlines()[-1]), (0, 'done'), 'exit code, stdout')
    t.output(dumps=None)
