# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times: programs behave, and look to themselves, as without it."""
import pathlib
import re
import subprocess

from runner import test

H2 = pathlib.Path('/usr/share/java/h2.jar')
BCI = pathlib.Path(__file__).resolve().parents[1] / 'bci'


@test(level='quick', since=17, needs=('jit',), params=('times', 'old', 'times,include=Unchanged'), quick_params=('times',))
def reflection_and_stack_traces_are_those_without_the_agent(t, mode):
    plain = t.java('Unchanged', opts=None)
    t.equal(plain.code, 0, 'exit code without the agent')
    for jvm in ([], ['-Xint'], ['-Xcomp'] if t.level == 'long' else ['-XX:TieredStopAtLevel=1']):
        run = t.java('Unchanged', opts='cpu=' + mode, jvm=jvm)
        t.equal(run.code, 0, 'exit code')
        t.check('Tracker' not in run.out, 'a frame or member of the tracker: %s' % [x for x in run.out.splitlines() if 'Tracker' in x][:3])
        wrong = [(a, b) for a, b in zip(plain.out.splitlines(), run.out.splitlines()) if a != b]
        t.check(run.out == plain.out, 'with %s the output differs, first (without, with): %s' % (jvm, wrong[:1]))


@test(since=11, needs=('jit',))
def a_thread_dump_has_no_frame_of_the_tracker(t):
    """Of a program that waits, so that none of its threads is inside. SIGQUIT is ours: jcmd asks."""
    run = t.start('Pause', 1, opts='cpu=times')
    run.wait_line('ready')
    dump = subprocess.run([str(t.jdk.home / 'bin' / 'jcmd'), str(run.pid), 'Thread.print'], capture_output=True, text=True).stdout
    run.kill()
    t.check('"main"' in dump, 'no thread dump: %r' % dump[:200])
    t.check('Tracker' not in dump, 'a frame of the tracker in %s' % dump)


def _compiler(t):
    """Sources for javac: those of the tests themselves."""
    return sorted(str(f) for f in (pathlib.Path(__file__).resolve().parent / 'programs').glob('*.java'))


@test(since=17, needs=('jit',), timeout=300)
def javac_compiles_to_the_same_classes(t):
    outs = []
    for name, opts in (('plain', None), ('times', 'cpu=times')):
        to = t.work / name
        to.mkdir()
        cmd = t.jdk.java() + ['-Xmx512m'] + t.gc + ([t.agent(opts)] if opts else [])
        run = t.start_command(cmd + ['-m', 'jdk.compiler/com.sun.tools.javac.Main', '--release', '8', '-nowarn', '-Xlint:-options', '-d', str(to)] + _compiler(t)).finish()
        t.equal(run.code, 0, 'exit code of javac, %s' % name)
        outs.append((run.out, {f.name: f.read_bytes() for f in to.rglob('*.class')}))
    t.check(len(outs[0][1]) > 20, 'only %d classes' % len(outs[0][1]))
    t.check(outs[0] == outs[1], 'output or classes differ')
    t.output()
    calls = re.search(r'^hprofx: calls: (\d+), 0 events lost', run.err, re.M)
    t.check(calls and int(calls.group(1)) > 1000000, 'stderr %r' % run.err)


@test(since=17, needs=('jit',), timeout=300)
def h2_answers_the_same(t):
    """A database in memory: tables, indexes, transactions, queries, one thread."""
    if not H2.exists():
        t.skip('no %s (libh2-java)' % H2)
    t.javac17(pathlib.Path(__file__).resolve().parent / 'h2' / 'Database.java', H2)
    outs = []
    for opts in (None, 'cpu=times'):
        cmd = t.jdk.java() + ['-Xmx512m'] + t.gc + ([t.agent(opts)] if opts else [])
        run = t.start_command(cmd + ['-cp', '%s:%s' % (t.dir / 'h2', H2), 'Database', '400']).finish()
        t.equal(run.code, 0, 'exit code, %s' % opts)
        outs.append(run.out)
    t.check('rows' in outs[0], 'stdout %r' % outs[0][:200])
    t.equal(outs[1], outs[0], 'stdout with and without')
    p = t.output()
    t.check(any(r.method.startswith('org.h2.') and r.count for r in p.rows), 'no call of H2')


@test(since=17, needs=('jit',), timeout=600)
def classes_of_the_image_link(t):
    """A part of them, another one with every seed."""
    _link(t, 40, t.case.turn)


@test(level='long', since=17, needs=('jit',), timeout=3000)
def all_classes_of_the_image_link(t):
    _link(t, 1, 0)


def _link(t, every, first):
    """Each of the run-time image's classes that links without the agent links with it, under -Xverify:all."""
    to = t.dir / 'bci'
    to.mkdir()
    subprocess.run([str(t.jdk.home / 'bin' / 'javac'), '-d', str(to), str(BCI / 'LinkAll.java')], check=True)
    verify = ['-XX:+UnlockDiagnosticVMOptions', '-XX:+BytecodeVerificationLocal', '-XX:+BytecodeVerificationRemote', '-Xshare:off', '--add-modules', 'ALL-SYSTEM']
    outs = []
    for opts in (None, 'cpu=times'):
        cmd = t.jdk.java() + ['-Xmx1g'] + t.gc + verify + ([t.agent(opts)] if opts else [])
        run = t.start_command(cmd + ['-Devery=%d' % every, '-Dfrom=%d' % (first % every), '-cp', str(to), 'LinkAll']).finish()
        t.equal(run.code, 0, 'exit code, %s' % opts)
        outs.append(run.out)
    last = re.search(r'^linked (\d+), failed (\d+)$', outs[0], re.M)
    t.check(last and int(last.group(1)) > 20000 / every, 'stdout ends %r' % outs[0][-200:])
    wrong = sorted(set(outs[1].splitlines()) ^ set(outs[0].splitlines()))
    t.check(not wrong, 'differ: %s' % wrong[:5])
    p = t.output()
    left = p.report.get('left alone', '')
    print('     %s; left alone: %s [%d]' % (last.group(0), left or 'none', t.jdk.version), flush=True)
