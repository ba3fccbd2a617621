#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_read PROGRAM [unittest arguments]: hprofx info, check and recover from outside: files of the original agent, each rule of the format broken once, files cut at
every byte, recovery, exit codes."""
import concurrent.futures
import fcntl
import gzip
import json
import os
import pathlib
import re
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

import breaks
import hprof_files as h

PROGRAM = None
SOUND, UNREADABLE, USAGE, BROKEN = 0, 1, 2, 6  # what it ends with
HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / 'golden'
# the words "old", which force=n left alone
NO_PROFILE = {'force-n/java.hprof.txt.gz'}


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, data, name='file'):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def run_it(self, *arguments, **how):
        done = subprocess.run([PROGRAM] + [str(a) for a in arguments], capture_output=True, **how)
        self.assertIn(done.returncode, (SOUND, UNREADABLE, USAGE, BROKEN), done.stderr)
        return done

    def run_each(self, options, files):
        """(exit code, output) of a run on every file, by a shell on every core: a start from here costs a multiple."""
        script = 'for file; do "$0" %s "$file" 2>&1; printf "\\0%%d\\0" $?; done' % ' '.join(options)
        size = -(-len(files) // os.cpu_count())

        def some(part):
            done = subprocess.run(['sh', '-c', script, PROGRAM] + [str(f) for f in part], capture_output=True, check=True)
            said = done.stdout.split(b'\0')
            return [(int(status), output) for output, status in zip(said[0:-1:2], said[1::2])]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = [run for part in pool.map(some, [files[i:i + size] for i in range(0, len(files), size)]) for run in part]
        self.assertEqual(len(runs), len(files))
        self.assertLessEqual({status for status, _ in runs}, {SOUND, BROKEN})
        return runs

    def check(self, data, *options, name='file'):
        """(exit code, JSON) of a file with these bytes."""
        done = self.run_it('check', '--json', *options, self.write(data, name))
        return done.returncode, json.loads(done.stdout)


def is_text(pieces):
    return not pieces.data().startswith(b'JAVA PROFILE 1.0.1\0') and not pieces.data()[18:19] == b'\0'


def cuts(pieces, step=1):
    """Where to cut: everywhere, or, as HPX_CUTS=N:TURN says, at one byte in N; always between two records."""
    one_in, turn = map(int, os.environ.get('HPX_CUTS', '1:0').split(':'))
    return sorted({*pieces.starts(), *range(turn % (step * one_in), len(pieces.data()), step * one_in)})


class GoldenTests(Folder):
    def test_every_output_of_the_original_is_sound_with_the_notes_that_are_known(self):
        known = json.loads((GOLDEN / 'notes.json').read_text())
        found = {}
        for path in sorted(GOLDEN.glob('*/*.gz')):
            case = str(path.relative_to(GOLDEN))
            with self.subTest(case):
                status, said = self.check(gzip.decompress(path.read_bytes()))
                self.assertEqual(status, BROKEN if case in NO_PROFILE else SOUND, said.get('break'))
                found[case] = [[n['note'], n['count'], n['offset']] for n in said['notes']]
        self.assertEqual(found, known)
        self.assertGreaterEqual(len(found), 44)

    def test_all_of_it_through_a_pipe_is_the_same(self):
        for path in sorted(GOLDEN.glob('*/*.gz')):
            data = gzip.decompress(path.read_bytes())
            with self.subTest(str(path.relative_to(GOLDEN))):
                status, said = self.check(data)
                done = self.run_it('info', '-', '--json', input=data)
                piped = json.loads(done.stdout)
                self.assertEqual((done.returncode, piped['notes'], piped.get('break')), (status, said['notes'], said.get('break')))

    def test_the_view_of_each_has_no_control_and_no_empty_end_of_line(self):
        for path in sorted(GOLDEN.glob('*/*.gz')):
            with self.subTest(str(path.relative_to(GOLDEN))):
                shown = self.run_it('info', self.write(gzip.decompress(path.read_bytes()))).stdout.decode()
                self.assertNotRegex(shown, r'[\x00-\x09\x0b-\x1f\x7f-\x9f]')
                self.assertNotRegex(shown, r'[ \t]\n')

    def test_the_view_of_a_monitor_dump(self):
        path = GOLDEN / 'monitor-locks' / 'java.hprof.txt.gz'
        shown = self.run_it('info', self.write(gzip.decompress(path.read_bytes()))).stdout.decode()
        part = shown.split('\nMonitor dump\n')[1].split('\n\n')[0]
        self.assertEqual([line.split() for line in part.splitlines()], [
            ['7', 'threads:', 'ended'], ['3', 'threads:', 'running'], ['2', 'threads:', 'sleeping'], ['2', 'threads:', 'waiting', 'to', 'enter'],
            ['2', 'threads:', 'waiting'], ['1', 'held:', 'Locks$Gate,', '2', 'waiting']])

    def view(self, data):
        return self.run_it('info', self.write(data)).stdout.decode()

    def test_types_are_shown_as_people_write_them(self):
        pieces = h.text()
        for name, jvm in (('monitor', '[[Lp/q/C$D;'), ('unowned', '[B'), ('of unknown', 'Lp/H.0x12;')):
            pieces.put(name, re.sub(rb'MONITOR \S+', lambda m: b'MONITOR ' + jvm.encode(), pieces.get(name), count=1))
        shown = self.view(pieces.data())
        self.assertEqual([line.split(':')[1].split(',')[0].strip() for line in shown.splitlines() if ' held: ' in line or ' unowned: ' in line],
                         ['p.q.C$D[][]', 'byte[]', 'p.H/0x12'])
        shown = self.view(gzip.decompress((GOLDEN / 'old-calls' / 'java.hprof.txt.gz').read_bytes()))
        self.assertIn('  sun.misc.URLClassPath.getNextLoader(int[], int)\n', shown)
        self.assertIn('  Calls.main(java.lang.String[])\n', shown)
        f = h.Format(8)
        pieces = h.binary().put('name B', f.string(h.B, 'java/lang/ref/ReferenceQueue$Lock')).put('name A[]', f.string(h.AS, '[Lp/A;'))
        shown = self.view(pieces.data())
        for wanted in ('  java.lang.ref.ReferenceQueue$Lock.x\n', '  p.A[]\n'):
            self.assertIn(wanted, shown)

    def stacks(self, data, view):
        """[(innermost frame, the one outside it, value)] of a view, the largest value first; the file is sound."""
        path = self.write(data)
        self.assertEqual(self.run_it('check', path).returncode, 0, self.run_it('check', path).stdout)
        lines = [line.rsplit(' ', 1) for line in self.run_it('convert', '--view', view, '--to', '.folded', path, '-').stdout.decode().splitlines()]
        return sorted(((*names.split(';')[:-3:-1], int(value)) for names, value in lines), key=lambda row: -row[-1])

    def wall(self, data):
        """[(state, method, ms)]"""
        return [(state, method, ns // 10 ** 6) for state, method, ns in self.stacks(data, 'wall')]

    def test_wall_clock_of_text_has_states(self):
        self.assertEqual(self.wall(h.text().data()), [('parked', 'A.main', 50), ('runnable', 'A.main', 30), ('io', 'B.x', 20)])
        self.assertRegex(self.view(h.text().data()), r'\n +50\.00% +50 ms  parked\n +30\.00% +30 ms  runnable\n')

    def binary_with_wall(self, *more):
        f = h.Format(8)
        first = h.wall(f, 900, ('running', 1, (7, 300001), (2, 300002)), ('parked', 10, (5, 300002), (1, 300001)), ('io', 1, (0, 300001)))
        pieces = h.binary()
        for name, piece in first + list(more):
            pieces.before('end', name, piece)
        return f, pieces

    def test_the_states_of_a_binary_file_are_one_table(self):
        f, pieces = self.binary_with_wall()
        pieces.before('wall io', 'trace 3', f.trace(300003, 0, 0x71))
        pieces.drop('summary')  # a record that no table may follow
        self.assertEqual(self.run_it('check', '-v', self.write(pieces.data())).stdout.count(b'note: '), 0)
        self.assertEqual(self.wall(pieces.data()), [('parked', 'B.x', 50), ('parked', 'A.main', 10), ('running', 'A.main', 7), ('running', 'B.x', 2)])
        self.assertEqual([row[-1] for row in self.stacks(pieces.data(), 'cpu')], [6, 4])

    def test_a_state_may_have_the_class_of_what_threads_wait_for(self):
        lock = 'p.Lock$Sync'
        text = h.text().put('wall 1', ('   1 50.00%% 50.00%%        50 300001 parked %s; A.main\n' % lock).encode())
        text = text.put('wall 2', b'   2 29.99% 79.99%        30 300001 parked   A.main\n')
        self.assertEqual([w[0] for w in self.wall(text.data())][:2], ['parked ' + lock, 'parked'])
        for state in ('parked ' + lock, 'blocked a, total 7 ms, b', 'parked'):
            pieces = h.binary()
            for name, piece in h.wall(h.Format(8), 900, (state, 1, (9, 300001))):
                pieces.before('end', name, piece)
            self.assertEqual(self.wall(pieces.data()), [(state, 'A.main', 9)])

    def test_the_wall_clock_of_the_next_dump_of_a_binary_file_is_added(self):
        f, first = self.binary_with_wall()
        before = self.wall(first.data())
        report, again = ('report', f.string(990, 'hprofx: version: 1\n')), h.wall(f, 950, ('running', 1, (3, 300001)), ('native', 1, (2, 300001)))
        _, pieces = self.binary_with_wall(report, *again)
        wall = self.wall(pieces.data())
        ms = lambda table, state='': sum(w[-1] for w in table if w[0].startswith(state))
        self.assertEqual((ms(wall), ms(wall, 'native')), (ms(before) + 5, 2))
        self.assertEqual(ms(wall, 'running'), ms(before, 'running') + 3)

    def test_the_samples_behind_the_report_are_of_no_head_before_it(self):
        f = h.Format(8)
        head = h.wall(f, 980, ('running', 1, (7, 300001)))[0]
        _, pieces = self.binary_with_wall(head, ('report', f.string(990, 'hprofx: version: 1\n')), ('more samples', f.samples(3, (3, 300001))))
        self.assertEqual(sum(row[-1] for row in self.stacks(pieces.data(), 'cpu')), 13)

    def test_a_head_of_wall_clock_that_is_none_leaves_samples(self):
        f = h.Format(8)
        good = 'hprofx: WALL CLOCK io, total 9 ms, 1 ms per count'
        bad = [good.replace('io', 'IO'), good.replace('io', ''), good.replace('io', 'i' * 40), good.replace('9 ', 'x '), good.replace('1 ms', '-1 ms'), good + ' ', good[:-1],
               good.replace('1 ms', '0 ms'), 'hprofx: WALL CLOCK ', good.replace('9', '9' * 100)]
        for made in [good] + bad:
            pieces = h.binary()
            for name, piece in h.wall(f, 900, ('io', 1, (9, 300001)), made=made):
                pieces.before('end', name, piece)
            said = json.loads(self.run_it('info', '--json', self.write(pieces.data())).stdout)
            self.assertEqual({v['view']: v['measures'][0]['total'] for v in said['views'] if v['view'] in ('cpu', 'wall')},
                             {'cpu': 10, 'wall': 9000000} if made == good else {'cpu': 19}, made)

    def test_a_time_of_wall_clock_beyond_64_bits_is_the_largest(self):
        f = h.Format(8)
        pieces = h.binary()
        for name, piece in h.wall(f, 900, ('io', 10 ** 18, (4000000000, 300001)), made='hprofx: WALL CLOCK io, total 7 ms, 1000000000000000000 ms per count'):
            pieces.before('end', name, piece)
        self.assertEqual(self.stacks(pieces.data(), 'wall')[0][-1], 2 ** 63 - 1)  # the largest signed number of ns

    def test_owners_of_monitors_are_a_view(self):
        self.assertEqual(self.stacks(h.text().data(), 'owner'), [('java.lang.Object', 'B.x', 9000000)])  # where the owner was

    def test_figures_of_a_known_file(self):
        path = GOLDEN / 'request-samples' / 'java.hprof.txt.gz'
        said = json.loads(self.run_it('info', '--json', self.write(gzip.decompress(path.read_bytes()))).stdout)
        self.assertEqual((said['dumps'], said['records']['CPU SAMPLES']['count'], said['format']), (3, 3, 'text'))
        path = GOLDEN / 'dump-alloc-binary' / 'java.hprof.gz'
        said = json.loads(self.run_it('info', '--json', self.write(gzip.decompress(path.read_bytes()))).stdout)
        self.assertEqual(said['records']['LOAD CLASS']['count'], 514)
        self.assertEqual({k: v['count'] for k, v in said['heap_records'].items()}, {
            'CLASS DUMP': 514, 'INSTANCE DUMP': 3404, 'OBJECT ARRAY DUMP': 665, 'PRIMITIVE ARRAY DUMP': 986, 'ROOT JAVA FRAME': 8, 'ROOT JNI GLOBAL': 519,
            'ROOT JNI LOCAL': 1, 'ROOT MONITOR USED': 2, 'ROOT STICKY CLASS': 577, 'ROOT THREAD BLOCK': 5, 'ROOT THREAD OBJECT': 6, 'ROOT UNKNOWN': 250})


    SAYS = 'hprofx: version: 1\nhprofx: effective samples: %s\nhprofx: lost: 0\n'

    def sampled(self, pieces):
        """(lines of the table of samples, all of it in JSON)"""
        path = self.write(pieces.data())
        shown = self.run_it('info', path).stdout.decode().split('\nCPU: samples ')[1].split('\n\n')[0].splitlines()[1:]
        return shown, json.loads(self.run_it('info', '--json', path).stdout)

    def test_a_sampled_row_has_its_error_by_the_samples_that_the_report_says(self):
        """What Agresti and Coull give for 6 of 10, and for 600 of 1000."""
        f = h.Format(8)
        said = (('', 10, '26.06', True), (self.SAYS % '1000', 1000, '3.03', False), (self.SAYS % '0', 10, '26.06', True), (self.SAYS % 'x', 10, '26.06', True))
        for report, effective, error, close in said:
            binary = h.binary()
            binary.pieces.append(('report', f.string(999, report)))
            for pieces in (h.text().put('report', report.encode()), binary):
                with self.subTest(report, text=is_text(pieces)):
                    shown, table = self.sampled(pieces)
                    self.assertEqual(shown[0].split(), ['self', '+-', 'total', 'samples', 'method'])
                    self.assertEqual(shown[1].split()[:4], ['60.00%', error, '60.00%', '6'])
                    self.assertEqual(shown[3:], ['  Rows 1 to 2 are too close for their order: 10 samples. A longer run or a shorter interval may tell them apart.'] if close else [])
                    self.assertEqual((table['effective'], table['views'][0]['methods'][0]['plus_minus']), (effective, float(error)))

    def test_the_share_of_samples_inside_probes_stands_below_the_table(self):
        f = h.Format(8)
        # the figures are since the start, and the table is the last dump's
        for n, told in (('400 (40.00 %)', ['  Of the samples since the start, 40 % were inside probes; they count for the method that called the probe.']), ('0 (0.00 %)', [])):
            report = 'hprofx: version: 1\nhprofx: effective samples: 1000\nhprofx: inside probes: %s\n' % n
            binary = h.binary()
            binary.pieces.append(('report', f.string(999, report)))
            for pieces in (h.text().put('report', report.encode()), binary):
                with self.subTest(report, text=is_text(pieces)):
                    shown, table = self.sampled(pieces)
                    self.assertEqual(shown[3:], told)
                    self.assertEqual(table.get('inside_probes', 0), int(n.split()[0]))

    def test_effective_samples_of_dumps_weigh_together(self):
        """The first says that its 10 samples are as certain as 5, the other says nothing: 20 * 20 / (10 * 10 / 5 + 10)."""
        again = h.text()
        table = [again.get(n) for n in ('samples', 'titles', 'row 1', 'row 2', 'samples end')]
        again.put('report', (self.SAYS % '5').encode()).before('end 1', 'again', b''.join(table))
        self.assertEqual(self.sampled(again)[1]['effective'], 13)

    def test_samples_inside_probes_are_those_of_the_last_report(self):
        """They are a sum since the start, the tables are not, and are added up: a later sum is not added, and a table without a report has none."""
        line = 'hprofx: version: 1\nhprofx: inside probes: %s\n'
        for last, told, n in ((line % '24 (80.00 %)', ['  Of the samples since the start, 80 % were inside probes; they count for the method that called the probe.'], 24), ('', [], 0)):
            text = h.text()
            table = [text.get(name) for name in ('samples', 'titles', 'row 1', 'row 2', 'samples end')]
            text.put('report', (line % '9 (90.00 %)').encode()).before('end 1', 'again', b''.join(table) + last.encode())
            with self.subTest(last):
                shown, found = self.sampled(text)
                self.assertEqual(shown[-len(told):] if told else [ln for ln in shown if 'probes' in ln], told)
                self.assertEqual((found['records']['CPU SAMPLES']['count'], found['views'][0]['measures'][0]['total'], found.get('inside_probes', 0)), (2, 20, n))

    def test_tables_that_are_no_samples_have_no_error(self):
        for pieces in (h.times(), h.old(), h.old().drop('report')):
            path = self.write(pieces.data())
            self.assertNotIn('+-', self.run_it('info', path).stdout.decode())
            self.assertNotIn('too close', self.run_it('info', path).stdout.decode())
            said = self.run_it('info', '--json', path).stdout.decode()
            self.assertNotIn('plus_minus', said)
            self.assertNotIn('effective', said)

    def heap(self, data):
        """(how many dumps, {class: (objects, bytes)}, {method: (objects, bytes)}) of the last one."""
        said = json.loads(self.run_it('info', '--json', self.write(data)).stdout)
        view = [v for v in said['views'] if v['view'] == 'heap'][0]
        return (said['heap_dumps'], *({row['name']: (row['heap_objects'], row['self']) for row in view[key]} for key in ('classes', 'methods')))

    def test_objects_of_a_heap_dump_by_class_and_by_method(self):
        want = {'A': (1, 12), 'B': (1, 20), 'A[]': (1, 24), 'int[]': (1, 12), 'long[]': (1, 8)}
        self.assertEqual(self.heap(h.binary().data()), (1, want, {'A.main': (5, 76), 'B.x': (0, 0)}))
        self.assertEqual(self.heap(h.text().data()), (1, {'A': (1, 16), 'A[]': (1, 24), 'int[]': (1, 12)}, {'A.main': (3, 52), 'B.x': (0, 0)}))
        first, second = h.heap_pieces(h.Format(8))
        again = h.Pieces(h.binary().pieces + h.segments(h.Format(8), first, second[:-1], 2))
        dumps, classes, methods = self.heap(again.data())
        self.assertEqual((dumps, methods['A.main'], 'long[]' in classes), (2, (4, 68), False))


class RuleTests(Folder):
    def place(self, pieces, where):
        name, further = where if isinstance(where, tuple) else (where, 0)
        return pieces.line(name) + further if is_text(pieces) else pieces.offset(name) + further

    def broken(self, rules, key):
        for rule, pieces, where, why in rules:
            with self.subTest(rule):
                status, said = self.check(pieces.data())
                self.assertEqual(status, BROKEN, 'not found')
                self.assertRegex(said['break']['reason'], why)
                self.assertEqual(said['break'][key], self.place(pieces, where), said['break'])
                self.assertFalse(said['sound'])
                # the same where the size of the file is not known
                piped = json.loads(self.run_it('info', '--json', '-', input=pieces.data()).stdout)
                self.assertEqual(piped['break'], said['break'])

    def test_the_good_files_are_sound_even_strictly(self):
        for pieces in [h.binary(size, minor) for size in (4, 8) for minor in (1, 2)] + [h.text(), h.times(), h.old(), h.old().drop('report'), h.timed_text(), h.timed_binary(4), h.timed_binary(8)]:
            status, said = self.check(pieces.data(), '--strict')
            self.assertEqual((status, said['notes'], said['dumps']), (0, [], 1), said.get('break'))

    def test_samples_and_times_beside_each_other_are_one_dump(self):
        both = h.text().before('report', 'trace 9', b'TRACE 300009:\n\tA.y(A.java:1)\n').before(
            'report', 'times', b'CPU TIME (ms) BEGIN (total = 5) %s\nrank   self  accum   count trace method\n' % h.DATE.encode())
        both.before('report', 'row', b'   1 100.00% 100.00%       4 300009 A.y\n').before('report', 'times end', b'CPU TIME (ms) END\n')
        status, said = self.check(both.data(), '--strict')
        self.assertEqual((status, said['dumps']), (0, 1), said.get('break'))
        swapped = h.times().before('report', 'more', h.text().get('samples') + b'CPU SAMPLES END\n')
        self.assertEqual(self.check(swapped.data())[1]['dumps'], 2)

    def test_each_rule_of_the_binary_format(self):
        self.broken(breaks.binary_breaks(), 'offset')

    def test_each_rule_of_the_text_format(self):
        self.broken(breaks.text_breaks(), 'line')

    def test_traces_may_stand_before_the_times_that_alone_want_them(self):
        """An event may come between what a table takes and what TIMELINE takes."""
        lines = b'TIMELINE BEGIN (zero = 1000, end = 50, places = 1, events = 1, coarse = 0)\np cpu 300009\nt @10 #0 0\nTIMELINE END\n'
        pieces = breaks.h.text().before('end 1', 'new', b'TRACE 300009:\n\t<empty>\n' + lines).drop('end 1')
        status, said = self.check(pieces.data(), '--strict')
        self.assertEqual((status, said['notes']), (0, []), said)

    def test_notes_are_notes_and_with_strict_breaks(self):
        symbols = set()
        for pieces, symbol, where in breaks.notes():
            with self.subTest(symbol):
                key = 'line' if is_text(pieces) else 'offset'
                status, said = self.check(pieces.data())
                self.assertEqual(status, 0, said.get('break'))
                noted = {n['note']: n[key] for n in said['notes']}
                self.assertIn(symbol, noted)
                self.assertEqual(noted[symbol], self.place(pieces, where))
                status, said = self.check(pieces.data(), '--strict')
                self.assertEqual(status, BROKEN)
                self.assertRegex(said['break']['reason'], '^strict: ')
                symbols.add(symbol)
        source = (HERE / '../../command/read/reader.h').read_text()
        self.assertEqual(symbols | {'CUT_END', 'EMPTY'}, set(re.findall(r'^    X\((\w+), "', source, re.M)))

    def test_a_thread_is_shown_by_its_newest_name(self):
        f = h.Format(8)

        def threads(pieces):
            return {t['serial']: (t['name'], t.get('first_name')) for t in json.loads(self.run_it('info', '--json', self.write(pieces.data())).stdout)['threads']}

        def notes(pieces):
            return {n['note'] for n in self.check(pieces.data())[1]['notes']}

        for made in (h.binary, h.text):
            def renamed(*names):
                pieces = made()
                for i, (serial, name) in enumerate(names):
                    line = 'hprofx: thread %d: ' % serial + ('"%s"\n' % name if made is h.text else name)
                    pieces = pieces.before('samples', name, line.encode() if made is h.text else f.string(0x10000001 + i, line))
                return pieces

            with self.subTest(made.__name__):
                before = threads(made())
                self.assertEqual(before[200001][1], None)
                self.assertEqual(threads(renamed((200001, 'second'), (200001, 'the third'))), {**before, 200001: ('the third', before[200001][0])})
                self.assertEqual(notes(renamed((200001, 'second'))), notes(made()))
        other = h.binary().before('samples', 'not ours', f.string(998, 'hprofx: thread 200001: a name that the program gives'))
        self.assertEqual(threads(other), threads(h.binary()))

    def test_time_wraps_after_71_minutes(self):
        f = h.Format(8)
        late = h.binary().before('unload', 'late', f.record(0x0b, b'\0\0\0\7', us=4294000000)).before('unload', 'wrapped', f.record(0x0b, b'\0\0\0\x08', us=5000))
        said = json.loads(self.run_it('info', '--json', self.write(late.drop('unload').data())).stdout)
        self.assertEqual(said['covers_us'], 2**32 + 5000)

    def test_a_raw_newline_does_not_hide_what_follows(self):
        start = b'THREAD START (obj=50000183, id = 200003, name="a\nb\nc", group="g\nh")\n'
        said = json.loads(self.run_it('info', '--json', self.write(h.text().before('wait', 'new', start).data())).stdout)
        self.assertIn({'serial': 200003, 'name': 'a\nb\nc', 'group': 'g\nh', 'ended': False}, said['threads'])

    def test_a_line_cut_inside_a_name_with_newlines(self):
        start = (b'THREAD START (obj=50000183, id = 200003, name="' + b'ab\n' * 400)[:1023]
        status, said = self.check(h.text().before('wait', 'new', start).data())
        self.assertEqual(status, 0, said.get('break'))
        self.assertEqual({n['note'] for n in said['notes']}, {'LINE_CUT', 'RAW_NEWLINE'})


class CutTests(Folder):
    known = {}  # file: what check says of it cut at every byte; several tests cut the same files

    def cut(self, pieces, n):
        data = pieces.data()
        if data not in self.known:
            files = {at: self.write(data[:at], 'cut%d' % at) for at in cuts(pieces)}
            runs = self.run_each(('check', '--json'), list(files.values()))
            self.known[data] = {at: (status, json.loads(said)) for at, (status, said) in zip(files, runs)}
        if n not in self.known[data]:
            self.known[data][n] = self.check(data[:n])
        return self.known[data][n]

    def whole(self, pieces):
        """Offsets at which a cut leaves whole records: ends of records outside heap dumps; in text, ends of records outside sections."""
        data = pieces.data()
        if is_text(pieces):
            return None
        at, ends = 31, {31}
        while at < len(data):
            at += 9 + int.from_bytes(data[at + 5:at + 9], 'big')
            ends.add(at)
        return ends

    def test_binary_files_cut_at_every_byte(self):
        pieces = h.binary(4)
        ends = self.whole(pieces)
        for n in cuts(pieces):
            status, said = self.cut(pieces, n)
            self.assertEqual(status, SOUND if n in ends else BROKEN, n)
            if n not in ends:
                self.assertTrue(said['break']['cut'])
                self.assertEqual(said['whole'], max([e for e in ends if e < n], default=0), n)

    def test_text_files_cut_at_every_byte(self):
        for pieces in (h.text(), h.old(), h.old().drop('report')):
            data = pieces.data()
            header = pieces.offset('start 1') if pieces.pieces[0][0] == 'first' else len(pieces.get('titles'))
            for n in cuts(pieces):
                status, said = self.cut(pieces, n)
                self.assertTrue(status == 0 and data[n - 1:n] == b'\n' or said['break']['cut'] or (n < header and status == BROKEN), n)

    def test_the_end_of_an_unfinished_file_is_a_note(self):
        for pieces in (h.binary(), h.text()):
            data = pieces.data()
            for n in (n for n in cuts(pieces) if len(data) - 40 <= n < len(data)):
                for status, said in (self.check(data[:n], name='file.part'), self.check(data[:n], '--part')):
                    self.assertEqual(status, 0)
                cut = self.check(data[:n])[0]
                self.assertEqual([x['note'] for x in said['notes'] if x['note'] == 'CUT_END'], ['CUT_END'] * (cut == BROKEN), n)
                self.assertEqual(self.check(data[:n], '--part', '--strict')[0] == BROKEN, cut == BROKEN or bool(said['notes']))
        self.assertEqual(self.check(h.binary().data()[:30], name='file.part')[0], BROKEN)
        self.assertEqual(self.check(h.text().data()[:40], name='file.part')[0], BROKEN)

    def test_nothing_is_whole_without_a_header_or_the_table_of_cpu_old(self):
        records = h.text().data()[h.text().offset('start 1'):h.text().data().index(b'TRACE ')]
        for tail in (b'JAVA PROF ILE   ', b'THREAD', b'MONITOR DUMP BEGIN\nJAVA PROF ILE   '):
            status, said = self.check(records + tail)
            self.assertEqual((status, said['break']['cut'], said['whole']), (BROKEN, True, 0), tail)
            status, said = self.check(records + tail, '--part')
            self.assertEqual((status, said['whole']), (0, len(records)), tail)

    def test_an_unfinished_file_in_which_nothing_is_yet(self):
        for options, name in (((), 'file.part'), (('--part',), 'file')):
            status, said = self.check(b'', *options, name=name)
            self.assertEqual((status, [n['note'] for n in said['notes']]), (0, ['EMPTY']))
            self.assertEqual(self.check(b'', '--strict', *options, name=name)[0], BROKEN)
            self.assertEqual(said['format'], 'unknown')
            self.assertNotIn(b'format', self.run_it('info', *options, self.folder / name).stdout)
        self.assertEqual(self.check(b'')[0], BROKEN)
        done = self.run_it('recover', self.folder / 'file.part')
        self.assertEqual((done.returncode, os.listdir(self.folder).count('file.part')), (BROKEN, 1))
        self.assertIn(b'nothing in it is whole: the file is empty', done.stderr)

    def test_beside_its_journal_a_file_is_unfinished(self):
        data = h.text().data()
        self.write(data, 'out.journal.part')
        status, said = self.check(data[:-3], name='out')
        self.assertEqual((status, [x['note'] for x in said['notes']]), (0, ['CUT_END']))
        self.assertEqual(self.check(data[:-3], '--strict', name='out')[0], BROKEN)
        self.assertEqual(self.check(data[:-3], name='other')[0], BROKEN)
        self.assertEqual(self.check(h.text().before('wait', 'new', b'NOTHING\n').data(), name='out')[0], BROKEN)

    def recovered(self, pieces, header, step=1):
        data = pieces.data()

        def is_sound(n):
            return self.cut(pieces, n)[0] == 0
        names = {n: self.folder / ('out%d' % n) for n in cuts(pieces, step)}
        parts = {n: self.write(data[:n], 'out%d.part' % n) for n in names}
        runs = self.run_each(('recover',), [parts[n] if n % 2 else names[n] for n in names])
        for n, (status, said) in zip(names, runs):
            name, part = names[n], parts[n]
            if n < header:
                self.assertEqual((status, part.read_bytes(), name.exists()), (BROKEN, data[:n], False), n)
                continue
            self.assertEqual((status, part.exists()), (0, False), (n, said))
            left = name.read_bytes()
            self.assertTrue(data.startswith(left) and len(left) <= n)
            self.assertEqual(stat.S_IMODE(name.stat().st_mode), 0o600)
            self.assertTrue(is_sound(len(left)), n)
            # nothing that check takes is cut off
            self.assertEqual(len(left) == n, is_sound(n), n)
            name.unlink()  # the next file comes in this folder too

    def test_binary_recovery_at_every_byte(self):
        self.recovered(h.binary(4), 31)

    def test_text_recovery_at_every_byte(self):
        self.recovered(h.times(), h.times().offset('trace 1'))
        self.recovered(h.old(), len(h.old().get('titles')))
        self.recovered(h.old().drop('report'), len(h.old().get('titles')))
        self.recovered(h.text(), h.text().offset('start 1'), step=5)


class RecoverTests(Folder):
    def setUp(self):
        super().setUp()
        self.name, self.part = self.folder / 'out', self.folder / 'out.part'

    def test_a_sound_file_is_not_touched(self):
        self.name.write_bytes(h.text().data())
        os.chmod(self.name, 0o644)
        os.utime(self.name, (1, 1))
        before = self.name.stat()
        for _ in range(2):
            done = self.run_it('recover', self.name)
            self.assertEqual((done.returncode, done.stderr), (0, b''))
        after = self.name.stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns, before.st_mode, before.st_ctime_ns), (after.st_ino, after.st_mtime_ns, after.st_mode, after.st_ctime_ns))

    def test_a_cut_file_under_its_own_name_is_replaced(self):
        data = h.binary().data()
        self.name.write_bytes(data[:-3])
        before = self.name.stat().st_ino
        self.assertEqual(self.run_it('recover', self.name).returncode, 0)
        self.assertEqual(self.name.read_bytes(), data[:-13])
        self.assertNotEqual(self.name.stat().st_ino, before)
        self.assertEqual(os.listdir(self.folder), ['out'])
        self.assertEqual(stat.S_IMODE(self.name.stat().st_mode), 0o600)

    def test_of_two_files_of_one_run_the_fuller_one_stays(self):
        whole, cut = h.text().data(), h.text().data()[:h.text().offset('monitors')]
        self.name.write_bytes(whole)
        self.part.write_bytes(cut + b'MONITOR DU')
        self.assertEqual(self.run_it('recover', self.name).returncode, 0)
        self.assertEqual((self.name.read_bytes(), self.part.exists()), (whole, False))
        self.name.write_bytes(cut)
        self.part.write_bytes(whole + b'THREAD')
        self.assertEqual(self.run_it('recover', self.part).returncode, 0)
        self.assertEqual((self.name.read_bytes(), self.part.exists()), (whole, False))

    def test_of_two_runs_the_unfinished_one_stays(self):
        self.name.write_bytes(h.text().data())
        later = h.Pieces(h.text().pieces[:7]).put('first', h.text().get('first').replace(b':23 ', b':24 ')).data()
        self.part.write_bytes(later + b'TRACE')
        self.assertEqual(self.run_it('recover', self.name).returncode, 0)
        self.assertEqual((self.name.read_bytes(), self.part.exists()), (later, False))

    def test_two_binary_runs_are_two_whatever_bytes_their_times_have(self):
        data = h.binary().data()
        for byte in (0x0a, 0x0b):  # a newline, which ends the first line of text
            first, second = (data[:23] + bytes((0, 0, 1, 0xa0, byte, 0x10, 0x20, last)) + data[31:] for last in (0x30, 0x40))
            self.name.write_bytes(first)
            self.part.write_bytes(second[:-13])
            self.assertEqual(self.run_it('recover', self.name).returncode, 0)
            self.assertEqual((self.name.read_bytes(), self.part.exists()), (second[:-13], False))

    def test_a_file_of_one_run_has_any_bytes_behind_its_binary_header(self):
        data = h.binary().data()
        depth, end = 44, data.rindex(b'\x0b', 0, -12)
        whole = data[:depth] + b'\x00\x0a' + data[depth + 2:]
        other = whole[:32] + b'\x00\x00\x00\x01' + whole[36:]  # TIME of the first record
        self.name.write_bytes(whole)
        self.part.write_bytes(other[:end])
        self.assertEqual(self.run_it('recover', self.name).returncode, 0)
        self.assertEqual((self.name.read_bytes(), self.part.exists()), (whole, False))

    def test_a_journal_stands_in_for_what_is_missing(self):
        data, threads = h.times().data(), h.times().offset('trace 1')
        again = data[data.index(b'CPU TIME (ms) BEGIN'):]
        journal, fresh = self.folder / 'out.journal.part', self.folder / 'out.journal.new.part'
        for name, part, log, want in ((None, data[:threads], data, data), (None, None, data + b'THREAD', data), (data, None, data, data), (data, None, data + again + b'TRACE', data + again),
                                      (data + again, None, data, data + again), (None, data, data[:threads], data), (data[:-3], None, data, data[:data.index(b'hprofx:')])):
            for path, content in ((self.name, name), (self.part, part), (journal, log), (fresh, data[:threads])):
                path.unlink(missing_ok=True)
                if content is not None:
                    path.write_bytes(content)
            for given in (self.name, journal):
                self.assertEqual(self.run_it('recover', given).returncode, 0)
                self.assertEqual((os.listdir(self.folder), self.name.read_bytes()), (['out'], want))

    def test_a_table_that_is_cut_counts_for_nothing_beside_the_journal(self):
        samples = h.binary(heap=([], []))
        for pieces, table in ((h.times(), 'times end'), (h.text(), 'samples end'), (samples, 'summary')):
            data, journal = pieces.data(), self.folder / 'out.journal.part'
            self.name.unlink(missing_ok=True)
            self.part.write_bytes(data[:pieces.offset(table) - 4])
            journal.write_bytes(data)
            self.assertEqual(self.run_it('recover', self.name).returncode, 0)
            self.assertEqual((os.listdir(self.folder), self.name.read_bytes()), (['out'], data))

    def journal(self, data, tail):
        """The journal stays as it is, less its tail; what a reader adds up: {view: {innermost frames: value}}."""
        journal, found = self.folder / 'out.journal.part', {}
        for cut in (b'', tail):
            self.name.unlink(missing_ok=True)
            journal.write_bytes(data + cut)
            (self.folder / 'out.journal.new.part').write_bytes(b'begun')
            done = self.run_it('recover', self.name)
            self.assertEqual((done.returncode, os.listdir(self.folder), self.name.read_bytes()), (0, ['out'], data), done.stderr)
            self.assertIn(b'of its 2 dumps hprofx convert makes one', done.stdout)
            self.assertEqual(stat.S_IMODE(self.name.stat().st_mode), 0o600)
        for view in json.loads(self.run_it('info', '--json', self.name).stdout)['views']:
            folded = self.run_it('convert', '--view', view['view'], '--to', '.folded', self.name, '-').stdout.decode()
            found[view['view']] = {stack: int(n) for stack, n in (line.rsplit(' ', 1) for line in folded.splitlines())}
        return found

    def test_the_tables_of_a_journal_add_up(self):
        def table(title, total, *rows):
            lines = ['%4d %5.2f%% %5.2f%% %7d %5d %s\n' % row for row in rows]
            return ''.join(['%s BEGIN (total = %d) %s\nrank   self  accum   count trace method\n' % (title, total, h.DATE)] + lines + [title + ' END\n']).encode()
        head = h.times().get('header').replace(b'--------', b'Tables count since the table before them; SITES and HEAP DUMP since the start.\n--------')
        traces = h.times().get('trace 1') + h.times().get('trace 2')
        exact = b'hprofx: total in ns: %d\nhprofx: rows in ns: %d %d\n'
        first = (table('CPU SAMPLES', 10, (1, 60, 60, 6, 300001, 'A.main'), (2, 40, 100, 4, 300002, 'B.x'))
                 + table('CPU TIME (ms)', 8, (1, 100, 100, 6, 300001, 'A.main'), (2, 0, 100, 1, 300002, 'B.x')) + exact % (8000122, 7999999, 123))
        second = (table('CPU SAMPLES', 30, (1, 100, 100, 30, 300002, 'B.x'))
                  + table('CPU TIME (ms)', 8, (1, 100, 100, 6, 300001, 'A.main'), (2, 0, 100, 1, 300002, 'B.x')) + exact % (7999077, 7999000, 77))
        start = h.text().get('start 1')
        found = self.journal(head + traces + first + start + second, b'CPU SAMPLES BEG')
        self.assertEqual({view: sorted(rows.values()) for view, rows in found.items()}, {'cpu': [6, 34], 'times': [200, 15998999]})

    def test_the_tables_of_a_binary_journal_add_up(self):
        f, join = h.Format(8), lambda pieces: b''.join(p for _, p in pieces)
        pieces = h.binary(heap=([], []))
        for name in ('sites', 'summary', 'segment 1', 'segment 2', 'heap end', 'samples', 'end', 'unload'):
            pieces.drop(name)
        control = pieces.get('control')
        pieces.put('control', control[:-6] + struct.pack('>I', 7) + control[-2:])  # its tables count since the one before
        first = f.samples(10, (6, 300001), (4, 300002)) + join(h.wall(f, 900, ('parked', 1, (5, 300002))))
        second = f.samples(9, (9, 300002)) + join(h.wall(f, 910, ('parked', 10, (3, 300002)), ('io', 1, (4, 300001))))
        found = self.journal(pieces.data() + first + second + h.wall(f, 950, ('io', 10, (5, 300002)))[0][1], f.samples(1, (1, 300001))[:-3])
        self.assertEqual({view: sorted(rows.values()) for view, rows in found.items()}, {'cpu': [6, 13], 'wall': [4000000, 35000000]})

    def test_the_journal_of_a_program_that_only_waited_is_what_there_is(self):
        table = b'WALL CLOCK (ms) BEGIN (total = %%d) %s\nrank   self  accum        ms trace state    method\n   1 100.00%%%% 100.00%%%%        %%d 300001 parked   A.main\nWALL CLOCK (ms) END\n' % h.DATE.encode()
        head, journal = h.times().get('header') + h.times().get('trace 1'), self.folder / 'out.journal.part'
        one, two = table % (60, 60), table % (70, 70)
        for part, log, want in ((head, head + one, head + one), (head + one[:-5], head + one, head + one), (head + two, head + one, head + two)):
            self.name.unlink(missing_ok=True)
            self.part.write_bytes(part)
            journal.write_bytes(log)
            self.assertEqual(self.run_it('recover', self.name).returncode, 0)
            self.assertEqual((os.listdir(self.folder), self.name.read_bytes()), (['out'], want))

    def test_a_journal_of_another_run_counts_if_it_is_the_later_one(self):
        data, journal = h.times().data(), self.folder / 'out.journal.part'
        old = h.old().get('titles')  # of cpu=old alone: no header tells the runs apart
        for first, second in ((data, data.replace(b':23 ', b':24 ', 1)), (old + b'9 A.a()V B.b()V 5\n', old + b'3 A.a()V B.b()V 5\n')):
            for later in (True, False):
                self.name.write_bytes(first)
                journal.write_bytes(second)
                os.utime(self.name, (1000, 1000))
                os.utime(journal, (2000, 2000) if later else (500, 500))
                self.assertEqual(self.run_it('recover', self.name).returncode, 0)
                self.assertEqual((os.listdir(self.folder), self.name.read_bytes()), (['out'], second if later else first))

    def test_what_is_broken_and_not_cut_stays_as_it_is(self):
        broken = h.text().before('wait', 'new', b'NOTHING\n').data()
        self.part.write_bytes(broken)
        done = self.run_it('recover', self.name)
        self.assertEqual((done.returncode, self.part.read_bytes(), self.name.exists()), (BROKEN, broken, False))
        self.assertIn(b'broken in line', done.stderr)

    def test_links_and_other_kinds_of_files_are_refused(self):
        target = self.write(h.text().data()[:-3], 'target')
        for make in (lambda: self.name.symlink_to(target), lambda: os.mkfifo(self.name), lambda: self.name.mkdir(), lambda: os.link(target, self.name),
                     lambda: self.part.symlink_to(target)):
            make()
            self.assertEqual(self.run_it('recover', self.name).returncode, UNREADABLE)
            self.assertEqual(target.read_bytes(), h.text().data()[:-3])
            for path in (self.name, self.part):
                if path.is_dir():
                    path.rmdir()
                elif path.is_symlink() or path.exists():
                    path.unlink()

    def test_what_a_living_run_writes_is_left_to_it(self):
        self.part.write_bytes(h.text().data()[:-3])
        with open(self.part, 'rb') as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            done = self.run_it('recover', self.name)
        self.assertEqual((done.returncode, self.part.exists(), self.name.exists()), (UNREADABLE, True, False))
        self.assertIn(b'running program', done.stderr)

    def test_a_name_that_a_living_run_writes_is_left_to_it(self):
        data = h.text().data()
        for name, part, want in ((data[:-3], None, UNREADABLE), (data, data, UNREADABLE), (data, None, SOUND)):
            self.part.unlink(missing_ok=True)
            self.name.write_bytes(name)
            if part is not None:
                self.part.write_bytes(part)
            with open(self.name, 'rb') as f:
                fcntl.flock(f, fcntl.LOCK_EX)
                done = self.run_it('recover', self.name)
                self.assertEqual((done.returncode, b'running program' in done.stderr), (want, want == UNREADABLE))
                self.assertEqual((os.fstat(f.fileno()).st_ino, self.name.read_bytes()), (self.name.stat().st_ino, name))

    def test_nothing_there(self):
        self.assertEqual(self.run_it('recover', self.name).returncode, UNREADABLE)

    def test_further_unfinished_files_are_named_and_not_touched(self):
        data = h.text().data()
        self.name.write_bytes(data)
        others = ['out.2.part', 'out.10.part', 'out.killed.part', 'out.killed.journal.part']
        for name in others + ['out.1', 'out.x.part', 'out.02.part', 'out.part.part', 'outer.3.part', 'out..part', 'other.4.part', 'out.12345678901.part']:
            (self.folder / name).write_bytes(data[:-3])
        before = sorted(os.listdir(self.folder))
        lines = ['%s.2.part: a dump that was not complete: hprofx recover %s.2', '%s.10.part: a dump that was not complete: hprofx recover %s.10',
                 '%s.killed: of a run that was killed before: hprofx recover %s.killed']
        for given in (self.name, self.folder / 'out.journal.part'):
            done = self.run_it('recover', given)
            self.assertEqual((done.returncode, done.stdout.decode().splitlines()[1:]), (0, [x % (self.name, self.name) for x in lines]))
            self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.name.unlink()
        done = subprocess.run([PROGRAM, 'recover', 'out'], cwd=self.folder, capture_output=True)
        self.assertEqual((done.returncode, done.stdout.decode().splitlines()), (UNREADABLE, [x % ('out', 'out') for x in lines]))
        for name in others:
            self.assertEqual(self.run_it('recover', self.folder / name).returncode, 0)
        self.assertEqual([n for n in others if (self.folder / n).exists()], [])
        self.assertTrue((self.folder / 'out.killed').exists() and (self.folder / 'out.10').exists())


class GzipTests(Folder):
    """Files of gz=y: members of any size."""
    def members(self, data, size=100):
        return b''.join(gzip.compress(data[i:i + size]) for i in range(0, len(data), size))

    def test_a_compressed_file_reads_as_the_plain_one(self):
        for data in (h.binary().data(), h.text().data(), h.text().data()[:-3]):
            path = self.write(data)
            plain = self.run_it('info', '--json', path)
            for compressed in (gzip.compress(data), self.members(data), gzip.compress(b'') + self.members(data, 1)):
                path.write_bytes(compressed)
                done = self.run_it('info', '--json', path)
                self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout))
                with path.open('rb') as piped:
                    self.assertEqual(self.run_it('check', '-', stdin=piped).returncode, plain.returncode)

    def test_a_compressed_file_that_is_cut_is_broken_wherever(self):
        data = h.text().data()
        compressed = self.members(data, 500)
        ends = {len(self.members(data[:i], 500)) for i in range(0, len(data), 500)}
        for n in range(1, len(compressed), 29):
            status, said = self.check(compressed[:n])
            self.assertEqual(status, BROKEN, (n, said))
            if n > 400 and n not in ends:
                self.assertEqual(self.run_it('check', '--part', self.folder / 'file').returncode, 0, n)

    def test_damage_inside_is_an_error(self):
        compressed = bytearray(gzip.compress(h.text().data()))
        compressed[-6] ^= 1  # the checksum
        done = self.run_it('check', self.write(compressed))
        self.assertEqual((done.returncode, done.stderr), (UNREADABLE, b'hprofx: %s: the compressed data are damaged\n' % bytes(self.folder / 'file')))

    def test_damage_between_members_is_no_end(self):
        data = h.times().data()
        first, second = (gzip.compress(x) for x in (data, data[data.index(b'CPU TIME (ms) BEGIN'):]))  # as gz=y: a member ends with its section
        self.assertEqual(self.check(first + second)[0], 0)
        for behind in (b'\0' + second[1:], second + bytes(4096), second + b'more'):
            done = self.run_it('check', self.write(first + behind))
            self.assertEqual((done.returncode, done.stderr), (UNREADABLE, b'hprofx: %s: the compressed data are damaged\n' % bytes(self.folder / 'file')))
        for n in range(1, len(second)):
            self.assertEqual(self.check(first + second[:n])[0], BROKEN, n)

    def test_the_fuller_one_of_a_compressed_file_and_its_journal_stays(self):
        data, name, journal = h.times().data(), self.folder / 'out', self.folder / 'out.journal.part'
        threads, again = h.times().offset('trace 1'), data[data.index(b'CPU TIME (ms) BEGIN'):]
        whole, cut = self.members(data), self.members(data)[:-5]
        for suffix, part, log, want in (('', whole, data[:threads], whole), ('', whole, data, whole), ('', whole, data + again, data + again), ('', cut, data, data),
                                        ('.part', cut, data, data), ('.part', whole, data[:threads], whole), ('.part', whole, None, whole)):
            for path in self.folder.iterdir():
                path.unlink()
            (self.folder / ('out' + suffix)).write_bytes(part)
            if log is not None:
                journal.write_bytes(log)
            done = self.run_it('recover', name)
            self.assertEqual((done.returncode, os.listdir(self.folder)), (0, ['out']), done.stderr)
            self.assertEqual(name.read_bytes(), want)

    def test_a_compressed_file_is_not_cut(self):
        name, cut = self.folder / 'out', self.members(h.times().data())[:-5]
        for suffix in ('', '.part'):
            path = self.write(cut, 'out' + suffix)
            done = self.run_it('recover', name)
            self.assertEqual((done.returncode, path.read_bytes()), (UNREADABLE, cut))
            self.assertIn(b'it cannot be cut', done.stderr)
            path.unlink()


class UsageTests(Folder):
    def test_exit_codes(self):
        good, bad = self.write(h.text().data(), 'good'), self.write(b'old\n', 'bad')
        for verb in ('info', 'check'):
            self.assertEqual([self.run_it(verb, path).returncode for path in (good, bad, self.write(b'', 'empty'))], [SOUND, BROKEN, BROKEN])
            for path in (self.folder / 'none', self.folder):
                self.assertEqual(self.run_it(verb, path).returncode, UNREADABLE)
        self.assertEqual(self.run_it('recover', self.folder / 'nothing').returncode, UNREADABLE)

    def test_a_wrong_command_line_is_told_how_in_one_line(self):
        for words in (['info'], ['check'], ['recover'], ['info', 'a', 'b'], ['info', '--strict', 'a'], ['info', '--check', 'a'], ['recover', '--json', 'a'],
                      ['check', '--recover', 'a'], ['check', '--']):
            done = self.run_it(*words)
            self.assertEqual((done.returncode, done.stdout), (USAGE, b''), words)
            self.assertRegex(done.stderr, b'^hprofx: [^\n]*`hprofx %s --help`[^\n]*\n$' % words[0].encode())

    def test_options_in_any_order(self):
        path = self.write(h.text().before('end 1', 'new', b'THREAD END (id = 200009)\n').data())
        strict = dict(os.environ, POSIXLY_CORRECT='1')
        for arguments, how in ((('--strict', path), {}), ((path, '--strict'), {}), ((path, '--strict'), {'env': strict})):
            done = self.run_it('check', *arguments, **how)
            self.assertEqual(done.returncode, BROKEN)
            self.assertRegex(done.stdout, rb'broken in line \d+ \(offset \d+\): strict: the end of a thread that never started')
        self.assertEqual(self.run_it('check', '--', path).returncode, SOUND)
        for arguments in ((path, path), (path, '--', path)):
            self.assertEqual(self.run_it('check', *arguments).returncode, USAGE, arguments)

    def test_a_full_disk_is_an_error(self):
        with open('/dev/full', 'wb') as full:
            done = subprocess.run([PROGRAM, 'info', self.write(h.text().data())], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr), (UNREADABLE, b'hprofx: standard output cannot be written\n'))

    def test_a_line_without_end_is_not_kept_in_memory(self):
        status, said = self.check(h.text().before('wait', 'new', b'x' * (17 << 20)).data())
        self.assertEqual((status, said['break']['line'], said['break']['reason']), (BROKEN, 8, 'a line of more than 16 MiB'))

    def test_a_check_says_sound_and_its_notes(self):
        file = self.write(h.binary().before('unload', 'new', h.Format(8).record(0x0b, b'\0\0\0\7')).data())
        self.assertRegex(self.run_it('check', file).stdout.decode(), r'/file: sound: \d+ bytes, 33 records, 1 dump, 1 note \(-v\)\n$')
        first, second = self.run_it('check', '-v', file).stdout.decode().splitlines()
        self.assertRegex(first, r'/file: sound: \d+ bytes, 33 records, 1 dump$')
        self.assertRegex(second, r'^note: the end of a thread that never started \(offset \d+\)$')


if __name__ == '__main__':
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
