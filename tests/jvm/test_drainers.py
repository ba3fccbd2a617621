# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times with drainers beside the aggregator: exact counts, whoever drains a thread. A preload shows the agent many processors and aggregators that never rest."""
import collections
import re

from runner import test
from test_times import EXACT, _exact


def _busy(t):
    return {'LD_PRELOAD': '%s/libbusy.so' % t.env.native_dir(t.jdk)}


def _drainers(p):
    """(drainers, their CPU ms, threads given) of the report; None without."""
    m = re.match(r'(\d+) beside the aggregator, ([\d.]+) ms; threads given to them: (\d+)$', p.report.get('drainers', ''))
    return (int(m.group(1)), float(m.group(2)), int(m.group(3))) if m else None


def _sound(t, p, least):
    d = _drainers(p)
    t.check(d and d[0] >= least and d[2] >= d[0] and d[1] > 0, 'drainers: %s' % p.report.get('drainers'))
    t.equal([p.report[k] for k in ('exits not seen', 'exits without an entry', 'lost')], ['0', '0', '0'], 'exits not seen, exits without an entry, lost')


@test(level='quick', params=(16, 40))
def counts_are_exact_with_several_drainers(t, threads):
    run, p = t.profile('CountMany', threads, 40, opts=EXACT, env=_busy(t))
    _exact(t, p, run)
    _sound(t, p, 3)


@test()
def each_thread_has_its_own_counts(t):
    run, p = t.profile('CountMany', 16, 30, opts=EXACT + ',depth=3,thread=y', env=_busy(t))
    _exact(t, p, run)
    _sound(t, p, 3)
    by = collections.Counter()
    for r in p.rows:
        if r.method == 'CountMany.fib':
            by[p.traces[r.trace].thread] += r.count
    t.equal(sorted(by.values()), [13529 * 30] * 16, 'calls of fib by thread')


@test()
def ticks_go_to_whoever_drains_the_thread(t):
    """times=sampled: exact counts, and the times are those of the ticks, each of them once."""
    run, p = t.profile('CountMany', 16, 80, opts=EXACT + ',times=sampled', env=_busy(t))
    _exact(t, p, run)
    _sound(t, p, 3)
    ticks, rest = (float(re.search(r'([\d.]+) ms$', p.report[k]).group(1)) for k in ('ticks', 'ticks outside of counted methods'))
    open_ms = float(re.search(r'([\d.]+) ms', p.report['open calls'].split(',')[1]).group(1))
    t.check(ticks > 0, 'ticks: %s' % p.report['ticks'])
    t.near(p.total + rest + open_ms, ticks, 0.02 * ticks + 2, 'ms of the table, outside and open')


@test()
def daemons_that_go_on_calling_do_not_disturb_the_end(t):
    run, p = t.profile('CountMany', 8, 20, 'daemons', opts=EXACT, env=_busy(t))
    _exact(t, p, run)
    t.check(_drainers(p), 'drainers: %s' % p.report.get('drainers'))
    t.check(int(p.report['open calls'].split(',')[0]) >= 8, 'open calls: %s' % p.report['open calls'])


@test()
def without_a_thread_for_a_drainer_all_goes_on(t):
    run, p = t.profile('CountMany', 8, 20, opts=EXACT, env=dict(_busy(t), HPX_BUSY_ALONE='1'))
    _exact(t, p, run)
    t.check('drainers' not in p.report, 'drainers: %s' % p.report.get('drainers'))
    t.equal([ln for ln in run.err.splitlines() if ln.startswith('hprofx: ') and not ln.startswith('hprofx: calls')], [], 'lines about it')


@test(since=21)
def virtual_threads_take_their_calls_along(t):
    run, p = t.profile('CountVirtual', 5000, opts=EXACT, env=_busy(t))
    _exact(t, p, run)
    t.equal([p.report[k] for k in ('exits not seen', 'exits without an entry')], ['0', '0'], 'exits not seen, exits without an entry')


@test(level='quick')
def one_thread_has_none(t):
    """Whatever the load: there is nothing to share."""
    run, p = t.profile('Count', 'recursion', opts=EXACT + ',include=Count', env=_busy(t))
    _exact(t, p, run)
    t.check('drainers' not in p.report, 'drainers: %s' % p.report.get('drainers'))
