#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The keys of the report, "hprofx: KEY: ...", against the manual page: every key that the sources can print has an entry, every entry is a
key that they print, and no example shows a key that they do not print.

A key begins a string literal of the sources, or is a LOSS of base/counters.h. Its entry: a tag under .SH THE REPORT, a loss under .SS Losses,
of docs/man/hprofx.7.in."""
import pathlib
import re
import shlex
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/man/hprofx.7.in").read_text(encoding="utf-8")
LOSSES = re.findall(r'X\(\w+, LOSS,\s*"([^"]*)"', (ROOT / "base/counters.h").read_text(encoding="utf-8"))
EXAMPLES = ("README.md",)


def printed():
    """Keys as the sources have them; what printf puts in is left as a conversion."""
    keys = set(LOSSES)
    for folder in ("base", "pipeline", "tables", "writers", "agent"):
        for source in sorted((ROOT / folder).rglob("*.c")):
            keys.update(re.findall(r'"hprofx: ([^":\n]+): ', source.read_text(encoding="utf-8")))
    keys.discard("%s")  # add_losses(): the LOSSES
    return keys


def tags(section):
    lines = PAGE.split("\n%s\n" % section)[1].split("\n.SH" if section.startswith(".SH") else "\n.S")[0].split("\n")
    found = [line for before, line in zip(lines, lines[1:]) if before in (".TP", ".TQ")]
    return ["".join(shlex.split(t[4:])) if t.startswith(".BI ") else t[3:].strip('"') for t in found]


def pattern(key):
    return re.compile("[A-Za-z_]+".join(re.escape(part) for part in re.split(r"%[a-z]+", key)))


class ReportKeys(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.printed, self.entries = printed(), tags(".SH THE REPORT") + tags(".SS Losses")
        self.assertGreater(len(self.printed), len(LOSSES) + 20, "the keys are not where this test looks for them")

    def test_every_key_has_an_entry(self):
        self.assertEqual([k for k in sorted(self.printed) if not any(pattern(k).fullmatch(e) for e in self.entries)], [])

    def test_every_entry_is_a_key_and_stands_once(self):
        self.assertEqual([e for e in self.entries if not any(pattern(k).fullmatch(e) for k in self.printed)], [])
        self.assertEqual(sorted(self.entries), sorted(set(self.entries)))

    def test_examples_show_keys_that_are_printed(self):
        for name in EXAMPLES:
            shown = re.findall(r"^hprofx: ([^:\n]+): ", (ROOT / name).read_text(encoding="utf-8"), re.M)
            self.assertGreater(len(shown), 2, name)
            self.assertEqual([s for s in shown if not any(pattern(k).fullmatch(s) for k in self.printed)], [], name)


if __name__ == "__main__":
    unittest.main()
