#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_written ascii_sample: files that the real writer makes of made-up snapshots are right by the strict parsers, and the text and the binary file of the same
snapshots say the same."""
import os
import subprocess
import sys
import tempfile
import unittest

import hprof_binary
import hprof_text
from text_lines import unescape

SAMPLE = None


class Text(unittest.TestCase):
    def sample(self, *modes):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, 'x.txt')
            subprocess.run([SAMPLE, name, *modes], check=True)
            with open(name, 'rb') as f:
                return f.read()

    def test_files_of_the_writer_are_right(self):
        for modes in ([], ['threads'], ['depth1'], ['two'], ['two', 'threads'], ['hostile'], ['hostile', 'threads', 'two'], ['many']):
            with self.subTest(' '.join(modes)):
                p = hprof_text.parse(self.sample(*modes), cutoff=0, depth=1 if 'depth1' in modes else 3)
                self.assertIn('hprofx.unknown.', ' '.join(p.methods()))

    def test_tables_of_calls_of_the_writer_are_right(self):
        for modes in (['times'], ['times', 'threads', 'two'], ['times', 'many'], ['times', 'empty'], ['times', 'cut']):
            with self.subTest(' '.join(modes)):
                p = hprof_text.parse(self.sample(*modes), cutoff=0.2 if 'cut' in modes else 0)
                titles = [d.title for d in p.dumps]
                self.assertEqual(titles, [hprof_text.SAMPLES, hprof_text.TIMES] * (2 if 'two' in modes else 1))
                if modes == ['times']:
                    self.assertEqual(sum(r.count for r in p.dumps[1].rows), sum(i + 5 for i in range(10)))

    def test_what_monitor_y_writes_is_right(self):
        for modes in ([], ['threads'], ['hostile', 'two'], ['cut']):
            with self.subTest(' '.join(modes)):
                p = hprof_text.parse(self.sample('monitor', *modes), cutoff=0.2 if 'cut' in modes else 0)
                dumps = 2 if 'two' in modes else 1
                self.assertEqual(p.sections, ['MONITOR DUMP', 'MONITOR TIME', 'MONITOR OWNERS', 'WAIT TIME', 'LOCK TIME', 'PINNED TIME', 'CPU SAMPLES'] * dumps)
                self.assertEqual([(w.kind, w.ms, w.thread) for w in p.waits], [('WAIT', 0, None), ('WAITED', 1000, 200001), ('WAIT', 2000, 200002), ('WAITED', 3000, 200003)] * dumps)
                d = p.monitor_dumps[-1]
                self.assertEqual(({s: t.status for s, t in d.threads.items()}, [t.status for t in d.unknown]), ({200003: 'R', 200002: 'intr|SL', 200001: 'native|MW'}, ['intr|native|CW']))
                self.assertEqual([(m.owned, m.owner, m.enter, m.notify) for m in d.monitors], [(True, 200001, [None, 200003], []), (False, None, [], [200002]), (True, None, [], [])])
                self.assertEqual([[(t.kind, t.serial) for t in dead] for dead in d.deadlocks], [[('MONITOR', 200002), ('LOCK', -21)]])
                name = 'Lp/\\uD83D, timeout=7, thread 200001;' if 'hostile' in modes else '[[I'
                gate, hostile = ('Lp/\n"MONITOR DUMP END\n;', 'Lp/\ud83d, timeout=7, thread 200001;') if 'hostile' in modes else ('Lp/Gate;', '[[I')
                self.assertEqual([(g.count, g.status, g.who, g.mounted, g.owner) for g in d.virtual],
                                 [(1000000, 'CW', {22: gate, 23: None}, False, {21: hostile}), (2, 'MW', {24: None}, False, 200003), (1, 'R', {21: None}, True, None)])
                self.assertEqual([unescape(g.waits_for) if g.waits_for else None for g in d.virtual], [gate, hostile, None])
                self.assertEqual((p.waits[2].signature, d.monitors[1].signature, d.deadlocks[0][0].signature), (name, name, name))

    def test_a_cut_list_of_the_writer_is_right(self):
        p = hprof_text.parse(self.sample('cut'), cutoff=0.2)
        self.assertEqual(len(p.dumps[0].rows), 1)
        self.assertLess(p.dumps[0].shown, p.dumps[0].total)

    def test_a_dump_of_the_writer_without_samples_is_right(self):
        p = hprof_text.parse(self.sample('empty'), cutoff=0)
        self.assertEqual(p.dumps[0].total, 0)

    def test_hostile_names_come_back(self):
        p = hprof_text.parse(self.sample('hostile'))
        self.assertEqual(p.threads[200003].name, 'a", group="x")\nTRACE 300001:\n\0')
        self.assertIn('p.größe.a\\nCPU\\tSAMPLES\\rEND', p.methods())


def numbers(text, binary):
    """What each file says, in the same form."""
    return [(d.total, [(r.count, r.trace) for r in d.rows]) for d in text.tables], binary.tables


class BothFormats(unittest.TestCase):
    def files(self, *modes):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, 'x.txt')
            subprocess.run([SAMPLE, name, 'binary', *modes], check=True)
            return hprof_text.read(name), hprof_binary.read(name + '.b')

    def test_rows_threads_and_frames_agree(self):
        for modes in ([], ['threads'], ['depth1'], ['two'], ['two', 'threads'], ['empty'], ['cut'], ['cut', 'two', 'threads'], ['many'], ['many', 'two', 'threads']):
            with self.subTest(' '.join(modes)):
                text, binary = self.files(*modes)
                self.assertEqual(*numbers(text, binary))
                self.assertEqual(len(binary.tables), 2 if 'two' in modes else 1)
                self.assertEqual({t.serial: (t.name, t.group) for t in text.threads.values()}, {s: t[:2] for s, t in binary.threads.items()})
                self.assertEqual(text.ended, set(binary.ended))
                # binary has the empty trace too, which records without a trace name
                self.assertEqual(set(text.traces), set(binary.traces) - {300000})
                for serial, t in text.traces.items():
                    thread, frames = binary.traces[serial]
                    self.assertEqual((t.thread, [(f.method, f.source, f.line) for f in t.frames]),
                                     (thread, [(f.method, f.source or '<Unknown Source>', max(f.line, 0)) for f in frames]))
                self.assertEqual(text.report, binary.report)

    def test_numbers_of_hostile_names_agree(self):
        for modes in (['hostile'], ['hostile', 'threads', 'two']):
            with self.subTest(' '.join(modes)):
                self.assertEqual(*numbers(*self.files(*modes)))


if __name__ == '__main__':
    SAMPLE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
