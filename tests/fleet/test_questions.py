#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The schema and the five questions of docs/sql, as they stand there, on rows whose answers are known: on the newest ClickHouse and on two shards of the
oldest one that Debian has. Every row is there twice, as after a batch that was sent again.

python3 -m unittest discover -s tests/fleet"""
import math
import pathlib
import random
import re
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chdb  # noqa: E402
import clickhouse  # noqa: E402
import counts  # noqa: E402
import server  # noqa: E402

SQL = {file.stem: file.read_text() for file in (counts.ROOT / 'docs/sql').glob('*.sql')}
TABLE, FRONT = 'hprofx.profiles', 'hprofx.fleet'


def schema(old):
    """An old engine has no TTL, and no arrays of LowCardinality texts that it can sort."""
    text = SQL['schema']
    return re.sub(r'^TTL.*\n', '', text, flags=re.M).replace('Array(LowCardinality(String))', 'Array(String)') if old else text


class Rows:
    """Rows of made-up profiles: values by (service, version, host, pid), kind and stack."""

    def __init__(self):
        self.rows = []

    def profile(self, service, version, host, pid, age=60, **kinds):
        """kinds: {stack as 'a;b;c', or as a tuple: value}."""
        name, row = '%032x' % (len(self.rows) + 1), 0
        for kind, stacks in kinds.items():
            for stack, value in stacks.items():
                self.rows.append({'ts': int(time.time()) - age, 'duration_ms': 60000, 'service': service, 'version': version, 'host': host, 'container': '',
                                  'pid': pid, 'profile': name, 'kind': kind, 'row': row, 'stack': stack.split(';') if isinstance(stack, str) else list(stack), 'value': value})
                row += 1


def fleet():
    """40 JVMs of the shop, half of them of version 1.1, in which `slower` takes 24 % instead of 20 %; one JVM of another service; one profile of long ago."""
    out, chance = Rows(), random.Random(30)
    for i in range(40):
        version, of = ('1.1', 0.24) if i % 2 else ('1.0', 0.20)
        slower = sum(chance.random() < of for _ in range(2000))
        same = sum(chance.random() < 0.5 for _ in range(2000 - slower))
        samples = {'main;run;slower': slower, 'main;run;same': same, 'main;run;slower;rest': 2000 - slower - same}
        out.profile('shop', version, 'h%d' % (i // 4), 100 + i, samples=samples, cpu={s: 1000000 * v for s, v in samples.items()},
                    alloc_space={'main;run;make;byte[]': 1000 + i, 'main;run;make;int[]': 10}, delay={'main;run;waits;p.Lock': 3000000000, 'main;idles;p.Lock': 10 ** 9},
                    owner_delay={'main;run;holds;p.Lock': 3000000000, 'main;other;p.Lock': 10 ** 9})
    out.profile('bank', '', 'h0', 7, cpu={'main;main;count': 5 * 10 ** 9, 'main': 1}, alloc_space={('</script>', "'; DROP TABLE hprofx.profiles; --\n\\"): 5})
    out.profile('shop', '1.0', 'h0', 100, age=90000, cpu={'main;old': 10 ** 15})
    return out.rows


class Questions:
    """On an engine: self.engine is asked, self.table is the table that shippers fill."""
    table = TABLE

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='hprofx-fleet-')
        cls.addClassCleanup(folder.cleanup)
        try:
            cls.engine = cls.serve(pathlib.Path(folder.name))
        except server.NotAvailable as e:
            raise unittest.SkipTest(str(e)) from e
        cls.rows = fleet()
        for _ in range(2):
            cls.engine.insert(cls.table, counts.COLUMNS, counts.encode(cls.rows))

    def answer(self, name):
        return self.engine.rows(SQL[name].replace(TABLE, self.table))

    def recent(self, kind):
        oldest = time.time() - 3600
        return [r for r in self.rows if r['kind'] == kind and r['ts'] > oldest]

    def test_rows_that_came_twice_count_once(self):
        count = 'SELECT count() AS n FROM (SELECT * FROM %s FINAL)' % self.table
        self.assertEqual(int(self.engine.rows(count)[0]['n']), len(self.rows))
        self.assertEqual(self.engine.arrived(self.table).sums(), counts.of_rows(self.rows).sums())

    def test_the_top_of_the_fleet(self):
        own, total, jvms = counts.collections.Counter(), counts.collections.Counter(), counts.collections.defaultdict(set)
        for r in self.recent('cpu'):
            own[r['stack'][-1]] += r['value']
            for name in set(r['stack']):
                total[name] += r['value']
                jvms[name].add((r['host'], r['pid']))
        got = self.answer('top')
        self.assertEqual([r['method'] for r in got], sorted(total, key=lambda m: (-own[m], -total[m], m)))
        for r in got:
            self.assertAlmostEqual(float(r['self_s']), own[r['method']] / 1e9, 6)
            self.assertAlmostEqual(float(r['total_s']), total[r['method']] / 1e9, 6)
            self.assertEqual(int(r['jvms']), len(jvms[r['method']]))
        self.assertEqual({r['method']: int(r['services']) for r in got}['main'], 2)

    def test_a_service_by_version(self):
        ns, of = counts.collections.Counter(), counts.collections.Counter()
        for r in self.recent('cpu'):
            if r['service'] == 'shop':
                ns[r['version'], r['stack'][-1]] += r['value']
                of[r['version']] += r['value']
        got = {(r['version'], r['method']): float(r['percent']) for r in self.answer('versions')}
        self.assertEqual(set(got), set(ns))
        for key, percent in got.items():
            self.assertAlmostEqual(percent, 100 * ns[key] / of[key[0]], delta=0.00501)

    def test_what_changed_is_told_from_what_did_not(self):
        got = {r['method']: r for r in self.answer('changed')}
        for method in ('slower', 'same', 'rest'):
            z = self.expected_z(method)
            self.assertAlmostEqual(float(got[method]['z']), z, 6)
            self.assertAlmostEqual(float(got[method]['p']), min(1, 3 * math.erfc(abs(z) / math.sqrt(2))), 6)
        self.assertLess(float(got['slower']['p']), 1e-6)
        self.assertEqual(set(got), {'slower', 'same', 'rest'})

    def expected_z(self, method):
        shares, variance = {}, {}
        for version in ('1.0', '1.1'):
            jvms = counts.collections.defaultdict(lambda: [0, 0])
            for r in self.recent('samples'):
                if r['version'] == version:
                    jvms[r['pid']][0] += r['value'] * (r['stack'][-1] == method)
                    jvms[r['pid']][1] += r['value']
            n, k = sum(b for _, b in jvms.values()), len(jvms)
            shares[version] = sum(a for a, _ in jvms.values()) / n
            variance[version] = k / (k - 1) * sum((a - shares[version] * b) ** 2 for a, b in jvms.values()) / n ** 2
        return (shares['1.1'] - shares['1.0']) / math.sqrt(variance['1.0'] + variance['1.1'])

    def test_who_allocates(self):
        got = [(r['service'], r['method'], r['class'], int(r['bytes'])) for r in self.answer('allocates')]
        self.assertEqual(got, [('shop', 'make', 'byte[]', sum(1000 + i for i in range(40))), ('shop', 'make', 'int[]', 400),
                               ('bank', '</script>', "'; DROP TABLE hprofx.profiles; --\n\\", 5)])

    def test_who_waits_for_whom(self):
        got = [(r['waiter'], float(r['blocked_s']), r['owner'], float(r['percent'])) for r in self.answer('waits')]
        self.assertEqual(got, [('waits', 120, 'holds', 75), ('waits', 120, 'other', 25), ('idles', 40, 'holds', 75), ('idles', 40, 'other', 25)])


class NewestEngine(Questions, unittest.TestCase):
    @classmethod
    def serve(cls, folder):
        engine = chdb.Chdb(folder / 'chdb').start()
        cls.addClassCleanup(engine.stop)
        engine.ask('CREATE DATABASE hprofx')
        engine.ask(schema(engine.old))
        return engine

    def test_rows_go_when_their_time_is_over(self):
        self.assertRegex(self.engine.ask('SHOW CREATE TABLE ' + TABLE), r'TTL ts \+ toIntervalDay\(14\)')


class TwoShards(Questions, unittest.TestCase):
    table = FRONT

    @classmethod
    def serve(cls, folder):
        cls.shards = clickhouse.cluster(folder)
        for engine in cls.shards:
            engine.start()
            cls.addClassCleanup(engine.stop)
        for engine in cls.shards: # all of them run
            engine.ask('CREATE DATABASE hprofx')
            engine.ask(schema(engine.old))
            engine.ask(SQL['shards'])
        return cls.shards[0]

    def test_each_shard_has_whole_profiles(self):
        parts = [{r['profile'] for r in s.rows('SELECT DISTINCT profile FROM ' + TABLE)} for s in self.shards]
        self.assertTrue(parts[0] and parts[1])
        self.assertFalse(parts[0] & parts[1])


if __name__ == '__main__':
    unittest.main()
