# SPDX-License-Identifier: BSD-2-Clause
"""The sessions of examples/README.md, as one would type them: what their output names there, it names."""
import pathlib
import re
import shlex

from attached import does
from runner import test

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / 'examples'


def _sessions():
    """(program, words of the command, its output) of each."""
    blocks = re.findall(r'^```\n\$ java -cp out/examples (\w+) &\n\$ build/hprofx (.+)\n((?:.*\n)*?)```$', (EXAMPLES / 'README.md').read_text(), re.M)
    return {program: (shlex.split(words), output) for program, words, output in blocks}


SESSIONS = _sessions()


def _named(text):
    """What an output names of the program or the JDK, without figures; not what has less than 10 %, of which a slow machine may take no sample."""
    text = re.sub(r'[\w$.]+ \(\d %\)|^ +0\.\d\d% +\d\.\d\d%.*', '', text, flags=re.M)
    return set(re.findall(r'\b(?:[a-z]+\.)*[A-Z]\w*(?:[.$]\w+)+|\.\w+: [\w.$]+', text))


@test(level='plain', collectors='any', params=tuple(SESSIONS), plain_params=('Lookup', 'Visitors'))
def a_session_finds_the_slow_spot(t, program):
    words, output = SESSIONS[program]
    if program == 'Totals' and t.jdk.version < 11:
        t.skip('this VM takes no samples of allocations')
    run = t.start(program, opts=None)
    run.wait_line('running')
    out = does(t, *['2s' if w == '5s' else run.pid if w == program else w for w in words])
    run.kill()
    t.equal(_named(output) - _named(out), set(), 'what the output of README.md names and this does not')
    t.check('Look at' not in output or re.search(r'^Look at [^(]*\b%s\.' % program, out, re.M), 'what to look at first: ' + out[:500])


@test()
def each_program_has_its_session(t):
    t.equal(sorted(SESSIONS), sorted(f.stem for f in EXAMPLES.glob('*.java')), 'sessions in README.md')
