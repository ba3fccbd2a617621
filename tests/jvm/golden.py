# SPDX-License-Identifier: BSD-2-Clause
"""Recorded runs of the original, and files of either agent reduced to facts (tests/golden/README.md)."""
import re
import subprocess
import sys

import build

FILES = build.ROOT / 'tests' / 'read' / 'golden'  # what the original wrote
_compared = set()


def compared(names):
    """The same in order. What tests/golden has and no test declares here is a failure of golden.every_case_has_a_test."""
    _compared.update(names)
    return sorted(names)


def not_compared():
    return sorted({f.parent.name for f in FILES.glob('*/*.gz')} - _compared)


class Recorded:
    """One case: options, program and its arguments; stdout, lines of stderr, exit code, facts."""

    def __init__(self, name):
        folder = build.GOLDEN / name
        words = (folder / 'cmd.txt').read_text().split()
        self.options = next(w for w in words if w.startswith('-agentlib:')).partition('=')[2]  # none: empty
        self.program = words[words.index('-cp') + 2:]
        self.stdout, self.stderr = (folder / 'stdout.txt').read_text(), (folder / 'stderr.txt').read_text().splitlines()
        self.code = int((folder / 'exit.txt').read_text())
        # Beside the profile force-n has the file that was there before.
        file = max((FILES / name).glob('java.hprof*'), key=lambda f: ('.PID' in f.name, '.TMP' not in f.name))
        self.facts = facts(file, self.program[0] + ',Plug' * (self.program[0] == 'Unload'), [])


def facts(path, prefix, how=('--no-mirrors',)):
    """Those of a file about the classes whose names begin so."""
    r = subprocess.run([sys.executable, str(build.GOLDEN / 'tools' / 'extract.py'), *how, str(path), prefix], capture_output=True, text=True, check=True)
    return r.stdout.splitlines()


def of_kind(lines, kind):
    return [ln for ln in lines if ln.startswith(kind + ' ')]


# --- monitor=y

def threads(lines):
    """THREAD facts; the order in which threads end at one moment is chance."""
    found, ends = [], []
    for ln in of_kind(lines, 'THREAD'):
        if ln.startswith('THREAD end '):
            ends.append(ln)
        else:
            found += sorted(ends) + [ln]
            ends = []
    return found + sorted(ends)


ENDED = re.compile(r'MON thread ".*" ZO')
WAITERS_ALONE = re.compile(r'MON \S+ owner=None entry=0 enter=\[\] notify=\[.+\]')
WAIT = re.compile(r'WAIT (WAIT|WAITED) (\S+) (-?\d+) "(.*)"')


def sections(lines):
    """Ours has MONITOR TIME whenever something contended, the JDK's own threads too; the original never but for monitor-crowd."""
    return [ln.replace(' MONITOR TIME', '') for ln in of_kind(lines, 'SECTIONS')]


def _waits(lines, signatures):
    """{thread: its lines, in order}; how long it waited is left out. Thread.join is not among them: see _joins()."""
    found = {}
    for m in filter(None, map(WAIT.fullmatch, lines)):
        if m[2] in signatures and m[2] != 'Ljava/lang/Thread;':
            found.setdefault(m[4], []).append((m[1], m[2], m[3] if m[1] == 'WAIT' else ''))
    return found


def _joins(lines, names):
    """{thread: (it waited in Thread.join, and still does)}"""
    kinds = {}
    for m in filter(None, map(WAIT.fullmatch, lines)):
        if m[2] == 'Ljava/lang/Thread;' and m[4] in names:
            kinds.setdefault(m[4], []).append(m[1])
    return {name: (True, k.count('WAIT') - k.count('WAITED')) for name, k in kinds.items()}


def monitors_as_recorded(t, got, recorded, prefix):
    """MON and WAIT facts. In addition ours has monitors that only have waiters; an ended thread that was collected is missing."""
    want = recorded.facts
    blocks = lambda lines: [ln for ln in of_kind(lines, 'MON') if not ln.startswith('MON thread ')]
    threads = lambda lines: {ln for ln in of_kind(lines, 'MON') if ln.startswith('MON thread ')}
    own = [ln for ln in blocks(got) if ln.startswith('MON L' + prefix)]
    missing = [ln for ln in blocks(want) if own.count(ln) != blocks(want).count(ln)]
    more = [ln for ln in own if ln not in blocks(want) and not WAITERS_ALONE.fullmatch(ln)]
    t.check(not missing and not more, 'monitors not as recorded: %s, monitors that were not recorded: %s' % (missing, more))
    names = {ln.split('"')[1] for ln in threads(want)}
    odd = {ln for ln in threads(want) - threads(got) if not ENDED.fullmatch(ln)} | {ln for ln in threads(got) - threads(want) if ln.split('"')[1] in names}
    t.check(not odd, 'states of threads not as recorded: %s' % sorted(odd))
    signatures = {m[2] for m in filter(None, map(WAIT.fullmatch, want))} | {m[2] for m in filter(None, map(WAIT.fullmatch, got)) if m[2].startswith('L' + prefix)}
    ours, theirs = _waits(got, signatures), _waits(want, signatures)
    ours = {name: lines for name, lines in ours.items() if name in theirs or name in names}
    t.equal(ours, theirs, 'WAIT lines by thread')
    # whether a join waits for a thread that just ends is chance
    t.equal(_joins(got, names | {'main'}), _joins(want, names | {'main'}), 'threads in Thread.join')
