# SPDX-License-Identifier: BSD-2-Clause
"""Option strings through a real JVM: tests/golden/options/cases.json is what the original did, the differences on purpose are in tests/golden/README.md."""
import json
import re

import build
from runner import test

CASES = json.loads((build.GOLDEN / 'options' / 'cases.json').read_text('utf-8'))
DEPTH = 'HPROF ERROR: hprof option error: depth option value must be decimal and 0..2048 (%s)'
PORT = 'HPROF ERROR: hprof option error: net option value must be HOST:PORT, port 1..65535 (%s)'
BAD_PORTS = {'net=localhost:' + x for x in ('abc', '0', '-1', '65536', '65545', '99999999')}
NO_EFFECT = ('logflags', 'debugflags', 'coredump', 'errorexit', 'debug', 'X', 'pause', 'verbose', 'doe', 'depth', 'interval', 'cutoff', 'lineno', 'thread', 'force', 'msa',
             'gc_okay')
CHUNK = 12


def deep(options):
    return any(int(x) > 2048 for x in re.findall(r'(?:^|,)depth=[ +]?(\d+)(?:,|$)', options))


def ours(case):
    """(kind, lines that must be on stderr in this order): what the case means for this version."""
    o = case['options']
    if o == 'help':
        return 'help', []
    if deep(o):
        return 'rejected', [DEPTH % o]
    if o in BAD_PORTS:
        return 'rejected', [PORT % o]
    if any('hprof option error' in ln for ln in case['stderr']):
        return 'rejected', [ln for ln in case['stderr'] if 'hprof option error' in ln]
    items = dict(x.partition('=')[::2] for x in o.split(',') if x)
    modes = {x[4:].replace('y', 'samples') for x in o.split(',') if x.startswith('cpu=')}
    heaps = {x[5:] for x in o.split(',') if x.startswith('heap=')}
    if heaps == {'sites'} and 'net' not in items and items.get('monitor') != 'y' and not modes:
        return 'files' if 'file' in items else 'sites', []  # names of files: test_files.py
    if (not modes or heaps or items.get('monitor') == 'y') and 'net' not in items and case['ran']:
        return 'sections', [ln for ln in case['stderr'] if ln.startswith('Dumping ') and 'HPROF ERROR' not in ln]
    if not modes or not set(items) <= set(NO_EFFECT) | {'cpu', 'format'}:
        return 'no output', []
    if modes != {'samples'}:
        return 'calls', []
    return 'samples', [] if items.get('doe') == 'n' or items.get('verbose') == 'n' else ['Dumping CPU usage by sampling running threads ... done.']


def _chunks(kind):
    cases = [c for c in CASES if ours(c)[0] == kind]
    return [cases[i:i + CHUNK] for i in range(0, len(cases), CHUNK)]


REJECTED = [c for chunk in _chunks('rejected') for c in chunk][::6]  # all of them: tests/unit/test_options_cases.py
NO_OUTPUT = [('%d' % i, chunk) for i, chunk in enumerate(_chunks('no output'))]


def in_order(lines, want):
    it = iter(lines)
    return all(any(w == ln for ln in it) for w in want)


def _not_started(t, options, want):
    run = t.java('Hello', opts=options)
    what = 'options %r: ' % options
    t.equal((run.code, run.out), (1, ''), what + 'exit code and stdout')
    lines = run.err.splitlines()
    t.check(in_order(lines, want), '%sstderr %s, expected %s' % (what, lines, want))
    extra = [ln for ln in lines if ln not in want and not ln.startswith('hprofx: ')]
    t.check(not want or not extra, what + 'other lines on stderr: %s' % extra)
    t.equal(t.files(), [], what + 'files')
    return lines


@test(collectors='any', level='plain')
def rejected_before_the_start(t):
    for case in REJECTED:
        _not_started(t, case['options'], ours(case)[1])


@test(collectors='any', params=NO_OUTPUT, plain_params=[('sampled', NO_OUTPUT[0][1][::5])], level='plain', longer=True)
def an_output_that_cannot_be_had_is_refused(t, param):
    for case in param[1]:
        lines = _not_started(t, case['options'], [])
        t.check(lines and len(lines) <= 2 and len(lines[0]) > 20, 'options %r: no sentence: %s' % (case['options'], lines))
        t.check('error: ' not in lines[0] or 'Unknown option' not in lines[0], 'options %r: %s' % (case['options'], lines))


@test(collectors='any', level='plain', params=('samples', 'sites', 'sections', 'calls'), plain_params=('samples', 'sections'), longer=True)
def accepted(t, kind):
    cases = [c for c in CASES if ours(c)[0] == kind]
    t.check(len(cases) >= 3, 'only %d cases' % len(cases))
    for case in cases[::3] if t.level == 'plain' else cases:
        run = t.java('Hello', opts=case['options'])
        what = 'options %r: ' % case['options']
        t.equal((run.code, run.out), (0, 'hi\n'), what + 'exit code and stdout')
        want = ['Dumping allocation sites ... done.'] if kind == 'sites' else ours(case)[1]
        t.check(in_order(run.err.splitlines(), want), '%sstderr %s' % (what, run.err))
        if kind == 'calls':
            t.equal('Dumping CPU usage' in run.err, 'doe=n' not in case['options'], what + 'a dump on stderr')
        elif kind != 'sites':
            t.equal(t.files(), [f for f in case['files'] if f != 'java.hprof.check.txt'], what + 'files')
        for name in t.files():
            if kind != 'calls' and 'doe=n' not in case['options']:
                t.read('check', t.work / name)
            (t.work / name).unlink()


@test(collectors='any', level='plain')
def help_is_on_stdout(t):
    run = t.java('Hello', opts='help')
    t.equal((run.code, run.err), (0, ''), 'exit code and stderr')
    for word in ('cpu=', 'heap=', 'monitor=', 'format=', 'file=', 'net=', 'depth=', 'interval=', 'cutoff=', 'lineno=', 'thread=', 'doe=', 'force=', 'verbose='):
        t.check(word in run.out, 'help does not have %s' % word)
    t.check(max(len(ln) for ln in run.out.splitlines()) <= 80, 'a line of more than 80 columns')
    t.equal(t.files(), [], 'files')


@test(collectors='any', level='plain')
def the_defaults_that_help_prints_are_taken_back(t):
    rows = re.findall(r'^  ([a-z-]+)=\S+ .* (\S+)$', t.java('Hello', opts='help').out, re.M)
    t.check(len(rows) > 30 and ('dump', 'off') in rows, 'rows of help: %s' % rows)
    rows.sort(key=lambda row: row[0] == 'sites')  # sample= means sites=sampled, which is not possible on JDK 8, unless sites= comes later
    run = t.java('Hello', opts=','.join('%s=%s' % row for row in rows))
    t.equal((run.code, run.out), (0, 'hi\n'), 'exit code and stdout')
    t.check('option error' not in run.err and ' has no effect ' not in run.err, 'stderr: %s' % run.err)
    t.equal(t.files(), ['java.hprof.txt'], 'files')


@test(collectors='any', level='plain')
def an_option_without_its_mode_is_told_and_the_program_runs(t):
    for options, said in (('cpu=samples,locks=y', 'locks=y has no effect without monitor=y: there will be no LOCK TIME; add monitor=y, or leave out locks=y'),
                          ('heap=sites,heapdump=oom', 'heapdump=oom has no effect without heap=dump: there will be no heap dump; add heap=dump, or leave out heapdump=oom'),
                          ('heap=sites,native=y', 'native=y has no effect without cpu=samples: there will be no C functions; add cpu=samples, or leave out native=y')):
        run = t.java('Hello', opts=options)
        t.equal((run.code, run.out), (0, 'hi\n'), '%s: exit code and stdout' % options)
        t.equal([ln for ln in run.err.splitlines() if 'no effect' in ln], ['hprofx: ' + said], '%s: stderr' % options)
    run = t.java('Hello', opts='monitor=y,locks=y,heap=dump,heapdump=oom')
    t.check(run.code == 0 and 'no effect' not in run.err, 'both modes: %s' % run.err)


def _depth(t, **kw):
    _, p = t.profile('HotSplit', 40, **kw)
    return max(len(tr.frames) for tr in p.traces.values())


@test(collectors='any', level='plain')
def the_environment_comes_before_the_command_line(t):
    both = {'_JAVA_HPROF_OPTIONS': 'cpu=samples,interval=1,depth=1', 'HPROFX_OPTIONS': 'depth=2'}
    t.equal(_depth(t, opts='cpu=samples,depth=3', env=both), 3, 'depth: the command line is last')
    t.equal(_depth(t, opts='cpu=samples', env=both), 2, 'depth: HPROFX_OPTIONS is after _JAVA_HPROF_OPTIONS')
    t.equal(_depth(t, opts=None, agent=t.agent(None), env={'_JAVA_HPROF_OPTIONS': 'cpu=samples,interval=1,depth=1'}), 1, 'depth: no options on the command line')


@test(collectors='any')
def file_in_the_environment_gives_way_to_the_command_line(t):
    t.profile('Hello', opts='cpu=samples,file=b.txt', env={'HPROFX_OPTIONS': 'file=a.txt'}, name='b.txt')
    t.equal(t.files(), ['b.txt'], 'files')
    t.profile('Hello', env={'_JAVA_HPROF_OPTIONS': 'file=c.txt', 'HPROFX_OPTIONS': 'file=a.txt'}, name='a.txt')
    t.equal(t.files(), ['a.txt', 'b.txt'], 'files')


@test(collectors='any')
def cutoff(t):
    _, p = t.profile('HotSplit', 100, opts='cpu=samples,interval=1,cutoff=0.25')
    t.check(p.rows and all(r.count >= 0.25 * p.total for r in p.rows), 'rows %s of %d' % (p.rows, p.total))
    _, p = t.profile('HotSplit', 40, opts='cpu=samples,interval=1,cutoff=2')
    t.equal((p.rows, p.total > 0), ([], True), 'rows and total with cutoff=2')
    _, p = t.profile('HotSplit', 40, opts='cpu=samples,interval=1,cutoff=nan')
    t.equal(sum(r.count for r in p.rows), p.total, 'sum of the rows with cutoff=nan')


@test(collectors='any', level='plain')
def the_report_stands_behind_the_last_end(t):
    _, p = t.profile('HotSplit', 60, opts='cpu=samples,interval=1')
    t.check(p.report, 'no report line in the file')
    words = ' '.join('%s %s' % kv for kv in p.report.items())
    for word in ('interval', 'samples'):
        t.check(word in words, 'the report says nothing of %s: %s' % (word, words))


@test(collectors='any', level='plain')
def a_verbose_run_ends_with_one_line_of_figures(t):
    run, _ = t.profile('HotSplit', 100, opts='cpu=samples,interval=1')
    lines = run.err.splitlines()
    i = lines.index('Dumping CPU usage by sampling running threads ... done.')
    t.check(any(re.match(r'hprofx: .*samples.*%', ln) for ln in lines[i:]), 'stderr: %s' % lines)
