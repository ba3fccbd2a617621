#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every count of the profiles that a real JVM wrote arrives at every engine, or is in a counter of what was lost: good engines, bad ones, hostile folders,
shippers that are killed.

python3 -m unittest discover -s tests/fleet. HPX_BUILD=FOLDER: another build than build/. Engines that are not installed (tests/fleet/engines) are left out, but
for those that HPX_FLEET_ENGINES names. The long proof is proof.py."""
import collections
import gzip
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chdb  # noqa: E402
import clickhouse  # noqa: E402
import collector  # noqa: E402
import counts  # noqa: E402
import material  # noqa: E402
import peer  # noqa: E402
import server  # noqa: E402
import shipper  # noqa: E402
import test_questions  # noqa: E402

TABLE = test_questions.TABLE


class Case(unittest.TestCase):
    maxDiff = 2000
    real = []

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='hprofx-fleet-')
        cls.addClassCleanup(folder.cleanup)
        cls.top = pathlib.Path(folder.name)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.top))
        self.profiles, self.spool = self.folder / 'profiles', self.folder / 'spool'
        self.profiles.mkdir()

    @classmethod
    def real_run(cls):
        """The profiles of one run of a real JVM, in their order."""
        if not Case.real:
            with tempfile.TemporaryDirectory(prefix='hprofx-fleet-') as name:
                try:
                    jdk = material.find_jdk()
                except material.NoJava as e:
                    raise unittest.SkipTest(str(e)) from e
                material.compiled(jdk, name)
                out = pathlib.Path(name) / 'out'
                out.mkdir()
                assert material.run(jdk, name, out, 2300).wait(server.LIMIT) == 0
                Case.real = material.profiles(out)
                assert [material.number(d) for d in Case.real] == list(range(1, len(Case.real) + 1)) and len(Case.real) >= 3
        return Case.real

    def put(self, *of, folder=None):
        """Files of these profiles, the oldest first."""
        for i, data in enumerate(of):
            path = (folder or self.profiles) / ('vm-7.hprof.%d' % i)
            path.write_bytes(data)
            os.utime(path, (1700000000 + i, 1700000000 + i))

    def put_real(self):
        """One run, and what must arrive of it."""
        of = self.real_run()
        self.put(*of)
        return material.expected(of, self.folder)

    def same(self, got, wanted):
        """As assertEqual, in words that are not megabytes."""
        if got != wanted:
            wrong = [k for k in set(got) | set(wanted) if got[k] != wanted[k]]
            self.fail('%d of %d sums differ: %s' % (len(wrong), len(wanted), [(k, got[k], wanted[k]) for k in sorted(wrong)[:3]]))


class EveryEngine(Case):
    """One shipper, one run and a file of hostile names, all engines at once."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        of = cls.real_run()
        profiles = cls.top / 'profiles'
        profiles.mkdir()
        Case.put(cls, *of, folder=profiles)
        (profiles / "nasty\n<script>', '').pb").write_bytes(material.nasty_pprof())
        cls.wanted = material.expected(of, cls.top) + material.expected([material.nasty_pprof()], cls.top)
        cls.good = peer.Peer()
        cls.addClassCleanup(cls.good.__exit__)
        cls.engines = {}
        urls = [cls.good.url('otlp'), cls.good.url('pyroscope'), cls.good.url('clickhouse', '/' + TABLE), 'pprof:%s' % (cls.top / 'pprof')]
        for name, start in (('chdb', cls.start_chdb), ('clickhouse', cls.start_shards), ('collector', cls.start_collector)):
            try:
                cls.engines[name] = start()
                urls.append(cls.engines[name].url(test_questions.FRONT if name == 'clickhouse' else TABLE) if name != 'collector' else cls.engines[name].url())
            except server.NotAvailable as e:
                cls.engines[name] = str(e)
        cls.status, cls.said = shipper.once(profiles, cls.top / 'spool', *urls)

    @classmethod
    def start_chdb(cls):
        engine = chdb.Chdb(cls.top / 'chdb').start()
        cls.addClassCleanup(engine.stop)
        engine.ask('CREATE DATABASE hprofx')
        engine.ask(test_questions.schema(False))
        return engine

    @classmethod
    def start_shards(cls):
        shards = clickhouse.cluster(cls.top)
        for s in shards:
            s.start()
            cls.addClassCleanup(s.stop)
        for s in shards:
            s.ask('CREATE DATABASE hprofx')
            s.ask(test_questions.schema(True))
            s.ask(test_questions.SQL['shards'])
        return shards[0]

    @classmethod
    def start_collector(cls):
        engine = collector.Collector(cls.top / 'collector').start()
        cls.addClassCleanup(engine.stop)
        return engine

    def engine(self, name):
        if isinstance(self.engines[name], str):
            self.skipTest(self.engines[name])
        return self.engines[name]

    def arrived(self, arrived):
        self.assertEqual((self.status, self.said), (0, ''))
        self.assertFalse(arrived.differing)
        self.same(arrived.sums(), self.wanted)

    def by_path(self, end):
        """What came to the good peer by requests to this path."""
        self.assertFalse(self.good.errors)
        self.assertTrue([r for r in self.good.requests if r[1].endswith(end)])
        return self.good

    def test_the_newest_clickhouse(self):
        self.arrived(self.engine('chdb').arrived(TABLE))

    def test_two_shards_of_clickhouse(self):
        self.arrived(self.engine('clickhouse').arrived(test_questions.FRONT))

    def test_the_collector(self):
        self.arrived(self.engine('collector').arrived())

    def test_a_peer_by_each_protocol(self):
        self.assertEqual((self.status, self.said, self.good.errors), (0, '', []))
        self.assertEqual({r[1] for r in self.good.requests}, {'/v1development/profiles', '/push.v1.PusherService/Push', '/'})
        thrice = self.good.arrived.sums()
        self.same(thrice, collections.Counter({k: 3 * v for k, v in self.wanted.items()}))
        for labels in self.good.arrived.labels.values():
            self.assertTrue(labels.host)
            if labels.pid:
                self.assertEqual((labels.service, labels.version), ('shop', '1.0'))
            else:
                self.assertEqual(labels.service, "nasty\\n<script>', '')")

    def test_files_of_pprof(self):
        sums = collections.Counter()
        for file in (self.top / 'pprof').iterdir():
            for kind, stacks in counts.of_pprof(file.read_bytes()).items():
                for stack, value in stacks.items():
                    sums[kind, stack] += value
        self.same(sums, self.wanted)

    def fetched(self, url):
        """What `hprofx fetch` makes of an engine's answer."""
        out = self.folder / 'fetched.pb.gz'
        done = subprocess.run([material.HPROFX, 'fetch', url, '-o', out], capture_output=True, text=True, timeout=server.LIMIT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        sums = collections.Counter({(kind, stack): v for kind, stacks in counts.of_pprof(out.read_bytes()).items() for stack, v in stacks.items()})
        live = material.values(self.real_run()[-1], self.folder) # of the last profile of every JVM
        wanted = collections.Counter({key: v for key, v in self.wanted.items() if not key[0].startswith('inuse')})
        for kind in ('inuse_objects', 'inuse_space'):
            for frames, value in live.get(kind, {}).items(): # a profile without live objects has no such kind
                wanted[kind, tuple(n for n, _, _ in frames)] += value
        self.same(sums, wanted)
        # Events of a recording have all measures of a view, a row has one: nothing is counted twice.
        recorded = self.folder / 'fetched.jfr'
        done = subprocess.run([material.HPROFX, 'fetch', url, '-o', recorded], capture_output=True, text=True, timeout=server.LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([material.HPROFX, 'convert', recorded, self.folder / 'recorded.pb.gz'], capture_output=True, text=True, timeout=server.LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        totals = [counts.totals({(kind, stack): v for kind, stacks in counts.of_pprof((self.folder / of).read_bytes()).items() for stack, v in stacks.items()})
                  for of in ('fetched.pb.gz', 'recorded.pb.gz')]
        for kind in ('samples', 'cpu', 'contentions', 'delay'):
            self.assertEqual(totals[1][kind], totals[0][kind], kind)
        timed = self.folder / 'fetched.firefox.json'
        done = subprocess.run([material.HPROFX, 'fetch', url, '-o', timed], capture_output=True, text=True, timeout=server.LIMIT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertTrue(json.loads(timed.read_text('utf-8'))['threads'], 'samples with the time of their profiles')

    def test_fetch_gets_all_of_it_back_from_the_newest_clickhouse(self):
        self.fetched(self.engine('chdb').url(TABLE))

    def test_fetch_gets_all_of_it_back_from_two_shards(self):
        self.fetched(self.engine('clickhouse').url(test_questions.FRONT))

    def test_what_is_wanted_is_not_nothing(self):
        totals = counts.totals(self.wanted)
        for kind in ('cpu', 'samples', 'alloc_space', 'alloc_objects', 'inuse_space', 'delay', 'contentions'):
            self.assertGreater(totals[kind], 0, kind)
        self.assertGreater(len(self.wanted), 50)


class BadPeers(Case):
    def test_each_bad_answer_is_followed_by_all_counts(self):
        """Eight peers, each bad once in its own way; then it is good."""
        wanted = self.put_real()
        ways = (peer.BUSY, peer.DOWN, peer.BROKEN, peer.CLOSES, peer.NONSENSE, peer.HALF, peer.LATE_CLOSE, peer.REDIRECT, peer.FLOOD)
        peers = [peer.Peer(say=[way]) for way in ways]
        try:
            for p in peers:
                p.retry_after = '1'
            status, said = shipper.once(self.profiles, self.spool, *[p.url('otlp') for p in peers])
            self.assertEqual(status, 0, said)
            self.assertNotRegex(said, '[^\n -~]', 'what a peer says is shown without its controls')
            for p in peers:
                with self.subTest(way=p.requests[0][0]):
                    self.assertFalse(p.errors)
                    self.assertEqual(p.requests[1][0], peer.OK)
                    self.same(p.arrived.sums(), wanted)
                    self.assertEqual({r[1] for r in p.requests} - {''}, {'/v1development/profiles'}, 'a redirect is not followed')
        finally:
            for p in peers:
                p.__exit__()

    def test_a_refused_batch_is_counted(self):
        self.put_real()
        with peer.Peer(always=peer.REFUSED) as p, shipper.Shipper(self.profiles, self.spool, '--batch', '1s', p.url('otlp')) as s:
            n = len(self.real_run())
            label = 'otlp:127.0.0.1:%d' % p.port
            now = s.wait(lambda m: shipper.settled(m, [label], n))
            self.assertEqual(shipper.total(now, 'hprofx_ship_profiles_dropped_total', cause='refused'), n)
            self.assertEqual(shipper.by_kind(now, 'hprofx_ship_values_read_total'), shipper.by_kind(now, 'hprofx_ship_values_dropped_total', label))
            self.assertEqual(s.stop(), 0)

    def test_what_is_not_sent_in_time_waits_for_the_next_shipper(self):
        wanted = self.put_real()
        with peer.Peer(always=peer.DOWN) as p:
            self.assertEqual(shipper.once(self.profiles, self.spool, p.url('otlp'), wait='1s')[0], 6)
            p.always = peer.OK
            self.assertEqual(shipper.once(self.profiles, self.spool, p.url('otlp'))[0], 0)
            self.same(p.arrived.sums(), wanted)
            self.assertEqual(p.arrived.repeated, 0)
            done = len(p.requests)
            self.assertEqual(shipper.once(self.profiles, self.spool, p.url('otlp')), (0, ''))
            self.assertEqual(len(p.requests), done, 'what was sent is remembered')


class Killed(Case):
    def test_a_killed_shipper_sends_again_under_the_same_ids(self):
        """Killed while the peer, which has the batch, has not answered."""
        wanted = self.put_real()
        with peer.Peer(say=[peer.OK_SLOWLY]) as p:
            with shipper.Shipper(self.profiles, self.spool, '--batch', '1s', p.url('otlp')) as s:
                self.assertTrue(p.wait(lambda p: p.requests, server.LIMIT), s.said())
            self.assertEqual(shipper.once(self.profiles, self.spool, p.url('otlp'))[0], 0)
            self.assertGreater(p.arrived.repeated, 0)
            self.assertFalse(p.arrived.differing + p.errors)
            self.same(p.arrived.sums(), wanted)

    def test_what_is_read_again_has_the_same_ids(self):
        """As after a crash between the spool and the note that a file was read."""
        wanted = self.put_real()
        with peer.Peer() as p:
            for spool in ('spool', 'another-spool'):
                self.assertEqual(shipper.once(self.profiles, self.folder / spool, p.url('clickhouse', '/' + TABLE)), (0, ''))
            self.assertEqual(p.arrived.repeated, len(p.arrived.parts))
            self.assertFalse(p.arrived.differing + p.errors)
            self.same(p.arrived.sums(), wanted)

    def test_differences_go_on_after_a_restart(self):
        """One shipper for each profile of the run: allocations are still counted once."""
        of = self.real_run()
        with peer.Peer() as p:
            for i in range(len(of)):
                self.put(*of[:i + 1]) # the files of before are written anew, in place
                self.assertEqual(shipper.once(self.profiles, self.spool, p.url('clickhouse', '/' + TABLE)), (0, ''))
            self.assertFalse(p.arrived.differing + p.errors)
            self.same(p.arrived.sums(), material.expected(of, self.folder))

    def test_a_full_spool_drops_the_oldest_and_counts_them(self):
        of = self.real_run()[0]
        for i in range(24):
            folder = self.profiles / ('jvm%d.hprof' % i)
            folder.write_bytes(material.by_another(of, 'h%d' % i, 100 + i, 'shop', '1.0', 1700000000000, 1700000000000 + i))
            os.utime(folder, (1700000000 + i, 1700000000 + i))
        with peer.Peer(always=peer.DOWN) as p:
            p.retry_after = '1'
            label = 'clickhouse:127.0.0.1:%d/%s' % (p.port, TABLE)
            with shipper.Shipper(self.profiles, self.spool, '--batch', '100ms', '--spool-bytes', '24k', p.url('clickhouse', '/' + TABLE)) as s:
                s.wait(lambda m: shipper.total(m, 'hprofx_ship_profiles_read_total') == 24)
                for i in range(24, 27): # further batches
                    (self.profiles / ('jvm%d.hprof' % i)).write_bytes(material.by_another(of, 'h%d' % i, 100 + i, 'shop', '1.0', 1700000000000, 1700000000000 + i))
                    s.wait(lambda m, n=i + 1: shipper.total(m, 'hprofx_ship_profiles_read_total') == n)
                s.wait(lambda m: shipper.total(m, 'hprofx_ship_profiles_dropped_total', cause='spool full') > 0)
                p.always = peer.OK
                now = s.wait(lambda m: shipper.settled(m, [label], 27))
            sent, lost = (shipper.by_kind(now, 'hprofx_ship_values_%s_total' % w, label) for w in ('sent', 'dropped'))
            self.assertEqual(shipper.by_kind(now, 'hprofx_ship_values_read_total'), sent + lost)
            self.assertEqual(counts.totals(p.arrived.sums()), sent)


class Signals(Case):
    def test_a_hangup_that_nohup_ignores_does_not_end_it(self):
        with shipper.Shipper(self.profiles, self.spool, '--batch', '100ms', 'pprof:%s' % (self.folder / 'pprof'), before=('nohup',)) as s:
            s.wait(lambda m: True)
            s.process.send_signal(signal.SIGHUP)
            (self.profiles / 'x.txt').write_text('main;a 3\n')
            s.wait(lambda m: shipper.total(m, 'hprofx_ship_profiles_sent_total') == 1)
            self.assertEqual(s.stop(), 0)


class Hostile(Case):
    def test_a_hostile_folder(self):
        """Links, a fifo, a device, half files and nonsense beside one good profile; names of any bytes."""
        of = self.real_run()
        self.put(of[0])
        (self.profiles / 'nasty\n<script>\x1b[31m.pb').write_bytes(material.nasty_pprof())
        outside = self.folder / 'outside.hprof'
        outside.write_bytes(of[1])
        (self.profiles / 'link.hprof').symlink_to(outside)
        (self.profiles / 'nowhere.hprof').symlink_to('/nonexistent')
        (self.profiles / 'zero.hprof').symlink_to('/dev/zero')
        os.mkfifo(self.profiles / 'fifo.hprof')
        try:
            os.mknod(self.profiles / 'device.hprof', 0o20600, os.makedev(1, 5))
        except PermissionError:
            pass # not root
        (self.profiles / 'folder.hprof').mkdir()
        (self.profiles / 'empty.hprof').write_bytes(b'')
        (self.profiles / 'nonsense.hprof').write_bytes(bytes(range(256)) * 40)
        (self.profiles / 'later.hprof.part').write_bytes(of[2])
        (self.profiles / '.hidden.hprof').write_bytes(of[2])
        half = of[1][:of[1].index(b'SITES BEGIN')]
        (self.profiles / 'half.hprof').write_bytes(half[:len(half) // 2])
        wanted = material.expected(of[:1], self.folder)
        nasty = material.values(material.nasty_pprof(), self.folder)
        with peer.Peer() as p:
            status, said = shipper.once(self.profiles, self.spool, p.url('clickhouse', '/' + TABLE), p.url('otlp'), p.url('pyroscope'))
            self.assertEqual((status, p.errors), (0, []))
            self.assertNotIn('\x1b', said)
            self.assertRegex(said, r'nonsense\.hprof is not sent')
            for stack, value in nasty['samples'].items():
                wanted['samples', tuple(n for n, _, _ in stack)] += value
            self.assertEqual(len(nasty['samples']), len(material.NASTY))
            self.same(p.arrived.sums(), collections.Counter({k: 3 * v for k, v in wanted.items()}))
        self.assertEqual(sorted(f.name for f in self.profiles.iterdir() if f.is_symlink()), ['link.hprof', 'nowhere.hprof', 'zero.hprof'])


    def test_a_file_that_fills_the_memory_is_left_and_the_others_are_sent(self):
        with gzip.open(self.profiles / 'bad.gz', 'wb', 1) as f: # 100 MB of names in a few hundred kilobytes
            for i in range(25000):
                f.write(b'%07d' % i + b'x' * 3993 + b' 1\n')
        (self.profiles / 'good.txt').write_text('main;a 5\n')
        os.utime(self.profiles / 'bad.gz', (1, 1)) # it comes first
        for first in True, False:
            done = subprocess.run(['prlimit', '--as=%d' % (300 << 20), material.HPROFX, 'ship', '--once', '--spool', self.spool, self.profiles,
                                   'pprof:%s' % (self.folder / 'out')], capture_output=True, text=True, timeout=server.LIMIT, check=False)
            self.assertEqual((done.returncode, done.stderr), (
                0, 'hprofx: bad.gz is not sent: it needs more than 75 MiB of memory, which is the limit here; HPROFX_MEMORY=SIZE (such as 4g) sets another\n'
                if first else ''))
            self.assertEqual([p.name.split('-')[0] for p in (self.folder / 'out').iterdir()], ['good'])
            self.assertTrue((self.profiles / 'bad.gz').exists())

    def test_a_folder_that_is_read_is_not_written_to(self):
        """Else each file that is written would be read as a new profile, without end."""
        (self.profiles / 'x.txt').write_text('main;a 3\n')
        (self.folder / 'link').symlink_to(self.profiles)
        for spool, folder in ((self.spool, 'profiles'), (self.spool, 'link'), (self.profiles, 'pprof')):
            with self.subTest(spool=spool.name, folder=folder):
                status, said = shipper.once(self.profiles, spool, 'pprof:%s' % (self.folder / folder))
                self.assertEqual(status, 2)
                self.assertRegex(said, r'^hprofx: .*/profiles is (read, so|the spool, too).*\n$')
                self.assertEqual([f.name for f in self.profiles.iterdir()], ['x.txt'])

    def test_a_spool_of_another_user_is_refused(self):
        """Its owner could put batches there, which would be sent with our secrets."""
        if os.geteuid() != 0:
            self.skipTest('only root gives folders away')
        self.spool.mkdir()
        os.chown(self.spool, 65533, -1)
        status, said = shipper.once(self.profiles, self.spool, 'pprof:%s' % (self.folder / 'pprof'))
        self.assertEqual((status, said), (1, 'hprofx: the spool %s belongs to another user, whose files would be sent, too; give another folder by --spool\n' % self.spool))


class Commands(Case):
    def test_the_commands_of_the_document(self):
        """As they stand in docs/guide.md, except the port, the program, and that it all goes faster."""
        try:
            engine, jdk = chdb.Chdb(self.folder / 'chdb'), material.find_jdk()
        except (server.NotAvailable, material.NoJava) as e:
            self.skipTest(str(e))
        first, later = re.findall(r'^```sh fleet(?:-later)?\n(.*?)^```$', (counts.ROOT / 'docs/guide.md').read_text(), re.M | re.S)
        material.compiled(jdk, self.folder)
        (self.folder / 'schema.sql').write_text(test_questions.SQL['schema'])
        os.rmdir(self.profiles)
        for was, now in ((':8123', ':%d' % engine.port), ('-jar shop.jar', '-Xmx128m -XX:TieredStopAtLevel=1 -cp . Shop 60000'), ('dump=60s', 'dump=1s'), ('hprofx ship', 'hprofx ship --batch 1s'), ('java ', jdk + '/bin/java ')):
            self.assertIn(was, first)
            first, later = first.replace(was, now), later.replace(was, now)
        env = {**os.environ, 'PATH': '%s:%s' % (material.BUILD, os.environ['PATH']), 'XDG_STATE_HOME': str(self.folder / 'state'), 'HOME': str(self.folder)}
        env.pop('STATE_DIRECTORY', None)
        with engine:
            with subprocess.Popen(['bash', '-ec', first + 'echo begun\nwait'], cwd=self.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, start_new_session=True) as shell:
                try:
                    self.assertEqual(shell.stdout.readline(), 'begun\n')
                    self.until_rows(engine)
                finally:
                    os.killpg(shell.pid, signal.SIGKILL) # with all that the commands started
            done = subprocess.run(['bash', '-ec', later], cwd=self.folder, env=env, capture_output=True, text=True, timeout=server.LIMIT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertRegex(done.stdout, r'(?m)^samples\t[1-9]')
        self.assertRegex((self.folder / 'shop.html').read_text(), '^<!doctype html>')

    def until_rows(self, engine):
        end, pause = time.monotonic() + server.LIMIT, threading.Event()
        while int(engine.rows('SELECT count() AS n FROM ' + TABLE)[0]['n']) == 0:
            self.assertLess(time.monotonic(), end, 'no rows')
            pause.wait(0.1) # an engine says nowhere that rows came


class Metrics(Case):
    def test_promtool_finds_nothing_wrong_with_the_metrics(self):
        try:
            promtool = server.need_file('prometheus', 'promtool')
        except server.NotAvailable as e:
            self.skipTest(str(e))
        self.put_real()
        with peer.Peer() as p, shipper.Shipper(self.profiles, self.spool, '--batch', '1s', p.url('otlp')) as s:
            s.wait(lambda m: shipper.settled(m, ['otlp:127.0.0.1:%d' % p.port], len(self.real_run())))
            done = subprocess.run([promtool, 'check', 'metrics'], input=s.page(), capture_output=True, text=True, timeout=server.LIMIT, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))


class Sent(Case):
    """What agents send by net=."""

    def run_java(self, jdk, port, *options):
        """Its messages."""
        agent = '-agentpath:%s=%s' % (material.BUILD / 'agent' / 'libhprofx.so', ','.join(('net=127.0.0.1:%d' % port, *options)))
        done = subprocess.run([jdk + '/bin/java', '-XX:+UseSerialGC', '-cp', str(self.folder), agent, 'Shop', '1500'], capture_output=True, text=True, check=False,
                              timeout=2 * server.LIMIT, cwd=self.folder, env={**os.environ, 'OTEL_SERVICE_NAME': 'shop'})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_every_count_of_a_stream_arrives(self):
        try:
            jdk = material.find_jdk()
        except material.NoJava as e:
            self.skipTest(str(e))
        material.compiled(jdk, self.folder)
        taken = counted = 0
        with shipper.Shipper('net:127.0.0.1:0', self.spool, '--batch', '200ms', 'pprof:%s' % (self.folder / 'out')) as ship:
            ship.wait(lambda _: 'net=' in ship.said())
            port = int(re.search(r'net=127\.0\.0\.1:(\d+)', ship.said())[1])
            for form in 'ab':
                said = self.run_java(jdk, port, 'cpu=samples', 'heap=sites', 'sites=exact', 'cutoff=0', 'dump=500ms', 'format=' + form)
                taken += int(re.search(r'samples: (\d+) taken, 0 lost', said)[1])
                counted += int(re.search(r'sites: (\d+) allocations counted, 0 lost', said)[1])
            now = ship.wait(lambda m: shipper.by_kind(m, 'hprofx_ship_values_read_total')['alloc_objects'] >= counted)
        got = shipper.by_kind(now, 'hprofx_ship_values_read_total')
        self.assertEqual((got['samples'], got['alloc_objects']), (taken, counted))
        self.assertGreater(shipper.total(now, 'hprofx_ship_profiles_read_total'), 4)
        self.assertEqual(shipper.total(now, 'hprofx_ship_profiles_broken_total'), 0)
        self.assertEqual({p.name.split('-')[0] for p in (self.folder / 'out').iterdir() if not p.name.startswith('.')}, {'shop'})

    def test_nonsense_of_a_peer_is_told_and_the_others_go_on(self):
        with shipper.Shipper('net:127.0.0.1:0', self.spool, '--batch', '200ms', 'pprof:%s' % (self.folder / 'out')) as ship:
            ship.wait(lambda _: 'net=' in ship.said())
            port = int(re.search(r'net=127\.0\.0\.1:(\d+)', ship.said())[1])
            idle = socket.create_connection(('127.0.0.1', port))
            for n, sent in enumerate((b'GET / HTTP/1.1\r\n\r\n', b'JAVA PROFILE 1.0.2\0' + b'\xff' * 400, os.urandom(5000)), 1):
                with socket.create_connection(('127.0.0.1', port)) as s:
                    s.sendall(sent)
                ship.wait(lambda m, n=n: shipper.total(m, 'hprofx_ship_profiles_broken_total') == n)
            idle.close()
            self.assertEqual(ship.stop(), 0)


if __name__ == '__main__':
    unittest.main()
