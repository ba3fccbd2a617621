#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_whole HPROFX [unittest arguments]: a file with several dumps, and one whose rows are shares, are shown whole by every command that reads HPROF."""
import gzip
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None
DATE = 'Thu Jan  1 00:00:00 1970'
SINCE = 'Tables count since the table before them; SITES and HEAP DUMP since the start.\n'
RUN = 1764096858000


def head(since=True):
    return 'JAVA PROFILE 1.0.1, created %s\n\nwords\n%s--------\n\n' % (DATE, SINCE if since else '') + ''.join(
        'TRACE %d:\n\tp.C.m%d(C.java:%d)\n' % (300000 + i, i, i) for i in range(1, 6))


def ranked(title, rows, total, suffix='', unit='', last=lambda i: 'p.C.m%d' % i, width=7):
    """rows: (part, count, trace - 300000). The shares are those of parts."""
    words = {'WALL CLOCK (ms)': 'rank   self  accum        ms trace state    method\n'}.get(title, 'rank   self  accum   count trace %s\n' % (
        'monitor' if unit else 'method'))
    out, sum_ = '%s BEGIN (total = %d%s) %s\n%s' % (title, total, unit, DATE, words), 0
    whole = total if title == 'CPU SAMPLES' else total * 1000000
    for rank, (part, count, trace) in enumerate(rows, 1):
        sum_ += part
        out += '%4d %5.2f%% %5.2f%% %*d %5d %s\n' % (rank, 100 * part / whole, 100 * sum_ / whole, width, count, 300000 + trace, last(trace))
    return out + title + ' END\n' + suffix


def samples(counts, total=None):
    return ranked('CPU SAMPLES', [(n, n, t) for t, n in sorted(counts.items(), key=lambda x: -x[1])], total or sum(counts.values()))


def times(ns, total_ms, exact=None):
    """ns: {trace: (ns, calls)}."""
    rows = sorted(((v, calls, t) for t, (v, calls) in ns.items()), reverse=True)
    lines = '' if exact is None else 'hprofx: total in ns: %d\nhprofx: rows in ns: %s\n' % (exact, ' '.join(str(r[0]) for r in rows))
    return ranked('CPU TIME (ms)', rows, total_ms, lines)


def report(number, counts='', begin=None):
    begin = number - 1 if begin is None else begin
    return ('hprofx: version: 0.1.0\n%shprofx: run began: %d ms since 1970\nhprofx: profile: %d, from %d to %d ms since 1970\n'
            'hprofx: samples: 0 (one per 10 ms of CPU time of a Java thread)\nhprofx: effective samples: 0\nhprofx: lost: 0\nhprofx: tables: 1 KiB, of which 0 KiB for traces\n'
            % (counts, RUN, number, RUN + begin * 1000, RUN + number * 1000))


def sites(count):
    return ('SITES BEGIN (ordered by live bytes) %s\n          percent          live          alloc\'ed  stack class\n'
            ' rank   self  accum     bytes objs     bytes  objs trace name\n    1 100.00%% 100.00%% %9d %4d %9d %5d 300001 p.A\nSITES END\n' % (DATE, 16 * count, count, 16 * count, count))


def binary(tables, flags=6, between=b''):
    """CPU SAMPLES of the traces 300001 and so on, whose methods are m1 and so on."""
    record = lambda tag, body: struct.pack('>BII', tag, 0, len(body)) + body
    out = b'JAVA PROFILE 1.0.2\0' + struct.pack('>IQ', 8, RUN) + record(0x0e, struct.pack('>IH', flags, 4)) + record(5, struct.pack('>III', 300000, 0, 0))
    for i, name in enumerate((b'p.C', b'()V', b'm1', b'm2', b'm3'), 1):
        out += record(1, struct.pack('>Q', i) + name)
    out += record(2, struct.pack('>IQIQ', 100001, 99, 300000, 1))
    for i in (1, 2, 3):
        out += record(4, struct.pack('>QQQQIi', 10 + i, 2 + i, 2, 0, 100001, i)) + record(5, struct.pack('>IIIQ', 300000 + i, 0, 1, 10 + i))
    for t in tables:
        rows = sorted(t.items(), key=lambda x: -x[1])
        out += record(0x0d, struct.pack('>II', sum(t.values()), len(rows)) + b''.join(struct.pack('>II', n, 300000 + i) for i, n in rows)) + between
    return out


class Whole(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, data, name='in.txt'):
        (self.folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    def run_it(self, *arguments, status=0):
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode()

    def folded(self, file, view):
        return {k: int(v) for k, v in (line.rsplit(' ', 1) for line in self.run_it('convert', '--view', view, '--to', '.folded', file, '-').splitlines())}

    def test_tables_of_hprofx_are_added_up_in_both_formats(self):
        dumps = [{1: 26, 2: 100}, {1: 101}, {1: 100, 3: 1}, {2: 8, 1: 40}]
        wanted = {'p.C.m1': 267, 'p.C.m2': 108, 'p.C.m3': 1}
        self.write(head() + ''.join(samples(d) + report(i) for i, d in enumerate(dumps, 1)))
        self.write(gzip.compress((self.folder / 'in.txt').read_bytes()), 'in.gz')
        self.write(head() + ''.join(map(samples, dumps)), 'no-report')
        self.write(head(False) + ''.join(samples(d) + report(i) for i, d in enumerate(dumps, 1)), 'older')
        self.write(binary(dumps), 'in.hprof')
        for file in ('in.txt', 'in.gz', 'no-report', 'older', 'in.hprof'):
            self.assertEqual({k.replace('()', ''): v for k, v in self.folded(file, 'samples').items()}, wanted, file)
            self.assertRegex(self.run_it('view', file), r'\b376\b')
            self.assertIn(' %d dumps added up\n' % len(dumps), self.run_it('info', file))
            said = json.loads(self.run_it('info', '--json', file))
            view = said['views'][0]
            self.assertEqual((view['measures'][0]['total'], said['records']['CPU SAMPLES']['count'], view['methods'][0]['self']), (376, 4, 267), file)

    def test_other_tables_are_added_up_and_totals_hold(self):
        states = lambda ms, total: ranked('WALL CLOCK (ms)', [(ms * 1000000, ms, 1)], total, last=lambda i: 'parked   p.C.m%d' % i, width=9)
        blocked = lambda part, count: ranked('MONITOR TIME', [(part * 1000000, count, 1)], part, unit=' ms', last=lambda i: 'p.L (Java)')
        self.write(head() + ''.join(blocked(n, n) + sites(n) + times({1: (n * 1000000, n)}, n) + report(n) for n in (1, 2, 4)))
        self.write(head() + ''.join(states(10 * n, 10 * n) + report(n) for n in (1, 2, 4)), 'wall')
        self.assertEqual(self.folded('in.txt', 'time'), {'p.C.m1': 7000000})
        self.assertEqual(self.folded('in.txt', 'calls'), {'p.C.m1': 7})
        self.assertEqual(self.folded('wall', 'wall'), {'p.C.m1;parked': 70000000})
        self.assertEqual(self.folded('in.txt', 'delay'), {'p.C.m1;p.L': 7000000})
        self.assertEqual(self.folded('in.txt', 'contentions'), {'p.C.m1;p.L': 7})
        self.assertEqual(self.folded('in.txt', 'alloc_objects'), {'p.C.m1;p.A': 4})

    def test_calls_of_old_are_added_up(self):
        table = 'count callee caller time\n%d p.C.m()V p.C.main()V %d\n'
        self.write(table % (10, 5) + table % (30, 6))
        self.assertEqual(self.folded('in.txt', 'calls'), {'p.C.main();p.C.m()': 40})

    def test_what_counts_from_the_start_is_not_added_up(self):
        """Of a file that does not say it, the numbers decide; of hprofx's, what stands behind the table that a peer asked for."""
        self.write(head(False) + samples({1: 10, 2: 5}) + samples({1: 30, 2: 5, 3: 1}), 'grows')
        self.write(binary([{1: 10, 2: 5}, {1: 30, 2: 5, 3: 1}], flags=2), 'grows.hprof')
        self.write(head() + samples({1: 10, 2: 5}) + report(1, 'hprofx: counts: go on: the next table has those of this one, too\n') +
                   samples({1: 30, 2: 5, 3: 1}) + report(2, begin=0), 'peer')
        for file in ('grows', 'grows.hprof', 'peer'):
            self.assertEqual(sorted(self.folded(file, 'samples').values()), [1, 5, 30], file)
        self.write(head(False) + samples({1: 10, 2: 5}) + samples({1: 30, 2: 4}), 'falls')  # as the original does it, at SIGQUIT
        self.assertEqual(self.folded('falls', 'samples'), {'p.C.m1': 40, 'p.C.m2': 9})

    def test_info_and_verdict_say_from_when_to_when(self):
        self.write(head() + samples({1: 3}) + report(1) + samples({1: 4}) + report(2))
        period = '2025-11-25 18:54:18 to 18:54:20 UTC'
        self.assertIn('from      %s, 2 dumps added up' % period, self.run_it('info', 'in.txt'))
        self.assertIn('From %s, 2 dumps added up.' % period, self.run_it('view', 'in.txt'))
        made = json.loads(self.run_it('info', '--json', 'in.txt'))
        self.assertEqual((made['from_ms'], made['to_ms']), (RUN, RUN + 2000))
        self.write(head() + samples({1: 3}) + report(1))
        self.assertIn('From 2025-11-25 18:54:18 to 18:54:19 UTC.', self.run_it('view', 'in.txt'))

    def test_exact_times_are_those_that_were_measured(self):
        ns = {1: (420000000, 1), 2: (20000, 7), 3: (19999, 5)}  # the last two are 0.00 %
        self.write(head() + times(ns, 1000, exact=1000000000))
        self.assertEqual(self.folded('in.txt', 'time'), {'p.C.m1': 420000000, 'p.C.m2': 20000, 'p.C.m3': 19999, '[rest]': 579960001})
        self.assertRegex(self.run_it('view', 'in.txt'), r'42\.00% .*p\.C\.m1\n')
        self.run_it('convert', 'in.txt', 'again.txt')
        self.assertEqual(self.folded('again.txt', 'time'), self.folded('in.txt', 'time'))

    def test_the_rest_of_a_file_of_the_original_is_a_rest(self):
        self.write(head(False) + times({1: (420000000, 1), 2: (20000, 7)}, 1000))
        self.assertEqual(self.folded('in.txt', 'time'), {'p.C.m1': 420000000, '[rest]': 580000000})
        self.assertRegex(self.run_it('view', 'in.txt'), r'58\.00% .*\[rest\]\n[^\n]*42\.00% .*p\.C\.m1\n')
        self.write(head(False) + samples({1: 6, 2: 2}, total=10))
        self.assertEqual(self.folded('in.txt', 'samples'), {'p.C.m1': 6, 'p.C.m2': 2, '[rest]': 2})
        self.write(head(False) + times({1: (333330000, 1), 2: (333330000, 1), 3: (333330000, 1)}, 1000))  # rounded
        self.assertNotIn('[rest]', self.folded('in.txt', 'time'))


if __name__ == '__main__':
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
