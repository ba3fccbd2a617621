#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The rows of JVMPI: agent/jvmpi/table.h has every event and function of jvmpi.h, docs/jvmpi.md says the same of them, and each has a test.

test_jvmpi_table.py --write: makes the table of docs/jvmpi.md anew."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "jvmpi.md"
BEGIN, END = "<!-- rows -->\n", "<!-- /rows -->"
CLASSES = {"MAPS": "maps", "PART": "in part", "NOT": "not"}


def rows():
    """[(list, name, class, sentence)]: list EVENTS or FUNCTIONS."""
    text = (ROOT / "agent/jvmpi/table.h").read_text().replace("\\\n", "\n")
    found = []
    for name, body in re.findall(r"#define HPX_JVMPI_(EVENTS|FUNCTIONS)\(X\)(.*?)\n\n", text, re.S):
        found += [(name, m[0], m[1], m[2]) for m in re.findall(r'X\((\w+),\s*(MAPS|PART|NOT),\s*[A-Z_,\s]+?"([^"]*)"\)', body)]
    return found


def table():
    """Rows of one class and one sentence share a line."""
    lines = ["|event, function|class|what differs|", "|---|---|---|"]
    grouped = {}
    for which, name, kind, sentence in rows():
        grouped.setdefault((which, kind, sentence), []).append(name)
    for (_, kind, sentence), names in grouped.items():
        lines.append("|%s|%s|%s|" % (", ".join("`%s`" % n for n in names), CLASSES[kind], sentence))
    return "\n".join(lines) + "\n"


def header():
    """(events, functions) of jvmpi.h."""
    text = (ROOT / "agent/jvmpi/jvmpi.h").read_text()
    functions = re.findall(r"(?m)^    \w[\w ]* \*?\(\*(\w+)\)\(", text.split("/* of the VM */")[1].split("} JVMPI_Interface;")[0])
    return re.findall(r"^\s+JVMPI_EVENT_(\w+)(?: = 1)?,$", text, re.M), functions


class RowTests(unittest.TestCase):
    maxDiff = None

    def test_every_event_and_function_of_the_header_has_one_row(self):
        events, functions = header()
        self.assertEqual((len(events), len(functions)), (37, 28))
        for which, names in (("EVENTS", events), ("FUNCTIONS", functions)):
            self.assertEqual(sorted(r[1] for r in rows() if r[0] == which), sorted(names))

    def test_the_document_has_the_rows(self):
        text = DOCUMENT.read_text()
        self.assertEqual(text.split(BEGIN)[1].split(END)[0], table())

    def test_every_row_has_a_test(self):
        """tests/jvmpi/rows.txt: the row, and tests of tests/jvm as SUBJECT.function."""
        listed = [line.split() for line in (ROOT / "tests/jvmpi/rows.txt").read_text().splitlines() if line and not line.startswith("#")]
        self.assertEqual([x[0] for x in listed], [r[1] for r in rows()])
        sources = {p.stem.removeprefix("test_"): p.read_text() for p in (ROOT / "tests/jvm").glob("test_jvmpi*.py")}
        for row, *tests in listed:
            self.assertTrue(tests, row)
            for test in tests:
                subject, function = test.split(".")
                self.assertRegex(sources.get(subject, ""), r"(?m)^@test\(.*\)\ndef %s\(" % re.escape(function), "%s of %s" % (test, row))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        before, rest = DOCUMENT.read_text().split(BEGIN)
        DOCUMENT.write_text(before + BEGIN + table() + END + rest.split(END)[1])
    else:
        unittest.main()
