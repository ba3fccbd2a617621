# SPDX-License-Identifier: BSD-2-Clause
"""JFR recordings of this JDK, and of async-profiler: what hprofx reads of them is what the JDK's own reader has, stack by stack."""
import collections
import datetime
import json
import os
import pathlib
import re
import signal
import subprocess

import waiting
from attached import OK, PARTIAL, of_build
from runner import test

WAITS = {'jdk.JavaMonitorEnter': ('contentions', 'delay', 'blocked'), 'jdk.JavaMonitorWait': ('waits', 'wait_delay', 'waiting'),
         'jdk.ThreadPark': ('parks', 'park_delay', 'parked'), 'jdk.ThreadSleep': (None, None, 'sleeping')}
READ = ('jdk.ExecutionSample', 'jdk.NativeMethodSample', 'jdk.CPUTimeSample', 'jdk.ObjectAllocationSample', 'jdk.ObjectAllocationInNewTLAB', 'jdk.ObjectAllocationOutsideTLAB', *WAITS)
PRIMITIVES = {'B': 'byte', 'C': 'char', 'D': 'double', 'F': 'float', 'I': 'int', 'J': 'long', 'S': 'short', 'Z': 'boolean'}
BLOCKS, CPU_MS = 4, 1500


def _generated(name):
    name = re.sub(r'\$\$Lambda[$+/.0-9a-zA-Zx]*', '$$Lambda', name)
    return re.sub(r'LambdaForm\$(DMH|BMH|MH)[$+/.0-9a-fx]*', r'LambdaForm$\1', name)


def _class(c):
    name = c['name'].replace('/', '.') if c else '?'
    bare = name.lstrip('[')
    if bare != name:
        name = (PRIMITIVES.get(bare) or bare[1:-1]) + '[]' * (len(name) - len(bare))
    return _generated(name)


def _ns(period):
    m = re.fullmatch(r'PT(?:(\d+)M)?(?:([\d.]+)S)?', period)
    return round((int(m[1] or 0) * 60 + float(m[2] or 0)) * 1e9)


def _stack(of):
    frames = reversed(of['frames'] if of else [])
    names = [(f['method']['type'], f['method']['name']) for f in frames]
    return [_generated('%s.%s' % (_class(c), name) if c and c['name'] else name).replace(';', ',') for c, name in names]


def _events(t, file):
    """As `jfr print` has them: (type, values)."""
    done = subprocess.run([*t.jdk.tool('jfr'), 'print', '--json', '--stack-depth', '2048', '--events', ','.join(READ), str(file)], capture_output=True, check=False, cwd=t.work)
    t.equal(done.returncode, 0, 'jfr print: %s' % done.stderr[-500:])
    return [(e['type'], e['values']) for e in json.loads(done.stdout.decode('utf-8', 'replace'))['recording']['events']]


def _wanted(events):
    """{measure: {stack: value}}."""
    want = collections.defaultdict(collections.Counter)
    kinds = {kind for kind, _ in events}
    for kind, v in events:
        thread = v.get('sampledThread') or v.get('eventThread') or {}
        name = thread.get('javaName') or thread.get('osName')
        stack = (['[%s]' % name] if name else []) + _stack(v['stackTrace'])
        of = next((v[k] for k in ('objectClass', 'monitorClass', 'parkedClass') if k in v), None)
        leaf = [_class(of)]
        if kind == 'jdk.ExecutionSample' and v['state'] in ('STATE_RUNNABLE', 'STATE_DEFAULT'):
            want['execution_samples' if 'jdk.CPUTimeSample' in kinds else 'samples'][';'.join(stack)] += 1
        elif kind == 'jdk.CPUTimeSample':
            want['samples'][';'.join(stack)] += 1
            want['cpu'][';'.join(stack)] += _ns(v['samplingPeriod'])
        elif kind == 'jdk.NativeMethodSample':
            want['native_samples'][';'.join(stack)] += 1
        elif kind.startswith('jdk.ObjectAllocation'):
            want['alloc_space'][';'.join(stack + leaf)] += v.get('weight', v.get('tlabSize', v.get('allocationSize')))
        elif kind in WAITS:
            count, delay, word = WAITS[kind]
            if count:
                want[count][';'.join(stack + leaf)] += 1
                want[delay][';'.join(stack + leaf)] += _ns(v['duration'])
            want['wall'][';'.join(stack + [word + (' ' + leaf[0] if of else '')])] += _ns(v['duration'])
    return want


def _convert(t, file, measure, status=OK):
    done = subprocess.run([of_build(t, 'hprofx'), 'convert', '--view', measure, '--to', '.folded', str(file), '-'], capture_output=True, check=False, cwd=t.work)
    t.equal(done.returncode, status, 'hprofx convert --view %s: %s' % (measure, done.stderr))
    got = collections.Counter()
    for line in done.stdout.decode().splitlines():
        stack, value = line.rsplit(' ', 1)
        got[_generated(stack)] += int(value)
    return got


def _equal(t, file, events):
    """All stacks of all measures. Times of the JDK's reader are rounded twice."""
    want = _wanted(events)
    for measure, stacks in want.items():
        got = _convert(t, file, measure)
        slack = 2 * len(events) if measure in ('cpu', 'wall') or measure.endswith('delay') else 0
        bad = [(s, stacks[s], got[s]) for s in set(stacks) | set(got) if abs(stacks[s] - got[s]) > slack]
        t.equal(bad[:3], [], 'stacks of %s: the JDK, hprofx' % measure)
    return want


def _holds(t, want):
    """What the program knows of itself."""
    def having(measure, *names):
        return sum(n for s, n in want[measure].items() if all(x in s.split(';') for x in names))
    t.equal([having(*x) for x in (('contentions', 'Recorded.enter'), ('waits', 'Recorded.await'), ('parks', 'Recorded.park'))], [BLOCKS] * 3, 'blocks')
    most, rest = having('samples', 'Recorded.most'), having('samples', 'Recorded.rest')
    t.check(most + rest > 0, 'no samples of the worker')
    t.check('[worker \u00e9\u4e2d]' in ';'.join(want['samples']), 'no thread with its name in %s' % list(want['samples'])[:5])
    t.check(having('alloc_space', 'Recorded.large', 'long[]') > 0 and having('alloc_space', 'Recorded.small', 'char[]') > 0, 'no allocations in %s' % dict(want['alloc_space']))
    t.check(having('native_samples', 'Recorded$3.run') > 0 or having('native_samples', 'Recorded$1.run') > 0, 'no samples of the native method in %s' % dict(want['native_samples']))


def _record(t, file, *more, jvm=(), words=(), settings='profile'):
    opts = ','.join(('filename=%s' % (t.work / file), 'settings=%s' % settings, *more))
    return t.start('Recorded', CPU_MS, BLOCKS, *words, opts=None, jvm=['-Dfile.encoding=UTF-8', '-XX:StartFlightRecording=' + opts, *jvm])


def _ended(t, run):
    run.finish()
    t.equal((run.code, run.out.splitlines()[-1:]), (0, ['done']), 'the program: %s' % run.err)


@test(level='plain', collectors='any', needs=('jfr',))
def a_recording_has_what_the_JDK_reads_in_it(t):
    _ended(t, _record(t, 'x.jfr'))
    _holds(t, _equal(t, t.work / 'x.jfr', _events(t, t.work / 'x.jfr')))


@test(level='plain', collectors='any', since=25, needs=('jfr',))
def samples_of_CPU_time_too(t):
    _ended(t, _record(t, 'x.jfr', 'jdk.CPUTimeSample#enabled=true', 'jdk.CPUTimeSample#throttle=5ms'))
    want = _equal(t, t.work / 'x.jfr', _events(t, t.work / 'x.jfr'))
    _holds(t, want)
    t.check(sum(want['cpu'].values()) > 1e8 and sum(want['execution_samples'].values()) > 0, 'CPU time %s' % dict(want['cpu']))


@test(collectors='any', needs=('jfr',))
def the_default_settings_record_less_of_the_same(t):
    _ended(t, _record(t, 'x.jfr', settings='default'))
    want = _equal(t, t.work / 'x.jfr', _events(t, t.work / 'x.jfr'))
    t.check(sum(want['samples'].values()) > 0 and sum(want['native_samples'].values()) > 0, 'samples %s' % dict(want['samples']))
    t.equal([sum(n for s, n in want[measure].items() if name in s.split(';')) for measure, name in (('contentions', 'Recorded.enter'), ('waits', 'Recorded.await'), ('parks', 'Recorded.park'))],
            [BLOCKS] * 3, 'blocks')


@test(collectors='any', since=11, needs=('jfr',))
def chunks_of_a_recording_are_added_up(t):
    """Also if the last is cut."""
    run = _record(t, 'end.jfr', 'name=x', words=('wait',))
    for i in range(3):  # each begins a chunk
        subprocess.run([*t.jdk.tool('jcmd'), str(run.pid), 'JFR.dump', 'name=x', 'filename=%s' % (t.work / ('%d.jfr' % i))], check=True, capture_output=True, cwd=t.work)
    run.wait_line('done')
    subprocess.run([*t.jdk.tool('jcmd'), str(run.pid), 'JFR.dump', 'name=x', 'filename=%s' % (t.work / 'x.jfr')], check=True, capture_output=True, cwd=t.work)
    run.kill()
    data, at = (t.work / 'x.jfr').read_bytes(), [0]
    while (end := at[-1] + int.from_bytes(data[at[-1] + 8:at[-1] + 16], 'big')) < len(data):  # the magic stands in constants, too
        at.append(end)
    t.check(len(at) >= 3, '%d chunks' % len(at))
    _holds(t, _equal(t, t.work / 'x.jfr', _events(t, t.work / 'x.jfr')))
    for name, size in (('before', at[-1]), ('cut', (at[-1] + len(data)) // 2)):
        (t.work / (name + '.jfr')).write_bytes(data[:size])
    before = _equal(t, t.work / 'before.jfr', _events(t, t.work / 'before.jfr'))
    for measure in ('samples', 'alloc_space'):
        whole, cut = _convert(t, t.work / 'x.jfr', measure), _convert(t, t.work / 'cut.jfr', measure, PARTIAL)
        t.equal([s for s in set(whole) | set(cut) if not before[measure][s] <= cut[s] <= whole[s]], [], 'stacks of %s where the last chunk is cut' % measure)


@test(level='plain', collectors='any', since=17, needs=('jfr',))
def of_a_killed_JVM_what_was_written_is_read(t):
    """JDK 14 and later write once a second what readers need."""
    repository = t.work / 'repository'
    run = _record(t, 'never.jfr', jvm=['-XX:FlightRecorderOptions=repository=%s' % repository], words=('wait',))
    run.wait_line('done')

    def view():
        files = sorted(repository.rglob('*.jfr'), key=lambda f: f.stat().st_size)
        return subprocess.run([of_build(t, 'hprofx'), 'view', *map(str, files[-1:])], capture_output=True, text=True, check=False)
    waiting.until(run, lambda: 'Recorded.' in view().stdout)
    os.kill(run.pid, signal.SIGKILL)
    run.process.wait()
    done = view()
    t.equal(done.returncode, PARTIAL, 'status: %s' % done.stderr)
    t.check('cut off, or was still being written' in done.stderr, 'it says %r' % done.stderr)
    t.check('Recorded.' in done.stdout, 'it shows %s' % done.stdout)


@test(level='plain', collectors='any', since=17, needs=('jfr',))
def the_JDK_reads_what_hprofx_writes(t):
    """Every stack with its sum; and events are where the program was."""
    run, p = t.profile('Rhythm', 4, 300, 3, 1, 2, opts='cpu=samples,wall=5,heap=sites,sites=sampled,sample=64k,live=n,timeline=y,depth=16,cutoff=0,interval=1,thread=y')
    source, made = t.work / 'java.hprof.txt', t.work / 'x.jfr'
    for words in (('summary',), ('assemble', 'parts', 'again.jfr')):
        if words[0] == 'summary':
            done = subprocess.run([of_build(t, 'hprofx'), 'convert', str(source), str(made)], capture_output=True, check=False, cwd=t.work)
            t.equal(done.returncode, OK, 'hprofx convert: %s' % done.stderr)
            words += (str(made),)
        else:
            (t.work / 'parts').mkdir()
            (t.work / 'parts' / 'x.jfr').write_bytes(made.read_bytes())
        done = subprocess.run([*t.jdk.tool('jfr'), *words], capture_output=True, check=False, cwd=t.work)
        t.equal(done.returncode, 0, 'jfr %s: %s' % (words, done.stderr[-500:]))
    if t.jdk.version >= 21:
        shown = subprocess.run([*t.jdk.tool('jfr'), 'view', 'active-settings', str(made)], capture_output=True, text=True, check=False, cwd=t.work).stdout
        t.equal([bool(re.search(r'(?m)^%s +%s *$' % x, shown)) for x in (('Method Profiling Sample', 'true'), ('Java Thread Park', 'false'))], [True] * 2, 'jfr view active-settings: %s' % shown)
    events = _events(t, made)
    want = _wanted([e for e in events if e[0] != 'jdk.ExecutionSample'])
    t.equal(sum(want['samples'].values()), sum(r.count for r in p.rows), 'samples')
    for measure in ('samples', 'cpu', 'alloc_space'):
        got = _convert(t, source, measure)
        slack, share = 2 * len(events) if measure == 'cpu' else 0, 0.001 if measure == 'alloc_space' else 0  # TIMELINE has shares of objects in thousandths
        bad = [(s, want[measure][s], got[s]) for s in set(want[measure]) | set(got) if abs(want[measure][s] - got[s]) > slack + share * got[s]]
        t.equal(bad[:3], [], 'stacks of %s: the JDK, hprofx' % measure)
    line = p.timelines[0]
    times = sorted(line.zero + e.ms for e, _ in line.of('cpu') for _ in range(e.count))
    seen = sorted(round(datetime.datetime.fromisoformat(re.sub(r'Z$', '+00:00', re.sub(r'(\.\d{6})\d*', r'\1', v['startTime']))).timestamp() * 1000) for kind, v in events if kind == 'jdk.CPUTimeSample')
    t.equal(seen, times, 'times of samples')


def _async_profiler(t):
    """In the tree of the JDK, where tools/bench has it."""
    start, tree, _ = t.jdk._inside()
    found = sorted(pathlib.Path(tree).glob('usr/lib/*/jni/libasyncProfiler.so')) if start else []
    if not found:
        t.skip('no async-profiler beside this JDK (tools/jdks --async-profiler)')
    return '/' + str(found[0].relative_to(tree))


@test(level='plain', collectors='any', since=11, needs=('jfr',), params=('cpu', 'wall', 'cpu,wall=40ms'))
def recordings_of_async_profiler(t, event):
    """Two clocks in one type of events: the state tells them apart."""
    opts = 'start,event=%s,alloc=100k,lock=1ms,interval=%dms,jfr,file=%s' % (event, 25 if event == 'wall' else 5, t.work / 'x.jfr')
    run = t.java('Recorded', CPU_MS, BLOCKS, opts=None, agent='-agentpath:%s=%s' % (_async_profiler(t), opts))
    t.equal(run.code, 0, 'the program: %s' % run.err)
    events = _events(t, t.work / 'x.jfr')
    waits = [e for e in events if e[0] in WAITS]
    clocked = [v for kind, v in events if kind == 'jdk.ExecutionSample' and (event == 'wall' or v['state'] != 'STATE_DEFAULT')]
    rest = [e for e in events if e[1] not in clocked] if clocked else events
    want = _wanted(rest)
    if clocked:
        del want['wall']  # which is of samples
    for measure, stacks in want.items():
        got = _convert(t, t.work / 'x.jfr', measure)
        slack = 2 * len(events) if measure in ('wall', 'delay', 'park_delay') else 0
        t.equal([(s, stacks[s], got[s]) for s in set(stacks) | set(got) if abs(stacks[s] - got[s]) > slack][:3], [], 'stacks of %s: the JDK, hprofx' % measure)
    if clocked:
        wall = collections.Counter()
        for v in clocked:
            name = v['sampledThread'].get('javaName') or v['sampledThread'].get('osName')
            wall[';'.join((['[%s]' % name] if name else []) + _stack(v['stackTrace']) + ['sleeping' if v['state'] == 'STATE_SLEEPING' else 'running'])] += 25_000_000 if event == 'wall' else 40_000_000
        t.equal(_convert(t, t.work / 'x.jfr', 'wall') - wall, collections.Counter(), 'wall-clock time')
    if event != 'wall':
        samples = sum(want['samples'].values())
        t.equal(sum(_convert(t, t.work / 'x.jfr', 'cpu').values()), 5_000_000 * samples, 'CPU time')
    t.check(want['contentions'] or waits or clocked, 'nothing was recorded')
