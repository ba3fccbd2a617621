# SPDX-License-Identifier: BSD-2-Clause
"""total x requested interval = CPU time of the Java threads, within 2 % for threads of a second and more."""
from runner import test


def _parse(run):
    threads, all_ns = {}, 0
    for ln in run.out.splitlines():
        f = ln.split()
        if f[0] == 'thread':
            threads[f[1]] = int(f[2]) / 1e6
        elif f[0] == 'all':
            all_ns = int(f[1]) / 1e6
    return threads, all_ns


@test(level='quick', params=('10', '1', '0.5', '7'), quick_params=('1',), alone=True)
def total_is_cpu_time(t, interval):
    ms = float(interval)
    ask = (1500, 1500) if t.level == 'quick' else (2500, 2000, 1500)
    run, p = t.profile('Burn', *ask, opts='cpu=samples,thread=y,cutoff=0,depth=1,interval=' + interval)
    threads, all_ms = _parse(run)
    counts = p.by_thread()
    for name, used in threads.items():
        # One sample more or less is the granularity of the measure itself.
        t.near(counts[p.serial(name)] * ms, used, 0.02 * used + ms, 'CPU time of %s in ms' % name)
    t.near(p.total * ms, all_ms, 0.02 * all_ms + 2 * ms, 'CPU time of all Java threads in ms')
    t.equal(sum(r.count for r in p.rows), p.total, 'sum of the rows with cutoff=0')
