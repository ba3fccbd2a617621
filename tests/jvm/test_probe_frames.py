# SPDX-License-Identifier: BSD-2-Clause
"""Frames of probes are no part of the program: no stack has them, whoever takes it, and a sample inside a probe counts for the method that called it."""
import re

from hprof_text import SAMPLES, UNKNOWN
from runner import test

OURS = re.compile(r'hprofx\.Tracker\.|Hprofx(Tracker|Counts)\.|MethodHandle\.linkToNative')
MS = 1000  # of CPU time that the program spends in the methods that call probes, and little else; how long the JVM needs to start is not known
BOTH = 'cpu=samples,cpu=times,cutoff=0,interval='


def _inside(p):
    """The share of the samples, in percent."""
    n, percent = re.fullmatch(r'(\d+) \((\d+\.\d\d) %\)', p.report['inside probes']).groups()
    return int(n), float(percent)


def _sum(p, what):
    return sum(int(v) for k, v in p.report.items() if k.startswith(what + ', '))


def _no_frame_of_a_probe(t, p):
    ours = sorted({f.method for trace in p.traces.values() for f in trace.frames if OURS.search(f.method)})
    t.equal(ours, [], 'frames of probes')


@test(level='plain', params=('async', 'walk', 'poll', 'async,times=counts', 'walk,times=counts'), plain_params=('async', 'async,times=counts'))
def samples_count_for_the_caller(t, engine):
    run, p = t.profile('Probes', MS, 0, opts=BOTH + '1,depth=4,sampler=' + engine)
    _no_frame_of_a_probe(t, p)
    n, percent = _inside(p)
    table = p.table(SAMPLES)
    t.check(0 < n <= table.total, '%d of %d samples inside probes' % (n, table.total))
    t.near(percent, 100 * n / table.total, 0.1, 'percent inside probes')
    counts = table.counts()
    t.check(counts['Probes.tiny'] + counts['Probes.down'] > 0.5 * MS, 'the methods that call probes have %s' % counts.most_common(5))
    of_tiny = [[f.method for f in trace.frames] for trace in map(p.traces.get, sorted({r.trace for r in table.rows})) if trace.frames and trace.frames[0].method == 'Probes.tiny']
    t.equal([f for f in of_tiny if len(f) != 4 and not any(UNKNOWN in m for m in f)], [], 'stacks of a deep method that lack frames')


@test(params=('async', 'walk'))
def one_frame_is_the_callers(t, engine):
    run, p = t.profile('Probes', MS, 0, opts=BOTH + '0.1,depth=1,sampler=' + engine)
    _no_frame_of_a_probe(t, p)
    table = p.table(SAMPLES)
    t.check(sum(table.counts()[m] for m in ('Probes.tiny', 'Probes.down')) > 0.5 * MS / 0.1, 'rows: %s' % table.rows[:5])
    if p.report.get('vm structures') == 'on':
        told, rows = (_sum(p, 'without a ' + what) - int(p.report.get('without a %s, no_Java_frame' % what, 0)) for what in ('frame', 'stack'))
        t.equal(told, rows - int(p.report.get('without a stack, thread_ended', 0)), 'samples without a frame whose reason is told')


@test(params=('monitor=y,owner=y', 'heap=all', 'heap=sites,sites=counts,monitor=y'))
def no_stack_has_them(t, more):
    """Allocations, blocked threads, owners of monitors, and the threads of MONITOR DUMP and of a heap dump."""
    run, p = t.profile('Probes', 300, 2, opts='cpu=times,cutoff=0,thread=y,depth=8,' + more)
    _no_frame_of_a_probe(t, p)


@test()
def without_probes_there_is_no_such_line(t):
    run, p = t.profile('Probes', 100, 0)
    t.check('inside probes' not in p.report, 'inside probes: %s' % p.report.get('inside probes'))
