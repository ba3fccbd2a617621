# SPDX-License-Identifier: BSD-2-Clause
"""timeline=y: every sample was taken while the program says that its method ran, and sums are those of the tables."""
import re

from runner import test
from text_lines import sum_by
from waiting import stop_steps, until

NEAR = 20  # ms
OPTS = 'timeline=y,depth=16,cutoff=0,interval=1'


def _told(run, what):
    """[(from, to)] in ms since 1970."""
    return [(int(a), int(b)) for of, a, b in re.findall(r'^(\w+) (\d+) (\d+)$', run.out, re.M) if of == what]


def _has(p, trace, method):
    return trace in p.traces and any(f.method == 'Rhythm.' + method for f in p.traces[trace].frames)


def _whole(t, p):
    """The one TIMELINE, of which nothing is lost."""
    t.equal(len(p.timelines), 1, 'sections')
    t.check('timeline, without a time' not in p.report, 'lost: %s' % p.report.get('timeline, without a time'))
    return p.timelines[0]


def _within(t, line, events, phases, what):
    """Each event is in a phase. Which phases have one. What a thread has used since its last sample counts at the last stack when it ends, and has that time."""
    hit, off = set(), []
    for e in events:
        at = line.zero + e.ms
        where = [i for i, (a, b) in enumerate(phases) if a - NEAR <= at <= b + NEAR]
        hit.update(where)
        off += [] if where else [at]
    over = [at for at in off if at > phases[-1][1]]
    t.equal([at for at in off if at not in over[:1]][:5], [], '%d of %d events of %s are at no time that the program tells, %s' % (len(off), len(events), what, phases))
    return hit


@test(level='plain')
def samples_are_where_the_program_was(t):
    run, p = t.profile('Rhythm', 6, 500, 3, opts='cpu=samples,' + OPTS)
    line = _whole(t, p)
    for method in ('steady', 'burst'):
        phases = _told(run, method)
        events = [e for e, place in line.of('cpu') if _has(p, place.trace, method)]
        hit = _within(t, line, events, phases, method)
        t.check(len(hit) >= len(phases) - 1, 'phases of %s with a sample: %s' % (method, hit))  # one may have had no CPU
    t.equal(line.counts(), {r.trace: r.count for r in p.rows}, 'samples by trace')
    main = p.serial('main')
    t.equal({e.thread for e, place in line.of('cpu') if _has(p, place.trace, 'burst')}, {main}, 'threads of the burst')


@test(level='plain')
def collections_have_their_begin_and_end(t):
    if t.case.collector not in ('', 'Serial', 'Parallel', 'G1', None):
        t.skip('collections that run beside the program')
    run, p = t.profile('Rhythm', 6, 200, 3, opts='cpu=samples,' + OPTS)
    line = _whole(t, p)
    pauses, told = [(line.zero + e.ms - e.ns / 1e6, line.zero + e.ms) for e, _ in line.of('gc')], _told(run, 'gc')
    t.equal(len(told), 3, 'collections that the program tells')
    for a, b in told:
        t.check(any(a - NEAR <= begin and end <= b + NEAR for begin, end in pauses), 'no pause from %d to %d: %s' % (a, b, pauses))


@test(level='plain')
def waits_and_allocations_add_up(t):
    run, p = t.profile('Rhythm', 4, 300, 9, opts='wall=5,heap=sites,sites=sampled,sample=64k,live=n,' + OPTS)
    line = _whole(t, p)
    waits = sum_by(((place.trace, place.state), e.ns) for e, place in line.of('wall'))
    rows = sum_by(((r.trace, r.state), r.count) for r in p.wall.rows if r.state != 'running')
    for key in {*waits, *rows}:
        t.check(abs(waits[key] / 1e6 - rows[key]) <= 1 + sum(1 for r in p.wall.rows if (r.trace, r.state) == key), '%s: %d ns, %d ms' % (key, waits[key], rows[key]))
    if 'sites' in p.report.get('allocations', 'sites') and line.of('alloc'):
        made = sum(e.count * place.bytes * place.shares / 1000 for e, place in line.of('alloc'))
        listed = sum(s.bytes for s, _ in p.sites)
        t.check(abs(made - listed) <= 0.01 * listed, '%d bytes in TIMELINE, %d in SITES' % (made, listed))
        events = [e for e, place in line.of('alloc') if _has(p, place.trace, 'steady')]
        _within(t, line, events, _told(run, 'steady'), 'allocations')


@test(level='plain')
def a_part_of_the_run_is_shown(t):
    run, p = t.profile('Rhythm', 6, 500, 3, opts='cpu=samples,' + OPTS)
    line = _whole(t, p)
    (a, b), = _told(run, 'burst')
    out = t.read('view', '--json', '--from', '%dms' % (a - line.zero), '--to', '%dms' % (b - line.zero), t.work / 'java.hprof.txt')
    t.check('Rhythm.burst' in out and 'Rhythm.steady' not in out, 'what the burst has: %s' % out[:500])


@test(level='plain')
def a_part_without_a_sample_has_times(t):
    """Else a look at a part of the time would refuse its file."""
    run = t.start('HeapShapes', 100, opts='cpu=samples,dump=100ms,split=y,timeline=y')
    run.wait_line('ready')
    until(run, lambda: (t.work / 'java.hprof.txt.8').exists())
    stop_steps(run)
    parts = [t.parse(path) for path in sorted(t.work.glob('java.hprof.txt.?'))]
    t.equal([len(p.timelines) for p in parts], [1] * len(parts), 'sections')
    t.check(any(not p.rows for p in parts), 'the program had a sample in every part')


@test(level='plain')
def without_the_option_there_are_no_times(t):
    _, p = t.profile('Rhythm', 2, 200, 1, opts='cpu=samples')
    t.equal((p.timelines, [k for k in p.report if 'timeline' in k]), ([], []), 'times')
