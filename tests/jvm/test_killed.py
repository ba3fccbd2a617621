# SPDX-License-Identifier: BSD-2-Clause
"""SIGKILL at any moment: what is left is sound, hprofx recover makes NAME of it, and at most a second is missing."""
import random
import re
import resource
import signal
import time

import hprof_binary
import hprof_text
from harness import SLOW
from runner import test
from waiting import until

MODES = {'times': ('cpu=times,cutoff=0,include=Progress', 'java.hprof.txt'), 'samples': ('cpu=samples,interval=1', 'java.hprof.txt'), 'binary': ('cpu=samples,interval=1,format=b', 'java.hprof')}
LOST = 1.0


def _counted(path, mode):
    if mode == 'binary':
        return sum(d.total for d in hprof_binary.read(path).tables)
    p = hprof_text.read(path, recovered=True)
    return sum(d.counts()['Progress.step'] if mode == 'times' else d.total for d in p.tables)


def _progress(run, until):
    """(calls, CPU ms) that the program had told of by then."""
    told = [tuple(int(x) for x in m) for m in re.findall(r'^(\d+) (\d+) (\d+)$', run.out, re.M)]
    return max([(0, 0)] + [(calls, ms) for calls, ms, at in told if at / 1000 <= until])


def _kill_one(t, mode, seed):
    rnd = random.Random(seed)
    opts, name = MODES[mode]
    late = seed % 9 < 3  # no dump, and time enough for the journal to be missed
    requests, end = 0 if late else rnd.choice((0, 0, 1, 3)), not late and rnd.random() < 0.25
    run = t.start('Progress', 1500 if end else 60000, opts=opts + rnd.choice(('', ',split=y')))
    until(run, lambda: re.search(r'^\d+ \d+ \d+$', run.out, re.M))
    if end:  # around the last dump
        run.wait_line('end')
    for _ in range(0 if end else requests):
        time.sleep(rnd.uniform(0, 0.7))
        run.signal(signal.SIGQUIT)
    time.sleep(rnd.uniform(0, 0.3) if end else rnd.uniform(2.5, 3) if late else rnd.choice((0, rnd.uniform(0, 0.05), rnd.uniform(0, 2.5))))
    at = time.monotonic()
    run.kill()
    for path in t.work.iterdir():
        if not path.name.endswith('.new.part'):
            t.read('check', path)
    t.read('recover', t.work / name)
    split = sorted(p for p in t.work.iterdir() if re.fullmatch(re.escape(name) + r'\.\d+(\.part)?', p.name))
    t.equal([n for n in t.files() if n.startswith(name) and n != name and not re.search(r'\.\d+(\.part)?$', n)], [], 'files beside NAME')
    t.read('check', t.work / name)
    for path in split:
        if path.suffix == '.part':
            t.read('recover', path.with_suffix(''))
            t.check(path.with_suffix('').exists() and not path.exists(), 'no %s, or still %s' % (path.with_suffix('').name, path.name))
    calls, ms = _progress(run, at - LOST)
    got = _counted(t.work / name, mode)
    if end and split:  # the last dump has what is in no file of its own
        got += sum(_counted(p, mode) for p in split if not p.name.endswith('.part'))
    want = calls if mode == 'times' else 0.8 * ms
    t.check(got >= want, 'seed %d: %d counted, %d done a second before the end; requests %d, at the end %s' % (seed, got, want, requests, end))
    for path in t.work.iterdir():
        path.unlink()


@test(level='plain', params=sorted(MODES), measures=True, timeout=120)
def at_any_moment(t, mode):
    for seed in range(34 if t.level == 'long' else 3):
        _kill_one(t, mode, seed * 3 + sorted(MODES).index(mode))
        t.deadline += 20 * SLOW


@test(level='plain', params=sorted(MODES), measures=True)
def a_restart_keeps_what_the_killed_run_left(t, mode):
    opts, name = MODES[mode]
    wants = []
    for _ in range(2):  # the second one's takes the place of the first one's
        run = t.start('Progress', 60000, opts=opts)
        until(run, (t.work / (name + '.journal.part')).exists)
        _progress_for(run, 1300)
        at = time.monotonic()
        run.kill()
        wants.append(_progress(run, at - LOST))
    t.equal([n for n in t.files() if 'killed' in n], ['%s.killed.journal.part' % name], 'what is kept of the first run')
    last = t.start('Progress', 60000, opts=opts)
    _progress_for(last, 0)
    last.signal(signal.SIGTERM)
    last.finish()
    line = 'hprofx: file=%s: a killed run left an unfinished profile; recover it with hprofx recover %s.killed before another run is killed' % (name, name)
    t.equal([ln for ln in last.err.splitlines() if 'killed' in ln], [line], 'lines about it')
    t.equal(t.files(), [name, '%s.killed.journal.part' % name], 'files at the end of the last run')
    t.read('recover', t.work / (name + '.killed'))
    t.equal(t.files(), [name, name + '.killed'], 'files after the recovery')
    got, (calls, ms) = _counted(t.work / (name + '.killed'), mode), wants[1]
    t.check(got >= (calls if mode == 'times' else 0.8 * ms), '%d counted, of %d calls and %d ms' % (got, calls, ms))
    t.check(_counted(t.work / name, mode) > 0, 'nothing in the last run')


@test(level='plain')
def two_killed_programs_in_one_directory(t):
    """Each name gets what its own program did: dumps on request and what is in its journal."""
    runs = {name: t.start(*program, opts='cpu=samples,interval=1,split=y,file=' + name) for name, program in (('a.txt', ('Progress', 60000)), ('b.txt', ('Burn', 60000)))}
    for name, run in runs.items():
        journal, own = t.work / (name + '.journal.part'), b'\tProgress.' if name == 'a.txt' else b'\tBurn.'
        until(run, lambda journal=journal, own=own: journal.exists() and own in journal.read_bytes())  # a slow VM is at its start for long
        run.signal(signal.SIGQUIT)
    for name, run in runs.items():
        until(run, (t.work / (name + '.1')).exists)
        journal = t.work / (name + '.journal.part')
        length = journal.stat().st_size
        until(run, lambda journal=journal, length=length: journal.stat().st_size != length)
    for run in runs.values():
        run.kill()
    for name in runs:
        t.read('recover', t.work / name)
    t.equal(t.files(), ['a.txt', 'a.txt.1', 'b.txt', 'b.txt.1'], 'files')
    for name, own, other in (('a.txt', 'Progress.', 'Burn.'), ('b.txt', 'Burn.', 'Progress.')):
        for path in (t.work / name, t.work / (name + '.1')):
            t.read('check', path)
            methods = hprof_text.read(path, recovered=True).methods()
            t.check(any(m.startswith(own) for m in methods) and not any(m.startswith(other) for m in methods), '%s: %s' % (path.name, sorted(methods)[:20]))
        t.check(_counted(t.work / name, 'samples') >= _counted(t.work / (name + '.1'), 'samples') > 0, '%s has less than its dump on request' % name)


def _progress_for(run, ms):
    """Until the program has told of its progress for so long."""
    def told():
        at = [int(x) for x in re.findall(r'^\d+ \d+ (\d+)$', run.out, re.M)]
        return at and at[-1] - at[0] >= ms
    until(run, told)


@test(level='plain')
def an_output_that_could_not_be_written_leaves_its_journal(t):
    run = t.start('Pause', 1500, opts='cpu=samples,interval=1')
    run.wait_line('ready')
    until(run, (t.work / 'java.hprof.txt.journal.part').exists)
    limit = (t.work / 'java.hprof.txt.part').stat().st_size + 50
    resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (limit, limit))
    run.signal(signal.SIGTERM)
    run.finish()
    t.equal((run.code, run.out), (143, 'ready\n'), 'exit code and stdout')
    said = [ln for ln in run.err.splitlines() if 'hprofx recover' in ln]
    t.equal(len(said), 1, 'lines that name recover (%s)' % run.err)
    t.check(re.search(r'file=java\.hprof\.txt\.part: File too large: .*; when the program has ended, rebuild the profile with hprofx recover java\.hprof\.txt$', said[0]), said[0])
    t.equal(t.files(), ['java.hprof.txt.journal.part', 'java.hprof.txt.part'], 'files')
    t.read('recover', t.work / 'java.hprof.txt')
    t.check(_counted(t.work / 'java.hprof.txt', 'samples') > 100, 'samples')
    t.equal(t.files(), ['java.hprof.txt'], 'files after the recovery')


@test(collectors='any', level='plain')
def a_name_too_long_for_a_journal_is_told_as_such(t):
    name = 'n' * 236
    run = t.start('Pause', 1500, opts='cpu=samples,interval=1,file=' + name)
    run.wait_line('ready')
    t.equal(t.files(), [name + '.part'], 'files while it runs')
    run.signal(signal.SIGTERM)
    run.finish()
    t.complete(run, 143, 'ready\n')
    t.equal([ln for ln in run.err.splitlines() if name in ln], ['hprofx: file=%s: the name is too long for a journal; if the program is killed, only completed dumps survive; shorten the name' % name], 'lines about the name')
    t.equal(t.files(), [name], 'files')
