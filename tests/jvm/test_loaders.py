# SPDX-License-Identifier: BSD-2-Clause
"""Class loaders that keep classes from their own: what they ask for is what they asked for without the agent, and their classes run as without it."""
import pathlib
import re
import shutil

from attached import Program, does
from hprof_text import TIMES
from runner import test

MODES = ('cpu=samples', 'cpu=times', 'cpu=times,times=sampled', 'heap=sites,sites=exact', 'heap=sites,sites=counts', 'cpu=times,heap=sites,sites=counts')
KINDS = ('java', 'parallel', 'refuses', 'fails', 'other', 'loads')
PLUG = '55 610 3 10 more'
ROUND, FIRST = 1973, 177  # calls of LoadersPlug.f, by a round and by the static initializer


def _says(kinds, rounds=1):
    return ''.join('%s %s\n' % (k, PLUG) for k in kinds) * rounds


@test(level='plain', params=MODES, collectors='any')
def loaders_that_pass_only_java_upward(t, mode):
    """Each is asked once for what the program does not name, where a class of it is defined; classes of one that does not find it have no probes."""
    run, p = t.profile('Loaders', 'now', *KINDS, opts=mode + ',cutoff=0', stdout=_says(KINDS))
    if mode.startswith('cpu=times'):
        calls = p.table(TIMES).counts()
        t.equal(calls.get('LoadersPlug.f'), 3 * (ROUND + FIRST), 'calls in classes of the three loaders that find the class of the probes')
        # LoadersPlug and LoadersPlugMore of three loaders; the last loader answers while one of the two is being defined
        t.equal(int(re.search(r'(\d+) whose loader does not find', p.report['classes not instrumented'])[1]), 3 * 2 + 1, 'classes without probes')


@test(params=(MODES[0],) + MODES[3:], collectors='any')
def loaders_that_are_there_before_a_session(t, mode):
    """The static initializers have run for `told`, and run under the session for `fresh`; what one does then stays."""
    for how in ('told', 'fresh'):
        p = Program(t, 'Loaders', how, *KINDS)
        for i in range(2):
            file = t.work / ('%s%d.txt' % (how, i))
            does(t, 'start', '-o', file, p.run.pid, mode + ',cutoff=0')
            p.tell('round')
            does(t, 'stop', p.run.pid)
            r = t.parse(file, 1 + ('times,' in mode))
            if mode.startswith('cpu=times'):
                t.equal(r.table(TIMES).counts().get('LoadersPlug.f'), 3 * (ROUND + (FIRST if how == 'fresh' and i == 0 else 0)), 'calls of session %d, %s' % (i, how))
        p.tell('round')
        p.run.process.stdin.close()
        p.run.finish()
        said = [ln for ln in p.run.out.splitlines() if not re.match(r'(ready|done \d+|end)$', ln)]
        t.equal((p.run.code, said), (0, _says(KINDS, 4 if how == 'told' else 3).splitlines()), 'exit code and what the plugs say (%s)' % p.run.err)


@test(collectors='any')
def a_loader_that_is_locked_for_ever_keeps_its_classes(t):
    p = Program(t, 'Loaders', 'told', 'held', 'parallel')
    does(t, 'start', '-o', t.work / 'x', p.run.pid, 'cpu=times,cutoff=0')
    p.tell('round')
    does(t, 'stop', p.run.pid)
    r = t.parse(t.work / 'x', 1)
    t.equal(r.table(TIMES).counts().get('LoadersPlug.f'), ROUND, 'calls of the other loader')
    t.equal(int(re.search(r'(\d+) whose loader does not find', r.report['classes not instrumented'])[1]), 2, 'classes without probes')
    t.check('1 class loaders of the program do not answer' in p.run.err, 'it says %r' % p.run.err)
    p.end(t)


OWN = ('-Djava.system.class.loader=OwnLoader',)
ALL = ('cpu=samples,heap=sites,sites=exact,monitor=y,locks=y,owner=y,waits=y,pinned=y,wall=20,timeline=y,thread=y', 'cpu=times,heap=all', 'cpu=times,times=counts,heap=sites,sites=counts')


def _asked(run):
    return [ln for ln in run.out.splitlines() if ln.startswith('asked ')]


@test(level='plain', params=ALL, collectors='any')
def the_loader_of_the_system_s_classes_may_be_the_program_s_and_is_not_asked(t, opts):
    plain = _asked(t.java('Asks', opts=None, jvm=OWN))
    t.equal(plain, ['asked Asks'], 'what it is asked for without hprofx')
    run, _ = t.profile('Asks', opts=opts, jvm=OWN)
    t.equal(_asked(run), plain, 'what it is asked for with the agent')
    p = Program(t, 'Asks', jvm=OWN)
    does(t, 'start', '-o', t.work / 'attached.txt', p.run.pid, opts)
    does(t, 'stop', p.run.pid)
    p.end(t)
    t.equal(_asked(p.run), plain, 'what it is asked for with a session')


# ---- OSGi: Debian's libfelix-framework-java, libeclipse-osgi-java

CONTAINERS = {'felix': ('org.apache.felix.framework.jar', 'org.apache.felix.framework.FrameworkFactory'), 'equinox': ('eclipse-osgi.jar', 'org.eclipse.osgi.launch.EquinoxFactory')}


def _container(t, name):
    """The jar, copied to where every JDK can read it, and the class to start."""
    jar, factory = CONTAINERS[name]
    jar = pathlib.Path('/usr/share/java') / jar
    if not jar.exists():
        t.skip('no %s' % jar)
    return shutil.copy(jar, t.dir), factory


def _bundle_is_profiled(t, mode, p, sessions_before=0):
    if mode.startswith('cpu=times'):
        t.equal(p.table(TIMES).counts().get('LoadersPlug.f'), ROUND + (0 if sessions_before else FIRST), 'calls of the bundle')
        t.check('classes not instrumented' not in p.report, 'classes without probes: %s' % p.report.get('classes not instrumented'))


QUICK = (('felix', MODES[1]), ('equinox', MODES[4]))


@test(level='plain', params=QUICK, collectors='any')
def a_bundle_that_imports_packages_only(t, param):
    _in_container(t, *param)


def _in_container(t, container, mode):
    """At start: what the bundle says, and the end of the JVM, are those of a run without the agent."""
    jar, factory = _container(t, container)
    outs = []
    for opts in (None, mode + ',cutoff=0'):
        run = t.java('Osgi', 'now', factory, t.work / ('stored%d' % len(outs)), opts=opts, classes=jar)
        outs.append((run.code, [ln for ln in run.out.splitlines() if not ln.startswith(('Problem creating', 'WARNING: '))]))
    t.equal(outs[1], outs[0], 'exit code and stdout with and without the agent (%s)' % run.err)
    t.equal(outs[0], (0, [PLUG]), 'what the bundle says')
    _bundle_is_profiled(t, mode, t.parse(t.work / 'java.hprof.txt', dumps=None))


@test(params=QUICK, collectors='any')
def a_bundle_that_is_there_before_a_session(t, param):
    container, mode = param
    jar, factory = _container(t, container)
    p = Program(t, 'Osgi', 'told', factory, t.work / 'stored', classes=jar)
    for i in range(2):
        file = t.work / ('%d.txt' % i)
        does(t, 'start', '-o', file, p.run.pid, mode + ',cutoff=0')
        p.tell('round')
        does(t, 'stop', p.run.pid)
        _bundle_is_profiled(t, mode, t.parse(file, None), i)
    p.run.process.stdin.close()
    p.run.finish()
    t.equal((p.run.code, p.run.out.count(PLUG)), (0, 2), 'exit code and what the bundle says (%s)' % p.run.err)
