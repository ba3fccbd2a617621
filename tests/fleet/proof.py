#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The long proof: profiles of real runs, written as if by a thousand JVMs, by several shippers to real engines that are killed, slow, full or wrong meanwhile.
Every count is in the engine or in a counter of what was lost. Prints what it cost.

proof.py [--jvms N] [--minutes M] [--speed X]: N JVMs (1000), M minutes of their time (10), X times as fast (5). The last line is "N passed, N failed, N skipped".

Four shippers, one a host:
  plain   removes files that were sent
  killed  SIGKILL in the middle, started again at once
  full    its spool is on a disk of 1.5 MiB (tmpfs, or a bound of files where that may not be mounted)
  clock   its clock jumps by a day, back and forth
Each sends to: the newest ClickHouse (killed, started again), two shards of the oldest (one killed, started again), the Collector (killed, started again),
Pyroscope's push (429, 503, slow). Periods of some JVMs jump too."""
import argparse
import collections
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

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

TABLE, FRONT = test_questions.TABLE, test_questions.FRONT
HOSTS = ('plain', 'killed', 'full', 'clock')
RUNS = 4 # real ones
DAY = 86400000
NAMES = {'chdb': 'ClickHouse 26', 'shards': 'ClickHouse 18, 2 shards', 'collector': 'Collector', 'pyroscope': 'Pyroscope push'}


def host_of(labels):
    return labels.host.split('-')[0]


class Proof:
    def __init__(self, asked, folder):
        self.asked, self.folder = asked, folder
        self.results = []
        self.lag = collections.defaultdict(list) # once a second, by destination
        self.runs, self.wanted_of = [], []
        self.cpu, self.peak, self.written = collections.Counter(), collections.Counter(), 0
        self.before = {} # counters of the shipper that was killed

    def check(self, name, ok, why=''):
        self.results.append(bool(ok))
        print('%-4s %s%s' % ('ok' if ok else 'FAIL', name, '' if ok else ': %s' % (why,)), flush=True)

    # ---- material ----

    def make_runs(self):
        jdk = material.find_jdk()
        classes = self.folder / 'classes'
        material.compiled(jdk, classes)
        for pair in range(0, RUNS, 2):
            started = []
            for i in range(pair, min(pair + 2, RUNS)):
                out = self.folder / ('run%d' % i)
                out.mkdir()
                started.append(material.run(jdk, classes, out, 1000 * self.asked.minutes + 400))
            for p in started:
                assert p.wait(server.LIMIT + 60) == 0
        for i in range(RUNS):
            of = material.profiles(self.folder / ('run%d' % i))[:self.asked.minutes]
            assert [material.number(d) for d in of] == list(range(1, self.asked.minutes + 1)), 'a run lacks profiles'
            self.runs.append(of)
            self.wanted_of.append(material.expected(of, self.folder))

    def jvms(self):
        """(host, name of the machine, pid, run, ms until its first profile)."""
        chance = random.Random(1)
        return [(HOSTS[i % len(HOSTS)], '%s-%d' % (HOSTS[i % len(HOSTS)], i // 40), 1000 + i, i // len(HOSTS) % RUNS, chance.randrange(60000)) for i in range(self.asked.jvms)]

    def wanted(self, host):
        out = collections.Counter()
        for of, _, _, run, _ in self.jvms():
            if of == host:
                out.update(self.wanted_of[run])
        return out

    def write_all(self, begun):
        """Every profile at its time."""
        now_ms = int(time.time() * 1000) // DAY * DAY - DAY
        plan = sorted((first + 60000 * (k + 1), host, machine, pid, run, k) for host, machine, pid, run, first in self.jvms() for k in range(self.asked.minutes))
        for at, host, machine, pid, run, k in plan:
            wait = begun + at / 1000 / self.asked.speed - time.monotonic()
            if wait > 0:
                threading.Event().wait(wait)
            jump = (0, 3600000, -2 * DAY, 5)[pid % 4] if k >= 5 else 0
            data = material.by_another(self.runs[run][k], machine, pid, 'service%d' % (pid % 20), '1.%d' % (pid % 2), now_ms + pid, now_ms + at + jump)
            path = self.folder / host / ('%s-%d.hprof.%d' % (machine, pid, k))
            part = path.with_suffix('.part')
            part.write_bytes(data)
            part.rename(path)
            self.written += len(data)

    # ---- engines ----

    def start_engines(self):
        self.chdb = chdb.Chdb(self.folder / 'chdb').start()
        self.shards = clickhouse.cluster(self.folder)
        for s in self.shards:
            s.start()
        for s in (self.chdb, *self.shards):
            s.ask('CREATE DATABASE hprofx')
            s.ask(test_questions.schema(s.old))
        for s in self.shards:
            s.ask(test_questions.SQL['shards'])
        self.collector = collector.Collector(self.folder / 'collector').start()
        self.peer = peer.Peer(later=True)
        self.urls = {'chdb': self.chdb.url(TABLE), 'shards': self.shards[0].url(FRONT), 'collector': self.collector.url(), 'pyroscope': self.peer.url('pyroscope')}
        self.labels = {k: u.replace('http://', '', 1) for k, u in self.urls.items()}

    def stop_engines(self):
        self.peer.__exit__()
        for s in (self.chdb, *self.shards, self.collector):
            s.stop()

    def start_shippers(self):
        self.shippers = {}
        for host in HOSTS:
            (self.folder / host).mkdir()
            spool, before, words = self.folder / (host + '-spool'), [], ['--batch', '2s']
            spool.mkdir()
            if host == 'plain':
                words.append('--remove')
            if host == 'full':
                mounted = subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=1536k', 'hprofx', spool], capture_output=True, check=False).returncode == 0
                if not mounted:
                    words += ['--spool-bytes', '300k']
                    print('note: no tmpfs can be mounted; a bound of the spool is in its place')
                self.mounted = spool if mounted else None
            if host == 'clock':
                library = server.need_file('clock', 'libfaketimeMT.so.1')
                self.clock = self.folder / 'clock-says'
                self.clock.write_text('+0\n')
                before = ['env', 'LD_PRELOAD=%s' % library, 'FAKETIME_TIMESTAMP_FILE=%s' % self.clock, 'FAKETIME_CACHE_DURATION=1', 'DONT_FAKE_MONOTONIC=1']
            self.shippers[host] = shipper.Shipper(self.folder / host, spool, *words, *self.urls.values(), before=before).start()
        for s in self.shippers.values():
            s.wait(lambda m: True)

    # ---- what goes wrong, at which share of the time ----

    def kill_shipper(self):
        s = self.shippers['killed']
        self.count_cost('killed')
        self.before = s.metrics()
        s.kill()
        s.start()

    def events(self):
        def slow():
            self.peer.always = peer.OK_SLOWLY

        def good():
            self.peer.always = peer.OK
            self.peer.release.set()
        return [(0.10, self.chdb.kill), (0.15, lambda: setattr(self.peer, 'always', peer.BUSY)), (0.20, self.chdb.start), (0.25, lambda: self.clock.write_text('+1d\n')),
                (0.30, self.collector.kill), (0.35, lambda: setattr(self.peer, 'always', peer.DOWN)), (0.40, self.shards[1].kill), (0.45, self.collector.start),
                (0.50, self.shards[1].start), (0.55, self.kill_shipper), (0.60, slow), (0.65, lambda: self.clock.write_text('-1d\n')), (0.70, good),
                (0.75, lambda: self.clock.write_text('+0\n')), (0.80, self.chdb.kill), (0.82, self.chdb.start)]

    def look(self):
        for host, s in self.shippers.items():
            try:
                for (name, labels), value in s.metrics().items():
                    if name == 'hprofx_ship_lag_seconds' and host != 'clock':
                        self.lag[dict(labels)['destination']].append(value)
            except OSError:
                pass # it was just started again

    def count_cost(self, host):
        cpu, peak = self.shippers[host].usage()
        self.cpu[host] += cpu
        self.peak[host] = max(self.peak[host], peak)

    def run(self):
        self.peer.retry_after = '1'
        begun = time.monotonic()
        writer = threading.Thread(target=self.write_all, args=(begun,))
        writer.start()
        length = (self.asked.minutes + 1) * 60 / self.asked.speed
        for share, event in self.events():
            while (left := begun + share * length - time.monotonic()) > 0:
                self.look()
                threading.Event().wait(min(left, 1))
            event()
        writer.join()
        self.end = {}
        for host, s in self.shippers.items():
            read = sum(j[0] == host for j in self.jvms()) * self.asked.minutes
            if host == 'killed': # each life has counters of its own
                self.end[host] = s.wait(lambda m: all(shipper.total(m, 'hprofx_ship_lag_seconds', destination=d) == 0 and
                                                      shipper.total(m, 'hprofx_ship_profiles_sent_total', destination=d) >=
                                                      shipper.total(m, 'hprofx_ship_profiles_read_total') for d in self.labels.values()), 300)
            else:
                self.end[host] = s.wait(lambda m, n=read: shipper.settled(m, self.labels.values(), n), 300)
            self.count_cost(host)
        self.took = time.monotonic() - begun
        for s in self.shippers.values():
            s.stop()

    # ---- what must be so ----

    def arrived(self):
        """{engine: {host: {(kind, stack): value}}}, each part counted once."""
        out = {}
        for name, engine, table in (('chdb', self.chdb, TABLE), ('shards', self.shards[0], FRONT)):
            of = collections.defaultdict(collections.Counter)
            for r in engine.rows("SELECT splitByChar('-', toString(host))[1] AS h, kind, stack, sum(value) AS v FROM %s FINAL GROUP BY h, kind, stack" % table):
                of[r['h']][r['kind'], tuple(r['stack']) or (counts.NO_STACK,)] += int(r['v'])
            out[name] = of
        by_collector, by_peer = self.collector.arrived(counts.Folded(host_of)), self.peer.read(counts.Folded(host_of))
        self.check('what came again was the same', not by_collector.differing and not by_peer.differing, by_collector.differing[:3] + by_peer.differing[:3])
        self.check('the peer could read everything', not self.peer.errors, self.peer.errors[:3])
        out['collector'], out['pyroscope'] = by_collector.of, by_peer.of
        return out

    def prove(self):
        arrived = self.arrived()
        for host in HOSTS:
            wanted, now = self.wanted(host), self.end[host]
            if host != 'killed':
                read = shipper.by_kind(now, 'hprofx_ship_values_read_total')
                self.check('%s: what it read is what was written' % host, read == counts.totals(wanted), (read, counts.totals(wanted)))
            for name, label in self.labels.items():
                got = arrived[name][host]
                lost = shipper.by_kind(now, 'hprofx_ship_values_dropped_total', label)
                if host in ('full',):
                    sent = shipper.by_kind(now, 'hprofx_ship_values_sent_total', label)
                    self.check('%s, %s: read = sent + lost' % (host, name), read == sent + lost, (read, sent, lost))
                    self.check('%s, %s: sent = in the engine' % (host, name), counts.totals(got) == sent, (counts.totals(got), sent))
                else:
                    wrong = [k for k in set(got) | set(wanted) if got[k] != wanted[k]]
                    self.check('%s, %s: each of %d sums is equal' % (host, name, len(wanted)), not wrong and not lost, [(k, got[k], wanted[k]) for k in wrong[:2]] + [lost])
        dropped = shipper.total(self.end['full'], 'hprofx_ship_profiles_dropped_total')
        self.check('the full disk cost profiles, which are counted', dropped > 0 or self.asked.jvms < 400, self.shippers['full'].said()[-500:])
        causes = collections.Counter()
        for (name, labels), value in self.end['full'].items():
            if name == 'hprofx_ship_profiles_dropped_total':
                causes[dict(labels)['cause']] += int(value)
        print('note: of the full disk %d profiles were dropped: %s' % (dropped, dict(causes)))

    # ---- what it cost ----

    def table(self):
        a, minutes = self.asked, self.asked.jvms * self.asked.minutes
        print('\n%d JVMs, %d minutes of their time, %.0f times as fast (%.0f s); %.1f KB of profiles a JVM and minute' % (
            a.jvms, a.minutes, a.speed, self.took, self.written / minutes / 1000))
        print('%-26s %20s %16s %16s' % ('to', 'KB a JVM and minute', 'median lag, s', 'longest lag, s'))
        for name, label in self.labels.items():
            sent = sum(shipper.total(self.end[h], 'hprofx_ship_bytes_sent_total', destination=label) for h in ('plain', 'clock'))
            of = sum(j[0] in ('plain', 'clock') for j in self.jvms()) * a.minutes
            print('%-26s %20.2f %16.1f %16.1f' % (NAMES[name], sent / of / 1000, statistics.median(self.lag[label]), max(self.lag[label])))
        for host in HOSTS[:3]: # libfaketime costs the fourth more than the shipper itself does
            of = sum(j[0] == host for j in self.jvms()) * a.minutes
            print('%-8s %.2f ms of CPU time a JVM and minute, %d MiB at most' % (host, 1000 * self.cpu[host] / of, self.peak[host] / 1024))
        disk = self.chdb.rows("SELECT sum(bytes_on_disk) AS b, sum(rows) AS r FROM system.parts WHERE active AND table = 'profiles'")[0]
        print('ClickHouse 26 holds %.2f KB and %.0f rows a JVM and minute' % (int(disk['b']) / minutes / 1000, int(disk['r']) / minutes))


def main():
    options = argparse.ArgumentParser(description=__doc__.split('\n\n', maxsplit=1)[0])
    options.add_argument('--jvms', type=int, default=1000)
    options.add_argument('--minutes', type=int, default=10)
    options.add_argument('--speed', type=float, default=5)
    with tempfile.TemporaryDirectory(prefix='hprofx-proof-') as name:
        p = Proof(options.parse_args(), pathlib.Path(name))
        p.mounted = None
        p.make_runs()
        try:
            p.start_engines()
            p.start_shippers()
            p.run()
            p.prove()
            p.table()
        finally:
            for s in getattr(p, 'shippers', {}).values():
                s.kill()
            if hasattr(p, 'peer'):
                p.stop_engines()
            if p.mounted:
                subprocess.run(['umount', p.mounted], check=False)
    print('\n%d passed, %d failed, 0 skipped' % (sum(p.results), len(p.results) - sum(p.results)))
    return not all(p.results)


if __name__ == '__main__':
    sys.exit(main())
