#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Files of the real writer (ascii_sample: the first argument, or that of build/; without it skipped) are right by hprof_text.py, and the two parsers of
this folder do not take everything. Whatever else they read, hprofx check reads, too, which has tests of its own (tests/read)."""
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'read')]
import hprof_binary  # noqa: E402
import hprof_files  # noqa: E402
import hprof_text  # noqa: E402
from hprof_text import Malformed  # noqa: E402

SAMPLE = HERE.parents[1] / 'build' / 'tests' / 'format' / 'ascii_sample'
GOLDEN = HERE.parent / 'read' / 'golden'

HEAD = '''JAVA PROFILE 1.0.1, created Sat Nov 21 08:33:20 2026

Some explanation of ours.
  TRACE          a stack

--------

'''
BODY = '''THREAD START (obj=50000001, id = 200001, name="main", group="main")
THREAD START (obj=50000002, id = 200002, name="a \\"b\\" \\\\ \\n\\u0000\\uD83D", group="")
TRACE 300003:
\tp.C$D.hot(C.java:5)
\tp.C.<init>(C.java:Unknown line)
TRACE 300007:
\thprofx.unknown.GC_active(<Unknown Source>:Unknown line)
TRACE 300009:
\tp.größe.m(<Unknown Source>:Unknown line)
CPU SAMPLES BEGIN (total = 8) Sat Nov 21 08:33:21 2026
rank   self  accum   count trace method
   1 62.50% 62.50%       5 300003 p.C$D.hot
   2 25.00% 87.50%       2 300007 hprofx.unknown.GC_active
   3 12.50% 100.00%       1 300009 p.größe.m
CPU SAMPLES END
hprofx: samples: 8
hprofx: lost, unknown thread: 3
THREAD END (id = 200001)
TRACE 300008:
\tp.C.b(C.java:1)
CPU SAMPLES BEGIN (total = 3) Sat Nov 21 08:33:22 2026
rank   self  accum   count trace method
   1 33.33% 33.33%       1 300003 p.C$D.hot
   2 33.33% 66.67%       1 300008 p.C.b
   3 33.33% 100.00%       1 300009 p.größe.m
CPU SAMPLES END
THREAD END (id = 200002)
'''
# (what is wrong, old, new)
WRONG = [
    ('raw quote', '\\"b\\"', '"b"'), ('END of a thread that has not started', 'END (id = 200002)', 'END (id = 200003)'), ('TRACE twice', 'TRACE 300008:', 'TRACE 300003:'),
    ('unused TRACE', 'TRACE 300008:', 'TRACE 300020:\n\tp.X.y(X.java:1)\nTRACE 300008:'), ('row without a trace', 'TRACE 300008:\n\tp.C.b(C.java:1)\n', ''),
    ('line 0', 'C.java:1)', 'C.java:0)'), ('total too small', '(total = 3)', '(total = 2)'), ('rank width', '   2 25.00%', '  2 25.00%'), ('self', '   2 25.00%', '   2 25.01%'),
    ('accum', ' 87.50%', ' 87.49%'), ('count', '       2 300007', '       1 300007'), ('method of another trace', '300008 p.C.b', '300008 p.C.c'),
    ('a report line in the table', '   2 33.33% 66.67%', 'hprofx: a: b\n   2 33.33% 66.67%'), ('BEGIN without END', 'CPU SAMPLES END\nTHREAD', 'THREAD'),
    ('a blank line', 'CPU SAMPLES END\nTHREAD', 'CPU SAMPLES END\n\nTHREAD'), ('cut at its end', 'THREAD END (id = 200002)\n', 'THREAD END (id = 200002)'),
]


class Text(unittest.TestCase):
    def test_a_right_file_is_taken_with_its_figures_and_faults_are_refused(self):
        p = hprof_text.parse((HEAD + BODY).encode(), cutoff=0, depth=2)
        self.assertEqual([(d.total, d.shown, len(d.rows)) for d in p.dumps], [(8, 8, 3), (3, 3, 3)])
        self.assertEqual((p.threads[200002].name, p.report, p.leaves()), ('a "b" \\ \n\0\ud83d', {'samples': '8', 'lost, unknown thread': '3'}, {'p.C$D.hot': 1, 'p.C.b': 1, 'p.größe.m': 1}))
        for what, old, new in WRONG:
            with self.subTest(what):
                self.assertEqual((HEAD + BODY).count(old), 1, 'the fault is put in one place')
                with self.assertRaises(Malformed):
                    hprof_text.parse((HEAD + BODY).replace(old, new), cutoff=0)

    def test_a_part_is_taken_as_far_as_it_goes(self):
        text = HEAD + BODY
        for n in range(len(HEAD), len(text) + 1, 7):
            p = hprof_text.parse(text[:n], complete=False)
            self.assertLessEqual(set(p.traces), {300003, 300007, 300008, 300009})
        with self.assertRaises(Malformed):
            hprof_text.parse(text[:-1])

    def test_files_of_the_original_are_taken(self):
        for path in [f for kind in ('samples', 'times', 'sites', 'request-samples') for f in sorted(GOLDEN.glob(kind + '*/java.hprof.txt.gz'))]:
            with self.subTest(path.parent.name):
                hprof_text.parse(gzip.decompress(path.read_bytes()), original=True)


class Binary(unittest.TestCase):
    def test_a_right_file_is_taken_with_its_figures_and_faults_are_refused(self):
        good = lambda: hprof_files.Pieces((n, p) for n, p in hprof_files.binary().pieces if not n.startswith(('segment', 'root', 'class ', 'object', 'array', 'heap ')))
        b = hprof_binary.Binary(good().data())
        self.assertEqual((b.tables, b.threads, [r.bytes for r, _, _ in b.sites()]), ([(10, [(6, 300001), (4, 300002)])], {200001: ('main', 'system', None)}, [72, 40]))
        f = hprof_files.Format(8)
        for wrong in (good().drop('frame 2'), good().put('samples', f.samples(9, (6, 300001), (4, 300002))), good().put('samples', f.samples(10, (4, 300001), (6, 300002))),
                      good().before('unload', 'new', f.record(0x0b, (200001).to_bytes(4, 'big')))):
            with self.assertRaises(hprof_binary.Malformed):
                hprof_binary.Binary(wrong.data())
        with self.assertRaises(hprof_binary.Malformed):
            hprof_binary.Binary(good().data()[:-1])


class Writer(unittest.TestCase):
    """Files of the writer itself."""

    def sample(self, *modes):
        if not os.path.exists(SAMPLE):
            self.skipTest('ascii_sample is not built')
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
                self.assertEqual([[t.kind for t in dead] for dead in d.deadlocks], [['MONITOR', 'LOCK']])
                name = 'Lp/\\uD83D, timeout=7, thread 200001;' if 'hostile' in modes else '[[I'
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


if __name__ == '__main__':
    if len(sys.argv) > 1 and os.path.exists(sys.argv[1]):
        SAMPLE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
