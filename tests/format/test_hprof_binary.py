#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests of hprof_binary.py: the rules that hprofx-read is held to (tests/read/breaks.py), each broken once, for the records that profiles of CPU time have."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'read')]
import breaks  # noqa: E402
import hprof_binary  # noqa: E402
import hprof_files  # noqa: E402
from hprof_binary import Malformed  # noqa: E402

NOT_OURS = ('segment', 'root', 'class ', 'object', 'array', 'heap', 'sites', 'summary')


def ours(pieces):
    """Without the records that only other modes write."""
    return hprof_files.Pieces((name, p) for name, p in pieces.pieces if not name.startswith(NOT_OURS)).data()


class Binary(unittest.TestCase):
    def test_a_right_file_is_taken_with_its_figures(self):
        for size in (4, 8):
            with self.subTest(size):
                b = hprof_binary.Binary(ours(hprof_files.binary(size)))
                self.assertEqual((b.id_size, b.tables, b.tables[0].total), (size, [(10, [(6, 300001), (4, 300002)])], 10))
                self.assertEqual((b.threads, b.ended, [b.classes[s] for s in b.unloaded]), ({200001: ('main', 'system', None)}, [200001], ['B']))
                self.assertEqual([(n, [f.method for f in frames]) for n, frames in b.stacks()], [(6, ['A.main', 'B.x']), (4, ['B.x'])])
                self.assertEqual((b.share('A.main'), b.settings), (0.6, (3, 4)))

    def test_every_single_fault_is_refused(self):
        for size in (4, 8):
            f = hprof_files.Format(size)
            for what, pieces, where, _ in breaks.header_breaks(size, 2) + breaks.length_breaks(f) + breaks.definition_breaks(f) + breaks.table_breaks(f):
                name = where if isinstance(where, str) else where[0]
                if name.startswith(NOT_OURS):
                    continue
                with self.subTest(what), self.assertRaises(Malformed):
                    hprof_binary.Binary(ours(pieces))

    def test_time_does_not_go_back(self):
        f = hprof_files.Format(8)
        for end, right in ((5, True), (4, False)):
            pieces = hprof_files.binary().put('samples', f.record(0x0d, bytes(8), us=5)).drop('unload').put('end', f.record(0x0b, (200001).to_bytes(4, 'big'), us=end))
            if right:
                self.assertEqual(hprof_binary.Binary(ours(pieces)).time, 5)
            else:
                with self.assertRaises(Malformed):
                    hprof_binary.Binary(ours(pieces))

    def test_a_file_cut_anywhere_inside_a_record_is_refused(self):
        data = ours(hprof_files.binary())
        whole = hprof_files.Pieces((n, p) for n, p in hprof_files.binary().pieces if not n.startswith(NOT_OURS)).starts()[1:]
        for n in range(len(data)):
            if n not in whole:
                with self.assertRaises(Malformed):
                    hprof_binary.Binary(data[:n])


if __name__ == '__main__':
    unittest.main()
