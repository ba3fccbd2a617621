# SPDX-License-Identifier: BSD-2-Clause
"""sampler=walk and sampler=poll: known splits, totals, ways to end, and how an engine is chosen."""
import re

from runner import test
from test_ends import WAYS
from test_split import KINDS, _truth, distance

ENGINES = ('walk', 'poll')


def engine_of(t):
    """The engine that the report names."""
    text = (t.work / 'java.hprof.txt').read_text('utf-8')
    return re.search(r'^hprofx: sampler: (\w+)', text, re.M).group(1)


# Serial and Parallel leave no safepoint poll in a counted loop: there poll sees a thread only where the loop has ended, and walk has the pc alone.
POLLS_IN_LOOPS = ['-XX:+UseCountedLoopSafepoints', '-XX:LoopStripMiningIter=1000']


def _split(t, engine, kind, cpu_ms, limit, jvm=()):
    run, p = t.profile('Split', kind, cpu_ms, opts='cpu=samples,interval=1,depth=64,cutoff=0,sampler=' + engine, jvm=list(jvm))
    t.equal(engine_of(t), engine, 'engine')
    c = p.innermost_of([m for group in KINDS[kind] for m in group])
    n = [sum(c[m] for m in group) for group in KINDS[kind]]
    t.check(sum(n) >= 0.7 * p.total, 'only %d of %d samples are in the methods that use the time' % (sum(n), p.total))
    shares, truth = [x / sum(n) for x in n], _truth(run)
    # A busy machine lets poll look less often: each look is one draw, however much CPU time it stands for.
    taken = int(p.report['stacks taken'].split()[0])
    t.check(taken >= cpu_ms / 40, 'only %d stacks taken' % taken)
    limit += 3 * (0.6 * 0.4 / taken) ** 0.5
    t.check(distance(shares, truth) <= limit, 'shares %s, the truth %s: distance %.3f, %d stacks, limit %.3f' % (shares, truth, distance(shares, truth), taken, limit))


@test(params=('plain', 'inlined'), needs=('jit',), alone=True)
def walk_sees_the_split(t, kind):
    _split(t, 'walk', kind, 3000, 0.02)


@test(alone=True)
def poll_sees_the_split_of_loops(t):
    _split(t, 'poll', 'plain', 3000, 0.02)


@test(needs=('jit',))
def poll_sees_no_method_without_a_safepoint(t):
    """The time of inlined methods is all there, in the loop that they were inlined into."""
    _, p = t.profile('Split', 'inlined', 1500, opts='cpu=samples,interval=1,depth=64,cutoff=0,sampler=poll')
    tinies = ['Split.tinyA', 'Split.tinyB', 'Split.tinyC']
    c = p.innermost_of(tinies + ['Split.mix'])
    tiny, mix = sum(c[m] for m in tinies), c['Split.mix']
    t.check(mix > 0.5 * p.total and tiny < 0.3 * p.total, 'mix %d, tiny methods %d of %d' % (mix, tiny, p.total))


@test(params=ENGINES, collectors=('Serial', 'Parallel', 'ZGC'), alone=True)
def split_with_another_collector(t, engine):
    polls = engine == 'poll' and t.case.collector != 'ZGC' and t.jdk.version >= 10
    _split(t, engine, 'plain', 1500, 0.02, jvm=POLLS_IN_LOOPS if polls else [])


@test(params=ENGINES, alone=True)
def split_interpreted(t, engine):
    _split(t, engine, 'plain', 1500, 0.02, jvm=['-Xint'])


@test(params=ENGINES, alone=True)
def by_thread(t, engine):
    run, p = t.profile('Burn', 1500, 700, 300, opts='cpu=samples,interval=1,thread=y,cutoff=0,sampler=' + engine)
    used = [int(ln.split()[2]) / 1e6 for ln in run.out.splitlines() if ln.startswith('thread ')]
    counts = p.by_thread()
    for i, ms in enumerate(used):
        t.near(counts[p.serial('burn-%d' % i)], ms, 0.03 * ms + 5, 'CPU time of burn-%d in ms' % i)


@test(params=ENGINES, timeout=120, alone=True)
def short_threads_are_counted_whole(t, engine):
    run, p = t.profile('ShortThreads', 5000, 300, opts='cpu=samples,interval=1,cutoff=0,sampler=' + engine)
    short = int(next(ln for ln in run.out.splitlines() if ln.startswith('cpu ')).split()[1]) / 1e6
    # Each thread ends after the CPU time that it reads, and main and the JVM's own Java threads use some.
    t.check(0.95 * short <= p.total <= 1.5 * short + 600, '%d samples of 1 ms, the threads used %d ms' % (p.total, short))


@test(params=['%s-%s' % (e, w) for e in ENGINES for w in sorted(WAYS)])
def way_to_end(t, which):
    engine, how = which.split('-')
    code, out = WAYS[how]
    t.profile('Ends', how, opts='cpu=samples,interval=1,sampler=' + engine, code=code, stdout=out)


@test(params=ENGINES, timeout=90)
def ends_while_threads_start_and_end(t, engine):
    for ms in (0, 5, 50, 200):
        t.profile('ExitStress', ms, opts='cpu=samples,interval=1,sampler=' + engine, code=4, stdout='done\n')


@test(params=ENGINES, timeout=90)
def classes_that_are_unloaded(t, engine):
    t.profile('UnloadMany', 200, 500, opts='cpu=samples,interval=1,cutoff=0,sampler=' + engine)


def _refused(t, what, opts):
    return t.profile('Split', 'plain', 500, opts=opts, env={'LD_PRELOAD': '%s/librefuses.so' % t.env.native_dir(t.jdk), 'REFUSES': what})


@test(params=('missing', 'failing'), needs=('jit',), level='quick')
def walk_is_taken_without_a_usable_AsyncGetCallTrace(t, what):
    run, p = _refused(t, what, 'cpu=samples,interval=1,cutoff=0')
    t.equal(engine_of(t), 'walk', 'engine')
    t.equal(run.err.count('stacks are taken by sampler=walk'), 1, 'lines that say so')
    t.check(p.innermost_of(['Split.loopA'])['Split.loopA'] > 0.3 * p.total, 'no samples in the hot loop')


@test(needs=('jit',), level='quick')
def walk_is_taken_on_another_vm(t):
    run, p = _refused(t, 'vm', 'cpu=samples,interval=1,cutoff=0')
    t.equal(engine_of(t), 'walk', 'engine')
    t.equal(run.err.count('cpu=samples: AsyncGetCallTrace is not known to work on this VM: stacks are taken by sampler=walk'), 1, 'lines that say so')
    t.check(p.innermost_of(['Split.loopA'])['Split.loopA'] > 0.3 * p.total, 'no samples in the hot loop')


@test(level='quick')
def poll_is_taken_without_timers(t):
    run, p = _refused(t, 'timers', 'cpu=samples,interval=10,cutoff=0')
    t.equal(engine_of(t), 'poll', 'engine')
    t.equal(run.err.count('its CPU clock is polled'), 1, 'lines that say so')
    loops = ['Split.loopA', 'Split.loopB', 'Split.loopC']  # a busy machine has few looks: which of them is left to the splits
    t.check(sum(p.innermost_of(loops).values()) > 0.5 * p.total, 'no samples in the loops')
