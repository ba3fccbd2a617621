# SPDX-License-Identifier: BSD-2-Clause
"""Dumps on request: SIGQUIT once and often, under load, at the end; dump=; split=y. Sections add up to what the program did."""
import collections
import contextlib
import os
import re
import signal
import socket
import subprocess
import time

import hprof_text
from attached import of_build
from expect import EXACT, exact, no_odd_exits, samples_are_those_reported
from golden import Recorded, compared, facts, of_kind
from harness import DONE, DUMPING
from hprof_text import TIMES
from preload import preload
from runner import test
from waiting import ask, recorded_requests, until

SAMPLES = 'cpu=samples,interval=1,cutoff=0'
TIMES_DONE = 'Dumping%s done.' % DUMPING['times']
NAME = 'java.hprof.txt'


def _dumps(run, done=DONE):
    return run.err.splitlines().count(done)


def _ask(t, run, done=DONE):
    return ask(run, done)


def _parts(t):
    """What is in each unfinished file; one may be renamed or made anew meanwhile."""
    for path in t.work.glob('*.part'):
        with contextlib.suppress(FileNotFoundError):
            yield path.read_bytes()


def _begun(t, run, thread):
    """Its START is in a file: requests that come before the VM is up have no dump."""
    until(run, lambda: any(thread.encode() in part for part in _parts(t)) or run.process.poll() is not None)


def _thread_dumps(t, run, to_the_end=False):
    """How many the JVM printed, each whole and without a line of ours in it. to_the_end: the VM may have ended while it printed."""
    begun, ended = run.out.count('Full thread dump'), len(re.findall(r'^JNI global ref', run.out, re.M))
    t.check(ended in ((begun, begun - 1) if to_the_end else (begun,)), '%d of %d thread dumps are whole' % (ended, begun))
    t.check(not re.search(r'^(HPROF|hprofx:|Dumping )', run.out, re.M), 'a line of ours in stdout')
    return begun


@test(level='plain', collectors='any', params=compared(('request-doe-n', 'request-old', 'request-samples')))
def golden(t, name):
    recorded = Recorded(name)
    run = recorded_requests(t, recorded)
    t.equal(_thread_dumps(t, run), 2, 'thread dumps')
    t.parse(t.work / NAME, dumps=None)
    got = facts(t.work / NAME, 'Steps')
    if name == 'request-old':
        t.equal(got, recorded.facts, 'facts')
    else:
        t.equal(of_kind(got, 'SECTIONS'), of_kind(recorded.facts, 'SECTIONS'), 'sections')
        shares = [float(x) for x in re.findall(r'^SAMPLE +([0-9.]+)% Steps\.work$', '\n'.join(got), re.M)]
        t.check(sum(shares) > 90, 'shares of Steps.work: %s' % shares)


@test(level='plain', params=('one', 'drainers', 'sampled', 'both'))
def calls_add_up_under_load(t, how):
    """Every call is in one section, whatever is asked for while it is made."""
    env = preload(t, 'busy') if how == 'drainers' else None
    opts = EXACT + {'sampled': ',times=sampled', 'both': ',cpu=samples,interval=1'}.get(how, '')
    done = 'Dumping%s%s done.' % (DUMPING['samples'] if how == 'both' else '', DUMPING['times'])
    run = t.start('CountMany', 8, 400, opts=opts, env=env)
    asked = 0
    _begun(t, run, 'Thread-0')
    while asked < 20 and _ask(t, run, done):
        asked += 1
    run.finish()
    t.equal(run.code, 0, 'exit code')
    p = t.parse(t.work / NAME, dumps=None)
    _thread_dumps(t, run, True)
    sections = p.sections.count(TIMES)
    t.check(sections == _dumps(run, done) and sections > 1, '%d sections, %d lines, %d requests' % (sections, _dumps(run, done), asked))
    exact(t, run, p)
    no_odd_exits(t, p, 'lost')


def _shown(t, file, view):
    """What the command makes of a file, by method: the sum of stacks that end there."""
    done = subprocess.run([of_build(t, 'hprofx'), 'convert', '--view', view, '--to', '.folded', file, '-'], capture_output=True, text=True, cwd=t.work, timeout=60, check=False)
    t.equal((done.returncode, done.stderr), (0, ''), 'hprofx convert')
    by_method = collections.Counter()
    for line in done.stdout.splitlines():
        stack, value = line.rsplit(' ', 1)
        by_method[stack.rsplit(';', 1)[-1].replace('()', '')] += int(value)
    return by_method


@test(level='plain', params=('a', 'b'))
def samples_add_up(t, form):
    """In the file, and in what the command makes of it."""
    run = t.start('Burn', 800, 800, 800, opts=SAMPLES + ',format=' + form)
    _begun(t, run, 'burn-0')
    asked = 0
    while asked < 5 and _ask(t, run):
        asked += 1
    run.finish()
    t.equal(run.code, 0, 'exit code')
    file = t.work / (NAME if form == 'a' else 'java.hprof')
    p = t.parse(file, dumps=None) if form == 'a' else t.binary(file)
    totals = [d.total for d in p.tables]
    t.equal(len(totals), _dumps(run), 'sections')
    t.check(len([n for n in totals if n > 0]) > 1, 'samples of several dumps: %s' % totals)
    samples_are_those_reported(t, p)
    t.equal(sum(_shown(t, file, 'samples').values()), sum(totals), 'samples that are shown')


@test(level='plain')
def a_storm_of_requests(t):
    """Each request that reached the VM has a section of its own, also one that came during a dump."""
    run = t.start('Burn', 1500, 1500, opts=SAMPLES)
    _begun(t, run, 'burn-0')
    t.check(_ask(t, run), 'the program has ended')
    for _ in range(20):
        if run.process.poll() is None:
            run.signal(signal.SIGQUIT)
    run.finish()
    t.equal(run.code, 0, 'exit code')
    p = t.parse(t.work / NAME, dumps=None)
    t.equal(len(p.sections), _dumps(run), 'sections')
    t.check(len(p.sections) - 1 <= _thread_dumps(t, run, True), 'thread dumps')
    samples_are_those_reported(t, p)


@test(params=('return', 'exit', 'halt'), timeout=120)
def at_the_end(t, how):
    """A request while the VM goes down has its section or not, but the file is whole."""
    for i in range(6):
        run = t.start('BusyExit', 4, how, opts=SAMPLES)
        run.wait_line('end')
        for _ in range(i + 1):
            try:
                run.signal(signal.SIGQUIT)
            except ProcessLookupError:
                pass
        run.finish()
        t.equal(run.code, 0 if how == 'return' else 3, 'exit code')
        p = t.parse(t.work / NAME, dumps=None)
        t.check(1 <= len(p.sections) == _dumps(run), '%d sections' % len(p.sections))
        samples_are_those_reported(t, p)
        t.equal(t.files(), [NAME], 'files')


@test()
def periodic_dumps_do_not_pile_up_behind_an_output_that_stands(t):
    """Three seconds of CPU time hold 30 periods; what is not yet written has the counts of all of them."""
    os.mkfifo(t.work / 'fifo')
    run = t.start('Pause', 3000, opts=SAMPLES + ',dump=100ms,file=fifo')
    run.wait_line('ready')
    run.signal(signal.SIGTERM)
    reader = t.start_command(['cat', 'fifo'])
    run.finish()
    reader.finish()
    p = hprof_text.parse(reader.out)
    t.equal(run.code, 143, 'exit code')
    t.check(1 <= len(p.sections) <= 10, '%d sections' % len(p.sections))
    samples_are_those_reported(t, p)


@test()
def requests_do_not_pile_up_behind_an_output_that_stands(t):
    """A FIFO that nobody reads holds 64 KiB, and 64 dumps wait behind it; the others are counted, and no sample is lost."""
    os.mkfifo(t.work / 'fifo')
    run = t.start('Pause', 200, opts=SAMPLES + ',file=fifo')
    run.wait_line('ready')
    while 'requested dumps wait for the output' not in run.err or run.out.count('Full thread dump') % 10:
        before = run.out.count('Full thread dump')
        run.signal(signal.SIGQUIT)
        until(run, lambda: run.out.count('Full thread dump') > before)
        t.check(before < 400, 'no limit after 400 requests')
    reader = t.start_command(['cat', 'fifo'])
    for _ in range(70):
        t.check(_ask(t, run), 'the program has ended')
    run.signal(signal.SIGTERM)
    run.finish()
    reader.finish()
    p = hprof_text.parse(reader.out)
    t.equal(run.code, 143, 'exit code')
    t.equal(run.err.count('64 requested dumps wait for the output'), 1, 'lines about it')
    left_out = int(p.report['dumps skipped'].partition(' ')[0])
    t.check(0 < left_out < 70, '%d requests left out: those behind the stop are not among them' % left_out)
    t.equal(len(p.sections) + left_out, _thread_dumps(t, run) + 1, 'sections and those that were left out; requests and the end')
    samples_are_those_reported(t, p)


@test(level='plain', params=('a', 'b'))
def split_gives_each_request_a_file(t, form):
    mode = 'cpu=times,cutoff=0' if form == 'a' else SAMPLES + ',format=b,thread=y'
    base = NAME if form == 'a' else 'java.hprof'
    done = TIMES_DONE if form == 'a' else DONE
    run = t.start(*(('CountMany', 8, 1200) if form == 'a' else ('Burn', 2500, 2500)), opts=mode + ',split=y')
    _begun(t, run, 'Thread-0' if form == 'a' else 'burn-0')
    asked = 0
    while asked < 3 and _ask(t, run, done):
        asked += 1
    run.finish()
    t.equal((run.code, asked), (0, 3), 'exit code, dumps while the program ran')
    names = [base] + ['%s.%d' % (base, i + 1) for i in range(asked)]
    t.equal(t.files(), names, 'files')
    if form == 'a':
        profiles = [t.parse(t.work / n, dumps=None) for n in names]
        t.equal([p.sections for p in profiles], [[TIMES]] * 4, 'sections')
        exact(t, run, *profiles)
        t.check(all('main' in p.names.values() for p in profiles), 'a file without the START of main')
    else:
        files = [t.binary(t.work / n) for n in names]
        t.equal([len(f.tables) for f in files], [1] * 4, 'tables')
        samples_are_those_reported(t, *files)
        t.check(all('main' in [x[0] for x in f.threads.values()] for f in files), 'a file without the START of main')


@test(level='plain', params=('a', 'b'))
def every_profile_says_whose_it_is(t, form):
    """Host, process and begin tell a run from all others; the periods of its profiles follow one another."""
    before = time.time_ns() // 1000000
    run = t.start('Burn', 60000, opts=SAMPLES + ',split=y,file=x,format=' + form, env={'OTEL_RESOURCE_ATTRIBUTES': 'service.version=1%2E2'})
    _begun(t, run, 'burn-0')
    for _ in range(2):
        t.check(_ask(t, run), 'the program has ended')
    run.signal(signal.SIGTERM)
    run.finish()
    after = time.time_ns() // 1000000
    reports = [(t.parse if form == 'a' else t.binary)(t.work / n).report for n in ('x.1', 'x.2', 'x')]
    until_then = 0
    for k, r in enumerate(reports):
        t.equal([r[key] for key in ('host', 'pid', 'service', 'service version')], [socket.gethostname(), str(run.pid), 'Burn', '1.2'], 'whose it is')
        began = re.fullmatch(r'(\d+) ms since 1970', r['run began'])
        t.check(began and before <= int(began[1]) <= after and r['run began'] == reports[0]['run began'], 'began %s' % r['run began'])
        number, begin, end = map(int, re.fullmatch(r'(\d+), from (\d+) to (\d+) ms since 1970', r['profile']).groups())
        t.equal(number, k + 1, 'number')
        t.check(before <= begin <= end <= after, 'from %d to %d' % (begin, end))
        t.check(k == 0 or begin <= until_then + 2, 'a gap from %d to %d' % (until_then, begin))  # rounded down to ms
        until_then = end
