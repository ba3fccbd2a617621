# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times and heap=sites: programs behave, and look to themselves, as without them."""
import pathlib
import re
import subprocess

from runner import test

BCI = pathlib.Path(__file__).resolve().parents[1] / 'bci'


@test(level='plain', since=17, needs=('jit',), params=('cpu=times', 'cpu=old', 'cpu=times,include=Unchanged', 'heap=sites', 'heap=sites,sites=counts', 'heap=sites,sites=counts,cpu=times'),
      plain_params=('cpu=times', 'heap=sites,sites=counts'))
def reflection_and_stack_traces_are_those_without_the_agent(t, mode):
    plain = t.control(lambda: t.java('Unchanged', opts=None))
    for jvm in ([], ['-Xint'], ['-Xcomp'] if t.level == 'long' else ['-XX:TieredStopAtLevel=1']):
        run = t.java('Unchanged', opts=mode, jvm=jvm)
        t.equal(run.code, 0, 'exit code')
        t.check('Tracker' not in run.out, 'a frame or member of the tracker: %s' % [x for x in run.out.splitlines() if 'Tracker' in x][:3])
        wrong = [(a, b) for a, b in zip(plain.out.splitlines(), run.out.splitlines()) if a != b]
        t.check(run.out == plain.out, 'with %s the output differs, first (without, with): %s' % (jvm, wrong[:1]))


@test(since=11, needs=('jit',), params=('cpu=times', 'heap=sites,sites=counts'))
def a_thread_dump_has_no_frame_of_the_tracker(t, mode):
    """Of a program that waits, so that none of its threads is inside. SIGQUIT is ours: jcmd asks."""
    run = t.start('Pause', 1, opts=mode)
    run.wait_line('ready')
    dump = subprocess.run([str(t.jdk.home / 'bin' / 'jcmd'), str(run.pid), 'Thread.print'], capture_output=True, text=True).stdout
    run.kill()
    t.check('"main"' in dump, 'no thread dump: %r' % dump[:200])
    t.check('Tracker' not in dump, 'a frame of the tracker in %s' % dump)


def _run(t, mode, words, jvm=()):
    """With the agent, or, of mode None, without it."""
    cmd = t.jdk.java() + ['-Xmx512m'] + list(jvm) + t.gc + ([t.agent(mode)] if mode else []) + words
    if not mode:
        return t.control(lambda: t.start_command(cmd).finish())
    run = t.start_command(cmd).finish()
    t.equal(run.code, 0, 'exit code, %s' % mode)
    return run


def _sources(which):
    """Of the tests themselves, for javac."""
    return sorted(str(f) for f in (pathlib.Path(__file__).resolve().parent / 'programs').glob(which))


def _nothing_is_lost(t, run, mode, least):
    """The summary of each mode: how much it counted, that nothing was lost."""
    for count, pattern in ((mode.count('cpu=times'), r'^hprofx: calls: (\d+), 0 events lost'),
                           (mode.count('heap=sites') and 'sampled' not in mode, r'^hprofx: sites: (\d+) allocations counted, 0 lost')):
        told = re.search(pattern, run.err, re.M)
        t.check(not count or (told and int(told.group(1)) > least), 'stderr %r' % run.err)


def _javac(t, mode, which, classes, least):
    outs = []
    for name, opts in (('plain', None), ('profiled', mode)):
        to = t.work / name
        to.mkdir()
        run = _run(t, opts, ['-m', 'jdk.compiler/com.sun.tools.javac.Main', '--release', '8', '-nowarn', '-Xlint:-options', '-d', str(to)] + _sources(which))
        outs.append((run.out, {f.name: f.read_bytes() for f in to.rglob('*.class')}))
    t.check(len(outs[0][1]) > classes, 'only %d classes' % len(outs[0][1]))
    t.check(outs[0] == outs[1], 'output or classes differ')
    t.output(dumps=1 + mode.count(',cpu='))
    _nothing_is_lost(t, run, mode, least)


@test(since=17, needs=('jit',), timeout=300, params=('cpu=times', 'heap=sites'))
def javac_compiles_to_the_same_classes(t, mode):
    _javac(t, mode, '*.java', 20, 1000000)


REWRITING = ('cpu=times', 'heap=sites,sites=counts,cpu=times')


@test(since=17, needs=('jit',), timeout=600, params=REWRITING)
def classes_of_the_image_link(t, mode):
    """A part of them, another one with every seed."""
    _link(t, mode, 40, t.case.turn)


@test(level='long', since=17, needs=('jit',), timeout=3000, params=REWRITING)
def all_classes_of_the_image_link(t, mode):
    _link(t, mode, 1, 0)


def _link(t, mode, every, first):
    """Each of the run-time image's classes that links without the agent links with it, under -Xverify:all."""
    to = t.dir / 'bci'
    to.mkdir()
    subprocess.run([str(t.jdk.home / 'bin' / 'javac'), '-d', str(to), str(BCI / 'LinkAll.java')], check=True)
    verify = ['-XX:+UnlockDiagnosticVMOptions', '-XX:+BytecodeVerificationLocal', '-XX:+BytecodeVerificationRemote', '-Xshare:off', '--add-modules', 'ALL-SYSTEM']
    outs = []
    for opts in (None, mode):
        run = _run(t, opts, ['-Devery=%d' % every, '-Dfrom=%d' % (first % every), '-cp', str(to), 'LinkAll'], ['-Xmx1g'] + verify)
        outs.append(run.out)
    last = re.search(r'^linked (\d+), failed (\d+)$', outs[0], re.M)
    t.check(last and int(last.group(1)) > 20000 / every, 'stdout ends %r' % outs[0][-200:])
    wrong = sorted(set(outs[1].splitlines()) ^ set(outs[0].splitlines()))
    t.check(not wrong, 'differ: %s' % wrong[:5])
    p = t.output(dumps=1 + mode.count(',cpu='))
    left = p.report.get('methods not instrumented', '')
    print('     %s; not instrumented: %s [%d]' % (last.group(0), left or 'none', t.jdk.version), flush=True)
