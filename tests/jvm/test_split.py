# SPDX-License-Identifier: BSD-2-Clause
"""Known splits of CPU time: the samples must show them. Total variation distance <= 4 points over at least 2000 samples."""
from expect import SPLIT_KINDS, distance, shares_of, split_samples, truth
from runner import test

LIMIT = 0.04


def _flags(t, kind):
    """Counted loops without a safepoint inside; before 10 they could not be strip-mined, and had none by themselves."""
    if kind != 'counted':
        return []
    return (['-XX:LoopStripMiningIter=0'] if t.jdk.version >= 10 else []) + ['-XX:-UseCountedLoopSafepoints']


def _split(t, kind, cpu_ms, at_least, limit):
    run, p = t.profile('Split', kind, cpu_ms, opts='cpu=samples,interval=1,depth=64,cutoff=0', jvm=_flags(t, kind))
    n = split_samples(p, kind)
    t.check(sum(n) >= at_least, 'only %d samples in the three methods of %d' % (sum(n), p.total))
    got, want = shares_of(n), truth(run)
    # In an emulator the three are translated at different times, which the truth has, and the JVM itself takes longer to start.
    t.check(t.jdk.emulated or distance(want, (0.6, 0.3, 0.1)) < 0.03, 'the program itself is off: %s' % want)
    t.check(distance(got, want) <= limit, 'shares %s, the truth %s: distance %.3f' % (got, want, distance(got, want)))
    t.check(t.jdk.emulated or sum(n) >= 0.85 * p.total, 'only %d of %d samples are in the methods that use the time' % (sum(n), p.total))


def _needs_a_compiler(t, kind):
    if kind in ('counted', 'inlined') and not t.jdk.has('jit'):
        t.skip('%s is about compiled code' % kind)


# An emulator delivers signals where a piece of its own code ends, so what is straight has them all in one place: of the kinds only loops have shares there.
@test(level='plain', emulated=('plain',), params=sorted(SPLIT_KINDS), plain_params=('plain', 'inlined'), measures=True, longer=True)
def shares(t, kind):
    _needs_a_compiler(t, kind)
    if t.level != 'plain':
        return _split(t, kind, 6000, 2000, LIMIT)
    # A quarter of the samples: twice the statistical error.
    _split(t, kind, 2000, 1000, 2 * LIMIT)
