# SPDX-License-Identifier: BSD-2-Clause
"""sampler=walk and sampler=poll: known splits, totals, and how an engine is chosen."""
import re

from expect import LONG_PIECES, cpu_ms, distance, shares_of, split_samples, truth
from preload import preload
from runner import test

ENGINES = ('walk', 'poll')


def _engine(p):
    """The one that the report names."""
    return re.match(r'\w+', p.report['sampler']).group(0)


# On a busy machine the sampling thread comes late, and a stack stands for several intervals: with walk half of the stacks were taken in a run that failed.
RUNS = {'walk': 3, 'poll': 6}


def _split(t, engine, kind, ms, limit, jvm=()):
    """The shares of one run are right, or those of a few together, as the error of one can be large by chance: the limit is that of one."""
    unit = [LONG_PIECES] if engine == 'poll' and '-Xint' not in jvm else []
    samples, truths, taken = [], [], 0
    while True:
        run, p = t.profile('Split', kind, ms, *unit, opts='cpu=samples,interval=1,depth=64,cutoff=0,sampler=' + engine, jvm=list(jvm))
        t.equal(_engine(p), engine, 'engine')
        n = split_samples(p, kind)
        t.check(sum(n) >= 0.7 * p.total, 'only %d of %d samples are in the methods that use the time' % (sum(n), p.total))
        # A busy machine lets poll look less often. A look is one draw, but they stand for unequal CPU times: the error is larger than that of as many draws.
        stacks = int(p.report['stacks taken'].split()[0])
        t.check(stacks >= ms / 40, 'only %d stacks taken' % stacks)
        samples.append(n)
        truths.append(truth(run))
        taken += stacks
        got, want = (shares_of([sum(x) for x in zip(*rows)]) for rows in (samples, truths))
        bound = limit + 3 * (0.6 * 0.4 * len(samples) / taken) ** 0.5
        if distance(got, want) <= bound:
            return
        t.check(len(samples) < RUNS[engine], 'shares %s, the truth %s: distance %.3f, %d stacks, limit %.3f' % (got, want, distance(got, want), taken, bound))


@test(params=('plain', 'inlined'), needs=('jit',), measures=True)
def walk_sees_the_split(t, kind):
    _split(t, 'walk', kind, 3000, 0.02)


@test(measures=True)
def poll_sees_the_split_of_loops(t):
    _split(t, 'poll', 'plain', 3000, 0.02)


@test(needs=('jit',))
def poll_sees_no_method_without_a_safepoint(t):
    """The time of inlined methods is all there, in the loop that they were inlined into."""
    _, p = t.profile('Split', 'inlined', 1500, LONG_PIECES, opts='cpu=samples,interval=1,depth=64,cutoff=0,sampler=poll')
    tinies = ['Split.tinyA', 'Split.tinyB', 'Split.tinyC']
    c = p.innermost_of(tinies + ['Split.mix'])
    tiny, mix = sum(c[m] for m in tinies), c['Split.mix']
    t.check(mix > 0.5 * p.total and tiny < 0.3 * p.total, 'mix %d, tiny methods %d of %d' % (mix, tiny, p.total))


@test(params=ENGINES, timeout=120, measures=True)
def short_threads_are_counted_whole(t, engine):
    run, p = t.profile('ShortThreads', 5000, 300, opts='cpu=samples,interval=1,cutoff=0,sampler=' + engine)
    short = cpu_ms(run)
    # Each thread ends after the CPU time that it reads, and main and the JVM's own Java threads use some.
    t.check(0.95 * short <= p.total <= 1.5 * short + 600, '%d samples of 1 ms, the threads used %d ms' % (p.total, short))


def _refused(t, what, opts, *unit):
    return t.profile('Split', 'plain', 500, *unit, opts=opts, env=preload(t, 'refuses', REFUSES=what))


@test(params=('missing', 'failing'), needs=('jit', 'hotspot'), level='plain')
def walk_is_taken_without_a_usable_AsyncGetCallTrace(t, what):
    run, p = _refused(t, what, 'cpu=samples,sampler=asgct,interval=1,cutoff=0')
    t.equal(_engine(p), 'walk', 'engine')
    t.equal(run.err.count('using sampler=walk instead'), 1, 'lines that say so')
    t.check(p.having('Split.loopA') > 0.3 * p.total, 'no samples in the hot loop')


@test(params=('missing', 'failing'), needs=('jit', 'hotspot'), level='plain')
def async_never_calls_AsyncGetCallTrace(t, what):
    _, p = _refused(t, what, 'cpu=samples,interval=1,cutoff=0')
    t.equal(_engine(p), 'async', 'engine')
    t.check(p.having('Split.loopA') > 0.3 * p.total, 'no samples in the hot loop')


@test(needs=('jit', 'hotspot'), level='plain')
def walk_is_taken_on_another_vm(t):
    run, p = _refused(t, 'vm', 'cpu=samples,sampler=asgct,interval=1,cutoff=0')
    t.equal(_engine(p), 'walk', 'engine')
    t.equal(run.err.count('cpu=samples: AsyncGetCallTrace is not known to work on this VM; using sampler=walk instead'), 1, 'lines that say so')
    t.check(p.having('Split.loopA') > 0.3 * p.total, 'no samples in the hot loop')


@test(level='plain')
def a_mode_that_the_vm_refuses_is_off_and_the_other_goes_on(t):
    run = t.java('Split', 'plain', 100, opts='cpu=samples,cpu=times,interval=1', env=preload(t, 'refuses', REFUSES='hook'))
    t.complete(run)
    t.equal(t.output().sections, ['CPU SAMPLES'], 'sections')
    t.equal(run.err.count('cpu=times is off: the VM refuses a capability that it needs: JVMTI_ERROR_NOT_AVAILABLE; the other modes continue'), 1, 'lines that say so')


@test(level='plain')
def poll_is_taken_without_timers(t):
    run, p = _refused(t, 'timers', 'cpu=samples,interval=10,cutoff=0', LONG_PIECES)
    t.equal(_engine(p), 'poll', 'engine')
    t.equal(run.err.count('polling its CPU clock'), 1, 'lines that say so')
    # a loop without safepoints is found at its end, in its caller; a busy machine has few looks: which they find is left to the splits
    t.check(p.having('Split.round') > 0.5 * p.total, 'no samples in the rounds')


@test(level='plain')
def a_sampling_thread_that_has_left_is_of_the_profilers_own_cpu_time(t):
    """It leaves before the last report; its CPU clock is 1000 s ahead."""
    _, p = t.profile('Hello', opts='cpu=samples,sampler=walk', stdout='hi\n', env=preload(t, 'cpuclock', CPUCLOCK_OF='hprofx-sampler'))
    own = float(p.report['own CPU time'].split()[0])
    t.check(own > 1e6, 'own CPU time: %.3f ms' % own)
