# SPDX-License-Identifier: BSD-2-Clause
"""Recorded runs of the original, and files of either agent reduced to facts (tests/golden/README.md)."""
import subprocess
import sys

import build


class Recorded:
    """One case: options, program and its arguments; stdout, lines of stderr, exit code, facts."""

    def __init__(self, name):
        folder = build.GOLDEN / name
        words = (folder / 'cmd.txt').read_text().split()
        self.options = next(w for w in words if w.startswith('-agentlib:')).partition('=')[2]  # none: empty
        self.program = words[words.index('-cp') + 2:]
        self.stdout, self.stderr = (folder / 'stdout.txt').read_text(), (folder / 'stderr.txt').read_text().splitlines()
        self.code, self.facts = int((folder / 'exit.txt').read_text()), (folder / 'facts.txt').read_text().splitlines()


def facts(path, prefix):
    """Those of a file about the classes whose names begin so."""
    r = subprocess.run([sys.executable, str(build.GOLDEN / 'tools' / 'extract.py'), '--no-mirrors', str(path), prefix], capture_output=True, text=True, check=True)
    return r.stdout.splitlines()


def of_kind(lines, kind):
    return [ln for ln in lines if ln.startswith(kind + ' ')]
