# SPDX-License-Identifier: BSD-2-Clause
"""times=sampled: exact counts, times by the signals of the CPU clock; and cpu=samples beside cpu=times: two tables, each true."""
import re

from expect import LONG_PIECES, SPLIT_LOOPS, burnt_ms, cpu_ms, distance, exact, shares_of, ticks_add_up, ticks_ms, truth, truth_ms
from hprof_text import SAMPLES, TIMES
from preload import preload
from runner import test

SAMPLED = 'cpu=times,times=sampled,cutoff=0'
BOTH = 'cpu=samples,cpu=times,cutoff=0'


def _error(n, p=0.5):
    """Four standard errors of a share of p in n ticks: one run in 16,000 is beyond."""
    return 4 * (p * (1 - p) / max(1, n)) ** 0.5


def _split(t, opts, ms=3000):
    run, p = t.profile('Split', 'plain', ms, opts=opts + ',depth=1')
    want = truth(run)
    t.check(distance(want, (0.6, 0.3, 0.1)) < 0.03, 'the program itself is off: %s' % want)
    return run, p, want


def _shares(t, by_method, want, ticks, what):
    got = shares_of([by_method[m] for m in SPLIT_LOOPS])
    t.check(distance(got, want) <= 0.01 + _error(ticks), '%s: shares %s, the truth %s' % (what, got, want))


@test(measures=True)
def times_are_split_as_the_time_was(t):
    _, p, want = _split(t, SAMPLED + ',interval=1')
    _shares(t, p.table(TIMES).self_ms(), want, int(p.report['signals']), 'times')


@test(level='plain', params=('10', '1'), plain_params=('1',), measures=True)
def sums_are_cpu_time(t, interval):
    ms = float(interval)
    run, p = t.profile('Burn', 2000, 1500, opts=SAMPLED + ',thread=y,depth=1,interval=' + interval)
    by = p.table(TIMES).self_ms(lambda r: p.traces[r.trace].thread)
    used = burnt_ms(run)
    t.equal(len(used), 2, 'threads that say what they used')
    for name, want in used.items():
        # One tick more or less is the granularity of the measure itself.
        t.near(by[p.serial(name)], want, 0.02 * want + ms, 'CPU time of %s in ms' % name)
    ticks_add_up(t, p)


@test(measures=True)
def short_threads_have_their_time_on_the_whole(t):
    """Each uses a fifth of an interval: most have no tick, some have a whole one."""
    n, ms = 2000, 5
    run, p = t.profile('ShortThreads', n, 1000, opts=SAMPLED + ',depth=1,interval=%d' % ms)
    cpu = cpu_ms(run)
    # cpu is read inside run(); ticks come by chance, cpu / ms of them
    t.near(ticks_ms(p), cpu, (0.15 + 2 * _error(cpu / ms)) * cpu, 'ms of ticks')
    t.check(p.table(TIMES).total > 0.8 * ticks_ms(p), 'table of %d ms of %.1f' % (p.table(TIMES).total, ticks_ms(p)))


@test(level='plain', params=('cpu', 'sampled'), plain_params=('sampled',), measures=True)
def both_tables_are_true(t, times):
    run, p, want = _split(t, BOTH + ',interval=1,times=' + times)
    t.equal(p.sections, [SAMPLES, TIMES], 'sections')
    samples = p.table(SAMPLES).total
    _shares(t, p.table(SAMPLES).counts(), want, samples, 'samples')
    ms = p.table(TIMES).self_ms()
    if times == 'cpu':
        for m, used in zip(SPLIT_LOOPS, truth_ms(run)):
            # the truth has a reading of the clock a call of a loop, by Java code with probes: some us
            t.near(ms[m], used, 0.03 * used + 2 + 0.008 * p.table(TIMES).counts()[m], 'ms of %s' % m)
    else:
        _shares(t, ms, want, samples, 'times')
        t.near(ticks_ms(p), samples, 0.01 * samples + 5, 'ms of ticks and samples of a ms')


@test(params=('async', 'walk', 'poll'))
def both_with_each_engine(t, engine):
    for case in ('recursion', 'threads', 'exceptions'):
        run, p = t.profile('Count', case, opts=BOTH + ',interval=0.5,sampler=' + engine)
        exact(t, run, p)
    run, p = t.profile('Split', 'plain', 2000, *[5 * LONG_PIECES] if engine == 'poll' else [], opts=BOTH + ',interval=1,depth=1,sampler=' + engine)
    table = p.table(SAMPLES)
    t.check(sum(table.counts()[m] for m in SPLIT_LOOPS) > 0.8 * table.total, 'samples in the loops of %d: %s' % (table.total, table.rows[:5]))


@test()
def both_without_line_numbers(t):
    """Then a trace of samples may print as one of calls does, and stands once in the file."""
    run, p = t.profile('Count', 'recursion', opts=BOTH + ',interval=0.5,lineno=n,depth=2')
    exact(t, run, p)


@test(level='plain')
def without_signals_the_clock_is_read(t):
    run, p = t.profile('Count', 'recursion', opts=SAMPLED + ',sampler=poll')
    exact(t, run, p)
    t.equal(run.err.count('times=sampled: sampler=poll sends no signals; using times=cpu instead'), 1, 'lines that say so')
    t.check(not p.report['times'].startswith('sampled'), 'times: %s' % p.report['times'])
    t.check('ticks' not in p.report, 'ticks')


@test()
def filters_leave_time_to_the_callers(t):
    run, p = t.profile('Split', 'plain', 1500, opts=SAMPLED + ',interval=1,depth=1,include=Split,exclude=Split.none')
    ms = p.table(TIMES).self_ms()
    t.check(all(m.startswith('Split.') for m in ms), 'methods: %s' % sorted(ms))
    t.check(sum(ms.values()) > 0.8 * ticks_ms(p), '%s of %.1f ms' % (dict(ms), ticks_ms(p)))


@test(level='plain')
def without_timers_the_clock_is_read(t):
    run, p = t.profile('Count', 'recursion', opts=SAMPLED, env=preload(t, 'refuses', REFUSES='timers'))
    exact(t, run, p)
    t.equal(len(re.findall(r'^hprofx: times=sampled: cannot create a timer for a thread: .*; using times=cpu instead$', run.err, re.M)), 1, 'lines that say so')
    t.check('ticks' not in p.report, 'ticks')
