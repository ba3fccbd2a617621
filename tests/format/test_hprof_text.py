#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests of hprof_text.py, readers.py and check_ascii.py: what is right is taken, each single thing that is wrong is refused, and files of the real writer
(ascii_sample: the first argument, or that of build/) are right; without it those are skipped."""
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from datetime import datetime

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hprof_text  # noqa: E402
import readers  # noqa: E402
from hprof_text import Malformed  # noqa: E402

SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'build', 'tests', 'format', 'ascii_sample')

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / 'read' / 'golden'

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
ONE = BODY[:BODY.index('TRACE 300008')]

# (what is wrong, old, new): each must be refused. The text stands once in the file unless noted.
WRONG = [
    ('version', 'PROFILE 1.0.1', 'PROFILE 1.0.2'),
    ('weekday', 'Sat Nov 21 08:33:20', 'Sun Nov 21 08:33:20'),
    ('no such day', 'Sat Nov 21 08:33:20', 'Sat Nov 31 08:33:20'),
    ('blank second line', '2026\n\nSome', '2026\nSome'),
    ('prose with a record', 'Some explanation', 'TRACE 300001:'),
    ('prose with an indented record', '  TRACE          a', '  TRACE 300001:'),
    ('prose with a table', 'Some explanation', 'see CPU SAMPLES BEGIN (total'),
    ('prose with a table of cpu=old', 'Some explanation', 'count callee caller time'),
    ('dashes in the prose', 'Some explanation of ours.', '---------'),
    ('no blank line before the dashes', 'a stack\n\n----', 'a stack\n----'),
    ('nine dashes', '\n--------\n', '\n---------\n'),
    ('no blank line behind the dashes', '--------\n\n', '--------\n'),
    ('spaces in START', 'id = 200001, name', 'id=200001, name'),
    ('object number in upper case', 'obj=50000002', 'obj=5000000A'),
    ('object number with zeros', 'obj=50000002', 'obj=05000002'),
    ('same object number', 'obj=50000002', 'obj=50000001'),
    ('raw quote', '\\"b\\"', '"b"'),
    ('unknown escape', '\\"b\\"', '\\b'),
    ('escape of a plain letter', '\\u0000', '\\u0041'),
    ('lower case escape', '\\uD83D', '\\ud83d'),
    ('raw newline in a name', 'name="main"', 'name="ma\nin"'),
    ('raw escape character', 'name="main"', 'name="ma\x1bin"'),
    ('raw U+0085', 'name="main"', 'name="ma\x85in"'),
    ('raw tab in a name', 'name="main"', 'name="ma\tin"'),
    ('START twice', 'id = 200002, name', 'id = 200001, name'),
    ('the unknown thread starts', 'id = 200002, name', 'id = 200000, name'),
    ('END of a thread that has not started', 'END (id = 200002)', 'END (id = 200003)'),
    ('END twice', 'END (id = 200002)', 'END (id = 200001)'),
    ('END without a blank', 'END (id = 200002)', 'END(id = 200002)'),
    ('TRACE with text behind', 'TRACE 300009:', 'TRACE 300009: '),
    ('TRACE of a thread that has not started', 'TRACE 300009:', 'TRACE 300009: (thread=200009)'),
    ('TRACE of thread 0', 'TRACE 300009:', 'TRACE 300009: (thread=0)'),
    ('TRACE twice', 'TRACE 300008:', 'TRACE 300003:'),
    ('serial too small', 'TRACE 300009:', 'TRACE 3009:'),
    ('empty trace', '\tp.C.b(C.java:1)\n', '\t<empty>\n'),
    ('no frames', '\tp.C.b(C.java:1)\n', ''),
    ('frame without a tab', '\tp.C.<init>', '    p.C.<init>'),
    ('frame without a class', '\tp.C.<init>', '\tinit'),
    ('frame without a source', '(<Unknown Source>:Unknown line)\nTRACE 300009', '(Unknown line)\nTRACE 300009'),
    ('other words for no line', 'C.java:Unknown line', 'C.java:Native method'),
    ('line 0', 'C.java:1)', 'C.java:0)'),
    ('line above 65535', 'C.java:1)', 'C.java:65536)'),
    ('unused TRACE', 'TRACE 300008:', 'TRACE 300020:\n\tp.X.y(X.java:1)\nTRACE 300008:'),
    ('row without a trace', 'TRACE 300008:\n\tp.C.b(C.java:1)\n', ''),
    ('TRACEs in another order', 'TRACE 300007:\n\thprofx.unknown.GC_active(<Unknown Source>:Unknown line)\nTRACE 300009:\n'
     '\tp.größe.m(<Unknown Source>:Unknown line)\n', 'TRACE 300009:\n\tp.größe.m(<Unknown Source>:Unknown line)\nTRACE 300007:\n'
     '\thprofx.unknown.GC_active(<Unknown Source>:Unknown line)\n'),
    ('a thread line between TRACE and table', 'CPU SAMPLES BEGIN (total = 3)', 'THREAD END (id = 200002)\nCPU SAMPLES BEGIN (total = 3)'),
    ('a report line before the table', 'CPU SAMPLES BEGIN (total = 3)', 'hprofx: a: b\nCPU SAMPLES BEGIN (total = 3)'),
    ('a report line in the table', '   2 33.33% 66.67%', 'hprofx: a: b\n   2 33.33% 66.67%'),
    ('a report line away from the dump', 'THREAD END (id = 200002)\n', 'THREAD END (id = 200002)\nhprofx: a: b\n'),
    ('a report line without a key', 'hprofx: samples: 8', 'hprofx: samples'),
    ('a report key twice', 'hprofx: lost, unknown thread: 3', 'hprofx: samples: 9'),
    ('total too small', '(total = 3)', '(total = 2)'),
    ('total too large', '(total = 3)', '(total = 4)'),
    ('date of the table', '08:33:22 2026', '08:33:61 2026'),
    ('no rank line', 'rank   self  accum   count trace method\n   1 33', '   1 33'),
    ('other rank line', 'rank   self  accum   count trace method\n   1 33', 'rank  self  accum   count trace method\n   1 33'),
    ('rank line without rows', '   1 33.33% 33.33%       1 300003 p.C$D.hot\n   2 33.33% 66.67%       1 300008 p.C.b\n'
     '   3 33.33% 100.00%       1 300009 p.größe.m\n', ''),
    ('rank', '   2 25.00%', '   3 25.00%'),
    ('rank width', '   2 25.00%', '  2 25.00%'),
    ('self', '   2 25.00%', '   2 25.01%'),
    ('accum', ' 87.50%', ' 87.49%'),
    ('accum from rounded shares', '100.00%       1 300009 p.größe.m\nCPU SAMPLES END\nTHREAD', ' 99.99%       1 300009 p.größe.m\nCPU SAMPLES END\nTHREAD'),
    ('count', '       2 300007', '       1 300007'),
    ('count width', '       2 300007', '      2 300007'),
    ('no decimals', '   1 62.50%', '   1 62.5%'),
    ('method of another trace', '300008 p.C.b', '300008 p.C.c'),
    ('trace twice in a table', '300009 p.größe.m\nCPU SAMPLES END\nTHREAD', '300003 p.C$D.hot\nCPU SAMPLES END\nTHREAD'),
    ('unknown trace', '300008 p.C.b', '300018 p.C.b'),
    ('rows not sorted', '   1 62.50% 62.50%       5 300003 p.C$D.hot\n   2 25.00% 87.50%       2 300007 hprofx.unknown.GC_active\n',
     '   1 25.00% 25.00%       2 300007 hprofx.unknown.GC_active\n   2 62.50% 87.50%       5 300003 p.C$D.hot\n'),
    ('ties not by serial', '   1 33.33% 33.33%       1 300003 p.C$D.hot\n   2 33.33% 66.67%       1 300008 p.C.b\n',
     '   1 33.33% 33.33%       1 300008 p.C.b\n   2 33.33% 66.67%       1 300003 p.C$D.hot\n'),
    ('no END', 'CPU SAMPLES END\nTHREAD END (id = 200002)\n', ''),
    ('BEGIN without END', 'CPU SAMPLES END\nTHREAD', 'THREAD'),
    ('a second END', 'CPU SAMPLES END\nTHREAD', 'CPU SAMPLES END\nCPU SAMPLES END\nTHREAD'),
    ('a blank line', 'CPU SAMPLES END\nTHREAD', 'CPU SAMPLES END\n\nTHREAD'),
    ('another record', 'CPU SAMPLES END\nTHREAD', 'CPU SAMPLES END\nSITES END\nTHREAD'),
    ('cut at its end', 'THREAD END (id = 200002)\n', 'THREAD END (id = 200002)'),
    ('a carriage return', 'THREAD END (id = 200002)\n', 'THREAD END (id = 200002)\r\n'),
]


def parse(text, **how):
    return hprof_text.parse(text.encode(), **how)


class Layout(unittest.TestCase):
    def test_a_right_file_is_taken_with_its_figures(self):
        p, asked = readers.check((HEAD + BODY).encode(), cutoff=0, depth=2)
        self.assertEqual([(d.total, d.shown, len(d.rows)) for d in p.dumps], [(8, 8, 3), (3, 3, 3)])
        self.assertEqual(p.dumps[0].report, {'samples': '8', 'lost, unknown thread': '3'})
        self.assertEqual(p.threads[200002].name, 'a "b" \\ \n\0\ud83d')
        self.assertTrue(all(t.ended for t in p.threads.values()))
        self.assertEqual(p.traces[300007].frames[0], hprof_text.Frame('hprofx.unknown.GC_active', '<Unknown Source>', 0))
        self.assertEqual((p.created, p.tables[0].date), (datetime(2026, 11, 21, 8, 33, 20), datetime(2026, 11, 21, 8, 33, 21)))
        self.assertIsNone(asked['gprof2dot'])
        self.assertEqual(asked['hprof2flamegraph'], 'several CPU records')

    def test_every_single_fault_is_refused(self):
        for what, old, new in WRONG:
            with self.subTest(what):
                self.assertEqual((HEAD + BODY).count(old), 1, 'the fault is put in one place')
                with self.assertRaises(Malformed):
                    parse((HEAD + BODY).replace(old, new), cutoff=0)

    def test_a_recovered_file_may_have_its_traces_anywhere_before_their_rows_and_no_other_fault(self):
        free = {'TRACEs in another order', 'unused TRACE', 'a thread line between TRACE and table'}
        for what, old, new in WRONG:
            text = (HEAD + BODY).replace(old, new)
            with self.subTest(what):
                if what == 'a thread line between TRACE and table':
                    text = text.replace('CPU SAMPLES END\nTHREAD END (id = 200002)\n', 'CPU SAMPLES END\n')
                if what in free:
                    parse(text, cutoff=0, recovered=True)
                else:
                    with self.assertRaises(Malformed):
                        parse(text, cutoff=0, recovered=True)

    def test_broken_utf8_is_refused_with_its_line(self):
        with self.assertRaises(Malformed) as e:
            hprof_text.parse((HEAD + BODY).encode().replace(b'group="main"', b'group="m\xed\xa0\xbd"'))
        self.assertEqual(e.exception.line, 8)

    def test_any_line_left_out_or_doubled_is_refused_or_harmless(self):
        lines = (HEAD + BODY).splitlines(True)
        harmless = ('hprofx: ', 'THREAD END', 'Some expl', '  TRACE  ', '\tp.C.<init>', '\n')  # left out, these leave a right file
        for i, line in enumerate(lines):
            with self.subTest(line):
                if not line.startswith(harmless):
                    with self.assertRaises(Malformed):
                        parse(''.join(lines[:i] + lines[i + 1:]), cutoff=0)
                if not line.startswith(('Some expl', '  TRACE  ', '\t', '\n')):
                    with self.assertRaises(Malformed):
                        parse(''.join(lines[:i] + [line] + lines[i:]), cutoff=0)

    def test_a_file_cut_anywhere_inside_a_record_is_refused(self):
        text = HEAD + ONE
        whole = {i + 1 for i in range(len(text)) if text[i] == '\n'}
        for n in range(len(text)):
            if n not in whole:
                with self.assertRaises(Malformed):
                    parse(text[:n])

    def test_what_the_options_cut_is_held_against_them(self):
        cut = (HEAD + ONE).replace('   3 12.50% 100.00%       1 300009 p.größe.m\n', '').replace(
            'TRACE 300009:\n\tp.größe.m(<Unknown Source>:Unknown line)\n', '')
        parse(cut)
        parse(cut, cutoff=0.2)
        for how in ({'cutoff': 0}, {'cutoff': float('nan')}, {'cutoff': 0.3}, {'depth': 1}):
            with self.assertRaises(Malformed):
                parse(cut, **how)

    def test_a_dump_without_samples_and_a_run_without_a_dump_are_right(self):
        parse(HEAD + 'CPU SAMPLES BEGIN (total = 0) Sat Nov  7 08:33:21 2026\nCPU SAMPLES END\n', cutoff=0)
        parse(HEAD + 'THREAD START (obj=50000001, id = 200001, name="main", group="main")\n')
        with self.assertRaises(Malformed):
            parse(HEAD + 'CPU SAMPLES BEGIN (total = 0) Sat Nov 07 08:33:21 2026\nCPU SAMPLES END\n')

    def test_empty_traces_are_taken_of_calls_and_of_the_original(self):
        text = HEAD + ('TRACE 300000:\n\t<empty>\nCPU SAMPLES BEGIN (total = 5) Sat Nov 21 08:33:21 2026\n'
                       'rank   self  accum   count trace method\n   1 100.00% 100.00%       5 300000 <empty trace>\nCPU SAMPLES END\n')
        with self.assertRaises(Malformed):
            parse(text)
        self.assertEqual(parse(text, original=True).traces[300000].frames, [])
        calls = text.replace('CPU SAMPLES', 'CPU TIME (ms)')
        self.assertEqual(parse(calls).leaves(), {'': 5})

    def test_the_original_is_forgiven_what_it_does_not_promise(self):
        text = HEAD + ONE.replace('obj=50000002', 'obj=50000001').replace('END (id = 200001)', 'END (id = 200007)')
        parse(text, original=True)
        with self.assertRaises(Malformed):
            parse(text)

    def test_files_of_the_original_are_right_and_read_alike(self):
        files = [f for kind in ('samples', 'times', 'request-samples') for f in sorted(GOLDEN.glob(kind + '*/java.hprof.txt.gz'))]
        self.assertGreaterEqual(len(files), 9)
        for path in files:
            with self.subTest(path.parent.name):
                readers.check(gzip.decompress(path.read_bytes()), original=True)


    def test_what_is_counted_is_of_the_last_table(self):
        p = parse(HEAD + BODY.replace('TRACE 300008:', 'TRACE 300008: (thread=200002)'))
        self.assertEqual((p.sections, p.total, [r.count for r in p.rows], p.report), (['CPU SAMPLES'] * 2, 3, [1, 1, 1], {'samples': '8', 'lost, unknown thread': '3'}))
        self.assertEqual((p.by_thread(), p.by_thread('p.C.b'), p.tables[0].counts()['p.C$D.hot']), ({0: 2, 200002: 1}, {200002: 1}, 5))
        self.assertEqual(p.innermost_of(['p.C.<init>', 'p.C.b', 'p.C$D.hot']), {'p.C$D.hot': 1, 'p.C.b': 1, '': 1})
        self.assertEqual(p.leaves(), {'p.C$D.hot': 1, 'p.C.b': 1, 'p.größe.m': 1})
        self.assertEqual((p.having('p.C.b', 'p.C.<init>'), p.share('p.C.<init>'), p.unknown()), (2, 1 / 3, 0))
        self.assertEqual(parse(HEAD + ONE).unknown(), 2)
        self.assertEqual((p.serial('main'), p.names[200001], p.ended), (200001, 'main', {200001, 200002}))
        self.assertEqual(parse(HEAD + ONE).ended, {200001})
        with self.assertRaises(Malformed):
            p.serial('nobody')
        twice = parse(HEAD + 'THREAD START (obj=1, id = 200001, name="a", group="")\nTHREAD START (obj=2, id = 200002, name="a", group="")\n')
        with self.assertRaises(Malformed):
            twice.serial('a')

    def test_a_part_is_held_to_the_layout_as_far_as_it_goes(self):
        text = HEAD + BODY
        whole = parse(text)
        for data in (text, text.encode()):
            for n in range(len(HEAD), len(data) + 1):
                p = hprof_text.parse(data[:n], complete=False)
                self.assertEqual(p.sections, whole.sections[:len(p.sections)])
                self.assertLessEqual(set(p.traces), set(whole.traces))
        self.assertEqual(hprof_text.parse(text[:text.index('   2 33.33%')], complete=False).rows, whole.rows[:1])
        for n in range(len(HEAD)):
            with self.assertRaises(Malformed):
                parse(text[:n], complete=False)
        for what, old, new in WRONG:
            if old in BODY and new and not old.startswith(('CPU SAMPLES END\nTHREAD END (id = 200002)', 'THREAD END (id = 200002)\n')):
                with self.subTest(what), self.assertRaises(Malformed):
                    parse(text.replace(old, new) + 'half a l', complete=False)


class Old(unittest.TestCase):
    TEXT = HEAD + BODY.replace('CPU SAMPLES END\nTHREAD', '''CPU SAMPLES END
count callee caller time
7 C.a()V C.<init>(Lp/D;)I 12
3 D.b b(I)V <unknown caller> 0
3 <unknown callee> C.a()V 1
hprofx: samples: 11
THREAD''')

    def test_a_right_file_is_taken(self):
        p, asked = readers.check(self.TEXT.encode(), cutoff=0)
        self.assertEqual((p.sections, asked), (['CPU SAMPLES', 'CPU SAMPLES', 'CPU OLD'], {}))
        self.assertEqual(p.old, [('C.a()V C.<init>(Lp/D;)I', 7, 12), ('D.b b(I)V <unknown caller>', 3, 0), ('<unknown callee> C.a()V', 3, 1)])
        self.assertEqual((p.total, len(p.tables), p.report['samples']), (3, 2, '11'))
        self.assertEqual(parse(HEAD + 'count callee caller time\n').old, [])

    def test_every_single_fault_is_refused(self):
        for old, new in [('count callee', 'count  callee'), ('7 C.a()V C', '07 C.a()V C'), ('7 C.a()V C', '2 C.a()V C'), ('I 12', 'I 012'), ('I 12', 'I 1.2'), ('I 12', 'I'),
                         ('<unknown caller> 0', 'caller 0'), ('3 <unknown callee>', '3 callee'), ('3 <unknown callee>', '0 <unknown callee>'),
                         ('7 C.a()V C.<init>(Lp/D;)I 12\n', '\n'), ('hprofx: samples: 11', 'CPU OLD END'), ('hprofx: samples: 11', 'hprofx: samples: 8\nhprofx: samples: 11')]:
            with self.subTest(old + ' ' + new):
                self.assertEqual(self.TEXT.count(old), 1, 'the fault is put in one place')
                with self.assertRaises(Malformed):
                    parse(self.TEXT.replace(old, new))


class Times(unittest.TestCase):
    TEXT = HEAD + '''TRACE 300003:
\tp.C.a(C.java:Unknown line)
TRACE 300004:
\tp.C.b(C.java:Unknown line)
TRACE 300005:
\tp.C.c(C.java:Unknown line)
TRACE 300006:
\tp.C.d(C.java:Unknown line)
CPU TIME (ms) BEGIN (total = 12) Sat Nov 21 08:33:21 2026
rank   self  accum   count trace method
   1 66.67% 66.67%       5 300003 p.C.a
   2 33.33% 100.00%    7000 300004 p.C.b
   3  0.00% 100.00%       9 300005 p.C.c
   4  0.00% 100.00%       1 300006 p.C.d
CPU TIME (ms) END
hprofx: open calls: 2, 3.5 ms
'''

    def test_a_right_file_is_taken(self):
        p, asked = readers.check(self.TEXT.encode(), cutoff=0, depth=1)
        self.assertEqual([(d.title, d.total, [r.count for r in d.rows]) for d in p.dumps], [('CPU TIME (ms)', 12, [5, 7000, 9, 1])])
        self.assertEqual(asked, {})
        self.assertEqual((p.table('CPU TIME (ms)').self_ms()['p.C.b'], p.tables[0].self_ms(lambda r: r.count > 6)), (33.33 * 12 / 100, {False: 66.67 * 12 / 100, True: 33.33 * 12 / 100}))

    def test_rounded_shares_may_add_up_to_a_half_a_row_more_and_no_more(self):
        n = 60
        traces = ''.join('TRACE %d:\n\tp.C.m%d(C.java:Unknown line)\n' % (300001 + i, i) for i in range(n))

        def rows(last):
            return ''.join('%4d  1.00%% %5.2f%%       1 %d p.C.m%d\n' % (i + 1, i + 1 if i < n - 1 else last, 300001 + i, i) for i in range(n))
        text = HEAD + traces + 'CPU TIME (ms) BEGIN (total = 99) Sat Nov 21 08:33:21 2026\nrank   self  accum   count trace method\n%sCPU TIME (ms) END\n'
        for last in (60.30, 59.70):
            parse(text % rows(last))
        for last in (60.31, 59.69):
            with self.assertRaises(Malformed):
                parse(text % rows(last))

    def test_every_single_fault_is_refused(self):
        for old, new in [('c(C.java:Unknown line)', 'c(C.java:5)'), (' 66.67% 66.67%', ' 16.67% 66.67%'), ('(total = 12)', '(total = 12.5)'),
                         ('33.33% 100.00%', '33.33% 99.00%'),
                         ('   3  0.00%', '   4  0.00%'), ('TIME (ms) END', 'SAMPLES END'), ('TIME (ms) BEGIN', 'SAMPLES BEGIN'),
                         ('       9 300005', '       0 300005'), ('   7000 300004', '  7000 300004'), ('TIME (ms) BEGIN', 'TIME BEGIN'),
                         ('   2 33.33% 100.00%', '   2 23.33% 90.00%')]:
            with self.subTest(old):
                self.assertEqual(self.TEXT.count(old), 1, 'the fault is put in one place')
                with self.assertRaises(Malformed):
                    parse(self.TEXT.replace(old, new), cutoff=0)
        with self.assertRaises(Malformed):
            parse(self.TEXT, cutoff=0.5)
        parse(self.TEXT)


class Sites(unittest.TestCase):
    TRACES = 'TRACE 300003:\n\tA.m(A.java:5)\n\tA.main(A.java:9)\nTRACE 300004:\n\t<empty>\n'
    LIST = HEAD + TRACES + '''SITES BEGIN (ordered by live bytes) Sat Nov 21 08:33:21 2026
          percent          live          alloc'ed  stack class
 rank   self  accum     bytes objs     bytes  objs trace name
    1 66.67% 66.67%        64    2        96     3 300003 int[][]
    2 33.33% 100.00%        32    1        32     1 300004 p.C$D
    3  0.00% 100.00%         0    0        80     5 300003 p.C$D
SITES END
hprofx: version: 1
'''
    WRONG = [
        ('order of another name', 'by live', 'by all'), ('first title', '  stack class', ' stack class'), ('second title', 'trace name', 'trace class'), ('rank', '    2 33', '    3 33'),
        ('self', '    2 33.33%', '    2 33.34%'), ('accum', '66.67% 66.67%', '66.67% 66.68%'), ('a width', '        64    2', '       64    2'), ('trace', '300004 p.C', '300005 p.C'),
        ('twice', '     5 300003 p.C$D', '     5 300003 int[][]'), ('more alive than allocated', '        64    2        96     3', '        64    2        56     3'),
        ('more alive objects than allocated', '        64    2        96     3', '        64    4        96     3'), ('objects without bytes', '        80     5', '         0     5'),
        ('live objects without bytes', '         0    0        80', '         0    1        80'), ('bytes without objects', '         0    0        80', '         8    0        80'), ('order', 'ordered by live', 'ordered by allocated'),
        ('no end', 'SITES END\n', ''), ('a trace that no row uses', '    2 33.33% 100.00%        32    1        32     1 300004 p.C$D\n    3  0.00%', '    2  0.00%'),
        ('traces in another order', TRACES, TRACES[TRACES.index('TRACE 300004'):] + TRACES[:TRACES.index('TRACE 300004')]),
    ]

    def test_a_right_file_is_taken_with_its_figures(self):
        for how in ({}, {'cutoff': 0.0}):
            p = hprof_text.parse(self.LIST, **how)
            self.assertEqual((p.sections, p.tables, len(p.lists), p.lists[0].order), (['SITES'], [], 1, 'live'))
            self.assertEqual([(r.name, r.live, r.live_bytes, r.objects, r.bytes, len(t.frames)) for r, t in p.sites],
                             [('int[][]', 2, 64, 3, 96, 2), ('p.C$D', 1, 32, 1, 32, 0), ('p.C$D', 0, 0, 5, 80, 2)])

    def test_objects_may_lack_bytes_if_the_report_says_so(self):
        unsized = self.LIST.replace('        80     5', '         0     5', 1)
        self.assertEqual(hprof_text.parse(unsized + 'hprofx: objects of unknown size: 5\n').sites[2][0].objects, 5)
        with self.assertRaises(Malformed):
            hprof_text.parse(unsized)

    def test_every_single_fault_is_refused(self):
        for what, old, new in self.WRONG:
            with self.subTest(what):
                self.assertIn(old, self.LIST)
                with self.assertRaises(Malformed):
                    hprof_text.parse(self.LIST.replace(old, new, 1))

    def test_with_cutoff_0_the_rows_are_all(self):
        shown = self.LIST.replace('66.67% 66.67%', '64.00% 64.00%').replace('33.33% 100.00%', '32.00% 96.00%').replace('0.00% 100.00%', '0.00% 96.00%')
        hprof_text.parse(shown)
        with self.assertRaises(Malformed):
            hprof_text.parse(shown, cutoff=0.0)

    def test_by_allocated_bytes_the_shares_are_of_live_ones_or_of_these_where_none_are_known(self):
        allocated = self.LIST.replace('by live', 'by allocated').replace('        32    1        32     1', '        32    1        96     4')
        hprof_text.parse(allocated)
        rows = [('47.06%', '47.06%', 96, 3, 300003, 'int[][]'), ('39.22%', '86.27%', 80, 5, 300004, 'p.C$D'), ('13.73%', '100.00%', 28, 1, 300003, 'p.C$D')]
        text = ''.join('%5u %6s %s         0    0 %9u %5u %5u %s\n' % ((i + 1,) + r) for i, r in enumerate(rows))
        head, end = allocated[:allocated.index('    1 66')], allocated[allocated.index('SITES END'):]
        hprof_text.parse(head + text + end, cutoff=0.0)
        with self.assertRaises(Malformed):
            hprof_text.parse(head + text.replace('39.22', '39.23') + end)

    def test_lists_of_the_original_are_taken(self):
        for case, size in (('sites-alloc', 8), ('request-sites', 3)):
            with gzip.open(GOLDEN / case / 'java.hprof.txt.gz') as f:
                p = hprof_text.parse(f.read(), original=True)
            self.assertEqual(set(p.sections), {'SITES'})
            self.assertGreater(len(p.sites), size)


class Readers(unittest.TestCase):
    def test_all_readers_take_a_file_with_unwalkable_samples(self):
        text = HEAD + ONE
        _, asked = readers.check(text.encode())
        self.assertEqual({k for k, v in asked.items() if v is not None}, {'gin'})
        self.assertEqual(readers.scripts(text.encode())['hprofx.unknown.GC_active'], 2)
        shallow = text.replace('\tp.C.<init>(C.java:Unknown line)\n', '')
        _, asked = readers.check(shallow.encode())
        self.assertEqual(set(asked.values()), {None})
        self.assertEqual(readers.gin(shallow.encode()), {('p.C$D.hot', '5'): 5, ('hprofx.unknown.GC_active', 'Unknown line'): 2,
                                                         ('p.größe.m', 'Unknown line'): 1})

    def test_each_demand_of_a_reader_is_one_that_it_makes(self):
        text = HEAD + ONE.replace('\tp.C.<init>(C.java:Unknown line)\n', '')
        threads = text.replace('TRACE 300007:', 'TRACE 300007: (thread=200001)')
        breaks = [
            ('gprof2dot', threads),
            ('gprof2dot', text.replace('--------', '==')),
            ('gprof2dot', text[:text.index('CPU SAMPLES BEGIN')]),
            ('gprof2dot', text.replace('p.größe.m\n', 'p.grö ße.m\n')),
            ('hprof2flamegraph', text.replace(', created Sat', ', created: Sat')),
            ('hprof2flamegraph', text.replace('\thprofx.unknown.GC_active(<Unknown Source>:Unknown line)', '\t<empty>')),
            ('hprof2flamegraph', text.replace('rank   self', '  rank self')),
            ('hprof2flamegraph', text.replace('Some explanation', 'CPU TIME (ms) BEGIN')),
            ('hprof_scrubber', text.replace('CPU SAMPLES END\n', '')),
            ('hprof_scrubber', text.replace('rank   self  accum   count trace method\n', '')),
            ('gin', threads),
            ('gin', text.replace(':Unknown line)\nTRACE 300009', ':Native method)\nTRACE 300009')),
            ('gin', text.replace('rank   self  accum', 'rank  self  accum')),
            ('orbit', text.replace('THREAD START (', 'THREAD START(')),
            ('orbit', text.replace('CPU SAMPLES BEGIN', 'THREAD END (id = 200002)\nCPU SAMPLES BEGIN')),
            ('orbeon', text + text[text.index('CPU SAMPLES BEGIN'):]),
            ('penchy', text.replace('25.00%', '25.0%')),
            ('scripts', text.replace('--------', '---------')),
        ]
        for name, broken in breaks:
            with self.subTest(name):
                self.assertNotEqual(broken, text)
                with self.assertRaises(readers.Unreadable):
                    readers.READERS[name](broken.encode())
        for name in ('gprof2dot', 'hprof2flamegraph', 'orbeon', 'penchy'):
            with self.assertRaises(readers.Unreadable):
                readers.READERS[name](text.encode().replace(b'gr\xc3\xb6', b'gr\xf6'))

    def test_other_figures_are_refused(self):
        data = (HEAD + ONE).encode()
        p = hprof_text.parse(data)
        p.dumps[0].rows[1].count += 1
        for name, expect in readers.EXPECT.items():
            if readers.cannot(name, p) is None:
                self.assertNotEqual(readers.READERS[name](data), expect(p), name)
        with self.assertRaises(Malformed):
            readers.compare_all(data, p)


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

    def test_files_of_the_writer_are_right_and_read_alike(self):
        for modes in ([], ['threads'], ['depth1'], ['two'], ['two', 'threads'], ['hostile'], ['hostile', 'threads', 'two'], ['many']):
            with self.subTest(' '.join(modes)):
                p, asked = readers.check(self.sample(*modes), cutoff=0, depth=1 if 'depth1' in modes else 3)
                self.assertIn('hprofx.unknown.', ' '.join(p.methods()))
                reasons = {'thread=y', 'several CPU records', 'depth is not 1', None}
                self.assertLessEqual(set(asked.values()), reasons)
                if modes == ['depth1']:
                    self.assertEqual(set(asked.values()), {None})

    def test_tables_of_calls_of_the_writer_are_right(self):
        for modes in (['times'], ['times', 'threads', 'two'], ['times', 'many'], ['times', 'empty'], ['times', 'cut']):
            with self.subTest(' '.join(modes)):
                p, _ = readers.check(self.sample(*modes), cutoff=0.2 if 'cut' in modes else 0)
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
        p, _ = readers.check(self.sample('cut'), cutoff=0.2)
        self.assertEqual(len(p.dumps[0].rows), 1)
        self.assertLess(p.dumps[0].shown, p.dumps[0].total)

    def test_a_dump_of_the_writer_without_samples_is_right(self):
        p, _ = readers.check(self.sample('empty'), cutoff=0)
        self.assertEqual(p.dumps[0].total, 0)

    def test_hostile_names_come_back(self):
        p, _ = readers.check(self.sample('hostile'))
        self.assertEqual(p.threads[200003].name, 'a", group="x")\nTRACE 300001:\n\0')
        self.assertIn('p.größe.a\\nCPU\\tSAMPLES\\rEND', p.methods())


class Command(unittest.TestCase):
    def run_command(self, text, *args):
        with tempfile.NamedTemporaryFile(suffix='.txt') as f:
            f.write(text.encode())
            f.flush()
            here = os.path.dirname(os.path.abspath(__file__))
            return subprocess.run([sys.executable, os.path.join(here, 'check_ascii.py'), f.name, *args], capture_output=True, text=True)

    def test_the_exit_code_tells(self):
        good = self.run_command(HEAD + BODY, '--cutoff=0')
        self.assertEqual((good.returncode, good.stderr), (0, ''))
        self.assertIn('2 threads, 4 traces, CPU SAMPLES of 3 rows, CPU SAMPLES of 3 rows', good.stdout)
        bad = self.run_command((HEAD + BODY).replace('(total = 3)', '(total = 4)'))
        self.assertEqual((bad.returncode, bad.stdout), (1, ''))
        self.assertIn('line 30: a row must be', bad.stderr)
        unreadable = self.run_command(HEAD + ONE.replace('<Unknown Source>:Unknown line)\nTRACE 300009', '<Unknown Source>:7)\nTRACE 300009'))
        self.assertEqual(unreadable.returncode, 0)


if __name__ == '__main__':
    if len(sys.argv) > 1 and os.path.exists(sys.argv[1]):
        SAMPLE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
