#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_times HPROFX [unittest arguments]: --from, --to and --around of view, convert, merge and diff, against a file whose answers are counted here."""
import gzip
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None
ZERO = 1700000000000  # 2023-11-14 22:13:20 UTC
HEAD = ('JAVA PROFILE 1.0.1, created Tue Nov 14 22:13:20 2023\n\nTables count since the table before them; SITES and HEAP DUMP since the start.\n\n--------\n\n'
        'THREAD START (obj=50000001, id = 200001, name="main", group="main")\n')
TRACES = ''.join('TRACE %d:\n\tp.C.%s(C.java:1)\n\tp.C.main(C.java:2)\n' % (300001 + i, m) for i, m in enumerate('abcd'))
# (ms, place, count, ns); places: cpu a, cpu b, sleeping c, alloc, park d
EVENTS = [(1000, 0, 1, 0), (1500, 1, 2, 0), (2000, 2, 1, 1000000000), (3000, 0, 4, 0), (3010, 3, 2, 0), (4000, 4, 3, 600000000), (5000, 5, 1, 7000000), (9000, 1, 1, 0)]
PLACES = ('p cpu 300001\np cpu 300002\np wall 300003 sleeping\np alloc 300001 100 2500 java.lang.String\np block 300004 park 0 java.util.concurrent.locks.ReentrantLock\n'
          'p gc 0\n')


def timeline(events=EVENTS, coarse=0, lines=None):
    """A line for each event."""
    made = lines if lines is not None else ''.join('t @%d #%d %d%s\n' % (ms, 200001 if p != 5 else 0, p, ('*%d' % n if n != 1 or ns else '') + ('/%d' % ns if ns else ''))
                                                   for ms, p, n, ns in events)
    return 'TIMELINE BEGIN (zero = %d, end = 10000, places = 6, events = %d, coarse = %d)\n%s%sTIMELINE END\n' % (ZERO, len(events), coarse, PLACES, made)


def text(times=None):
    return (HEAD + TRACES + 'CPU SAMPLES BEGIN (total = 8) Tue Nov 14 22:13:30 2023\nrank   self  accum   count trace method\n'
            '   1 62.50% 62.50%       5 300001 p.C.a\n   2 37.50% 100.00%       3 300002 p.C.b\nCPU SAMPLES END\n'
            'WALL CLOCK (ms) BEGIN (total = 1080) Tue Nov 14 22:13:30 2023\nrank   self  accum        ms trace state    method\n'
            '   1 92.59% 92.59%      1000 300003 sleeping p.C.c\n   2  7.41% 100.00%        80 300001 running  p.C.a\nWALL CLOCK (ms) END\n'
            + (timeline() if times is None else times) +
            'hprofx: samples: 8 (one per 10 ms of CPU time of a Java thread)\nhprofx: tables: 1 KiB\n')


def binary(chunks):
    """A file of the samples of `text` alone, and the lines of TIMELINE in these records."""
    def record(tag, body):
        return struct.pack('>BII', tag, 0, len(body)) + body

    out = b'JAVA PROFILE 1.0.2\0' + struct.pack('>IQ', 8, ZERO) + record(0x0E, struct.pack('>IH', 6, 64))
    names = {}
    for i, s in enumerate(('p.C', 'a', 'b', 'c', 'd', '()V')):
        names[s] = 0x20000000 + i
        out += record(1, struct.pack('>Q', names[s]) + s.encode())
    out += record(2, struct.pack('>IQIQ', 1, 0x10000000, 0, names['p.C'])) + record(5, struct.pack('>III', 300000, 0, 0))
    for i, m in enumerate('abcd'):
        out += record(4, struct.pack('>QQQQIi', 1 + i, names[m], names['()V'], 0, 1, 1)) + record(5, struct.pack('>IIIQ', 300001 + i, 0, 1, 1 + i))
    out += record(0x0D, struct.pack('>IIIIII', 8, 2, 5, 300001, 3, 300002))
    for i, chunk in enumerate(chunks):
        out += record(1, struct.pack('>Q', 0x10000000 + i) + b'hprofx: TIMELINE\n' + chunk.encode())
    return out + record(1, struct.pack('>Q', 0x20000099) + b'hprofx: samples: 8 (one per 10 ms of CPU time of a Java thread)\nhprofx: tables: 1 KiB\n')


class Times(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / 'in').write_text(text())

    def call(self, *words, status=0, said='', zone='UTC'):
        done = subprocess.run([PROGRAM, *words], cwd=self.folder, env={**os.environ, 'TZ': zone}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((done.returncode, done.stderr.decode()), (status, said))
        return done.stdout.decode()

    def views(self, *words, file='in', **more):
        """{view: {method: values of its samples}} of --json, and all of it."""
        shown = json.loads(self.call('view', '--json', *words, file, **more))
        return {v['view']: v for v in shown['views']}, shown

    def folded(self, *words, view='samples', file='in', **more):
        self.call('convert', '--view', view, *words, file, 'out.folded', **more)
        return dict((line.rsplit(' ', 1)[0], int(line.rsplit(' ', 1)[1])) for line in (self.folder / 'out.folded').read_text().splitlines())

    def test_without_a_window_the_tables_count(self):
        self.assertEqual(self.folded(), {'p.C.main;p.C.a': 5, 'p.C.main;p.C.b': 3})

    def test_the_whole_time_is_what_the_tables_have(self):
        self.assertEqual(self.folded('--from', '0'), {'p.C.main;p.C.a': 5, 'p.C.main;p.C.b': 3})

    def test_samples_count_from_the_begin_up_to_the_end(self):
        for words, want in ((('--from', '1s', '--to', '3s'), {'a': 1, 'b': 2}), (('--from', '3s'), {'a': 4, 'b': 1}), (('--to', '1.5s'), {'a': 1}), (('--to', '1501ms'), {'a': 1, 'b': 2}),
                            (('--from', '3000ms', '--to', '3001ms'), {'a': 4})):
            self.assertEqual(self.folded(*words), {'p.C.main;p.C.' + m: n for m, n in want.items()}, words)

    def test_times_of_day_are_those_of_this_clock(self):
        for words, zone in ((('--from', '22:13:23', '--to', '22:13:24'), 'UTC'), (('--from', '23:13:23', '--to', '23:13:24'), 'CET-1'), (('--from', '00:13:23', '--to', '0:13:24'), 'EET-2')):
            self.assertEqual(self.folded(*words, zone=zone), {'p.C.main;p.C.a': 4}, words)
        self.assertEqual(self.folded('--from', '22:13'), {'p.C.main;p.C.a': 5, 'p.C.main;p.C.b': 3})  # before the begin
        self.assertEqual(self.folded('--around', '22:13:28.500'), {'p.C.main;p.C.b': 1})
        self.assertEqual(self.folded('--around', '8.5s'), {'p.C.main;p.C.b': 1})

    def test_times_of_day_of_a_day_when_the_clock_changes(self):
        (self.folder / 'in').write_text(text().replace(str(ZERO), '1698555600000'))  # 2023-10-29 05:00:00 UTC
        for zone, hour in (('CET-1CEST,M3.5.0,M10.5.0/3', 6), ('UTC', 5)):
            self.assertEqual(self.folded('--from', '%d:00:03' % hour, '--to', '%d:00:04' % hour, zone=zone), {'p.C.main;p.C.a': 4}, zone)

    def test_a_time_of_day_behind_midnight_is_ahead_of_a_file_that_ends_before(self):
        self.assertEqual(self.folded('--to', '00:10'), self.folded())  # the session began at 22:13:20

    def test_waits_and_blocks_count_by_their_part(self):
        self.assertEqual(self.folded('--from', '1500ms', '--to', '1750ms', view='wall'), {'p.C.main;p.C.c;sleeping': 250000000, 'p.C.main;p.C.b;running': 20000000})
        self.assertEqual(self.folded('--from', '3.5s', '--to', '5s', view='park'), {'p.C.main;p.C.d;java.util.concurrent.locks.ReentrantLock': 500000000})

    def test_sampled_allocations_stand_for_more(self):
        self.assertEqual(self.folded('--from', '3s', '--to', '4s', view='alloc'), {'p.C.main;p.C.a;java.lang.String': 500})
        views, _ = self.views('--from', '3s', '--to', '4s')
        self.assertEqual([m['total'] for m in views['alloc']['measures'] if m['name'] == 'alloc_objects'], [5])

    def test_the_part_is_said_beside_the_total(self):
        views, shown = self.views('--from', '1s', '--to', '3s')
        self.assertEqual(shown['filtered'], '--from 1s --to 3s (22:13:21 to 22:13:23)')
        samples = [m for m in views['cpu']['measures'] if m['name'] == 'samples']
        self.assertEqual([(m['total'], m['of']) for m in samples], [(3, 8)])
        self.assertIn('samples 3 of 8', self.call('view', '--from', '1s', '--to', '3s', 'in').splitlines()[0])
        self.assertIn('  Filtered by --from 1s --to 3s (22:13:21 to 22:13:23)', self.call('view', '--from', '1s', '--to', '3s', 'in'))

    # ---- formats with times ----

    def firefox(self, *words, file='in'):
        """{(process, thread): [(ms, weight, names)]}, of a file that holds together."""
        self.call('convert', *words, file, 'out.firefox.json')
        made = json.loads((self.folder / 'out.firefox.json').read_text())
        got = {}
        for t in made['threads']:
            s, stacks, frames, funcs = t['samples'], t['stackTable'], t['frameTable'], t['funcTable']
            self.assertEqual([len(s[k]) for k in ('time', 'weight', 'stack')], [s['length']] * 3)
            self.assertEqual(s['time'], sorted(s['time']))
            self.assertTrue(s['length'] > 0 and s['time'][0] >= 0 and min(s['weight']) > 0)
            rows = []
            for ms, weight, stack in zip(s['time'], s['weight'], s['stack']):
                names = []
                while stack is not None:
                    self.assertTrue(stacks['prefix'][stack] is None or stacks['prefix'][stack] < stack)
                    names.append(t['stringArray'][funcs['name'][frames['func'][stacks['frame'][stack]]]])
                    stack = stacks['prefix'][stack]
                rows.append((ms, weight, ';'.join(reversed(names))))
            got[t['processName'], t['name']] = rows
        return got, made

    def test_firefox_has_the_times(self):
        got, made = self.firefox()
        a, b = 'p.C.main;p.C.a', 'p.C.main;p.C.b'
        self.assertEqual(made['meta']['startTime'], ZERO)
        self.assertEqual(got['CPU: samples', 'main'], [(1000, 1, a), (1500, 2, b), (3000, 4, a), (9000, 1, b)])
        # a wait stands where it began; what the table has and no time
        self.assertEqual([r for r in got['Wall clock: time', 'main'] if r[2].endswith('sleeping')], [(1000, 1000, 'p.C.main;p.C.c;sleeping')])
        self.assertEqual(sum(w for (process, _), rows in got.items() if process == 'Wall clock: time' for _, w, _ in rows), 1080)
        self.assertEqual([rows for (process, name), rows in got.items() if process == 'Wall clock: time' and 'times unknown' in name], [[(0, 30, a + ';running')]])
        shown = self.firefox('--from', '1s', '--to', '4s')[0]
        self.assertEqual([rows for (process, _), rows in shown.items() if process.startswith('CPU')], [[(0, 1, a), (500, 2, b), (2000, 4, a)]])
        self.assertEqual(set(self.firefox('--include', 'p.C.b')[0]['CPU: samples (3 of 8)', 'main']), {(1500, 2, b), (9000, 1, b)})

    def pauses(self, made):
        """{(process, thread): [(begin, end, collector)]} of those that have markers; what a reader needs to show them."""
        got = {}
        for t in made['threads']:
            m = t['markers']
            self.assertEqual({len(m[k]) for k in ('data', 'name', 'startTime', 'endTime', 'phase', 'category')}, {m['length']})
            for i in range(m['length']):
                self.assertEqual((t['stringArray'][m['name'][i]], m['phase'][i], made['meta']['categories'][m['category'][i]]['name'], m['data'][i]['type']), ('GC pause', 1, 'GC', 'GCPause'))
                got.setdefault((t['processName'], t['name']), []).append((m['startTime'][i], m['endTime'][i], m['data'][i].get('collector')))
        return got

    def test_firefox_has_collections_as_markers(self):
        got, made = self.firefox()
        first = {}
        for process, thread in got:
            first.setdefault(process, thread)
        self.assertEqual(set(first), {'CPU: samples', 'Wall clock: time'})
        self.assertEqual(self.pauses(made), {of: [(4993, 5000, None)] for of in first.items()})
        self.assertEqual([(s['name'], s['display']) for s in made['meta']['markerSchema']], [('GCPause', ['marker-chart', 'marker-table', 'timeline-overview'])])
        self.assertEqual(self.pauses(self.firefox('--from', '1s', '--to', '4s')[1]), {})
        self.assertEqual({tuple(p) for p in self.pauses(self.firefox('--from', '4500ms', '--to', '9001ms')[1]).values()}, {((493, 500, None),)})
        self.call('convert', 'in', 'out.jfr')
        self.assertEqual({tuple(p) for p in self.pauses(self.firefox(file='out.jfr')[1]).values()}, {((4993, 5000, None),)})

    def test_collections_have_no_place_where_times_are_made_up(self):
        (self.folder / 'in').write_text(text(timeline([EVENTS[6]])))
        self.assertEqual(self.pauses(self.firefox()[1]), {})

    def changing(self, late, begin=0, part=(12000, 20000), origin='', end=20000):
        """A profile of 20 s, 20 samples in every 500 ms: b is 1 of them, in the part from 12 s on `late`."""
        events = [(ms, 1 if (ms // 25 * 7) % 20 < (late if part[0] <= ms < part[1] else 1) else 0, 1, 0) for ms in range(begin, end, 25)]
        made = text(timeline(events).replace('end = 10000', 'end = %d' % end)).replace('hprofx: tables', origin + 'hprofx: tables')
        b = sum(e[1] for e in events)
        rows = ''.join('   %d 50.00%% 50.00%%  %6d %d p.C.%s\n' % (i + 1, n, 300001 + i, 'ab'[i]) for i, n in enumerate((len(events) - b, b)))
        (self.folder / 'long').write_text(made.replace('   1 62.50% 62.50%       5 300001 p.C.a\n   2 37.50% 100.00%       3 300002 p.C.b\n', rows).replace('(total = 8)', '(total = %d)' % len(events)))
        return [line for line in self.call('view', 'long').splitlines() if 'beyond chance' in line]

    def test_the_verdict_says_what_changed_within_the_run(self):
        said = self.changing(9)
        self.assertEqual(len(said), 1)
        self.assertRegex(said[0], r'^The last (8|7\.5) s differ beyond chance: there p\.C\.[ab] has \d\d % of the CPU time, else \d+ %, p\.C\.[ab] \d\d %, else \d+ %\.$')
        self.assertEqual(self.changing(1), [])
        self.assertEqual([line for line in self.call('view', '--from', '1s', 'long').splitlines() if 'beyond chance' in line], [])
        self.changing(9)
        self.call('convert', 'long', 'long.txt')
        self.assertNotIn('beyond chance', self.call('view', 'long.txt'))  # it has no times

    def test_the_verdict_counts_from_the_begin_of_the_session_as_from_does(self):
        origin = 'hprofx: host: h\nhprofx: pid: 7\nhprofx: run began: %d\nhprofx: profile: 2, from %d to %d ms since 1970\n' % (ZERO, ZERO + 5000, ZERO + 20000)
        said = self.changing(12, 5000, (12000, 15000), origin)
        self.assertEqual([re.sub(' the run .*', '', line) for line in said], ['From 12 s to 15 s'])

    def test_times_for_the_verdict_alone_do_no_harm(self):
        lines = ''.join('t @%d #200001%s\n' % (ms, ' 0' * 200) for ms in range(9000))
        (self.folder / 'in').write_text(text(timeline(lines=lines)))
        self.assertLess((self.folder / 'in').stat().st_size, 4 << 20)
        (self.folder / 'in.gz').write_bytes(gzip.compress(text(timeline(lines=lines * 4)).encode(), 1))
        for name in ('in', 'in.gz'):
            done = subprocess.run([PROGRAM, 'view', name], cwd=self.folder, env={**os.environ, 'HPROFX_MEMORY': '64m'}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b''), name)
            self.assertIn(b'samples 8', done.stdout)

    def jfr(self, view):
        self.call('convert', 'in', 'out.jfr')
        return self.folded(view=view, file='out.jfr')

    def test_jfr_has_what_has_no_time_too(self):
        sums = {}
        for stack, n in self.jfr('wall').items():
            sums[stack.replace('[main];', '')] = sums.get(stack.replace('[main];', ''), 0) + n
        self.assertEqual(sums, self.folded(view='wall'))
        self.assertEqual(sum(self.jfr('samples').values()), 8)
        (self.folder / 'in').write_text(text(timeline(EVENTS[:1])))
        self.assertEqual(sum(self.jfr('samples').values()), 8)
        self.assertEqual(sum(self.folded('--from', '0', '--to', '1001ms', file='out.jfr').values()), 1)  # 7 are spread over 10 s, and say that they have no time

    def test_what_began_before_the_times_of_the_file_ends_in_jfr_when_it_did(self):
        (self.folder / 'in').write_text(text(timeline([(500, 2, 1, 1000000000), (700, 5, 1, 900000000)] + EVENTS[3:4])))
        self.call('convert', 'in', 'out.jfr')
        for window in (('--from', '0', '--to', '200ms'), ('--from', '100ms', '--to', '500ms'), ('--from', '501ms')):
            of = [{k: v for k, v in self.folded(*window, view='wall', file=f).items() if 'sleeping' in k} for f in ('in', 'out.jfr')]
            self.assertEqual(sum(of[0].values()), sum(of[1].values()), window)
        self.assertEqual({p[0][:2] for p in self.pauses(self.firefox()[1]).values()}, {p[0][:2] for p in self.pauses(self.firefox(file='out.jfr')[1]).values()})

    def test_moments_with_more_than_their_sample_are_cut(self):
        (self.folder / 'in').write_text(text(timeline(lines='t @1000 #200001 0*18446744073709551615 2*7/18446744073709551615\nt @2000 #200001 0 1*2\n')))
        self.assertEqual(sum(self.jfr('samples').values()), 8)
        self.assertEqual(sum(self.jfr('wall').values()), 1080000000)

    def test_firefox_without_times_is_as_it_was(self):
        (self.folder / 'none').write_text(text(''))
        self.assertEqual(self.firefox(file='none')[0]['CPU: samples', 'all threads'], [(0, 5, 'p.C.main;p.C.a'), (50, 3, 'p.C.main;p.C.b')])

    def speedscope(self, *words, file='in'):
        """{name: [(begin, weight, names)]}; of stacks of no frames nothing."""
        self.call('convert', *words, file, 'out.speedscope.json')
        made = json.loads((self.folder / 'out.speedscope.json').read_text())
        frames = [f['name'] for f in made['shared']['frames']]
        got = {}
        for p in made['profiles']:
            self.assertEqual(len(p['samples']), len(p['weights']))
            self.assertEqual(p['endValue'] - p['startValue'], sum(p['weights']))
            at, rows = 0, []
            for stack, weight in zip(p['samples'], p['weights']):
                self.assertGreater(weight, 0)
                if stack:
                    rows.append((at, weight, ';'.join(frames[i] for i in stack)))
                at += weight
            got[p['name']] = rows
        return got

    def test_speedscope_has_the_times_of_every_thread(self):
        got, ms = self.speedscope(), 1000000
        a, b = 'p.C.main;p.C.a', 'p.C.main;p.C.b'
        self.assertEqual(list(got)[0], 'CPU by time: main')
        self.assertEqual(got['CPU by time: main'], [(1000 * ms, 10 * ms, a), (1500 * ms, 20 * ms, b), (3000 * ms, 40 * ms, a), (9000 * ms, 10 * ms, b)])
        self.assertEqual(got['CPU: samples'], [(0, 5, a), (5, 3, b)])
        self.assertIn((1000 * ms, 1000 * ms, 'p.C.main;p.C.c;sleeping'), got['Wall clock by time: main'])
        (self.folder / 'none').write_text(text(''))
        self.assertEqual([name for name in self.speedscope(file='none') if 'by time' in name], [])

    def test_a_part_in_which_nothing_was_gets_no_advice_about_patterns(self):
        said = 'hprofx: nothing in the profile fits --from 9.5s (22:13:29.500 on)'
        self.call('view', '--from', '9.5s', 'in', status=1, said=said + '\n')

    def test_filters_apply_to_what_is_left(self):
        self.assertEqual(self.folded('--from', '1s', '--to', '3s', '--include', 'p.C.b'), {'p.C.main;p.C.b': 2})

    def test_events_of_a_coarse_part_count_by_their_share(self):
        (self.folder / 'in').write_text(text(timeline(coarse=2000, lines='t @0 ~2000 #200001 0*10 2*5/1000000000\nt @3000 #200001 1\n')))
        self.assertEqual(self.folded('--to', '1s'), {'p.C.main;p.C.a': 5})
        self.assertEqual(self.folded('--to', '1s', view='wall')['p.C.main;p.C.c;sleeping'], 500000000)
        self.assertEqual(self.folded('--to', '4s'), {'p.C.main;p.C.a': 10, 'p.C.main;p.C.b': 1})

    def test_merge_and_diff_take_the_same_part_of_each_file(self):
        (self.folder / 'in2').write_text(text())
        self.call('merge', '--view', 'samples', '--from', '3s', 'in', 'in2', 'out.folded')
        self.assertEqual((self.folder / 'out.folded').read_text(), 'p.C.main;p.C.a 8\np.C.main;p.C.b 2\n')
        self.assertIn('before 7 of 8, after 7 of 8 (samples)', self.call('diff', '--from', '0', '--to', '9s', 'in', 'in2'))

    def test_parts_of_a_run_have_their_own_allocations(self):
        """SITES count since the start of a run, and TIMELINE since the part before."""
        for i, (events, bytes_, began) in enumerate((([(3010, 3, 2, 0)], 500, 0), ([(4000, 3, 4, 0)], 1500, 3500))):
            sites = ('SITES BEGIN (ordered by live bytes) Tue Nov 14 22:13:30 2023\n          percent          live          alloc\'ed  stack class\n'
                     ' rank   self  accum     bytes objs     bytes  objs trace name\n    1 100.00%% 100.00%%         0    0 %9d %5d 300001 java.lang.String\nSITES END\n' % (bytes_, bytes_ // 100))
            origin = 'hprofx: host: h\nhprofx: pid: 7\nhprofx: run began: %d\nhprofx: profile: %d, from %d to %d ms since 1970\n' % (ZERO, i + 1, ZERO + began, ZERO + 3500 * (i + 1))
            (self.folder / ('part.%d' % (i + 1))).write_text(text(timeline(events)).replace('hprofx: samples', sites + 'hprofx: samples').replace('hprofx: tables', origin + 'hprofx: tables'))
        self.call('merge', '--view', 'alloc', 'part.1', 'part.2', 'out.folded')
        self.assertEqual((self.folder / 'out.folded').read_text(), 'p.C.main;p.C.a;java.lang.String 1500\n')
        self.call('merge', '--view', 'alloc', '--from', '1s', 'part.1', 'part.2', 'out.folded')
        self.assertEqual((self.folder / 'out.folded').read_text(), 'p.C.main;p.C.a;java.lang.String 1500\n')
        self.call('merge', '--view', 'alloc', '--to', '3.5s', 'part.1', 'part.2', 'out.folded')
        self.assertEqual((self.folder / 'out.folded').read_text(), 'p.C.main;p.C.a;java.lang.String 500\n')

    def test_fractions_of_sampled_allocations_are_not_lost(self):
        (self.folder / 'in').write_text(text(timeline([(3000 + i, 3, 1, 0) for i in range(100)])))
        views, _ = self.views('--from', '3s')
        self.assertEqual([m['total'] for m in views['alloc']['measures'] if m['name'] == 'alloc_objects'], [250])

    def test_several_sections_of_a_file_are_added_up(self):
        (self.folder / 'in').write_text(text(timeline(EVENTS[:4]) + timeline(EVENTS[4:])))
        self.assertEqual(self.folded('--from', '3s'), {'p.C.main;p.C.a': 4, 'p.C.main;p.C.b': 1})

    def test_binary_files_have_the_same_lines_in_one_record_or_several(self):
        lines = timeline().splitlines(keepends=True)
        for chunks in ([''.join(lines)], [''.join(lines[:5]), ''.join(lines[5:9]), ''.join(lines[9:])]):
            (self.folder / 'b').write_bytes(binary(chunks))
            self.assertEqual(self.folded('--from', '1s', '--to', '3s', file='b'), {'p.C.a': 1, 'p.C.b': 2})
            self.assertEqual(self.folded(file='b'), {'p.C.a': 5, 'p.C.b': 3})
            self.call('check', 'b')
        (self.folder / 'b').write_bytes(binary([''.join(lines[5:])]))  # a stream that has lost the begin
        self.assertIn('has no times', self.call('view', '--from', '1s', 'b', status=1, said='hprofx: b: it has no times of samples; those of a session with timeline=y have\n') + 'has no times')

    def test_files_without_times_are_refused(self):
        (self.folder / 'in').write_text(text(''))
        self.call('view', '--from', '1s', 'in', status=1, said='hprofx: in: it has no times of samples; those of a session with timeline=y have\n')
        (self.folder / 'x.folded').write_text('a;b 3\n')
        self.call('view', '--from', '1s', 'x.folded', status=1, said='hprofx: x.folded: only HPROF of hprofx and JFR have times of samples\n')

    def test_what_is_no_time_is_a_misuse(self):
        for words in (('--from', 'x'), ('--from', ''), ('--from', '1q'), ('--from', '25:00'), ('--from', '1:2:3:4'), ('--from', '1:60'), ('--to', 'html'), ('--around', '-5'),
                      ('--from', '99999999999999999999')):
            done = subprocess.run([PROGRAM, 'view', *words, 'in'], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual((done.returncode, b'want a time' in done.stderr), (2, True), words)
        for words, said in ((('--from', '3s', '--to', '2s'), b'--from is not before --to'), (('--around', '3s', '--to', '2s'), b'--around excludes')):
            done = subprocess.run([PROGRAM, 'view', *words, 'in'], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual((done.returncode, said in done.stderr), (2, True), words)

    def test_to_of_convert_is_a_suffix_or_a_time(self):
        self.call('convert', '--to', '.folded', '--to', '2s', '--view', 'samples', 'in', 'out')
        self.assertEqual((self.folder / 'out').read_text(), 'p.C.main;p.C.a 1\np.C.main;p.C.b 2\n')

    def test_broken_lines_are_breaks(self):
        good = timeline()
        for bad in (good.replace('t @1000 ', 't 1000 ', 1), good.replace('p cpu 300001', 'p cpu', 1), good.replace('sleeping', 'Sleeping'), good.replace('TIMELINE END', 'TIMELINE'),
                    good.replace('*2', '*x', 1), good.replace('p gc 0', 'p gc 0 1'), good.replace('@1500', '@99999999999999999999')):
            (self.folder / 'in').write_text(text(bad))
            done = subprocess.run([PROGRAM, 'check', 'in'], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            self.assertEqual(done.returncode, 6, bad[:300])
        (self.folder / 'in').write_text(text(good.replace('t @9000 #200001 1', 't @9000 #200001 77')))  # a place that a stream has lost
        self.assertEqual(self.folded('--from', '3s'), {'p.C.main;p.C.a': 4})


if __name__ == '__main__':
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
