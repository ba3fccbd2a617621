#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Tests of monitor_text.py: what is right is taken with its figures, each single thing that is wrong is refused."""
import os
import sys
import unittest
from datetime import datetime

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hprof_text  # noqa: E402
from hprof_text import LOCK_TIME, MONITOR_OWNERS, MONITOR_TIME, WAIT_TIME, Malformed  # noqa: E402
from monitor_text import BlockRow, DeadlockThread, Monitor, MonitorThread, Wait  # noqa: E402

HEAD = '''JAVA PROFILE 1.0.1, created Sat Nov 21 08:33:20 2026

Some explanation of ours.
  MONITOR DUMP   every thread

--------

'''
DATE = 'Sat Nov 21 08:33:21 2026'
RANK = 'rank   self  accum   count trace '
WAITS = '''THREAD START (obj=50000001, id = 200001, name="main", group="main")
WAIT: MONITOR Lp/Bell;, timeout=0, thread 200001
THREAD START (obj=50000002, id = 200002, name="a \\"b\\"", group="main")
WAITED: MONITOR Lp/Bell;, time_waited=381, <unknown thread>
'''
DUMP = '''TRACE 300003:
\tp.C.enter(C.java:5)
TRACE 300000:
\t<empty>
TRACE 300005:
\tp.C.hold(C.java:9)
MONITOR DUMP BEGIN
    THREAD 200000, trace 300003, status: native|R
    THREAD 200001, trace 300003, status: S|intr|native|MW
    THREAD 200002, trace 300000, status: ZO
    MONITOR Lp/Gate;
\towner: thread 200002, entry count: 2
\twaiting to enter: <unknown thread>, thread 200001, thread 200002
\twaiting to be notified:
    MONITOR [I unowned
\twaiting to enter:
\twaiting to be notified: thread 200001
    MONITOR Lp/Idle;
\towner: <unknown thread>, entry count: 1
\twaiting to enter:
\twaiting to be notified:
    NOTE: Owners are not known.
MONITOR DUMP END
DEADLOCKS BEGIN (2)
    DEADLOCK 1 (2 threads)
    THREAD 200001 "main", trace 300003, waiting for MONITOR LA; owned by thread 200002
    THREAD 200002 "a \\"b\\"", trace 300005, waiting for LOCK Lp/Lock$Sync; owned by thread 200001
    DEADLOCK 2 (2 threads)
    THREAD 200000 "", trace 300000, waiting for MONITOR LC; owned by thread 200001
    THREAD 200001 "main", trace 300003, waiting for MONITOR LD; owned by <unknown thread>
DEADLOCKS END
'''
TABLES = '''TRACE 300004:
\tp.C.enter(C.java:6)
MONITOR TIME BEGIN (total = 200 ms) %s
%smonitor
   1 75.00%% 75.00%%       3 300003 p.Gate (Java)
   2 25.00%% 100.00%%       1 300004 java.lang.Object (Java)
MONITOR TIME END
TRACE 300006:
\tp.C.hold(C.java:8)
MONITOR OWNERS BEGIN (total = 200 ms) %s
%sowner monitor
   1 75.00%% 75.00%%       3 300003 300005 p.Gate (Java)
   2 25.00%% 100.00%%       1 300004 300006 p.Gate (Java)
MONITOR OWNERS END
WAIT TIME BEGIN (total = 0 ms) %s
%smonitor
   1  0.00%%  0.00%%       1 300003 <unknown class> (Java)
WAIT TIME END
LOCK TIME BEGIN (total = 5 ms) %s
%slock
   1 100.00%% 100.00%%       7 300003 p.Lock$Sync (Java)
LOCK TIME END
PINNED TIME BEGIN (total = 7 ms) %s
PINNED TIME END
hprofx: lines of waits: 2
THREAD END (id = 200001)
''' % ((DATE, RANK) * 4 + (DATE,))
ALL = HEAD + WAITS + DUMP + TABLES

# (what is wrong, old, new): the text stands once in the file
WRONG = [
    ('prose with a dump', '  MONITOR DUMP   every', '  MONITOR DUMP BEGIN'),
    ('prose with a wait', 'Some explanation', 'WAIT: MONITOR'),
    ('a wait with the word of its end', 'timeout=0', 'time_waited=0'),
    ('a wait of no number', 'timeout=0', 'timeout=x'),
    ('a wait of a thread that never started', 'timeout=0, thread 200001', 'timeout=0, thread 200009'),
    ('a wait of nobody', 'timeout=0, thread 200001', 'timeout=0, nobody'),
    ('no such status', 'status: S|intr|native|MW', 'status: intr|S|MW'),
    ('no such state', 'status: ZO', 'status: XX'),
    ('trace of a thread', 'THREAD 200001, trace 300003', 'THREAD 200001, trace 300004'),
    ('a thread that never started', 'THREAD 200002, trace', 'THREAD 200003, trace'),
    ('a thread twice', 'THREAD 200002, trace', 'THREAD 200001, trace'),
    ('threads out of order', 'THREAD 200000, trace 300003, status', 'THREAD 200002, trace 300003, status'),
    ('owner of an unowned monitor', 'MONITOR [I unowned', 'MONITOR [I'),
    ('no owner of an owned one', 'MONITOR Lp/Gate;', 'MONITOR Lp/Gate; unowned'),
    ('entered 0 times', 'count: 2', 'count: 0'),
    ('owner unknown', 'owner: thread 200002', 'owner: thread 200003'),
    ('trailing blank', 'to enter:\n\twaiting to be notified: ', 'to enter: \n\twaiting to be notified: '),
    ('trailing comma', 'thread 200001, thread 200002\n', 'thread 200001, thread 200002,\n'),
    ('no comma', 'thread 200001, thread 200002\n', 'thread 200001 thread 200002\n'),
    ('waiters out of order', 'thread 200001, thread 200002\n', 'thread 200002, thread 200001\n'),
    ('a waiter that never started', 'thread 200001, thread 200002\n', 'thread 200001, thread 200003\n'),
    ('the monitor with more waiters behind', 'enter: <unknown thread>, thread 200001, thread 200002\n', 'enter:\n'),
    ('a thread behind a monitor', '    NOTE: Owners are not known.', '    THREAD 200002, trace 300000, status: R'),
    ('a note of nothing', 'NOTE: Owners are not known.', 'NOTE: '),
    ('no end of the dump', 'MONITOR DUMP END\n', ''),
    ('DEADLOCKS alone', 'MONITOR DUMP END\n', 'MONITOR DUMP END\nTHREAD END (id = 200002)\n'),
    ('fewer deadlocks', 'DEADLOCKS BEGIN (2)', 'DEADLOCKS BEGIN (3)'),
    ('more deadlocks', 'DEADLOCKS BEGIN (2)', 'DEADLOCKS BEGIN (1)'),
    ('number of a deadlock', 'DEADLOCK 2', 'DEADLOCK 1'),
    ('fewer threads in it', 'DEADLOCK 1 (2', 'DEADLOCK 1 (3'),
    ('no circle', 'LA; owned by thread 200002', 'LA; owned by thread 200001'),
    ('no circle of the unknown', 'owned by <unknown thread>', 'owned by thread 200001'),
    ('name without quotes', '200001 "main", trace 300003, waiting for MONITOR LA;', '200001 main, trace 300003, waiting for MONITOR LA;'),
    ('neither monitor nor lock', 'waiting for LOCK', 'waiting for GODOT'),
    ('trace of a deadlock', 'trace 300005', 'trace 300006'),
    ('no end of the deadlocks', 'DEADLOCKS END\n', ''),
    ('traces in another order', 'TRACE 300003:\n\tp.C.enter(C.java:5)\nTRACE 300000:\n\t<empty>\n', 'TRACE 300000:\n\t<empty>\nTRACE 300003:\n\tp.C.enter(C.java:5)\n'),
    ('a trace that no line names', 'TRACE 300005:', 'TRACE 300007:\n\tp.C.m(C.java:1)\nTRACE 300005:'),
    ('total without ms', 'LOCK TIME BEGIN (total = 5 ms)', 'LOCK TIME BEGIN (total = 5)'),
    ('columns', 'count trace lock', 'count trace monitor'),
    ('no columns', 'rank   self  accum   count trace lock\n', ''),
    ('columns of no row', 'PINNED TIME END', 'rank   self  accum   count trace monitor\nPINNED TIME END'),
    ('not (Java)', 'p.Lock$Sync (Java)', 'p.Lock$Sync'),
    ('rank', '   2 25.00% 100.00%       1 300004 java', '   3 25.00% 100.00%       1 300004 java'),
    ('accum', '25.00% 100.00%       1 300004 java', '25.00% 99.98%       1 300004 java'),
    ('order', '   1 75.00% 75.00%       3 300003 p.Gate', '   1 15.00% 15.00%       3 300003 p.Gate'),
    ('a width', '      7 300003', '     7 300003'),
    ('a row of nothing', '      7 300003', '      0 300003'),
    ('trace of a row', '1 300004 java', '1 300008 java'),
    ('trace of an owner', '300004 300006', '300004 300008'),
    ('no trace of an owner', '300004 300006', '300004'),
    ('no end of the table', 'LOCK TIME END\n', ''),
    ('end of another table', 'LOCK TIME END\n', 'WAIT TIME END\n'),
    ('trace of no row', 'TRACE 300004:', 'TRACE 300007:\n\tp.C.m(C.java:1)\nTRACE 300004:'),
    ('no such table', 'PINNED TIME BEGIN', 'SPARE TIME BEGIN'),
]


def parse(text, **how):
    return hprof_text.parse(text.encode(), **how)


class Monitors(unittest.TestCase):
    def test_a_right_file_is_taken_with_its_waits_and_its_dump(self):
        p = parse(ALL, cutoff=0, depth=1)
        self.assertEqual(p.waits, [Wait('WAIT', 'Lp/Bell;', 0, 200001, 9), Wait('WAITED', 'Lp/Bell;', 381, None, 11)])
        d = p.monitor_dumps[0]
        self.assertEqual((d.threads, d.unknown), ({200001: MonitorThread(300003, 'S|intr|native|MW'), 200002: MonitorThread(300000, 'ZO')}, [MonitorThread(300003, 'native|R')]))
        self.assertEqual(d.monitors, [Monitor('Lp/Gate;', True, 200002, 2, [None, 200001, 200002], []), Monitor('[I', False, None, 0, [], [200001]),
                                      Monitor('Lp/Idle;', True, None, 1, [], [])])
        self.assertEqual((d.of('[I'), d.of('Lp/None;'), d.notes), ([d.monitors[1]], [], ['Owners are not known.']))
        self.assertEqual(d.deadlocks, [[DeadlockThread(200001, 'main', 300003, 'MONITOR', 'LA;', 200002), DeadlockThread(200002, 'a "b"', 300005, 'LOCK', 'Lp/Lock$Sync;', 200001)],
                                       [DeadlockThread(200000, '', 300000, 'MONITOR', 'LC;', 200001), DeadlockThread(200001, 'main', 300003, 'MONITOR', 'LD;', None)]])

    def test_a_right_file_is_taken_with_its_tables(self):
        p = parse(ALL, cutoff=0)
        self.assertEqual(p.sections, ['MONITOR DUMP', 'MONITOR TIME', 'MONITOR OWNERS', 'WAIT TIME', 'LOCK TIME', 'PINNED TIME'])
        self.assertEqual([(t.title, t.total_ms, len(t.rows)) for t in p.block_tables], [(MONITOR_TIME, 200, 2), (MONITOR_OWNERS, 200, 2), (WAIT_TIME, 0, 1), (LOCK_TIME, 5, 1), ('PINNED TIME', 7, 0)])
        t = p.table(MONITOR_TIME)
        self.assertEqual((t.rows[1], t.date), (BlockRow(2, 25.0, 100.0, 1, 300004, None, 'java.lang.Object'), datetime(2026, 11, 21, 8, 33, 21)))
        self.assertEqual((t.ms(t.rows[0]), t.ms_by(), t.counts_by(lambda r: r.trace)), (150, {'p.Gate': 150, 'java.lang.Object': 50}, {300003: 3, 300004: 1}))
        self.assertEqual([r.owner for r in p.table(MONITOR_OWNERS).rows], [300005, 300006])
        self.assertEqual((p.tables, p.lists, p.report), ([], [], {'lines of waits': '2'}))

    def test_tables_of_several_dumps_add_up(self):
        again = TABLES.replace(TABLES[:TABLES.index('MONITOR TIME BEGIN')], '').replace('TRACE 300006:\n\tp.C.hold(C.java:8)\n', '').replace('THREAD END (id = 200001)\n', '')
        p = parse(ALL + again)
        self.assertEqual((p.block_sum(MONITOR_TIME), p.block_sum(LOCK_TIME), p.block_sum('MONITOR DUMP')), ((400, 8), (10, 14), (0, 0)))

    def test_every_single_fault_is_refused(self):
        for what, old, new in WRONG:
            with self.subTest(what):
                self.assertEqual(ALL.count(old), 1, 'the fault is put in one place')
                with self.assertRaises(Malformed):
                    parse(ALL.replace(old, new), cutoff=0)

    def test_any_line_left_out_or_doubled_is_refused_or_harmless(self):
        lines = ALL.splitlines(True)
        harmless = ('Some expl', '  MONITOR', '\n', 'THREAD END', 'WAIT', '    NOTE', 'hprofx: ', '    THREAD 200000, ')
        for i, line in enumerate(lines):
            with self.subTest(line):
                if not line.startswith(harmless) and not line.startswith('    THREAD 20000') and line != '\tp.C.enter(C.java:5)\n':
                    with self.assertRaises(Malformed):
                        parse(''.join(lines[:i] + lines[i + 1:]), cutoff=0)
                if not line.startswith(harmless + ('\tp.C',)):
                    with self.assertRaises(Malformed):
                        parse(''.join(lines[:i] + [line] + lines[i:]), cutoff=0)

    def test_a_file_cut_anywhere_inside_a_section_is_refused(self):
        for word in ('MONITOR DUMP', 'DEADLOCKS', 'MONITOR OWNERS'):
            begin, end = ALL.index('\n%s BEGIN' % word) + 1, ALL.index('%s END\n' % word)
            for cut in range(begin + 1, end + 1):
                with self.assertRaises(Malformed):
                    parse(ALL[:cut])

    def test_the_cutoff_is_held_against_the_rows(self):
        cut = ALL.replace('   2 25.00% 100.00%       1 300004 300006 p.Gate (Java)\n', '').replace('TRACE 300006:\n\tp.C.hold(C.java:8)\n', '')
        self.assertEqual(len(parse(cut).table(MONITOR_OWNERS).rows), 1)
        with self.assertRaises(Malformed):
            parse(cut, cutoff=0)
        with self.assertRaises(Malformed):
            parse(ALL, cutoff=0.3)

    def test_threads_may_begin_among_the_traces_of_a_dump_only(self):
        line = 'THREAD START (obj=50000003, id = 200003, name="", group="")\n'
        self.assertEqual(len(parse(ALL.replace('TRACE 300000:', line + 'TRACE 300000:')).threads), 3)
        with self.assertRaises(Malformed):
            parse(ALL.replace('MONITOR TIME BEGIN', line + 'MONITOR TIME BEGIN'))


if __name__ == '__main__':
    unittest.main()
