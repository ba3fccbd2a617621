#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every C source and header has less than 600 lines: what has more has two purposes."""
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("base", "bci", "pipeline", "tables", "writers", "agent", "command", "tools", "tests", "bench")
LIMIT = 600


class SourceLines(unittest.TestCase):
    def test_every_source_has_less_than_600_lines(self):
        sources = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.[ch]")]
        self.assertGreater(len(sources), 300)
        lines = {str(path.relative_to(ROOT)): len(path.read_bytes().splitlines()) for path in sources}
        self.assertEqual({name: n for name, n in lines.items() if n >= LIMIT}, {})


if __name__ == "__main__":
    unittest.main()
