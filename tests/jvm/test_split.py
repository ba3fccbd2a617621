# SPDX-License-Identifier: BSD-2-Clause
"""Known splits of CPU time: the samples must show them. Total variation distance <= 4 points over at least 2000 samples."""
from runner import test

LIMIT = 0.04
KINDS = {
    'plain': [('Split.plainA', 'Split.loopA'), ('Split.plainB', 'Split.loopB'), ('Split.plainC', 'Split.loopC')],
    'counted': [('Split.countedA', 'Split.countA'), ('Split.countedB', 'Split.countB'), ('Split.countedC', 'Split.countC')],
    'stub': [('Split.stubA',), ('Split.stubB',), ('Split.stubC',)],
    'inlined': [('Split.tinyA',), ('Split.tinyB',), ('Split.tinyC',)],
}


def _flags(t, kind):
    """Counted loops without a safepoint inside; before 10 they could not be strip-mined, and had none by themselves."""
    if kind != 'counted':
        return []
    return (['-XX:LoopStripMiningIter=0'] if t.jdk.version >= 10 else []) + ['-XX:-UseCountedLoopSafepoints']


def _truth(run):
    a = [int(x) for x in next(ln for ln in run.out.splitlines() if ln.startswith('truth ')).split()[1:]]
    return [x / sum(a) for x in a]


def distance(a, b):
    return sum(abs(x - y) for x, y in zip(a, b)) / 2


def _split(t, kind, cpu_ms, at_least, limit):
    run, p = t.profile('Split', kind, cpu_ms, opts='cpu=samples,interval=1,depth=64,cutoff=0', jvm=_flags(t, kind))
    methods = [m for group in KINDS[kind] for m in group]
    c = p.innermost_of(methods)
    n = [sum(c[m] for m in group) for group in KINDS[kind]]
    t.check(sum(n) >= at_least, 'only %d samples in the three methods of %d' % (sum(n), p.total))
    shares, truth = [x / sum(n) for x in n], _truth(run)
    t.check(distance(truth, (0.6, 0.3, 0.1)) < 0.03, 'the program itself is off: %s' % truth)
    t.check(distance(shares, truth) <= limit, 'shares %s, the truth %s: distance %.3f' % (shares, truth, distance(shares, truth)))
    t.check(sum(n) >= 0.85 * p.total, 'only %d of %d samples are in the methods that use the time' % (sum(n), p.total))


def _needs_a_compiler(t, kind):
    if kind in ('counted', 'inlined') and not t.jdk.has('jit'):
        t.skip('%s is about compiled code' % kind)


@test(params=sorted(KINDS), alone=True)
def shares(t, kind):
    _needs_a_compiler(t, kind)
    _split(t, kind, 6000, 2000, LIMIT)


@test(level='quick', until=20, params=('plain', 'inlined'), alone=True)
def shares_in_short(t, kind):
    _needs_a_compiler(t, kind)
    # A quarter of the samples: twice the statistical error.
    _split(t, kind, 2000, 1000, 2 * LIMIT)


@test(collectors=('Serial', 'Parallel', 'ZGC'), alone=True)
def shares_with_another_collector(t):
    _split(t, 'plain', 3000, 2000, 1.5 * LIMIT)


@test(alone=True)
def by_thread(t):
    run, p = t.profile('Burn', 3000, 1500, 500, opts='cpu=samples,interval=1,thread=y,cutoff=0')
    used = [int(ln.split()[2]) for ln in run.out.splitlines() if ln.startswith('thread ')]
    counts = p.by_thread()
    got = [counts[p.serial('burn-%d' % i)] for i in range(3)]
    t.check(sum(got) >= 2000, 'only %d samples' % sum(got))
    truth = [x / sum(used) for x in used]
    t.check(distance([x / sum(got) for x in got], truth) <= LIMIT, 'samples %s, CPU time %s' % (got, used))
    t.check(all(tr.thread for tr in p.traces.values()), 'thread=y, but a TRACE without its thread')
