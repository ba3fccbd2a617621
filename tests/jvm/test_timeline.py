# SPDX-License-Identifier: BSD-2-Clause
"""timeline=y: every sample was taken while the program says that its method ran, and sums are those of the tables."""
import datetime
import json
import re
import shutil
import subprocess

import build
from harness import DUMPING
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
    run, p = t.profile('Rhythm', 6, 500, 3, 1, 2, opts='cpu=samples,' + OPTS)
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
    run, p = t.profile('Rhythm', 6, 200, 3, 1, 2, opts='cpu=samples,' + OPTS)
    line = _whole(t, p)
    pauses, told = [(line.zero + e.ms - e.ns / 1e6, line.zero + e.ms) for e, _ in line.of('gc')], _told(run, 'gc')
    t.equal(len(told), 3, 'collections that the program tells')
    for a, b in told:
        t.check(any(a - NEAR <= begin and end <= b + NEAR for begin, end in pauses), 'no pause from %d to %d: %s' % (a, b, pauses))


@test(level='plain', since=11)
def waits_and_allocations_add_up(t):
    run, p = t.profile('Rhythm', 4, 300, 9, 1, 2, opts='wall=5,heap=sites,sites=sampled,sample=64k,live=n,' + OPTS)
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
    run, p = t.profile('Rhythm', 6, 500, 3, 1, 2, opts='cpu=samples,' + OPTS)
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
    _, p = t.profile('Rhythm', 2, 200, 1, 1, 2, opts='cpu=samples')
    t.equal((p.timelines, [k for k in p.report if 'timeline' in k]), ([], []), 'times')


# ---- one rhythm, as each format has it ----
#
# A reader gives (samples, pauses): [(ms since 1970, methods of the stack)] and [(from, to)]. Where a format has none of them: None.

# What may pass before a sample shows that a method has begun, or since the last one that it has run: its interval (1 ms of CPU time), and up to a tick of the
# kernel where that has the timer. What a file has is at most a step of 10 ms earlier. Together that is less than 20 ms.
OWED = 8e6  # ns of CPU time
STEP = 10
ROUNDED = 2  # ms: both clocks are cut to whole ones


def _of_text(p):
    line = p.timelines[0]
    stacks = {serial: {f.method for f in trace.frames} for serial, trace in p.traces.items()}
    return ([(line.zero + e.ms, stacks[place.trace]) for e, place in line.of('cpu')], [(line.zero + e.ms - e.ns / 1e6, line.zero + e.ms) for e, _ in line.of('gc')])


def _of_binary(p):
    line = p.timelines[0]
    stacks = {serial: {f.method for f in frames} for serial, (_, frames) in p.traces.items()}
    return ([(line.zero + e.ms, stacks[place.trace]) for e, place in line.of('cpu')], [(line.zero + e.ms - e.ns / 1e6, line.zero + e.ms) for e, _ in line.of('gc')])


def _of_page(_, file):
    said = subprocess.run(['node', str(build.ROOT / 'tests' / 'page' / 'scripts.mjs'), str(file)], capture_output=True, check=True).stdout
    page = json.loads(said)
    return [(ms, set(methods)) for ms, methods in page['samples']], [tuple(pause) for pause in page['pauses']]


def _of_firefox(_, file):
    made = json.loads(file.read_text())
    zero, samples, pauses = made['meta']['startTime'], [], []
    for thread in made['threads']:
        if thread['samples']['weightType'] == 'samples':
            stack, names, markers = thread['stackTable'], thread['stringArray'], thread['markers']
            methods = []  # of each stack
            for frame, prefix in zip(stack['frame'], stack['prefix']):
                methods.append((methods[prefix] if prefix is not None else frozenset()) | {names[thread['funcTable']['name'][thread['frameTable']['func'][frame]]]})
            samples += [(zero + ms, methods[i]) for ms, i in zip(thread['samples']['time'], thread['samples']['stack'])]
            pauses += [(zero + begin, zero + end) for begin, end in zip(markers['startTime'], markers['endTime'])]
    return samples, pauses


def _of_speedscope(t, file):
    """Its axis begins where that of the Firefox Profiler does, and does not tell when that is. The first sample after a blank is where it was; those that follow are as far behind it
    as what they stand for."""
    made, zero = json.loads(file.read_text()), json.loads((t.work / 'x.firefox.json').read_text())['meta']['startTime']
    names = [f['name'] for f in made['shared']['frames']]
    samples = []
    for profile in made['profiles']:
        if profile['name'].startswith('CPU by time: '):
            at = 0
            for stack, ns in zip(profile['samples'], profile['weights']):
                samples += [(zero + at / 1e6, {names[i] for i in stack})] if stack else []
                at += ns
    return samples, None


def _of_jfr(t, file):
    done = subprocess.run([*t.jdk.tool('jfr'), 'print', '--json', '--stack-depth', '2048', '--events', 'jdk.CPUTimeSample,jdk.GarbageCollection', str(file)], capture_output=True, check=True, cwd=t.work)

    def ms(text):
        return datetime.datetime.fromisoformat(re.sub(r'Z$', '+00:00', re.sub(r'(\.\d{6})\d*', r'\1', text))).timestamp() * 1000
    samples, pauses = [], []
    for e in json.loads(done.stdout)['recording']['events']:
        v = e['values']
        if e['type'] == 'jdk.CPUTimeSample':
            samples.append((ms(v['startTime']), {'%s.%s' % (f['method']['type']['name'], f['method']['name']) for f in (v['stackTrace'] or {'frames': []})['frames']}))
        else:
            pauses.append((ms(v['startTime']), ms(v['startTime']) + 1000 * float(re.fullmatch(r'PT([\d.]+)S', v['duration'])[1])))
    return samples, pauses


FORMATS = {'.firefox.json': _of_firefox, '.speedscope.json': _of_speedscope, '.jfr': _of_jfr, '.html': _of_page}


def _held(t, run, samples, pauses, where):
    """Begins and ends of what the program did. Where it was not given a processor, they are those of the CPU time that it measured itself."""
    used = _told(run, 'cpu')
    for method in ('steady', 'burst'):
        phases, times = _told(run, method), sorted(ms for ms, methods in samples if 'Rhythm.' + method in methods)
        off = [ms for ms in times if not any(a - NEAR <= ms <= b + NEAR for a, b in phases)]
        t.equal([ms for ms in off if not (ms == times[-1] and ms > phases[-1][1])][:5], [], '%s: samples of %s outside of %s' % (where, method, phases))
        for a, b in phases:
            points = [(ms, ns) for ms, ns in used if a <= ms < b]
            inside = [ms for ms in times if a - NEAR <= ms <= b + NEAR]
            sure = [ms for ms, ns in points if ns - points[0][1] >= OWED]
            if sure:
                left = [ms for ms, ns in points if points[-1][1] - ns >= OWED][-1]
                t.check(inside, '%s: %s from %d to %d has no sample' % (where, method, a, b))
                t.check(inside[0] <= sure[0] + STEP + ROUNDED, '%s: %s begins at %d, the first sample is of %d; it had used its CPU time at %d' % (where, method, a, inside[0], sure[0]))
                t.check(inside[-1] >= left - STEP - ROUNDED, '%s: %s ends at %d, the last sample is of %d; it had its last CPU time to use at %d' % (where, method, b, inside[-1], left))
    for a, b in _told(run, 'gc') if pauses is not None else ():
        t.check(any(a - NEAR <= begin and end <= b + NEAR for begin, end in pauses), '%s: no pause from %d to %d: %s' % (where, a, b, pauses))


@test(measures=True, needs=('jfr',), params=('text', 'binary'))
def a_rhythm_is_the_same_in_every_format(t, form):
    """Busy for 200 ms each second, a burst from 10 to 12 s, a collection every 5 s; of a binary file, whose lines are the same, a quarter of that."""
    name, opts = 'java.hprof' + ('.txt' if form == 'text' else ''), 'cpu=samples,thread=y,%s%s' % (OPTS, '' if form == 'text' else ',format=b')
    words = (16, 1000 if form == 'text' else 250, 10, 2, 5)
    if form == 'text':
        run, p = t.profile('Rhythm', *words, opts=opts)
        _whole(t, p)
        read = _of_text(p)
    else:
        run = t.java('Rhythm', *words, opts=opts)
        t.complete(run, done='Dumping%s%s done.' % (DUMPING['samples'], DUMPING['timeline']))
        p = t.binary(t.work / name)
        _whole(t, p)
        read = _of_binary(p)
    t.equal((len(_told(run, 'steady')), len(_told(run, 'burst')), len(_told(run, 'gc'))), (14, 1, 3), 'what the program did')
    _held(t, run, *read, 'file')
    for suffix in FORMATS:
        if suffix == '.html' and not shutil.which('node'):
            print('left out: %s: the page, because there is no node' % t.case, flush=True)
            continue
        made = t.work / ('x' + suffix)
        t.read('convert', t.work / name, made)
        _held(t, run, *FORMATS[suffix](t, made), suffix)
    again = t.work / 'again.firefox.json'
    t.read('convert', t.work / 'x.jfr', again)
    _held(t, run, *_of_firefox(t, again), '.jfr, read by hprofx')
