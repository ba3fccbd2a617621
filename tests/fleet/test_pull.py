#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What others read from hprofx-ship: profiles, live objects and metrics over HTTP on loopback or a unix socket.

SCRIPT PULL-DRIVER HPROFX: all, as the build does. Found by unittest: only what needs a judge, Prometheus' promtool and Go's pprof; HPX_FLEET_ENGINES names those
that must be there ("prometheus", "go"), others are skipped. HPX_BUILD: another build than build/."""
import contextlib
import gzip
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

BUILD = pathlib.Path(os.environ.get('HPX_BUILD') or pathlib.Path(__file__).resolve().parents[2] / 'build')
DRIVER, HPROFX = BUILD / 'tests/fleet/pull-driver', BUILD / 'hprofx'
ENGINES = pathlib.Path(os.environ.get('FLEET_ENGINES') or os.environ.get('JDKS', '/opt/jdks') + '/fleet-engines')
INSTALLED = os.environ.get('HPX_FLEET_ENGINES', '').split()
LIMIT = 60 * float(os.environ.get('HPX_SLOW') or 1)  # seconds; what takes so long is stuck
HOSTILE = 'evil</script>"\\;p.C.<b>m&\'"'


def judge(name, file):
    if not file or not os.access(file, os.X_OK):
        if name in INSTALLED:
            raise AssertionError('no ' + name)
        raise unittest.SkipTest('%s is not installed' % name)
    return file


def promtool():
    return judge('prometheus', shutil.which('promtool') or ENGINES / 'prometheus' / 'promtool')


def go():
    return judge('go', shutil.which('go'))


def load_tests(loader, tests, pattern):
    """Those that are found by name are what the build does not run anyway."""
    if pattern is None:
        return tests
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in (PrometheusTests, GoTests))


class Driver:
    """A shipper whose profiles the test makes."""

    def __init__(self, at, *words):
        self.process = subprocess.Popen([DRIVER, at, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.at = self.line()

    def line(self):
        return self.process.stdout.readline().decode().rstrip('\n')

    def send(self, text):
        self.process.stdin.write(text.encode() + b'\n')
        self.process.stdin.flush()

    def do(self, text):
        self.send(text)
        assert self.line() == 'done', text

    def add(self, service, pid, number, cpu, live, stack):
        self.do('add %s %d %d %d %d %s' % (service, pid, number, cpu, live, stack))

    def end(self):
        if self.process.stdin.closed:
            return self.process.returncode
        self.process.stdin.close()
        status = self.process.wait(LIMIT)
        self.process.stdout.close()
        return status

    def kill(self):
        self.process.kill()
        self.end()


class Pull(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *words, at='127.0.0.1:0'):
        driver = Driver(at, *words)
        self.addCleanup(driver.end)
        self.driver = driver
        return driver

    def url(self, path):
        return 'http://%s%s' % (self.driver.at, path)

    def get(self, path, **request):
        """(status, headers, body)"""
        asked = urllib.request.Request(self.url(path), **request)
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=LIMIT) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def raw(self, text):
        """What comes for these bytes."""
        with socket.create_connection(self.driver.at.rsplit(':', 1), LIMIT) as s:
            s.sendall(text.encode())
            s.shutdown(socket.SHUT_WR)  # an unfinished head would be waited for
            return self.rest(s)

    def rest(self, s):
        found = b''
        while chunk := s.recv(65536):
            found += chunk
        return found

    def stacks(self, body, view):
        """A pprof as {stack: value}."""
        file = self.folder / 'got.pb.gz'
        file.write_bytes(body)
        done = subprocess.run([HPROFX, 'convert', '--to', '.folded', '--view', view, file, '-'], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {line.rsplit(' ', 1)[0]: int(line.rsplit(' ', 1)[1]) for line in done.stdout.splitlines()}

    def asked(self, path):
        """Begins a request; (thread, list that gets the answer)."""
        got = []
        thread = threading.Thread(target=lambda: got.append(self.get(path)))
        thread.start()
        self.addCleanup(thread.join)
        return thread, got

    def window(self, path, before, inside):
        """Asks for a span of time; before, inside: profiles that come before its begin and before its end."""
        thread, got = self.asked(path)
        for profiles in (before, inside):
            self.assertEqual(self.driver.line(), 'flush')
            for profile in profiles:
                self.driver.add(*profile)
            self.driver.send('flushed')
        thread.join(LIMIT)
        return got[0]


class ProfileTests(Pull):
    def test_a_window_has_what_arrives_in_it(self):
        self.start('flush')
        status, headers, body = self.window('/debug/pprof/profile?seconds=1', [('shop', 1, 1, 100, 0, 'a;before')],
                                            [('shop', 1, 2, 30, 0, 'a;b'), ('shop', 2, 1, 40, 0, 'a;b'), ('bank', 3, 1, 5, 0, 'a;c')])
        self.assertEqual((status, headers['Content-Type'], headers['Connection']), (200, 'application/octet-stream', 'close'))
        self.assertEqual(self.stacks(body, 'cpu'), {'a;b': 70, 'a;c': 5})
        self.assertEqual(body[:2], b'\x1f\x8b')

    def test_a_service_or_a_process_can_be_asked_for(self):
        self.start('flush')
        inside = [('shop', 1, 2, 30, 0, 'a;b'), ('shop', 2, 1, 40, 0, 'a;b'), ('bank', 3, 1, 5, 0, 'a;c')]
        self.assertEqual(self.stacks(self.window('/debug/pprof/profile?seconds=1&service=shop', [], inside)[2], 'cpu'), {'a;b': 70})
        self.assertEqual(self.stacks(self.window('/debug/pprof/profile?seconds=1&pid=3', [], inside)[2], 'cpu'), {'a;c': 5})
        self.assertEqual(self.window('/debug/pprof/profile?seconds=1&pid=3&service=shop', [], inside)[0], 503)

    def test_live_objects_are_no_flow_and_allocations_are(self):
        self.start('flush')
        body = self.window('/debug/pprof/profile?seconds=1', [], [('shop', 1, 2, 0, 500, 'a;b'), ('shop', 1, 3, 0, 500, 'a;b')])[2]
        self.assertEqual(self.stacks(body, 'alloc_space'), {'a;b': 2000})
        self.assertNotIn(b'inuse_space', gzip.decompress(body).split(b'alloc_space')[0])
        file = self.folder / 'got.pb.gz'
        self.assertIn('no inuse_space', subprocess.run([HPROFX, 'convert', '--view', 'inuse_space', '--to', '.folded', file, '-'], capture_output=True,
                                                       text=True).stderr)

    def test_the_time_is_that_of_the_profiles(self):
        self.start('flush')
        self.window('/debug/pprof/profile?seconds=1', [], [('shop', 1, 2, 7, 0, 'a')])
        body = self.window('/debug/pprof/profile?seconds=1', [], [('shop', 1, 9, 7, 0, 'a'), ('shop', 2, 3, 7, 0, 'a')])[2]
        numbers = gzip.decompress(body)
        self.assertIn(varint(9, 1700000003 * 10**9), numbers)
        self.assertIn(varint(10, 7 * 10**9), numbers)

    def test_a_window_without_a_profile_says_so(self):
        self.start()
        status, headers, body = self.get('/debug/pprof/profile?seconds=1')
        self.assertEqual((status, headers['X-Go-Pprof'], headers['Retry-After']), (503, '1', '5'))
        self.assertIn(b'no profile arrived', body)

    def test_a_window_in_which_nothing_ran_is_an_empty_profile(self):
        self.start('flush')
        status, _, body = self.window('/debug/pprof/profile?seconds=1', [], [('shop', 1, 1, 0, 0, 'a')])
        self.assertEqual(status, 200)
        self.assertIn(b'nanoseconds', gzip.decompress(body))

    def test_seconds_and_pid_are_numbers_within_limits(self):
        self.start()
        for query in ('seconds=0', 'seconds=601', 'seconds=-1', 'seconds=1s', 'seconds=', 'seconds=99999999999999999999', 'seconds=1&pid=x', 'seconds=1&pid=0'):
            self.assertEqual(self.get('/debug/pprof/profile?' + query)[0], 400, query)

    def test_no_more_than_four_windows_are_open(self):
        self.start('flush')
        waiting = [self.asked('/debug/pprof/profile?seconds=1') for _ in range(4)]
        for _ in waiting:
            self.assertEqual(self.driver.line(), 'flush')
        status, _, body = self.get('/debug/pprof/profile?seconds=1')
        self.assertEqual((status, body), (503, b'4 profiles are being taken: ask again later\n'))
        self.assertEqual(self.get('/metrics')[0], 200)  # and others are answered meanwhile
        self.assertEqual(self.driver.end(), 0)
        for thread, got in waiting:
            thread.join(LIMIT)
            self.assertEqual(got[0][0], 503)
            self.assertIn(b'hprofx ends', got[0][2])

    def test_the_end_does_not_wait_for_a_window(self):
        self.start('flush')
        thread, got = self.asked('/debug/pprof/profile?seconds=600')
        self.assertEqual(self.driver.line(), 'flush')
        self.driver.send('flushed')
        self.assertEqual(self.driver.end(), 0)
        thread.join(LIMIT)
        self.assertEqual(got[0][0], 503)

    def test_a_peer_that_leaves_frees_its_window(self):
        self.start('flush')
        peers = []
        for _ in range(4):
            peers.append(socket.create_connection(self.driver.at.rsplit(':', 1), LIMIT))
            self.addCleanup(peers[-1].close)
            peers[-1].sendall(b'GET /debug/pprof/profile?seconds=600 HTTP/1.1\r\nHost: localhost\r\n\r\n')
            self.assertEqual(self.driver.line(), 'flush')
        self.driver.send('flushed')
        for peer in peers:
            peer.close()
        end = time.monotonic() + LIMIT
        while b'4 profiles' in self.probe():
            self.assertLess(time.monotonic(), end)

    def probe(self):
        """What one more window is told at once; nothing if it is let in."""
        with socket.create_connection(self.driver.at.rsplit(':', 1), LIMIT) as s:
            s.sendall(b'GET /debug/pprof/profile?seconds=600 HTTP/1.1\r\nHost: localhost\r\n\r\n')
            s.settimeout(0.5)
            try:
                return s.recv(65536)
            except TimeoutError:
                return b''


def varint(field, value):
    """A field of protobuf with a number."""
    found = b''
    for n in (field << 3, value):
        while n >= 128:
            found += bytes([n & 127 | 128])
            n >>= 7
        found += bytes([n])
    return found


class HeapTests(Pull):
    def test_live_objects_are_those_of_the_last_profile_of_every_run(self):
        self.start()
        for profile in (('shop', 1, 1, 9, 100, 'a;old'), ('shop', 1, 2, 9, 300, 'a;new'), ('shop', 2, 1, 9, 40, 'a;new'), ('bank', 3, 1, 9, 5, 'x')):
            self.driver.add(*profile)
        body = self.get('/debug/pprof/heap')[2]
        self.assertEqual(self.stacks(body, 'inuse_space'), {'a;new': 340, 'x': 5})
        self.assertEqual(self.stacks(body, 'inuse_objects'), {'a;new': 2, 'x': 1})
        self.assertEqual(self.stacks(self.get('/debug/pprof/heap?service=bank')[2], 'inuse_space'), {'x': 5})
        self.assertEqual(self.stacks(self.get('/debug/pprof/heap?pid=1')[2], 'inuse_space'), {'a;new': 300})

    def test_a_profile_without_live_objects_or_out_of_turn_changes_nothing(self):
        self.start()
        for profile in (('shop', 1, 5, 9, 100, 'a;b'), ('shop', 1, 6, 9, 0, 'a;b'), ('shop', 1, 4, 9, 999, 'a;late')):
            self.driver.add(*profile)
        self.assertEqual(self.stacks(self.get('/debug/pprof/heap')[2], 'inuse_space'), {'a;b': 100})

    def test_without_live_objects_the_answer_says_how_to_get_them(self):
        self.start()
        self.driver.add('shop', 1, 1, 9, 0, 'a')
        status, _, body = self.get('/debug/pprof/heap')
        self.assertEqual(status, 503)
        self.assertIn(b'heap=sites', body)


class RequestTests(Pull):
    def test_the_index_names_what_there_is(self):
        self.start()
        status, headers, body = self.get('/debug/pprof/')
        self.assertEqual((status, headers['Content-Type']), (200, 'text/html; charset=utf-8'))
        for path in re.findall(r'href="([^"?]*)', body.decode()):
            self.assertNotEqual(self.get('/debug/pprof/' + path + '?seconds=0' if path[0] != '/' else path)[0], 404, path)

    def test_everything_else_is_not_found(self):
        self.start()
        for path in ('/', '/debug/pprof', '/debug/pprof/cmdline', '/metrics/', '/debug/pprof/../../etc/passwd', '/%00', '//metrics', '/metrics%0a', '/' + 'x' * 20000):
            self.assertEqual(self.get(path)[0], 404, path)

    def test_other_methods_and_bodies_are_refused(self):
        self.start()
        for method in ('POST', 'PUT', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'):
            status, headers, _ = self.get('/metrics', method=method)
            self.assertEqual((status, headers['Allow']), (405, 'GET'), method)
        self.assertEqual(self.get('/metrics', method='POST', data=b'x' * 100000)[0], 405)
        self.assertTrue(self.raw('GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello').startswith(b'HTTP/1.1 400'))

    def test_on_loopback_only_a_loopback_host_is_answered(self):
        self.start()
        for host in ('localhost', 'LOCALHOST:1', '127.0.0.1', '127.1.2.3:99', '[::1]:4'):
            self.assertEqual(self.get('/metrics', headers={'Host': host})[0], 200, host)
        for host in ('evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:80', '[::2]', '10.0.0.1', ''):
            self.assertEqual(self.get('/metrics', headers={'Host': host})[0], 403, host)
        self.assertRegex(self.raw('GET /metrics HTTP/1.0\r\n\r\n'), b'^HTTP/1.[01] 200')

    def test_what_is_no_http_gets_no_answer_of_use_and_harms_nobody(self):
        self.start()
        for text in ('\r\n\r\n\r\n', 'nonsense\r\n\r\n', 'GET\r\n\r\n', '\0' * 100 + '\r\n\r\n', 'GET /metrics HTTP/1.1\r\n' + 'x: y\r\n' * 20000,
                     'GET /metrics HTTP/9.9\r\n\r\n', 'GET ' + 'x' * 100000):
            try:
                answer = self.raw(text)
            except OSError:  # cut off before it had sent all
                answer = b''
            self.assertNotIn(b' 200 ', answer.split(b'\r\n')[0])
        self.assertEqual(self.get('/metrics')[0], 200)

    def test_connections_are_bounded(self):
        self.start()
        before = self.threads()
        peers = [socket.create_connection(self.driver.at.rsplit(':', 1), LIMIT) for _ in range(40)]
        self.addCleanup(lambda: [peer.close() for peer in peers])
        self.assertLessEqual(self.threads(), before + 16)
        for peer in peers:
            peer.close()
        self.assertEqual(self.patient('/metrics'), 200)

    def threads(self):
        return len(os.listdir('/proc/%d/task' % self.driver.process.pid))

    def patient(self, path):
        """The status, as soon as there is room for a connection: one too many is closed."""
        end = time.monotonic() + LIMIT
        while True:
            try:
                return self.get(path)[0]
            except OSError:
                if time.monotonic() > end:
                    raise


class MetricsTests(Pull):
    def test_the_page_counts_what_was_read_and_asked(self):
        self.start()
        self.driver.add('shop', 1, 1, 9, 0, 'a')
        self.driver.do('lost 3')
        self.get('/nowhere')
        status, headers, body = self.get('/metrics')
        self.assertEqual((status, headers['Content-Type']), (200, 'text/plain; version=0.0.4; charset=utf-8'))
        for line in ('hprofx_ship_profiles_read_total 1', 'hprofx_agents_lost_total 3', 'hprofx_ship_pulls_total{path="other",status="404"} 1'):
            self.assertIn(line, body.decode().splitlines())
        self.assertIn('hprofx_ship_pulls_total{path="/metrics",status="200"} 1', self.get('/metrics')[2].decode().splitlines())


class PrometheusTests(Pull):
    def test_promtool_finds_nothing_to_complain_about(self):
        tool = promtool()
        self.start()
        self.get('/nowhere')
        done = subprocess.run([tool, 'check', 'metrics'], input=self.get('/metrics')[2], capture_output=True, timeout=LIMIT)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b'', b''))


class GoTests(Pull):
    def pprof(self, *words):
        environment = {**os.environ, 'PPROF_TMPDIR': str(self.folder), 'HOME': str(self.folder), 'GOFLAGS': ''}
        return subprocess.run([go(), 'tool', 'pprof', *words], capture_output=True, text=True, timeout=LIMIT, env=environment)

    def test_go_takes_a_profile_by_its_usual_words(self):
        go()
        self.start('flush')
        got = []
        thread = threading.Thread(target=lambda: got.append(self.pprof('-top', '-seconds=1', self.url('/debug/pprof/profile'))))
        thread.start()
        for profiles in ([], [('shop', 1, 1, 30 * 10**6, 0, 'p.Main.main;p.Main.hot'), ('shop', 1, 2, 10 * 10**6, 0, 'p.Main.main;' + HOSTILE)]):
            self.assertEqual(self.driver.line(), 'flush')
            for profile in profiles:
                self.driver.add(*profile)
            self.driver.send('flushed')
        thread.join(LIMIT)
        self.assertEqual(got[0].returncode, 0, got[0].stderr)
        self.assertIn('Type: cpu', got[0].stdout)
        self.assertRegex(got[0].stdout, r'\n +30ms +75\.00% +75\.00% +30ms +75\.00% +p\.Main\.hot\n')

    def test_go_takes_live_objects(self):
        go()
        self.start()
        self.driver.add('shop', 1, 1, 9, 4096, 'p.Main.main;p.Main.keep')
        done = self.pprof('-top', self.url('/debug/pprof/heap'))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('Type: inuse_space', done.stdout)
        self.assertRegex(done.stdout, r'\n +4kB +100% +100% +4kB +100% +p\.Main\.keep\n')

    def test_go_shows_why_there_is_no_profile(self):
        go()
        self.start()
        done = self.pprof('-top', '-seconds=1', self.url('/debug/pprof/profile'))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('no profile arrived in this time', done.stderr)


class ListenTests(Pull):
    def unix(self, name='s', *words):
        self.path = self.folder / name
        return self.start(*words, at='unix:%s' % self.path)

    def ask(self):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(LIMIT)
            s.connect(str(self.path))
            s.sendall(b'GET /metrics HTTP/1.1\r\nHost: anything\r\n\r\n')
            return self.rest(s)

    def test_a_unix_socket_is_for_its_owner_alone_and_goes_at_the_end(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        driver = self.unix()
        self.assertEqual(driver.at, 'unix:%s' % self.path)
        mode = os.lstat(self.path).st_mode
        self.assertEqual((stat.S_ISSOCK(mode), stat.S_IMODE(mode)), (True, 0o600))
        self.assertTrue(self.ask().startswith(b'HTTP/1.1 200'))
        self.assertEqual(os.listdir(self.folder), ['s'])
        self.assertEqual(driver.end(), 0)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_socket_that_nobody_listens_at_is_replaced(self):
        self.unix().kill()
        self.assertTrue(self.path.is_socket())
        self.unix()
        self.assertTrue(self.ask().startswith(b'HTTP/1.1 200'))

    def test_what_is_in_the_way_stays(self):
        first = self.unix('live')
        self.assertRegex(self.unix('live').at, 'cannot listen at .*/live: something is there, or another program listens')
        self.assertTrue(self.ask().startswith(b'HTTP/1.1 200'))
        first.end()
        (self.folder / 'file').write_text('x')
        (self.folder / 'target').write_text('x')
        os.symlink('target', self.folder / 'link')
        os.symlink('nowhere', self.folder / 'dangling')
        os.mkdir(self.folder / 'dir')
        before = sorted(os.listdir(self.folder))
        for name in ('file', 'link', 'dangling', 'dir'):
            self.assertRegex(self.unix(name).at, 'something is there')
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.assertEqual(os.readlink(self.folder / 'link'), 'target')

    def test_a_socket_whose_program_has_no_time_stays(self):
        with contextlib.ExitStack() as sockets:
            self.path = self.folder / 's'
            busy = sockets.enter_context(socket.socket(socket.AF_UNIX))
            busy.bind(str(self.path))
            busy.listen(0)
            for _ in range(4):  # until no more are taken
                peer = sockets.enter_context(socket.socket(socket.AF_UNIX))
                peer.setblocking(False)
                peer.connect_ex(str(self.path))
            self.assertRegex(self.unix().at, 'something is there, or another program listens')
            self.assertTrue(self.path.is_socket())

    def test_a_socket_that_another_program_has_taken_over_is_left_alone(self):
        first = self.unix()
        os.unlink(self.path)
        self.unix()
        first.end()
        self.assertTrue(self.ask().startswith(b'HTTP/1.1 200'))

    def test_only_loopback_without_being_told(self):
        for at in ('0.0.0.0:0', '[::]:0', '192.0.2.1:0'):
            self.assertRegex(self.start(at=at).at, 'cannot listen at .*--listen-anywhere$')
        self.assertRegex(self.start('anywhere', at='0.0.0.0:0').at, r'^0\.0\.0\.0:\d+$')
        self.driver.at = self.driver.at.replace('0.0.0.0', '127.0.0.1')
        self.assertEqual(self.get('/metrics', headers={'Host': 'node7.example'})[0], 200)

    def test_an_address_that_is_none_is_refused(self):
        for at in ('', 'unix:', 'unix:/nowhere/at/all', 'unix:' + 'x' * 200, '127.0.0.1', ':1', '127.0.0.1:', '127.0.0.1:65536', '127.0.0.1:x', '::1:80', 'example.com:80',
                   '127.0.0.1:-1', '[127.0.0.1:80'):
            driver = self.start(at=at)
            self.assertRegex(driver.at, '^cannot listen at ')
            self.assertEqual(driver.end(), 1)

    def test_a_port_that_is_taken_is_said(self):
        first = self.start().at
        self.assertRegex(self.start(at=first).at, 'Address already in use')


if __name__ == '__main__':
    DRIVER, HPROFX = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
