# SPDX-License-Identifier: BSD-2-Clause
"""total x requested interval = CPU time of the Java threads, within 2 % for threads of a second and more."""
import re

from expect import burnt_ms
from runner import test


@test(level='plain', emulated=True, params=('10', '1', '0.5', '7'), plain_params=('1',), measures=True, longer=True)
def total_is_cpu_time(t, interval):
    ms = float(interval)
    ask = (1500, 1500) if t.level == 'plain' else (2500, 2000, 1500)
    run, p = t.profile('Burn', *ask, opts='cpu=samples,thread=y,cutoff=0,depth=1,interval=' + interval)
    threads = burnt_ms(run)
    all_ms, before_ms = (int(re.search(r'^%s (\d+)$' % word, run.out, re.M).group(1)) / 1e6 for word in ('all', 'before'))
    t.equal(len(threads), len(ask), 'threads that say what they used')
    counts = p.by_thread()
    for name, used in threads.items():
        # One sample more or less is the granularity of the measure itself.
        t.near(counts[p.serial(name)] * ms, used, 0.02 * used + ms, 'CPU time of %s in ms' % name)
    if t.jdk.has('hotspot'):  # else the sampling thread is one of them
        # Of what main has used when it begins, the time before VMInit is not counted, which may be all of it.
        t.near(p.total * ms, all_ms - before_ms / 2, before_ms / 2 + 0.02 * all_ms + 2 * ms, 'CPU time of all Java threads in ms')
    t.equal(sum(r.count for r in p.rows), p.total, 'sum of the rows with cutoff=0')
