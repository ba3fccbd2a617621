# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times with drainers beside the aggregator: exact counts, whoever drains a thread. A preload shows the agent many processors and aggregators that never rest."""
import re

from expect import EXACT, exact, no_odd_exits, ticks_add_up, ticks_ms
from preload import preload
from runner import test


def _drainers(p):
    """(drainers, their CPU ms, threads given) of the report; None without."""
    m = re.match(r'(\d+) besides the aggregator, ([\d.]+) ms; (\d+) threads assigned to them$', p.report.get('drainers', ''))
    return (int(m.group(1)), float(m.group(2)), int(m.group(3))) if m else None


def _sound(t, p, least):
    d = _drainers(p)
    t.check(d and d[0] >= least and d[2] >= d[0] and d[1] > 0, 'drainers: %s' % p.report.get('drainers'))
    no_odd_exits(t, p, 'lost')


@test(level='plain', params=(16, 40))
def counts_are_exact_with_several_drainers(t, threads):
    run, p = t.profile('CountMany', threads, 40, opts=EXACT, env=preload(t, 'busy'))
    exact(t, run, p)
    _sound(t, p, 3)


@test()
def each_thread_has_its_own_counts(t):
    run, p = t.profile('CountMany', 16, 30, opts=EXACT + ',depth=3,thread=y', env=preload(t, 'busy'))
    exact(t, run, p)
    _sound(t, p, 3)
    t.equal(sorted(p.by_thread('CountMany.fib').values()), [13529 * 30] * 16, 'calls of fib by thread')


@test(params=('', ',cpu=samples'))
def ticks_go_to_whoever_drains_the_thread(t, beside):
    """times=sampled: exact counts, and the times are those of the ticks, each of them once."""
    run, p = t.profile('CountMany', 16, 80, opts=EXACT + ',times=sampled' + beside, env=preload(t, 'busy'))
    exact(t, run, p)
    _sound(t, p, 3)
    t.check(ticks_ms(p) > 0, 'ticks: %s' % p.report['ticks'])
    ticks_add_up(t, p)


@test()
def daemons_that_go_on_calling_do_not_disturb_the_end(t):
    run, p = t.profile('CountMany', 8, 20, 'daemons', opts=EXACT, env=preload(t, 'busy'))
    exact(t, run, p)
    t.check(_drainers(p), 'drainers: %s' % p.report.get('drainers'))
    t.check(int(p.report['open calls'].split(',')[0]) >= 8, 'open calls: %s' % p.report['open calls'])


@test()
def without_a_thread_for_a_drainer_all_goes_on(t):
    run, p = t.profile('CountMany', 8, 20, opts=EXACT, env=preload(t, 'busy', HPX_BUSY_ALONE='1'))
    exact(t, run, p)
    t.check('drainers' not in p.report, 'drainers: %s' % p.report.get('drainers'))
    t.equal([ln for ln in run.err.splitlines() if ln.startswith('hprofx: ') and not ln.startswith('hprofx: calls')], [], 'lines about it')


@test(since=21)
def virtual_threads_take_their_calls_along(t):
    run, p = t.profile('CountVirtual', 5000, opts=EXACT, env=preload(t, 'busy'))
    exact(t, run, p)
    no_odd_exits(t, p)


@test(level='plain')
def one_thread_has_none(t):
    """Whatever the load: there is nothing to share."""
    run, p = t.profile('Count', 'recursion', opts=EXACT + ',include=Count', env=preload(t, 'busy'))
    exact(t, run, p)
    t.check('drainers' not in p.report, 'drainers: %s' % p.report.get('drainers'))
