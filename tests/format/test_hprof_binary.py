#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests of hprof_binary.py: the rules that hprofx check is held to (tests/read/breaks.py), each broken once, for the records that profiles of CPU time have."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'read')]
import breaks  # noqa: E402
import hprof_binary  # noqa: E402
import hprof_files  # noqa: E402
from hprof_binary import Malformed  # noqa: E402

NOT_OURS = ('segment', 'root', 'class ', 'object', 'array', 'heap ')


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

    def test_sites_and_the_summary_come_with_their_figures(self):
        b = hprof_binary.Binary(ours(hprof_files.binary()))
        self.assertEqual(b.lists[0][:1] + b.lists[0][2:6], (0, 96, 3, 1000, 10))
        self.assertEqual([(r.live_bytes, r.live, r.bytes, r.objects, name, len(frames)) for r, name, frames in b.sites()], [(64, 1, 72, 2, 'A[]', 2), (32, 1, 40, 2, 'A', 2)])
        self.assertEqual(b.summaries, [(96, 3, 1000, 10)])

    def test_sites_whose_figures_cannot_be_are_refused(self):
        f = hprof_files.Format(8)
        row = lambda live, bytes_, objects=2, array=0, serial=100001: (array, serial, 300001, live, 1, bytes_, objects)
        for rows, how in (((row(32, 40), row(64, 72, serial=100000)), {}), ((row(64, 72), row(32, 40)), {}), ((row(48, 40),), {}), ((row(32, 40, 0),), {}), ((row(32, 40, array=2),), {}),
                          ((row(32, 40, serial=100004),), {}), ((row(32, 40),), {'total': 31}), ((row(32, 1001),), {}), ((row(64, 40 + 64), row(32, 200, serial=100000)), {'flags': 2})):
            with self.subTest(rows), self.assertRaises(Malformed):
                hprof_binary.Binary(ours(hprof_files.binary().put('sites', f.sites(*rows, **how))))

    def test_time_does_not_go_back(self):
        f = hprof_files.Format(8)
        for end, right in ((5, True), (4, False)):
            pieces = hprof_files.binary().put('samples', f.record(0x0d, bytes(8), us=5)).drop('unload').drop('summary').put('end', f.record(0x0b, (200001).to_bytes(4, 'big'), us=end))
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
