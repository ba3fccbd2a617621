# SPDX-License-Identifier: BSD-2-Clause
"""times=sampled: exact counts, times by the signals of the CPU clock; and cpu=samples beside cpu=times: two tables, each true."""
import collections
import re

from runner import test
from test_split import _truth, distance
from test_times import CASES, _exact, _expected

SAMPLED = 'cpu=times,times=sampled,cutoff=0'
BOTH = 'cpu=samples,cpu=times,cutoff=0'
LOOPS = ('Split.loopA', 'Split.loopB', 'Split.loopC')


def _self_ms(table, name=lambda r: r.method):
    total, rows = table
    ms = collections.Counter()
    for r in rows:
        ms[name(r)] += r.self_ * total / 100
    return ms


def _times(p):
    return p.tables['CPU TIME (ms)']


def _ticks_ms(p):
    return float(re.search(r', ([0-9.]+) ms$', p.report['ticks']).group(1))


def _error(n, p=0.5):
    """Four standard errors of a share of p in n ticks: one run in 16,000 is beyond."""
    return 4 * (p * (1 - p) / max(1, n)) ** 0.5


@test(level='quick', params=CASES, quick_params=('recursion', 'exceptions', 'kinds'))
def counts_are_exact(t, case):
    run, p = t.profile('Count', case, opts=SAMPLED + ',interval=0.5')
    _exact(t, p, run)
    t.check(p.report['times'].startswith('sampled by '), 'times: %s' % p.report['times'])
    t.check('taken off for the probes' not in p.report, 'time was taken off')


@test(since=21, params=(1000, 10000))
def virtual_threads_take_their_calls_along(t, n):
    run, p = t.profile('CountVirtual', n, opts=SAMPLED + ',interval=0.5')
    _exact(t, p, run)
    t.equal([p.report[k] for k in ('exits not seen', 'exits without an entry')], ['0', '0'], 'exits not seen, exits without an entry')


def _split(t, opts, cpu_ms=3000):
    run, p = t.profile('Split', 'plain', cpu_ms, opts=opts + ',depth=1')
    truth = _truth(run)
    t.check(distance(truth, (0.6, 0.3, 0.1)) < 0.03, 'the program itself is off: %s' % truth)
    return run, p, truth


def _shares(t, ms, truth, ticks, what):
    got = [ms[m] / sum(ms[m] for m in LOOPS) for m in LOOPS]
    t.check(distance(got, truth) <= 0.01 + _error(ticks), '%s: shares %s, the truth %s' % (what, got, truth))


@test(level='quick', alone=True)
def times_are_split_as_the_time_was(t):
    _, p, truth = _split(t, SAMPLED + ',interval=1')
    _shares(t, _self_ms(_times(p)), truth, int(p.report['signals']), 'times')


@test(level='quick', params=('10', '1'), quick_params=('1',), alone=True)
def sums_are_cpu_time(t, interval):
    ms = float(interval)
    run, p = t.profile('Burn', 2000, 1500, opts=SAMPLED + ',thread=y,depth=1,interval=' + interval)
    by = _self_ms(_times(p), lambda r: p.traces[r.trace].thread)
    for name, ns in re.findall(r'^thread (\S+) (\d+)$', run.out, re.M):
        # One tick more or less is the granularity of the measure itself.
        t.near(by[p.serial(name)], int(ns) / 1e6, 0.02 * int(ns) / 1e6 + ms, 'CPU time of %s in ms' % name)
    total, _ = _times(p)
    outside = float(p.report['ticks outside of counted methods'].split()[0])
    open_ms = float(p.report['open calls'].split(', ')[1].split()[0])
    t.near(total + outside + open_ms, _ticks_ms(p), 1, 'table, outside and open calls against the ticks')


@test(alone=True)
def short_threads_have_their_time_on_the_whole(t):
    """Each uses a fifth of an interval: most have no tick, some have a whole one."""
    n, ms = 2000, 5
    run, p = t.profile('ShortThreads', n, 1000, opts=SAMPLED + ',depth=1,interval=%d' % ms)
    cpu = int(re.search(r'^cpu (\d+)$', run.out, re.M).group(1)) / 1e6
    # cpu is read inside run(); ticks come by chance, cpu / ms of them
    t.near(_ticks_ms(p), cpu, (0.15 + 2 * _error(cpu / ms)) * cpu, 'ms of ticks')
    t.check(_times(p)[0] > 0.8 * _ticks_ms(p), 'table of %d ms of %.1f' % (_times(p)[0], _ticks_ms(p)))


@test(level='quick', params=('cpu', 'sampled'), quick_params=('sampled',), alone=True)
def both_tables_are_true(t, times):
    run, p, truth = _split(t, BOTH + ',interval=1,times=' + times)
    t.equal(p.sections, ['CPU SAMPLES', 'CPU TIME (ms)'], 'sections')
    samples, rows = p.tables['CPU SAMPLES']
    counts = collections.Counter()
    for r in rows:
        counts[r.method] += r.count
    _shares(t, counts, truth, samples, 'samples')
    ms = _self_ms(_times(p))
    if times == 'cpu':
        for m, ns in zip(LOOPS, map(int, re.search(r'^truth (\d+) (\d+) (\d+)$', run.out, re.M).groups())):
            # the truth has a reading of the clock a call of a loop, by Java code with probes: some us
            calls = sum(r.count for r in _times(p)[1] if r.method == m)
            t.near(ms[m], ns / 1e6, 0.03 * ns / 1e6 + 2 + 0.008 * calls, 'ms of %s' % m)
    else:
        _shares(t, ms, truth, samples, 'times')
        t.near(_ticks_ms(p), samples, 0.01 * samples + 5, 'ms of ticks and samples of a ms')


@test(params=('async', 'walk', 'poll'))
def both_with_each_engine(t, engine):
    for case in ('recursion', 'threads', 'exceptions'):
        run, p = t.profile('Count', case, opts=BOTH + ',interval=0.5,sampler=' + engine)
        _exact(t, p, run)
    run, p = t.profile('Split', 'plain', 2000, opts=BOTH + ',interval=1,depth=1,sampler=' + engine)
    samples, rows = p.tables['CPU SAMPLES']
    t.check(sum(r.count for r in rows if r.method in LOOPS) > 0.8 * samples, 'samples in the loops of %d: %s' % (samples, rows[:5]))


@test(level='quick')
def old_beside_samples(t):
    run, p = t.profile('Count', 'recursion', opts='cpu=samples,cpu=old')
    t.equal(p.sections, ['CPU SAMPLES', 'CPU OLD'], 'sections')
    calls = sum(n for who, n, _ in p.old if who.startswith('Count.fib(I)I '))
    t.equal(calls, _expected(run)['Count.fib'], 'calls of Count.fib')


@test()
def both_without_line_numbers(t):
    """Then a trace of samples may print as one of calls does, and stands once in the file."""
    run, p = t.profile('Count', 'recursion', opts=BOTH + ',interval=0.5,lineno=n,depth=2')
    _exact(t, p, run)


@test(level='quick')
def without_signals_the_clock_is_read(t):
    run, p = t.profile('Count', 'recursion', opts=SAMPLED + ',sampler=poll')
    _exact(t, p, run)
    t.equal(run.err.count('times=sampled: sampler=poll has no signals: times are taken by times=cpu'), 1, 'lines that say so')
    t.check(not p.report['times'].startswith('sampled'), 'times: %s' % p.report['times'])
    t.check('ticks' not in p.report, 'ticks')


@test(since=21)
def both_with_virtual_threads(t):
    for times in ('cpu', 'sampled'):
        run, p = t.profile('CountVirtual', 2000, opts=BOTH + ',interval=0.5,times=' + times)
        _exact(t, p, run)


@test()
def filters_leave_time_to_the_callers(t):
    run, p = t.profile('Split', 'plain', 1500, opts=SAMPLED + ',interval=1,depth=1,include=Split,exclude=Split.none')
    ms = _self_ms(_times(p))
    t.check(all(m.startswith('Split.') for m in ms), 'methods: %s' % sorted(ms))
    t.check(sum(ms.values()) > 0.8 * _ticks_ms(p), '%s of %.1f ms' % (dict(ms), _ticks_ms(p)))


@test()
def counts_by_thread(t):
    run, p = t.profile('Count', 'threads', opts=BOTH + ',thread=y,depth=2,times=sampled,interval=0.5')
    by = collections.Counter()
    for r in _times(p)[1]:
        if r.method == 'Count.step':
            by[p.traces[r.trace].thread] += r.count
    t.equal(sorted(by.values()), [20000] * 16, 'calls of Count.step by thread')


@test(level='quick')
def without_timers_the_clock_is_read(t):
    run, p = t.profile('Count', 'recursion', opts=SAMPLED, env={'LD_PRELOAD': '%s/librefuses.so' % t.env.native_dir(t.jdk), 'REFUSES': 'timers'})
    _exact(t, p, run)
    t.equal(len(re.findall(r'^hprofx: times=sampled: no timer for a thread: .*: times are taken by times=cpu$', run.err, re.M)), 1, 'lines that say so')
    t.check('ticks' not in p.report, 'ticks')


@test(params=('', 'cpu=samples,'))
def with_several_drainers(t, beside):
    run, p = t.profile('CountMany', 16, 40, opts=beside + SAMPLED + ',interval=1', env={'LD_PRELOAD': '%s/libbusy.so' % t.env.native_dir(t.jdk)})
    _exact(t, p, run)
    t.check(p.report.get('drainers', '0')[0] >= '2', 'drainers: %s' % p.report.get('drainers'))
    total, _ = _times(p)
    outside = float(p.report['ticks outside of counted methods'].split()[0])
    open_ms = float(p.report['open calls'].split(', ')[1].split()[0])
    t.near(total + outside + open_ms, _ticks_ms(p), 1, 'table, outside and open calls against the ticks')
