#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_diff HPROFX [unittest arguments]: hprofx diff from outside. Runs of made-up programs, drawn at random with a seed: how often it raises a false alarm, how
often it finds a change that was planted, when it says that the samples are too few; counted profiles; the command line."""
import base64
import concurrent.futures
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest
import zlib

import runs

HPROFX = None
HOT = 'app.Hot.spin'
PAIRS = 100 if os.environ.get('HPX_CUTS', '1:0').startswith('1:') else 32  # as tests/read: a part where a run is short
CHANCE = PAIRS * 0.05 + (PAIRS < 100)  # false alarms that are none


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return str(path)

    def run_it(self, *arguments, **how):
        done = subprocess.run([HPROFX, 'diff', *map(str, arguments)], capture_output=True, text=True, timeout=60, **how)
        self.assertIn(done.returncode, (0, 1, 2, 6), done.stderr)
        return done

    def told(self, *arguments):
        """(status, the JSON object)."""
        done = self.run_it('--json', *arguments)
        self.assertEqual(done.stderr, '')
        found = json.loads(done.stdout)
        self.assertEqual(found['status'], done.returncode)
        return done.returncode, found

    def pairs(self, n, make, *arguments):
        """What diff tells of n pairs; make(i) -> (texts before, texts after)."""
        def one(i):
            sides = make(i)
            names = [[self.write('%d-%d-%d.txt' % (i, side, k), text) for k, text in enumerate(sides[side])] for side in (0, 1)]
            _, found = self.told(*arguments, *names[0], '--', *names[1])
            for name in names[0] + names[1]:
                os.unlink(name)
            return found
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            return list(pool.map(one, range(n)))

    def counts(self, found):
        """condition -> how many pairs failed it."""
        return {c['condition']: sum(f['conditions'][k]['result'] == 'fails' for f in found) for k, c in enumerate(found[0]['conditions'])}


def asked(*conditions):
    return [x for c in conditions for x in ('--fail-if', c)]


def changed(found):
    return {(m['method'], figure) for m in found['methods'] for figure in ('self', 'total') if m[figure]['changed']}


def program(seed):
    return runs.Program(random.Random(seed))


class Chance(Folder):
    maxDiff = None

    def test_two_runs_of_one_program_raise_few_alarms(self):
        def make(i):
            r = random.Random(1000 + i)
            p = runs.Program(r, share=r.choice((0.02, 0.1, 0.3)))
            return [[runs.text(p.draw(r, r.randrange(2000, 20001)), heaviness=r.choice((1, 20)))] for _ in (0, 1)]
        found = self.pairs(PAIRS, make, *asked('Hot.spin +0%', 'Hot.spin -0%', 'Hot.spin self +0%', 'Hot.spin +0pt', 'app.leaf.* +0%', '* +0%', '* -0%', '* +0pt', '* +5%'))
        for condition, n in self.counts(found).items():
            self.assertLessEqual(n, CHANCE, condition)
        self.assertLessEqual(sum(bool(changed(f)) for f in found), CHANCE)
        self.assertGreater(sum(len(f['methods']) for f in found) / PAIRS, 150)

    def test_a_planted_change_is_found(self):
        def make(i):
            r = random.Random(2000 + i)
            p = runs.Program(r, share=r.uniform(0.2, 0.3))
            return [[runs.text(p.draw(r, 45000))], [runs.text(p.with_share(HOT, 1.1 * p.share(HOT)).draw(r, 45000))]]
        found = self.pairs(PAIRS, make, *asked('Hot.spin +5%', 'Hot.spin +0%', 'Hot.spin -5%', 'Hot.spin self +0%'))
        counts = self.counts(found)
        self.assertGreaterEqual(counts['Hot.spin +5%'], PAIRS - CHANCE)
        self.assertGreaterEqual(counts['Hot.spin +0%'], PAIRS - CHANCE)
        self.assertGreaterEqual(counts['Hot.spin self +0%'], PAIRS - CHANCE)
        self.assertEqual(counts['Hot.spin -5%'], 0)
        self.assertGreaterEqual(sum((HOT, 'total') in changed(f) for f in found), PAIRS - CHANCE)

    def test_too_few_samples_are_said_to_be_and_the_number_that_is_wanted_does(self):
        p, r = program(3), random.Random(3)

        def pair(n):
            return [self.write('%s-%d.txt' % (side, n), runs.text(p.draw(r, n))) for side in 'ab']
        asking = decided = 0
        for _ in range(20):
            status, found = self.told(*asked('Hot.spin +10%'), *pair(800))
            if status == 0:  # it fell by chance
                continue
            self.assertEqual((status, found['conditions'][0]['result']), (6, 'unsure'))
            asking += 1
            needed = found['conditions'][0]['found'][0]['samples_needed']
            self.assertGreaterEqual(needed, 1600)
            decided += self.told(*asked('Hot.spin +10%'), *pair(needed))[0] == 0
        self.assertGreaterEqual(asking, 15)
        self.assertGreaterEqual(decided, asking / 2)
        done = self.run_it(*asked('Hot.spin self +1%'), *pair(1000))
        self.assertRegex(done.stdout, r'Hot\.spin itself: \d\d\.\d\d % -> \d\d\.\d\d % \([+-]\d+\.\d %, 95 % interval .*\): too few samples to tell \+1%: about [\d,]+ on each side would do, now 1,000 and 1,000\n')
        status, _ = self.told(*asked('Hot.spin +10%'), *pair(40000))
        self.assertEqual(status, 0)

    def test_runs_that_differ_are_not_taken_for_a_change(self):
        def make(i, by=0.0):
            r = random.Random(4000 + i)
            p = runs.Program(r)
            after = p.with_share(HOT, (1 + by) * p.share(HOT))
            return [[runs.text(q.noisy(r, 0.05).draw(r, 4000)) for _ in range(5)] for q in (p, after)]
        conditions = asked('Hot.spin +0%', 'Hot.spin -0%', 'Hot.spin +0pt', 'Hot.spin self +0%', '* +0%')
        found = self.pairs(PAIRS, make, *conditions)
        for condition, n in self.counts(found).items():
            self.assertLessEqual(n, CHANCE, condition)
        self.assertLessEqual(sum(bool(changed(f)) for f in found), CHANCE)
        found = self.pairs(20, lambda i: make(i, 0.5), *conditions)
        self.assertEqual(self.counts(found)['Hot.spin +0%'], 20)

    def test_more_runs_find_what_one_does(self):
        def make(i):
            r = random.Random(5000 + i)
            p = runs.Program(r)
            return [[runs.text(q.draw(r, 20000)) for _ in range(5)] for q in (p, p.with_share(HOT, 1.1 * p.share(HOT)))]
        found = self.pairs(20, make, *asked('Hot.spin +5%', 'Hot.spin +20%'))
        self.assertGreaterEqual(self.counts(found)['Hot.spin +5%'], 19)
        self.assertEqual(self.counts(found)['Hot.spin +20%'], 0)
        self.assertEqual({f['conditions'][1]['result'] for f in found}, {'passes'})


class Counted(Folder):
    COUNTS = {('m.Main.main', 'm.A.f'): 1000, ('m.Main.main', 'm.B.g'): 500, ('m.Main.main',): 1}

    def pair(self, write, f=1000, report=''):
        after = dict(self.COUNTS)
        after[('m.Main.main', 'm.A.f')] = f
        return [self.write('a.txt', write(self.COUNTS, report=report)), self.write('b.txt', write(after, report=report))]

    @staticmethod
    def calls(counts, report=''):
        return runs.text(counts, table='CPU TIME (ms)')

    def test_one_call_more_is_a_change(self):
        view = ('--view', 'calls', '--absolute')
        status, found = self.told(*view, *asked('A.f +0%'), *self.pair(self.calls, 1001))
        self.assertEqual((status, found['kind'], found['measure']), (1, 'counted', 'calls'))
        self.assertEqual(changed(found), {('m.A.f', 'self'), ('m.A.f', 'total'), ('m.Main.main', 'total')})
        f = next(m for m in found['methods'] if m['method'] == 'm.A.f')['self']
        self.assertEqual((f['before'], f['after'], f['difference'], f['p']), (1000, 1001, 1, 0))
        for n, condition, status in ((1050, 'A.f +5%', 0), (1051, 'A.f +5%', 1), (1000, 'A.f +0%', 0), (949, 'A.f -5%', 1), (950, 'A.f -5%', 0), (1001, 'B.g +0%', 0),
                                     (1001, '* +0%', 1), (1000, '* +0%', 0), (1001, 'total +0%', 1), (1001, 'A.x +0%', 6), (1001, 'Main.main self +0%', 0)):
            self.assertEqual(self.run_it(*view, *asked(condition), *self.pair(self.calls, n)).returncode, status, (n, condition))
        self.assertIn('none of 3 methods differs.', self.run_it(*view, *self.pair(self.calls)).stdout)
        self.assertIn('3 of 3 methods differ.', self.run_it('--view', 'calls', *self.pair(self.calls, 1001)).stdout)  # shares

    def test_sites_are_counted_unless_they_were_sampled(self):
        _, found = self.told('--absolute', *asked('A.f +0%'), *self.pair(runs.sites, 1001))
        self.assertEqual((found['kind'], found['measure'], found['status']), ('counted', 'alloc_space', 1))
        self.assertIn(('byte[]', 'total'), changed(found))
        self.assertNotIn(('byte[]', 'self'), changed(found))
        _, found = self.told('--absolute', *asked('A.f +0%'), *self.pair(runs.sites, 1001, 'hprofx: standard error: 1.00 % of all allocated bytes'))
        self.assertEqual((found['kind'], found['before'][0]['samples'], found['status'], changed(found)), ('sampled', 10001, 6, set()))
        _, found = self.told('--view', 'inuse_space', *self.pair(runs.sites, 1001, 'hprofx: live: 7 objects, 24 bytes, as of the last collection, estimated'))
        self.assertEqual((found['kind'], changed(found)), ('unknown', set()))

    def test_a_side_that_was_counted_is_said_to_be(self):
        counted, drawn = self.write('a.txt', runs.sites(self.COUNTS)), self.write('b.txt', runs.sites(self.COUNTS, report='hprofx: standard error: 1.00 % of all allocated bytes'))
        done = self.run_it(counted, drawn)
        self.assertRegex(done.stdout, r'^Before: \S+, counted\. After: \S+, 10,001 samples\.\n')
        done = self.run_it(*asked('A.f +0%'), drawn, counted)
        self.assertEqual(done.returncode, 6)
        self.assertRegex(done.stdout, r': too few samples to tell \+0% on the side that was sampled\n')

    def test_time_of_what_is_new_in_several_runs_is_a_change(self):
        after = {**self.COUNTS, ('m.Main.main', 'm.New.n'): 800}
        done = self.run_it('--view', 'times', '--absolute', *asked('New.n +5%'), *[self.write('a.txt', self.calls(self.COUNTS))] * 3, '--', *[self.write('b.txt', self.calls(after))] * 3)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r'\nNew\.n: 0 ms -> 800 ms \(new.*\): fails \+5%\n')
        self.assertRegex(done.stdout, r' new +m\.New\.n\n')

    def test_blocked_time_of_few_blocks_is_no_certainty(self):
        def blocked(counts, report=''):
            head = re.sub(r'(?m)^( +\d+ +\S+ +\S+ +\d+ \d+) .*', r'\1 p.Lock (Java)', runs.text(counts, table='MONITOR TIME')).replace('trace method', 'trace monitor')
            return re.sub(r'\(total = \d+\)', '(total = 100000000 ms)', head)
        few = {k: v // 100 for k, v in self.COUNTS.items() if v > 1}
        a, b = self.write('a.txt', blocked(few)), self.write('b.txt', blocked({**few, ('m.Main.main', 'm.A.f'): 14}))
        _, found = self.told('--view', 'lock', *asked('A.f +5%'), a, b)
        self.assertEqual((found['measure'], found['kind'], found['status'], changed(found)), ('delay', 'sampled', 6, set()))
        self.assertLess(found['before'][0]['samples'], 15)


def varint(v):
    return bytes([v & 127 | 128]) + varint(v >> 7) if v > 127 else bytes([v])


def pprof(types, rows):
    """A pprof file of stacks of one method; rows: method -> its value of each type. Every unit is "count"."""
    def field(number, value):
        return varint(number << 3) + varint(value) if isinstance(value, int) else varint(number << 3 | 2) + varint(len(value)) + value
    texts = ['', 'count', *types, *rows]
    out = b''.join(field(1, field(1, texts.index(t)) + field(2, 1)) for t in types)
    for i, (method, values) in enumerate(rows.items(), 1):
        out += field(2, field(1, varint(i)) + field(2, b''.join(map(varint, values))))
        out += field(4, field(1, i) + field(4, field(1, i))) + field(5, field(1, i) + field(2, texts.index(method)))
    return gzip.compress(out + b''.join(field(6, t.encode()) for t in texts))


def page_heads(page):
    """The head of every tree in a page (command/tree/write_page.c); what lies between is passed over by looking for the next head."""
    data = zlib.decompress(base64.b64decode(re.search('type="text/plain">([^<]*)<', page).group(1)))
    return [json.JSONDecoder().raw_decode(data[at.start():].decode(errors='replace'))[0] for at in re.finditer(rb'\{"version":', data)]


class Line(Folder):
    def setUp(self):
        super().setUp()
        r = random.Random(7)
        p = runs.Program(r)
        slow = p.with_share(HOT, 0.5)
        self.a, self.b, self.c, self.slow = (self.write(n, runs.text(q.draw(r, 5000))) for n, q in (('a.txt', p), ('b.txt', p), ('c.txt', p), ('slow.txt', slow)))

    def test_two_files_or_two_sides(self):
        self.assertEqual(self.run_it(self.a, self.b).returncode, 0)
        same = self.told(self.a, self.slow)
        for line in (('--', self.a, self.slow), (self.a, '--', self.slow), (self.a, '--', self.slow, '--view', 'cpu'), ('--view', 'samples', self.a, self.slow),
                     ('--', self.a, '--', self.slow)):
            self.assertEqual(self.told(*line), same, line)
        _, found = self.told(self.a, self.b, '--', self.c, self.slow)
        self.assertEqual([[pathlib.Path(f['file']).name for f in found[side]] for side in ('before', 'after')], [['a.txt', 'b.txt'], ['c.txt', 'slow.txt']])
        done = self.run_it('-', self.slow, input=pathlib.Path(self.a).read_text())
        self.assertIn('Before: -, 5,000 samples. After: ', done.stdout)

    def test_a_wrong_line_says_so(self):
        for line in ((), (self.a,), (self.a, self.b, self.c), (self.a, '--'), ('--', self.a), ('--', self.a, '--'), ('--', '--', self.a), ('--', self.a, '--', self.b, '--', self.c), (self.a, '--', self.b, '--', self.c), ('--bogus', self.a, self.b), ('-o', 'x.png', self.a, self.b),
                     ('--fail-if', 'Hot.spin', self.a, self.b), ('--fail-if', 'total +5%', self.a, self.b), ('--absolute', '--fail-if', 'Hot +5pt', self.a, self.b), ('--view',)):
            done = self.run_it(*line)
            self.assertEqual((done.returncode, done.stdout), (2, ''), line)
            self.assertRegex(done.stderr, r'\Ahprofx: [^\n]+\n\Z')
        for line in ((self.a, self.folder / 'none'), ('--view', 'lock', self.a, self.b), ('--view', 'nonsense', self.a, self.b)):
            done = self.run_it(*line)
            self.assertEqual((done.returncode, done.stdout), (2, ''), line)
            self.assertEqual(done.stderr.count('\n'), 1, done.stderr)

    def test_one_condition_wins_over_too_few_samples_over_none(self):
        for conditions, status in ((('Hot.spin +5%', 'leaf.Work150.work +1%'), 1), (('leaf.Work150.work +1%', 'Hot.spin +5%'), 1), (('leaf.Work150.work +1%', 'Hot.spin +400%'), 6),
                                   (('Hot.spin +400%', 'Hot.spin -5%'), 0), ((), 0)):
            self.assertEqual(self.run_it(*asked(*conditions), self.a, self.slow).returncode, status, conditions)

    def test_a_broken_file_is_no_pass(self):
        cut = pathlib.Path(self.b).read_text()
        cut = self.write('cut.txt', cut.replace('CPU SAMPLES END', 'nonsense'))
        done = self.run_it(*asked('Hot.spin +50%'), self.a, cut)
        self.assertEqual(done.returncode, 6)
        self.assertIn('cut.txt: broken at byte', done.stderr)

    def test_it_says_in_words_what_it_found(self):
        done = self.run_it(*asked('Hot.spin +5%', 'Hot.spin +900%', 'nobody +5%', '* +5pt'), self.a, self.slow)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r'\nTotal: the method and what it calls\n +before +after +change +95 % interval +method\n +\d\d\.\d\d % +\d\d\.\d\d % +\+\d+\.\d % +\+.*  app\.Hot\.spin\n')
        self.assertRegex(done.stdout, r'\nHot\.spin: \d\d\.\d\d % -> \d\d\.\d\d % \(\+\d+\.\d %, 95 % interval \+\d+\.\d to \+\d+\.\d %\): fails \+5%\n')
        self.assertRegex(done.stdout, r'\nHot\.spin: .*: passes \+900%\n')
        self.assertIn('\nnobody: no method of these profiles has that name: check it\n', done.stdout)
        self.assertRegex(done.stdout, r'\napp\.Hot\.spin: .*joint 95 % interval.*: fails \+5pt\n')
        self.assertRegex(done.stdout, r'\n\*: of \d+ methods with at least 1 %, \d+ fails? \+5pt and \d+ cannot be told\n')
        self.assertRegex(self.run_it(self.a, self.b).stdout, r'Shares of samples: none of \d+ methods differs beyond chance\.')
        done = self.run_it(self.slow, self.a, *asked('Hot.spin -5%'))
        self.assertRegex(done.stdout, r': fails -5%\n')

    def test_every_method_may_be_too_small_to_judge(self):
        flat = self.write('flat.folded', ''.join('main;m%d 10\n' % i for i in range(200)))
        done = self.run_it(*asked('* self +5%'), flat, flat)
        self.assertEqual(done.returncode, 6)
        self.assertIn('\n* itself: cannot tell +5%: no method has 1 % of the total by itself\n', done.stdout)
        self.assertNotIn('passes', done.stdout)

    def test_a_number_of_samples_is_said_once(self):
        flat = self.write('flat.folded', 'main;m 1000\nmain;n 1000\n')
        self.assertIn('flat.folded, 2,000 samples.\n', self.run_it('--absolute', flat, flat).stdout)

    def test_outputs_go_by_their_suffix(self):
        text, data = self.folder / 'd.txt', self.folder / 'd.json'
        done = self.run_it('-o', text, '-o', data, self.a, self.slow)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(text.read_text(), done.stdout)
        self.assertEqual(data.stat().st_mode & 0o777, 0o600)
        self.assertEqual(json.loads(data.read_text()), self.told(self.a, self.slow)[1])
        done = self.run_it('-o', self.folder / 'no' / 'd.txt', *asked('Hot.spin +900%'), self.a, self.slow)
        self.assertEqual(done.returncode, 2)
        self.assertIn('cannot write', done.stderr)
        done = self.run_it('-o', '/dev/full', self.a, self.b)
        self.assertEqual(done.returncode, 2)
        (self.folder / 'full.txt').symlink_to('/dev/full')
        self.assertEqual(self.run_it('-o', self.folder / 'full.txt', self.a, self.b).returncode, 2)  # never through a link

    def test_a_failure_is_no_regression(self):
        """A gate tells them apart by the status: 1 is a condition that holds, and nothing else."""
        self.assertEqual(self.run_it(*asked('Hot.spin +5%'), self.a, self.slow).returncode, 1)
        with open('/dev/full', 'w', encoding='utf-8') as full:
            other = self.write('wall.txt', 'JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nw\n--------\n\nTRACE 300001:\n\tA.main(A.java:1)\n'
                               'WALL CLOCK (ms) BEGIN (total = 50) Thu Jan  1 00:00:00 1970\nrank   self  accum        ms trace state    method\n'
                               '   1 100.00% 100.00%        50 300001 parked   A.main\nWALL CLOCK (ms) END\n')  # another mode: nothing to compare
            for arguments in ((self.a, other), (other, self.a), (self.a, self.folder / 'missing'), (self.a, self.write('empty.txt', '')), ('--view', 'heap', self.a, self.slow), (self.a,), ('--none', self.a, self.slow)):
                done = self.run_it(*asked('Hot.spin +5%'), *arguments)
                self.assertEqual(done.returncode, 2, arguments)
                self.assertNotEqual(done.stderr, '')
            self.assertEqual(subprocess.run([HPROFX, 'diff', self.a, self.b], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60).returncode, 2)

    def test_other_formats_and_gzip_compare_as_well(self):
        folded = ''.join('%s %d\n' % (';'.join(s), n) for s, n in {('a.A.main', 'a.A.f'): 400, ('a.A.main',): 600}.items())
        packed = self.write('a.txt.gz', gzip.compress(pathlib.Path(self.a).read_bytes()))
        self.assertEqual(changed(self.told(packed, self.a)[1]), set())
        heavy, pprof = self.write('heavy.txt', runs.text(program(9).draw(random.Random(9), 3000), heaviness=20)), self.folder / 'heavy.pb.gz'
        subprocess.run([HPROFX, 'convert', heavy, pprof], check=True, timeout=60)
        _, found = self.told(pprof, heavy)  # a comment of the pprof file has the effective samples
        self.assertEqual(([found[side][0]['samples'] for side in ('before', 'after')], changed(found)), ([3000, 3000], set()))
        one, two = self.write('1.folded', folded), self.write('2.folded', folded.replace('400', '500'))
        self.assertEqual(changed(self.told(one, two)[1]), {('a.A.f', 'self'), ('a.A.f', 'total'), ('a.A.main', 'self')})

    def test_a_page_needs_the_measure_on_one_side_only(self):
        both, other = (self.write(name, pprof(types, rows)) for name, types, rows in (
            ('both.pb.gz', ['samples', 'widgets', 'gadgets'], {'a': (5, 0, 3), 'b': (7, 0, 4)}), ('other.pb.gz', ['samples'], {'a': (5,), 'b': (7,)})))
        page = self.folder / 'd.html'
        for sides in ((other, both), (both, other)):
            done = self.run_it('--view', 'gadgets', '-o', page, *sides)
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            heads = page_heads(page.read_text())
            self.assertEqual([[m['name'] for v in head['views'] for m in v['measures']] for head in heads],
                             [['samples', 'gadgets'] if side is both else ['samples'] for side in sides])
            self.assertEqual(heads[1]['first'], 'gadgets' if sides[1] is both else 'samples')

    def test_names_are_data(self):
        name = 'p.C.</script>\\"%n'
        a, b = self.write('a.folded', '%s 1000\nmain 1000\n' % name), self.write('b.folded', '%s 2000\nmain 1000\n' % name)
        status, found = self.told(*asked('*C.<* +5%'), a, b)
        self.assertEqual(status, 1)
        self.assertEqual({m['method'] for m in found['methods']}, {name, 'main'})
        done = self.run_it(*asked('p.C.</script>* +5%', 'x\x1b[2Jy +1%'), a, b)
        self.assertNotIn('\x1b', done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_amounts_are_times_whatever_the_interval_is(self):
        counts = {('a.A.main', 'a.A.f'): 4000, ('a.A.main',): 6000}
        one = self.write('1.txt', runs.text(counts, report='hprofx: samples: 10000 (one per 10 ms of CPU time of a Java thread)'))
        two = self.write('2.txt', runs.text({k: 2 * v for k, v in counts.items()}, report='hprofx: samples: 20000 (one per 5 ms of CPU time of a Java thread)'))
        _, found = self.told('--absolute', *asked('total +5%'), one, two)
        self.assertEqual((found['measure'], found['unit'], found['status'], changed(found)), ('cpu', 'nanoseconds', 0, set()))
        self.assertEqual([found[s][0]['total'] for s in ('before', 'after')], [100e9, 100e9])
        _, found = self.told('--absolute', '--view', 'samples', *asked('total +5%'), one, two)
        self.assertEqual((found['measure'], found['status']), ('samples', 1))


if __name__ == '__main__':
    HPROFX = os.path.abspath(sys.argv.pop(1))
    unittest.main()
