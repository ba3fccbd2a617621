# SPDX-License-Identifier: BSD-2-Clause
"""A signal that stands for a long time: a thread blocks it while it works, which is an overrun of any clock."""
import re
import time

from expect import burnt_ms
from runner import test

COARSE = 5  # CLOCK_REALTIME_COARSE: its resolution is a scheduler tick
FIRST, SECOND = 300, 1200


def _limit(interval):
    """Intervals that a stack gets at most."""
    return max(20, -(-5 * round(time.clock_getres(COARSE) * 1e6) // round(interval * 1e3)))


def _profile(t, interval, more=''):
    run, p = t.profile('Stalled', FIRST, SECOND, opts='cpu=samples,thread=y,cutoff=0,depth=4,interval=%s%s' % (interval, more), native=True)
    used = burnt_ms(run)
    for name in ('stalled', 'other'):
        t.near(p.by_thread()[p.serial(name)] * float(interval), used[name], 0.02 * used[name] + 2 * float(interval), 'CPU time of %s in ms' % name)
    t.equal(sum(r.count for r in p.rows), p.total, 'sum of the rows with cutoff=0')
    return p


@test(level='plain', params=('10', '1', '0.3'), plain_params=('10',), measures=True)
def a_stall_is_a_row_of_its_thread(t, interval):
    for _ in range(3):
        p = _profile(t, interval)
        if p.report['stalls'].startswith('1, '):  # else the machine made another
            break
    ms = float(interval)
    row = p.by_thread('hprofx.stalled')
    beyond = SECOND - _limit(ms) * ms
    t.near(row[p.serial('stalled')] * ms, beyond, 0.03 * SECOND + 2 * ms, 'ms in the row of the stall')
    t.check(all(len(tr.frames) == 1 for _, tr in p.stacks() if tr.frames and tr.frames[0].method == 'hprofx.stalled'), 'a stall has no stack')
    t.equal([n for n in p.leaves() if n.startswith('hprofx.') and 'unknown' not in n and n != 'hprofx.truncated'], ['hprofx.stalled'], 'rows of hprofx')
    # the machine may stall the threads, too
    n, all_ms = re.fullmatch(r'(\d+), ([0-9.]+) ms in hprofx.stalled', p.report['stalls']).groups()
    t.check(int(n) >= 1, 'stalls %s' % n)
    t.near(float(all_ms), sum(row.values()) * ms, 0.001 * float(all_ms), 'ms of all stalls')
    t.near(float(p.report['longest stall'].split()[0]), SECOND, 0.03 * SECOND + 2 * ms, 'the longest stall in ms')
    t.equal(int(p.report['without a stack'].split()[0]), p.unknown(), 'samples without a stack')
    t.check('stalls' not in ''.join(k for k in p.report if k.startswith('without a stack')), 'a stall counts as a sample without a stack')


@test(measures=True)
def walk_shows_a_stall_too(t):
    p = _profile(t, '10', ',sampler=walk')
    t.near(p.by_thread('hprofx.stalled')[p.serial('stalled')] * 10, SECOND - 200, 0.03 * SECOND + 20, 'ms in the row of the stall')


@test(level='plain', params=('async', 'walk', 'async, below a tick'), measures=True)
def a_long_system_call_keeps_its_stack(t, how):
    """A timer signals at its end, with its stack; a perf event a little later."""
    engine, interval = how.split(',')[0], 1 if 'below' in how else 10
    run, p = t.profile('Stalled', opts='cpu=samples,cutoff=0,depth=4,interval=%d,sampler=%s' % (interval, engine), native=True)
    used = re.search(r'^call (\d+)$', run.out, re.M)
    if used is None or int(used.group(1)) < 500e6:
        t.skip('no system call that takes long enough')
    ms = int(re.search(r'^calls (\d+)$', run.out, re.M).group(1)) / 1e6
    t.check(p.having('hprofx.stalled') * interval < 0.15 * ms, 'the calls of %.0f ms are a stall: %s' % (ms, p.report.get('stalls')))
    if how == 'async':  # walk takes the stack later
        t.near(p.leaves().get('Stalled.call', 0) * 10, ms, 0.15 * ms + 20, 'ms of the system calls')


@test(measures=True)
def poll_has_no_signal_that_could_stall(t):
    p = _profile(t, '10', ',sampler=poll')
    t.equal((p.having('hprofx.stalled'), p.report.get('stalls')), (0, None), 'stalls')


@test(level='plain', measures=True)
def a_heavy_signal_below_five_ticks_is_no_stall(t):
    """The first two threads are sampled at ticks, and a tick has many intervals."""
    _, p = t.profile('Burn', 1500, 1500, opts='cpu=samples,cutoff=0,depth=1,interval=0.1')
    t.check(p.having('hprofx.stalled') < 0.1 * p.total, 'stalls: %s' % p.report.get('stalls'))
    n = int(p.report['effective samples'])
    t.check(0 < n <= p.total, '%d effective samples of %d' % (n, p.total))
