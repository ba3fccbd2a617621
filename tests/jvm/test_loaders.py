# SPDX-License-Identifier: BSD-2-Clause
"""Class loaders that keep classes from their own: what they ask for is what they asked for without the agent, and their classes run as without it."""
import re

from attached import Program, does
from hprof_text import TIMES
from runner import test

MODES = ('cpu=samples', 'cpu=times', 'cpu=times,times=sampled', 'heap=sites,sites=exact', 'heap=sites,sites=counts', 'cpu=times,heap=sites,sites=counts')
KINDS = ('java', 'parallel', 'refuses', 'fails', 'other', 'loads')
PLUG = '55 610 3 10 more'
ROUND, FIRST = 1973, 177  # calls of LoadersPlug.f, by a round and by the static initializer


def _says(kinds, rounds=1):
    return ''.join('%s %s\n' % (k, PLUG) for k in kinds) * rounds


@test(level='quick', params=MODES, collectors='any')
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
