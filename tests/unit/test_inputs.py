#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_inputs HPROFX [unittest arguments]: hprofx view, convert, merge and diff with folders, patterns and the URL of an engine, which is a server of
the test. Without hprofx-ship beside HPROFX nothing is asked of engines."""
import collections
import gzip
import http.server
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

PROGRAM = None
HEAD = 'JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nwords\n--------\n\n'


def folded(text):
    found = collections.Counter()
    for line in text.splitlines():
        stack, value = line.rsplit(' ', 1)
        found[stack] += int(value)
    return found


def profile(run, number, samples, bytes_, lost=0, host='h'):
    """A file of split=y: samples since the profile before, allocations since the start of the run."""
    said = ''.join('hprofx: %s\n' % line for line in ('lost: %d' % lost, 'host: %s' % host, 'pid: 7', 'run began: %d ms since 1970' % run,
                                                      'profile: %d, from %d to %d ms since 1970' % (number, run + number * 1000, run + number * 1000 + 1000)))
    return (HEAD + 'TRACE 300001:\n\tA.m(A.java:1)\n'
            'SITES BEGIN (ordered by live bytes) Thu Jan  1 00:00:00 1970\n          percent          live          alloc\'ed  stack class\n'
            ' rank   self  accum     bytes objs     bytes  objs trace name\n    1 100.00%% 100.00%%  %8d    1  %8d     2 300001 A\nSITES END\n'
            'CPU SAMPLES BEGIN (total = %d) Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n   1 100.00%% 100.00%% %7d 300001 A.m\nCPU SAMPLES END\n'
            % (bytes_, bytes_, samples, samples) + said)


def field(number, data):
    return bytes([number << 3 | 2, len(data)]) + data if isinstance(data, bytes) else bytes([number << 3, data])


def pprof(names):
    """A stack of one method, with the value 1 of measures of another profiler."""
    strings = ['', *names, 'count', 'm']
    types = b''.join(field(1, field(1, i + 1) + field(2, len(names) + 1)) for i in range(len(names)))
    return gzip.compress(types + field(2, field(1, 1) + field(2, bytes([1] * len(names)))) + field(4, field(1, 1) + field(4, field(1, 1)))
                         + field(5, field(1, 1) + field(2, len(names) + 2)) + b''.join(field(6, text.encode()) for text in strings))


class Folder(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.all = self.folder / 'all'
        self.all.mkdir()

    def write(self, name, data):
        (self.all / name).write_bytes(data if isinstance(data, bytes) else data.encode())

    def done(self, *arguments, status=0, said='', **how):
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, check=False, stdin=subprocess.DEVNULL, **how)
        self.assertEqual(done.returncode, status, done.stderr)
        (self.assertIn if said else self.assertEqual)(said, done.stderr.decode())
        return done.stdout.decode()

    def sum_of(self, *words, view='samples', **how):
        return folded(self.done('merge', '--view', view, '--to', '.folded', *words, '-', **how))


class Files(Folder):
    def test_a_folder_is_the_sum_of_its_profiles(self):
        self.write('a', 'main;x 1\n')
        self.write('b.folded', 'main;x 2\nmain;y 4\n')
        for words in (['all'], ['all/'], ['all/*'], ['all/?', 'all/*.folded'], ['all/a', 'all/b.folded']):
            self.assertEqual(self.sum_of(*words), {'main;x': 3, 'main;y': 4}, words)
        self.assertTrue(self.done('view', 'all').startswith('The sum of 2 profiles of 2 runs.\n\nCPU: samples 7\n'))
        self.assertEqual(self.done('convert', '--to', '.folded', 'all', '-'), 'main;x 3\nmain;y 4\n')

    def test_only_regular_files_that_may_be_profiles_count(self):
        self.write('a', 'main;x 1\n')
        for name in ('.hidden', 'b.part', 'b.journal.part', 'page.html', 'x.speedscope.json', 'x.otlp'):
            self.write(name, 'main;x 10\n')
        (self.all / 'folder').mkdir()
        (self.all / 'link').symlink_to('a')
        (self.all / 'dangling').symlink_to('nowhere')
        (self.all / 'zero').symlink_to('/dev/zero')
        os.mkfifo(self.all / 'fifo')
        for words in (['all'], ['all/*'], ['all/[a-z]*']):
            self.assertEqual(self.sum_of(*words), {'main;x': 1}, words)
        self.assertEqual(self.sum_of('all/link'), {'main;x': 1})  # whoever names a link means it

    def test_a_file_with_a_star_in_its_name_is_that_file(self):
        self.write('a*', 'main;x 1\n')
        self.write('ab', 'main;x 2\n')
        self.assertEqual(self.sum_of('all/a*'), {'main;x': 1})

    def test_no_profile_at_all_is_told(self):
        self.done('view', 'all', status=1, said='all: the folder has no profile')
        self.done('view', 'all/*.hprof', status=1, said='all/*.hprof: No such file')
        self.done('merge', 'nothing', 'x.folded', status=1, said='nothing: No such file')
        self.write('a', 'words\n')
        self.write('b', '')
        self.done('view', 'all', status=1, said='none of the 2 files is a profile')

    def test_a_broken_file_among_others_is_told(self):
        self.write('a', 'main;x 1\n')
        self.write('b', 'words\n')
        self.write('c', 'main;x 2\nno count\n')
        self.write('d', 'main;x 4\n')
        self.assertEqual(self.sum_of('all', status=6, said='all/b: neither HPROF'), {'main;x': 7})
        self.assertEqual(self.sum_of('all', status=6, said='all/c: line 2'), {'main;x': 7})
        self.done('merge', 'all/a', 'all/b', 'x.folded', status=1, said='all/b: neither HPROF')  # one that was named

    def test_allocations_of_a_run_are_those_of_its_last_profile(self):
        for run, host, name in ((1000, 'h', 'x'), (1000, 'other', 'y'), (2000, 'h', 'z')):
            for number in range(1, 12):
                self.write('%s.%d' % (name, number), profile(run * 1000, number, 10, 100 * number, number, host))
        self.assertEqual(self.sum_of('all'), {'A.m': 330})
        self.assertEqual(self.sum_of('all', view='alloc_space'), {'A.m;A': 3300})
        self.assertEqual(self.sum_of('all', view='inuse_space'), {'A.m;A': 3300})
        self.assertEqual(self.sum_of('all/x.*', view='alloc_space'), {'A.m;A': 1100})
        shown = self.done('view', 'all')
        self.assertTrue(shown.startswith('The sum of 33 profiles of 3 runs.\n'), shown)
        self.assertIn('\nLost: 33.\n', shown)  # counts from the start of the run, too

    def test_the_last_profile_is_so_by_its_number_not_by_its_name(self):
        self.write('a', profile(1000, 3, 1, 300))
        self.write('b', profile(1000, 1, 1, 100))
        self.write('c', profile(1000, 2, 1, 200))
        self.assertEqual(self.sum_of('all', view='alloc_space'), {'A.m;A': 300})
        self.write('d', profile(0, 0, 1, 7))  # says nothing of its run
        self.write('e', profile(0, 0, 1, 7))
        self.assertEqual(self.sum_of('all', view='alloc_space'), {'A.m;A': 314})

    def test_a_profile_that_comes_twice_counts_once(self):
        for number in (1, 2):
            self.write('a.%d' % number, profile(1000, number, 10, 100 * number))
        self.write('copy', profile(1000, 2, 10, 200))
        for words in (['all'], ['all', 'all/*'], ['all/copy', 'all/a.1', 'all/a.2', 'all/a.1']):
            self.assertEqual(self.sum_of(*words), {'A.m': 20}, words)
            self.assertEqual(self.sum_of(*words, view='alloc_space'), {'A.m;A': 200}, words)
        self.assertTrue(self.done('view', 'all').startswith('The sum of 2 profiles of 1 run.\n'))
        self.write('b', 'main;x 1\n')  # says nothing of its run
        self.assertEqual(self.sum_of('all/b', 'all/b'), {'main;x': 2})

    def test_what_comes_through_a_pipe_is_read_once(self):
        self.write('a', profile(1000, 1, 10, 100))
        self.write('b', profile(2000, 1, 10, 50))
        os.mkfifo(self.folder / 'fifo')
        for view, sum_ in (('samples', {'A.m': 20}), ('alloc_space', {'A.m;A': 150})):
            for word in ('-', 'fifo'):
                command = 'cat all/a %s "$0" merge --view %s --to .folded %s all/b -' % ('|' if word == '-' else '> fifo &', view, word)
                done = subprocess.run(['sh', '-c', command, PROGRAM], cwd=self.folder, capture_output=True, check=False)
                self.assertEqual((done.returncode, done.stderr, folded(done.stdout.decode())), (0, b'', sum_), command)

    def test_a_file_that_is_read_twice_is_told_once(self):
        self.write('a', gzip.compress(profile(1000, 1, 10, 100).encode())[:-4])
        self.write('b', profile(2000, 1, 10, 50))
        self.done('view', 'all', status=6, said='hprofx: all/a: the compressed data end too early\n')
        done = subprocess.run([PROGRAM, 'view', 'all'], cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(done.stderr.count(b'\n'), 1, done.stderr)

    def test_measures_without_room_in_the_sum_are_told(self):
        for name in 'ab':
            self.write(name + '.pb.gz', pprof(['%s%d' % (name, i) for i in range(5)]))
        self.assertIn('a4 1, b0 1', self.done('view', 'all', status=6, said='more than 8 measures that hprofx does not know'))

    def test_a_sum_is_that_of_a_host_only_if_all_of_it_is(self):
        for name, host in (('a', 'earth'), ('b', 'mars'), ('c', 'mars')):
            self.write(name, profile(1000, 1, 1, 1, host=host))
        for pattern, one in (('all/[bc]', True), ('all', False), ('all/[ac]', False)):
            self.done('convert', pattern, 'x.otlp')
            written = (self.folder / 'x.otlp').read_bytes()
            self.assertIn(b'process.pid', written)
            self.assertEqual(b'host.name' in written, one, pattern)

    def test_a_side_of_a_diff_may_be_a_folder(self):
        self.write('a', 'main;x 1000\nmain;y 1000\n')
        self.write('b', 'main;x 1000\nmain;y 1000\n')
        (self.folder / 'new').write_text('main;x 3000\nmain;y 1000\n')
        for before in ('all', 'all/*'):
            told = self.done('diff', before, 'new')
            self.assertRegex(told, r'x\b')
            self.assertIn('4,000', told)
        self.done('diff', '--fail-if', 'x +5%', 'all', 'new', status=1)
        self.done('diff', 'all', '--', 'new', 'new')

    def test_view_writes_files_too(self):
        self.write('a', 'main;x 1\n')
        self.write('b', 'main;x 2\n')
        self.assertEqual(self.done('view', '-o', 'x.folded', 'all'), '')
        self.assertEqual((self.folder / 'x.folded').read_text(), 'main;x 3\n')
        self.done('view', '--output', 'x.firefox.json', 'all')
        self.assertTrue('The sum of 2 profiles of 2 runs.' in (self.folder / 'x.firefox.json').read_text())

    def test_memory_is_that_of_one_profile_and_the_sum(self):
        text = ''.join('main;%s 1\n' % ';'.join('p.C%d.m%d' % (i % 97, (i * k) % 1013) for k in range(1, 12)) for i in range(8000))

        def peak(n):
            for i in range(n):
                self.write('%d' % i, text)
            env = {**os.environ, 'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':quarantine_size_mb=0'} # ASan keeps what was freed
            child = subprocess.Popen([PROGRAM, 'convert', 'all', 'x.folded'], cwd=self.folder, env=env)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(child.returncode, 0)
            return used.ru_maxrss

        two = peak(2)
        self.assertLess(peak(12), 1.2 * two)


# ---- an engine ----

def text(data):
    n, head = len(data), b''
    while n >= 128:
        head += bytes([n & 127 | 128])
        n >>= 7
    return head + bytes([n]) + data


def row(kind, stack, value, begin=0, end=0):
    return text(kind) + bytes([len(stack)]) + b''.join(map(text, stack)) + struct.pack('<QQQ', value, begin, end)


ROWS = row(b'cpu', [b'main', b'p.C.m'], 30) + row(b'samples', [b'main', b'p.C.m'], 3) + row(b'samples', [], 2) + row(b'alloc_space', [b'main', b'</script>\n;'], 9)


class Engine(Folder):
    def setUp(self):
        super().setUp()
        if not (pathlib.Path(PROGRAM).resolve().parent / 'hprofx-ship').exists():
            self.skipTest('hprofx-ship is not built')
        self.asked, self.facts, self.rows, self.status = [], struct.pack('<QQQ', 4, 1764000000000, 1764000060000), ROWS, 200
        test = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                query = self.rfile.read(int(self.headers['Content-Length'])).decode()
                test.asked.append((self.path, dict(self.headers), query))
                self.send_response(test.status)
                self.end_headers()
                self.wfile.write(test.facts if 'count()' in query else test.rows)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = 'clickhouse:http://127.0.0.1:%d/hprofx.profiles?service=shop' % server.server_port

    def test_view_convert_and_diff_take_its_url(self):
        shown = self.done('view', self.url)
        self.assertIn('CPU: samples 5', shown)
        self.assertIn('p.C.m', shown)
        self.assertEqual(self.done('convert', '--to', '.folded', self.url, '-'), '[no stack] 2\nmain;p.C.m 3\n')
        self.assertEqual(self.done('merge', '--view', 'alloc', '--to', '.folded', self.url, self.url, '-'), 'main;</script>\\n, 18\n')
        self.done('view', '-o', 'x.html', self.url)
        self.assertTrue((self.folder / 'x.html').read_text().startswith('<!doctype html>'))
        self.assertIn('samples', self.done('diff', self.url, self.url))
        path, _, query = self.asked[0]
        self.assertIn('wait_end_of_query=1', path)
        self.assertIn("FROM `hprofx`.`profiles` WHERE 1 AND service IN ('shop')", query)

    def test_it_is_asked_without_a_standard_input_too(self):
        done = subprocess.run(['sh', '-c', 'exec "$0" convert --to .folded "$1" - <&-', PROGRAM, self.url], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b'[no stack] 2\nmain;p.C.m 3\n'), done.stderr)

    def test_fetch_writes_a_file(self):
        self.done('fetch', self.url, '-o', 'x.pb.gz')
        self.assertEqual(self.sum_of('x.pb.gz'), {'[no stack]': 2, 'main;p.C.m': 3})
        self.assertEqual((self.folder / 'x.pb.gz').stat().st_mode & 0o777, 0o600)
        self.done('fetch', self.url, '--output', 'x.folded')
        self.assertEqual((self.folder / 'x.folded').read_text(), '[no stack] 2\nmain;p.C.m 3\n')

    def test_fetch_has_the_times_of_profiles(self):
        zero, minute = 1764000000000, 60000
        self.rows = b''.join(row(kind, [b'main', b'p.C.m'], n, zero + k * minute, zero + (k + 1) * minute) for k in range(3) for kind, n in ((b'samples', 2), (b'cpu', 20000000)))
        self.facts = struct.pack('<QQQ', 6, zero, zero + 3 * minute)
        self.done('fetch', self.url, '-o', 'x.firefox.json')
        samples = [t['samples'] for t in json.loads((self.folder / 'x.firefox.json').read_text())['threads'] if t['samples']['weightType'] == 'samples']
        of = [(at, n) for s in samples for at, n in zip(s['time'], s['weight'])]
        self.assertEqual([sum(n for at, n in of if k * minute <= at < (k + 1) * minute) for k in range(3)], [2, 2, 2])
        self.assertIn('intDiv(b, 1)', self.asked[-1][2])
        self.done('fetch', self.url, '-o', 'x.jfr')  # an event has both measures, a row one: nothing is counted twice
        self.assertNotIn('intDiv', self.asked[-1][2])
        self.done('convert', '--view', 'samples', 'x.jfr', 'x.folded')
        self.assertEqual((self.folder / 'x.folded').read_text(), 'main;p.C.m 6\n')
        for rows, step in ((1 << 20, 121), (1 << 22, 481), (1 << 26, 0)):  # a minute's profiles, for 1000 minutes
            self.facts = struct.pack('<QQQ', rows, zero, zero + 1000 * minute)
            self.done('fetch', self.url, '-o', 'x.html', said='' if step else 'too many rows for a time line; from=, to= or kind= ')
            self.assertEqual(re.findall(r'intDiv\(b, (\d+)\)', self.asked[-1][2]), [str(step)] if step else [], rows)

    def test_fetch_filters(self):
        self.done('fetch', '--include', 'p.C', '--root', 'p.C.m', self.url, '-o', 'x.pb.gz')
        self.assertEqual(self.sum_of('x.pb.gz'), {'p.C.m': 3})
        self.assertIn('  Filtered by --include p.C --root p.C.m\n', self.done('view', 'x.pb.gz'))
        self.assertIn('CPU: samples 3 of 5, ', self.done('view', 'x.pb.gz'))
        self.done('fetch', '--include=', self.url, '-o', 'x.pb.gz', status=2, said='--include wants a method')
        self.done('fetch', '--from', '3s', self.url, status=2, said='an engine keeps no times of samples; from= and to= of the URL choose profiles')
        self.done('fetch', '--by', 'p.C', self.url, status=2, said='hprofx view --by takes the same URL')

    def test_credentials_come_from_a_file(self):
        secret = self.folder / 'secret'
        secret.write_text('X-ClickHouse-User: me\nX-ClickHouse-Key: pass\n')
        secret.chmod(0o600)
        self.done('view', '--headers', 'secret', self.url)
        self.assertEqual([(h.get('X-ClickHouse-User'), h.get('X-ClickHouse-Key')) for _, h, _ in self.asked], [('me', 'pass')] * 2)
        secret.chmod(0o644)
        for command in (['view'], ['diff', 'secret'], ['convert', '--to', '.folded', '-']):
            verb, *more = command
            self.done(verb, '--headers', 'secret', self.url, *(more if verb == 'convert' else []), *([self.url] if verb == 'diff' else []), status=2 if verb == 'diff' else 1, said='chmod 600 secret')

    def test_what_it_answers_may_be_anything(self):
        for status, facts, rows, said in ((404, b'Code: 60. DB::Exception: no \x1b[31mtable\nmore', b'', 'hprofx: ClickHouse answers 404: Code: 60. DB::Exception: no [31mtable\n'),
                                          (200, b'', ROWS, 'not that of a table of profiles'), (200, bytes(24), ROWS, 'no profile that matches the URL'),
                                          (200, b'x' * 25, ROWS, 'not that of a table of profiles'), (200, None, ROWS[:-1], 'cut off inside a row'),
                                          (200, None, b'\xff' * 50, 'not made of rows'), (200, None, b'Code: 159. DB::Exception: Timeout', 'ClickHouse: ')):
            with self.subTest(said):
                self.status, self.rows, self.facts = status, rows, struct.pack('<QQQ', 4, 1, 2) if facts is None else facts
                self.assertEqual(self.done('view', self.url, status=1, said=said), '')
                self.done('fetch', self.url, '-o', 'x.pb.gz', status=1, said=said)
                self.assertFalse((self.folder / 'x.pb.gz').exists())
        self.status, self.rows, self.facts = 200, b'', struct.pack('<QQQ', 4, 1, 2)
        self.assertEqual(self.done('view', self.url, status=1, said='the profile has no stacks'), '')
        self.done('fetch', self.url, '-o', 'x.pb.gz', said='x.pb.gz says only that the profile has no stacks')

    def test_kinds_without_room_are_told(self):
        self.rows = b''.join(row(b'kind%d' % i, [b'main'], 1) for i in range(10))
        self.done('view', self.url, status=6, said='more than 8 kinds')

    def test_a_wrong_url_is_wrong_usage(self):
        for url in (self.url + '&x=1', self.url + '&from=soon', 'clickhouse:nothing'):
            self.done('view', url, status=2, said='hprofx: ')
        self.done('fetch', status=2, said='fetch needs one URL')
        self.assertEqual(self.asked, [])


if __name__ == '__main__':
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
