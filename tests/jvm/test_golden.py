# SPDX-License-Identifier: BSD-2-Clause
"""Golden cases: our output of the same command, reduced to facts, beside the recorded facts of the original. Rules: tests/golden/README.md."""
import math
import re

from golden import Recorded, compared, facts, not_compared, of_kind
from runner import test

# case: prefixes, proportions by fact, program arguments where the recorded run has too few samples for a share
CASES = {
    'samples-hot': ('HotSplit', {'HotSplit.hotA': 0.6, 'HotSplit.hotB': 0.3, 'HotSplit.hotC': 0.1}, ['700']),
    'samples-hot-depth1': ('HotSplit', {'HotSplit.hotA': 0.6, 'HotSplit.hotB': 0.3, 'HotSplit.hotC': 0.1}, ['400']),
    'samples-threads': ('Fruits', {'Fruits.slice thread="apples"': 0.75, 'Fruits.slice thread="oranges"': 0.25}, ['5000']),
    'samples-depth0': ('HotSplit', {}, None),
    'samples-binary': ('HotSplit', {'HotSplit.hotA': 0.6, 'HotSplit.hotB': 0.3, 'HotSplit.hotC': 0.1}, ['400']),
    'verbose-n': ('HotSplit', {'HotSplit.hotA': 0.6, 'HotSplit.hotB': 0.3, 'HotSplit.hotC': 0.1}, None),
    'force-n': ('HotSplit', {'HotSplit.hotA': 0.6, 'HotSplit.hotB': 0.3, 'HotSplit.hotC': 0.1}, None),
}


# case: prefix. Their counts are exact; times are not compared: the original measured wall time in whole ms.
CALLS = {'times-calls': 'Calls', 'times-calls-cutoff0': 'Calls', 'times-depth0': 'HotSplit', 'times-threads': 'Fruits', 'times-lambda': 'Lam', 'old-calls': 'Calls',
         'old-bytecodes': 'Bci'}
# How deep the stack is, and, after it has overflowed, whose call the next ones are: exits are lost in the frames that had no room for a probe.
OLD_ROW = re.compile(r'\d+ (<unknown callee>|\S+) (<unknown caller>|\S+) \d+')  # readers stop at any other line
NOT_COMPARED = re.compile(r'Bci\.so\(|Bci\.empty\(\)V < Bci\.main')


def _shares(t, lines, want, n):
    got = {m.group(2): float(m.group(1)) / 100 for m in (re.fullmatch(r'SAMPLE +([0-9.]+)% (.*)', ln) for ln in of_kind(lines, 'SAMPLE'))}
    for name, share in want.items():
        # 5 points, or three and a half standard errors where the samples are few.
        t.near(got.get(name, 0), share, max(0.05, 3.5 * math.sqrt(share * (1 - share) / max(1, n))), 'share of %s over %d samples' % (name, n))
    t.check(sum(got.get(x, 0) for x in want) > 0.9 or not want, 'shares %s' % got)


def _counts(lines):
    """{what was called: calls}; of cpu=times without the share of time."""
    rows = [re.fullmatch(r'(?:COUNT (\d+)|TIME count=(\d+)) (.*)', ln) for ln in lines]
    return {re.sub(r' self=[0-9.]+%', '', m.group(3)): int(m.group(1) or m.group(2)) for m in rows if m and not NOT_COMPARED.search(m.group(3))}


@test(collectors='any', level='plain', emulated=True, params=compared(CALLS), plain_params=('times-calls-cutoff0', 'times-lambda', 'old-calls'))
def calls(t, name):
    recorded = Recorded(name)
    program = recorded.program
    dies = name == 'times-lambda'  # the original, of its first lambda
    # Every row: what the original had 1 ms of by its wall clock, ours may have less of.
    run, p = t.profile(program[0], *program[1:], opts=re.sub(r',?cutoff=[^,]*', '', recorded.options) + ',cutoff=0', stdout=None if dies else recorded.stdout)
    if not dies:
        for ln in recorded.stderr:
            t.check(ln in run.err.splitlines(), 'stderr has no %r' % ln)
    if name.startswith('old-'):
        title, *rows = (t.work / 'java.hprof.txt').read_text().splitlines()
        t.equal((title, [r for r in rows if not OLD_ROW.fullmatch(r)]), ('count callee caller time', []), 'title, lines that are no row: the table is alone')
        for key in ('version', 'calls', 'own CPU time'):
            t.equal(len(re.findall(r'^hprofx: %s: .*' % key, run.err, re.M)), 1 + (key == 'calls'), 'lines of %s, in the report or the summary' % key)
    got, want = facts(t.work / 'java.hprof.txt', CALLS[name]), recorded.facts
    if not dies:
        t.equal(of_kind(got, 'THREAD'), of_kind(want, 'THREAD'), 'THREAD facts')
        t.equal(of_kind(got, 'SECTIONS'), of_kind(want, 'SECTIONS'), 'SECTIONS facts')
    have = _counts(got)
    wrong = {m: (have.get(m), n) for m, n in _counts(want).items() if have.get(m) != n}
    t.check(not wrong, 'calls: %s' % wrong)


@test(collectors='any', level='plain', emulated=True, params=compared(CASES), plain_params=('samples-depth0', 'samples-binary', 'verbose-n', 'force-n'))
def case(t, name):
    prefix, shares, args = CASES[name]
    recorded = Recorded(name)
    if name == 'force-n':
        (t.work / 'java.hprof.txt').write_text('old')
    run = t.java(recorded.program[0], *(args or recorded.program[1:]), opts=recorded.options)
    t.equal((run.code, run.out), (recorded.code, recorded.stdout), 'exit code and stdout')
    for ln in recorded.stderr:
        t.check(ln in run.err.splitlines(), 'stderr has no %r' % ln)
    binary = name == 'samples-binary'
    out = 'java.hprof' if binary else 'java.hprof.txt'
    if name == 'force-n':
        t.equal((t.work / out).read_text(), 'old', 'the old file')
        out = 'java.hprof.%d.txt' % run.pid
    total = t.binary(t.work / out).tables[0][0] if binary else t.output(out).total
    got, want = facts(t.work / out, prefix), recorded.facts
    t.equal(of_kind(got, 'THREAD'), of_kind(want, 'THREAD'), 'THREAD facts')
    t.equal(of_kind(got, 'SECTIONS'), of_kind(want, 'SECTIONS'), 'SECTIONS facts')
    _shares(t, got, shares, total)


@test(collectors='any', level='plain', emulated=True, one_jdk=True)
def every_case_has_a_test(t):
    t.equal(not_compared(), [], 'recorded cases that no test declares (golden.compared)')
