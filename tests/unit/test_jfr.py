#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_jfr HPROFX [unittest arguments]: JFR recordings that were made by hand: values of every view, every encoding, several chunks, cut and hostile files."""
import gzip
import json
import pathlib
import re
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'read'))
import jfr_files as j  # noqa: E402

PROGRAM = None
CUT = 'the recording is cut off, or was still being written; what is complete was read'
STRINGS, TIME, DURATION, PERIOD = 6, 9, 10, 12  # fields of pprof
RUN, LEAF = '[main];p.C.main;p.C.run', '[worker];p.C.main;p.C.run;p.D.leaf'


def pprof(samples, functions, unit='nanoseconds'):
    """A file of one measure, {name: stacks}, where every stack of numbers of functions has 3."""
    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data if isinstance(data, bytes) else bytes([number << 3, data])
    measure, stacks = next(iter(samples.items()))
    texts = [b'', measure.encode(), unit.encode()] + [name.encode() for name in functions.values()]
    out = field(1, field(1, 1) + field(2, 2)) + b''.join(field(2, field(1, bytes([n])) + field(2, b'\3')) for n in stacks)
    out += b''.join(field(4, field(1, n) + field(4, field(1, n))) + field(5, field(1, n) + field(2, 3 + i)) for i, n in enumerate(functions))
    return out + b''.join(field(6, text) for text in texts)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, data, name='x.jfr'):
        path = self.folder / name
        path.write_bytes(data.data() if isinstance(data, j.Chunk) else data)
        return path

    def run_it(self, *arguments, **how):
        how.setdefault('timeout', 20)
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, check=False, stdin=subprocess.DEVNULL, **how)

    def view(self, measure, data, status=0, said=''):
        """{stack: value} of a measure."""
        done = self.run_it('convert', '--view', measure, '--to', '.folded', self.write(data), '-')
        error = done.stderr.decode()
        self.assertEqual(done.returncode, status, error)
        (self.assertIn if said else self.assertEqual)(said, error)
        return {s: int(n) for s, n in (line.rsplit(' ', 1) for line in done.stdout.decode().splitlines())}

    def facts(self, data):
        """The fields of a pprof file of it."""
        self.assertIn(self.run_it('convert', self.write(data), 'x.pb.gz').returncode, (0, 6))
        data, found, at = gzip.decompress((self.folder / 'x.pb.gz').read_bytes()), {}, 0

        def varint(at):
            n = shift = 0
            while True:
                n |= (data[at] & 0x7f) << shift
                shift, at = shift + 7, at + 1
                if data[at - 1] < 0x80:
                    return n, at
        while at < len(data):
            tag, at = varint(at)
            n, at = varint(at)
            if tag & 7 == 2:
                n, at = data[at:at + n], at + n
            found.setdefault(tag >> 3, []).append(n)
        return found

    def fails(self, data, said):
        done = self.run_it('convert', self.write(data), 'out.folded')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(said, done.stderr.decode())


class Values(Folder):
    def check_whole(self, data):
        self.assertEqual(self.view('samples', data), {RUN: 3, RUN + ';p.D.leaf': 2, LEAF: 1, '[worker]': 1})
        self.assertEqual(self.view('native_samples', data), {LEAF: 1})
        self.assertEqual(self.view('alloc_space', data), {RUN + ';byte[]': 5000, RUN + ';p.D.leaf;p.D': 1 << 40})
        self.assertEqual(self.view('contentions', data), {LEAF + ';p.C': 2})
        self.assertEqual(self.view('delay', data), {LEAF + ';p.C': 50_000_000})
        self.assertEqual(self.view('wait_delay', data), {RUN + ';p.D': 40_000_000})
        self.assertEqual(self.view('park_delay', data), {RUN + ';?': 50_000_000})
        self.assertEqual(self.view('wall', data), {LEAF + ';blocked p.C': 50_000_000, RUN + ';waiting p.D': 40_000_000, RUN + ';parked': 50_000_000,
                                                   '[worker];p.C.main;p.C.run;sleeping': 60_000_000})

    def test_every_view_has_its_values(self):
        self.check_whole(j.whole())

    def test_integers_of_full_width_are_read_and_version_1(self):
        self.check_whole(j.whole(compressed=False, version=(1, 0)))
        self.check_whole(j.whole(version=(2, 0)))

    def test_lines_are_those_of_the_frames(self):
        self.write(j.whole())
        self.assertEqual(self.run_it('convert', 'x.jfr', 'x.pb.gz').returncode, 0)
        self.assertEqual(self.run_it('convert', 'x.pb.gz', 'x.txt').returncode, 0)
        self.assertRegex((self.folder / 'x.txt').read_text(), r'p\.D\.leaf\(.*:30\)\n\tp\.C\.run\(.*:12\)\n\tp\.C\.main\(.*:Unknown line\)\n')

    def test_samples_of_CPU_time_are_the_CPU_view_and_the_others_are_beside_it(self):
        data = j.cpu_time()
        self.assertEqual(self.view('samples', data), {RUN + ';p.D.leaf': 4, '[worker];p.C.main;p.C.run': 1, '[main]': 1})
        self.assertEqual(self.view('cpu', data), {RUN + ';p.D.leaf': 40_000_000, '[worker];p.C.main;p.C.run': 10_000_000, '[main]': 10_000_000})
        self.assertEqual(self.view('execution_samples', data), {RUN: 3, RUN + ';p.D.leaf': 2, LEAF: 1, '[worker]': 1})
        self.assertIn(b'lost: 17 samples', self.facts(data)[STRINGS])

    def test_states_of_async_profiler_tell_CPU_from_wall_clock(self):
        data = j.async_profiler()
        self.assertEqual(self.view('samples', data), {RUN: 4})
        self.assertEqual(self.view('cpu', data), {RUN: 20_000_000})
        self.assertEqual(self.view('wall', data), {RUN + ';running': 40_000_000, RUN + ';sleeping': 20_000_000, LEAF + ';sleeping': 200_000_000})
        self.assertEqual(self.view('alloc_space', data), {RUN + ';byte[]': 74000})
        data = j.async_profiler(settings=[('event', 'wall')])
        self.assertEqual(self.view('wall', data), {RUN + ';?': 200_000_000, RUN + ';running': 100_000_000, RUN + ';sleeping': 50_000_000, LEAF + ';sleeping': 500_000_000})
        self.assertEqual(self.view('samples', j.async_profiler(settings=[('event', 'cache-misses'), ('interval', '1000')])), {RUN: 4})
        self.assertIn('has no CPU time', self.run_it('convert', '--view', 'CPU time', '--to', '.folded', 'x.jfr', '-').stderr.decode())

    def test_settings_of_async_profiler_hold_for_its_recording(self):
        def of(interval, wall):
            return j.async_profiler(settings=[('event', 'cpu'), ('interval', interval), ('wall', wall)]).data()
        later = j.async_profiler(settings=[]).data()  # a chunk of the recording before it
        for data in (of('5000000', '20000000') + later + of('1000000', '2000000'), of('1000000', '2000000') + of('5000000', '20000000') + later):
            self.assertEqual(self.view('samples', data), {RUN: 12})
            self.assertEqual(self.view('cpu', data), {RUN: 44_000_000})
            self.assertEqual(self.view('wall', data), {RUN + ';running': 84_000_000, RUN + ';sleeping': 42_000_000, LEAF + ';sleeping': 420_000_000})
        event_alone = j.async_profiler(settings=[('version', '4'), ('event', 'cpu'), ('interval', '1000')]).data()
        self.assertEqual(self.view('cpu', of('5000000', '20000000') + event_alone), {RUN: 20_000_000 + 7_000})

    def test_samples_of_the_JDK_beside_those_of_async_profiler_have_no_CPU_time(self):
        jdk = j.Chunk().metadata().stacks().event('jdk.ExecutionSample', sampledThread=2, stackTrace=2, state=1).data()
        for data in (jdk + j.async_profiler().data(), j.async_profiler().data() + jdk):
            self.assertEqual(self.view('samples', data), {RUN: 4, LEAF: 1})
            self.assertEqual(self.view('cpu', data), {RUN: 20_000_000})

    def test_the_interval_is_that_of_the_last_recording(self):
        self.write(j.async_profiler(settings=[('event', 'cpu'), ('interval', '1000')]))
        self.assertEqual(self.run_it('convert', 'x.jfr', 'y.jfr').returncode, 0)
        own, other = (self.folder / 'y.jfr').read_bytes(), j.async_profiler().data()
        self.assertEqual([self.facts(data)[PERIOD] for data in (own + other, other + own)], [[5_000_000], [1000]])

    def test_what_was_sampled_counts_before_what_was_seen_in_TLABs(self):
        data = j.whole().event('jdk.ObjectAllocationInNewTLAB', eventThread=1, stackTrace=1, objectClass=1, allocationSize=24, tlabSize=4000)
        self.assertEqual(self.view('alloc_space', data), {RUN + ';byte[]': 5000, RUN + ';p.D.leaf;p.D': 1 << 40})
        self.assertEqual(self.view('tlab_space', data), {RUN + ';p.C': 4000})

    def test_facts(self):
        found = self.facts(j.whole())
        self.assertEqual((found[TIME], found[DURATION]), ([j.START_NS], [3_000_000_000]))
        self.assertIn(b'effective samples: 7', found[STRINGS])
        self.assertEqual(self.facts(j.async_profiler())[PERIOD], [5_000_000])
        self.assertEqual(self.facts(j.async_profiler(settings=[('event', 'cpu'), ('interval', '0')]))[PERIOD], [10_000_000])


class Times(Folder):
    """Events at 1 to 6 s of a recording of 10 s."""

    def window(self, measure, data, *words):
        done = self.run_it('convert', '--view', measure, *words, '--to', '.folded', self.write(data), '-', env={'TZ': 'UTC'})
        self.assertEqual(done.stderr, b'')
        return {s: int(n) for s, n in (line.rsplit(' ', 1) for line in done.stdout.decode().splitlines())}

    def recording(self, **how):
        def at(s):
            return j.TICKS + round(s * 1_000_000)
        c = j.Chunk(**how).metadata().stacks()
        for s, n in ((1, 1), (2, 2), (4, 4)):
            for _ in range(n):
                c.event('jdk.ExecutionSample', startTime=at(s), sampledThread=1, stackTrace=1, state=1)
        c.event('jdk.ObjectAllocationInNewTLAB', startTime=at(2.5), eventThread=1, stackTrace=1, objectClass=3, allocationSize=24, tlabSize=4000)
        c.event('jdk.JavaMonitorEnter', startTime=at(3), duration=2_000_000, eventThread=2, stackTrace=2, monitorClass=1)
        return c.event('jdk.NativeMethodSample', startTime=at(6), sampledThread=2, stackTrace=2, state=1)

    def test_events_count_from_the_begin_up_to_the_end(self):
        data = self.recording()
        for words, n in ((('--from', '1s', '--to', '2s'), 1), (('--from', '2s'), 6), (('--to', '4s'), 3), (('--around', '22:13:18'), 3), (('--from', '22:13:24'), 4)):
            self.assertEqual(self.window('samples', data, *words), {RUN: n}, words)
        self.assertEqual(self.window('native_samples', data, '--from', '6s'), {LEAF: 1})
        self.assertEqual(self.window('alloc_space', data, '--from', '2s', '--to', '3s'), {RUN + ';byte[]': 4000})

    def test_waits_count_by_their_part(self):
        self.assertEqual(self.window('wall', self.recording(), '--from', '3.5s', '--to', '4s'), {LEAF + ';blocked p.C': 500_000_000})
        self.assertEqual(self.window('delay', self.recording(), '--from', '4s', '--to', '9s'), {LEAF + ';p.C': 1_000_000_000})

    def test_samples_of_the_wall_clock_in_one_event_are_one_after_the_other(self):
        c = j.Chunk(types={**j.TYPES, **j.EVENTS, **j.OF_ASYNC_PROFILER}).metadata().stacks()
        c.event('jdk.ActiveSetting', name='wall', value='20000000')
        c.event('profiler.WallClockSample', startTime=j.TICKS + 1_000_000, sampledThread=2, stackTrace=2, state=2, samples=100)
        c.event('profiler.WallClockSample', startTime=j.TICKS + 5_000_000, sampledThread=1, stackTrace=1, state=2, samples=1)
        self.assertEqual(self.window('wall', c, '--from', '1.5s', '--to', '2.5s'), {LEAF + ';sleeping': 1_000_000_000})
        self.assertEqual(self.window('wall', c, '--from', '5s'), {RUN + ';sleeping': 20_000_000})

    def test_what_is_chosen_at_the_end_has_times(self):
        data = self.recording().event('jdk.CPUTimeSample', startTime=j.TICKS + 5_000_000, eventThread=2, stackTrace=2, samplingPeriod=7)
        self.assertEqual(self.window('samples', data, '--from', '4s'), {LEAF: 1})
        self.assertEqual(self.window('execution_samples', data, '--from', '4s'), {RUN: 4})

    def test_pauses_are_named_by_collections_of_their_recording(self):
        def of(collector, ids, pauses, ms, start=0):
            c = j.Chunk(start=j.START_NS + start * 10**9).metadata().stacks().constants('jdk.types.GCName', {1: {'name': collector}})
            c.event('jdk.ExecutionSample', sampledThread=1, stackTrace=1, state=1)
            for i in pauses:
                c.event('jdk.GCPhasePause', startTime=j.TICKS + 100_000 * i, duration=ms * 1000, gcId=i, name='GC Pause')
            for i in ids:
                c.event('jdk.GarbageCollection', startTime=j.TICKS + 100_000 * i, duration=50_000, gcId=i, name=1)
            return c.data()

        def seen(*chunks):
            self.write(b''.join(chunks))
            self.assertEqual(self.run_it('convert', 'x.jfr', 'x.firefox.json').returncode, 0)
            threads = json.loads((self.folder / 'x.firefox.json').read_text())['threads']
            markers = next(t['markers'] for t in threads if t['markers']['length'])
            return sorted((m['collector'], round(end - begin)) for m, begin, end in zip(markers['data'], markers['startTime'], markers['endTime']))
        ids = range(3)
        one, again = of('G1New', ids, ids, 10), of('G1New', (), (), 10, 5)
        for start in (0, 9):  # at the same time, or one after the other
            for second, ms in ((of('SerialFull', ids, ids, 20, start), 20), (of('SerialFull', ids, (), 20, start), 50)):
                for chunks in ((one, second), (second, one), (one, again, second)):
                    self.assertEqual(seen(*chunks), [('G1New', 10)] * 3 + [('SerialFull', ms)] * 3)
        later = of('G1Old', (7,), (), 0, 3)  # it ended in another chunk
        self.assertEqual(seen(of('G1New', ids, (0, 1, 2, 7), 10), later), [('G1New', 10)] * 3 + [('G1Old', 10)])
        self.write(of('G1New', ids, ids, 10))
        self.assertEqual(self.run_it('convert', 'x.jfr', 'y.jfr').returncode, 0)
        own = (self.folder / 'y.jfr').read_bytes()
        other = of('SerialFull', (8, 9), (), 20, 60)
        self.assertEqual(seen(own, other), [('G1New', 10)] * 3 + [('SerialFull', 50)] * 2)

    def test_the_part_is_said_beside_the_total(self):
        self.write(self.recording())
        said = self.run_it('view', '--from', '1s', '--to', '3s', 'x.jfr', env={'TZ': 'UTC'}).stdout.decode()
        self.assertIn('samples 3 of 7', said)
        self.assertIn('Filtered by --from 1s --to 3s (22:13:21 to 22:13:23)', said)

    def test_chunks_have_one_begin(self):
        data = self.recording().data() + self.recording(start=j.START_NS + 10 * 10**9).data()
        self.assertEqual(self.window('samples', data, '--from', '3s', '--to', '12s'), {RUN: 5})


class Written(Folder):
    """What hprofx writes, as it reads it."""
    VIEWS = ('samples', 'cpu', 'alloc_space', 'contentions', 'delay', 'waits', 'wait_delay', 'parks', 'park_delay', 'wall')

    def folded(self, measure, name):
        done = self.run_it('convert', '--view', measure, '--to', '.folded', name, '-')
        return sorted(done.stdout.decode().splitlines()) if done.returncode == 0 else done.stderr.decode().split('; it has')[0].replace(name, '')

    def write_again(self, data, *words):
        self.write(data)
        done = self.run_it('convert', *words, 'x.jfr', 'y.jfr')
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr.decode()

    def recording(self):
        """Waits of more than a chunk, and of every kind; samples of CPU time."""
        c = j.whole()
        for i in range(7):
            c.event('jdk.CPUTimeSample', startTime=j.TICKS + i * 400_000, eventThread=1 + i % 2, stackTrace=1 + i % 2, samplingPeriod=10000 + i)
            c.event('jdk.ThreadPark', startTime=j.TICKS + i * 300_000, duration=100_001 + i, eventThread=2, stackTrace=2, parkedClass=2)
        return c

    def test_sums_of_every_stack_are_the_same(self):
        for data in (self.recording(), self.recording().data() + self.recording().data(), j.async_profiler()):
            self.write_again(data)
            for measure in self.VIEWS:
                self.assertEqual(self.folded(measure, 'y.jfr'), self.folded(measure, 'x.jfr'), measure)

    def test_times_are_the_same(self):
        self.write_again(self.recording())
        for words in (('--from', '1s', '--to', '2s'), ('--from', '0.35s', '--to', '1.3s'), ('--to', '900ms')):
            for measure in ('samples', 'parks', 'park_delay', 'wall'):
                seen = [self.run_it('convert', '--view', measure, *words, '--to', '.folded', name, '-').stdout for name in ('x.jfr', 'y.jfr')]
                self.assertTrue(seen[0], (words, measure))
                if measure in ('samples', 'parks'):
                    self.assertEqual(seen[0], seen[1], (words, measure))

    def test_a_profile_without_times_has_events_all_over_its_time(self):
        self.write_again(self.recording())
        self.assertEqual(self.run_it('convert', 'y.jfr', 'z.pb.gz').returncode, 0)
        self.assertEqual(self.run_it('convert', 'z.pb.gz', 'z.jfr').returncode, 0)
        for measure in self.VIEWS:
            self.assertEqual(self.folded(measure, 'z.jfr'), self.folded(measure, 'x.jfr'), measure)
        made = (self.folder / 'z.jfr').read_bytes()
        self.assertEqual(made.count(b'\3\5timed'), 1)
        (self.folder / 'z.jfr').write_bytes(made.replace(b'\3\5timed', b'\3\5other'))  # else it says that it has no times
        halves = [sum(int(s.rsplit(b' ', 1)[1]) for s in self.run_it('convert', '--view', 'samples', *words, '--to', '.folded', 'z.jfr', '-').stdout.splitlines())
                  for words in (('--to', '1.5s'), ('--from', '1.5s'))]
        self.assertEqual(sorted(halves), [3, 4])

    def test_times_that_were_made_up_are_none(self):
        (self.folder / 'a.folded').write_text(RUN + ' 1000\n')
        self.write(self.recording())
        for words in (('convert', 'a.folded', 'z.jfr'), ('merge', 'a.folded', 'x.jfr', 'm.jfr'), ('convert', 'z.jfr', 'z.speedscope.json'), ('convert', 'm.jfr', 'm.speedscope.json')):
            self.assertEqual(self.run_it(*words).returncode, 0, words)
        done = self.run_it('view', '--from', '0s', 'z.jfr')
        self.assertEqual((done.returncode, done.stdout), (1, b''))
        self.assertIn(b'it has no times of samples', done.stderr)
        self.assertEqual([b'CPU by time' in (self.folder / name).read_bytes() for name in ('z.speedscope.json', 'm.speedscope.json')], [False, True])
        self.assertEqual(*(self.run_it('convert', '--view', 'samples', '--from', '0s', '--to', '2s', '--to', '.folded', name, '-').stdout for name in ('x.jfr', 'm.jfr')))

    def test_a_sum_with_a_profile_without_times_has_all_of_both(self):
        (self.folder / 'a.folded').write_text(RUN + ' 1000\np.X.y 10\n')
        for data in (self.recording(), j.whole()):
            self.write(data)
            for name in ('m.jfr', 'm.pb.gz'):
                self.assertEqual(self.run_it('merge', 'a.folded', 'x.jfr', name).returncode, 0)
            for measure in self.VIEWS:
                self.assertEqual(self.folded(measure, 'm.jfr'), self.folded(measure, 'm.pb.gz'), measure)

    def test_totals_without_filters_of_measures_that_hprofx_does_not_know_are_added(self):
        for name, n in (('a', 3), ('b', 4)):
            c = self.recording()
            for i in range(n):
                c.event('jdk.NativeMethodSample', sampledThread=2, stackTrace=1 + (i > 0), state=1)
            self.write(c)
            self.assertEqual(self.run_it('convert', '--include', 'p.D.leaf', 'x.jfr', name + '.pb.gz').returncode, 0)
        shown = json.loads(self.run_it('merge', '--to', '.pb.gz', 'a.pb.gz', 'b.pb.gz', 'm.pb.gz').returncode == 0 and self.run_it('view', '--json', 'm.pb.gz').stdout)
        self.assertEqual([(m['total'], m['of']) for v in shown['views'] for m in v['measures'] if m['name'] == 'native_samples'], [(7, 9)])

    def test_the_wall_clock_of_many_threads_is_no_longer_than_the_run(self):
        c = j.whole()
        for _ in range(9):
            c.event('jdk.ThreadSleep', startTime=j.TICKS, duration=2_900_000, eventThread=1, stackTrace=1)
        self.write(c)
        self.assertEqual(self.run_it('convert', 'x.jfr', 'z.pb.gz').returncode, 0)
        self.assertEqual(self.run_it('convert', 'z.pb.gz', 'z.jfr').returncode, 0)
        self.assertEqual(self.folded('wall', 'z.jfr'), self.folded('wall', 'x.jfr'))
        self.assertEqual(self.facts((self.folder / 'z.jfr').read_bytes())[DURATION], [3_000_000_000])

    def test_a_thread_is_the_same_in_every_chunk(self):
        pieces = []
        for i in range(600):
            piece = j.Chunk().metadata().stacks()
            for k in range(1000):
                piece.event('jdk.CPUTimeSample', startTime=j.TICKS + k, eventThread=1 + (i > 0), stackTrace=1, samplingPeriod=10000)
            pieces.append(piece.data())
        self.write_again(b''.join(pieces))
        made = (self.folder / 'y.jfr').read_bytes()
        ids = set(re.findall(rb'(?s)\x03\x06worker(..?)\x03\x06worker', made))
        self.assertEqual((len(ids), made.count(b'\3\6worker') > 2), (1, True))

    def test_names_keep_their_spelling(self):
        lines = ['[a;b];p.C.m(int[], p.D);p.D.<init> 7', '[idle];memcpy;/usr/lib/libc.so.6 2', 'p.C$X.m;hprofx.stalled 1', 'p.\u00e9\u4e2d.m 3']
        lines = [line.replace('[a;b]', '[a,b]') for line in lines]
        (self.folder / 'a.folded').write_text(''.join(line + '\n' for line in lines))
        self.assertEqual(self.run_it('convert', 'a.folded', 'a.jfr').returncode, 0)
        self.assertEqual(self.folded('samples', 'a.jfr'), sorted(lines))

    def test_what_other_profilers_recorded_in_the_same_file_counts_too(self):
        """As `jfr assemble` puts them together: what is left out of one's chunks, as it is told twice, stays in the other's."""
        self.write_again(self.recording())
        one, two = j.whole().data(), (self.folder / 'y.jfr').read_bytes()
        for data in (one + two, two + one):
            (self.folder / 'z.jfr').write_bytes(data)
            self.assertEqual(self.folded('execution_samples', 'z.jfr'), sorted([RUN + ' 3', RUN + ';p.D.leaf 2', LEAF + ' 1', '[worker] 1']))
            self.assertEqual(self.folded('samples', 'z.jfr'), self.folded('samples', 'y.jfr'))
            self.assertIn('[worker];p.C.main;p.C.run;sleeping 120000000', self.folded('wall', 'z.jfr'))
            self.assertIn(LEAF + ';blocked p.C 100000000', self.folded('wall', 'z.jfr'))

    def test_samples_of_recordings_with_and_without_CPU_time_are_added(self):
        self.write_again(self.recording())
        with_time = (self.folder / 'y.jfr').read_bytes()
        self.write_again(j.whole())
        without = (self.folder / 'y.jfr').read_bytes()
        for data in (with_time + without, without + with_time):
            self.assertEqual(sum(self.view('samples', data).values()), 14)
            self.assertIn(b'effective samples: 14', self.facts(data)[STRINGS])

    def test_samples_beside_a_recording_without_CPU_time_are_added(self):
        one = j.whole().data()
        self.write_again(one)
        two = (self.folder / 'y.jfr').read_bytes()
        for data in (one + two, two + one):
            self.assertEqual(self.view('samples', data), {stack: 2 * n for stack, n in self.view('samples', one).items()})
            self.assertIn(b'effective samples: 14', self.facts(data)[STRINGS])

    def test_totals_without_filters_of_recordings_in_one_file_are_added(self):
        whole, waits = self.recording(), j.whole()
        for one, words in ((whole, ('--include', 'p.D.leaf')), (waits, ('--thread', 'main'))):
            self.write_again(one, *words)
            (self.folder / 'f.jfr').write_bytes((self.folder / 'y.jfr').read_bytes())
            self.write_again(one)
            for names in ('ff', 'fff', 'fy', 'yf', 'yffy', 'fx', 'xf'):
                files = [name + '.jfr' for name in names]
                (self.folder / 'z.jfr').write_bytes(b''.join((self.folder / name).read_bytes() for name in files))
                self.assertEqual(self.run_it('merge', *files, 'm.jfr').returncode, 0)
                shown = [{m['name']: (m['total'], m.get('of')) for v in json.loads(self.run_it('view', '--json', name).stdout)['views'] for m in v['measures'] if m['name'] in self.VIEWS}
                         for name in ('z.jfr', 'm.jfr')]
                self.assertEqual(*shown, (words, names))
                self.assertEqual(shown[0]['samples'][1], 7 * len(names))

    def test_no_class_and_no_state_are_none(self):
        (self.folder / 'in.pb').write_bytes(pprof({'delay': [1]}, {1: 'p.C.m'}))
        self.assertEqual(self.run_it('convert', 'in.pb', 'y.jfr').returncode, 0)
        for name in ('in.pb', 'y.jfr'):
            self.assertEqual(self.folded('delay', name), ['p.C.m 3'])

    def test_classes_of_methods_are_no_arrays(self):
        (self.folder / 'a.folded').write_text('operator new[].cold 3\nm 4\n')
        self.assertEqual(self.run_it('convert', 'a.folded', 'a.jfr').returncode, 0)
        self.assertEqual(self.folded('samples', 'a.jfr'), ['m 4', 'operator new[].cold 3'])
        self.assertIn(b'operator new[]', (self.folder / 'a.jfr').read_bytes())

    def test_what_jfr_does_not_hold_is_said(self):
        data = self.recording().event('jdk.NativeMethodSample', sampledThread=2, stackTrace=2, state=1)
        self.assertIn('y.jfr is without', self.write_again(data))

    def test_live_objects_alone_are_refused(self):
        (self.folder / 'in.pb').write_bytes(pprof({'inuse_space': [1]}, {1: 'p.C.m'}, 'bytes'))
        done = self.run_it('convert', 'in.pb', 'y.jfr')
        said = done.stderr if isinstance(done.stderr, str) else done.stderr.decode()
        self.assertEqual((done.returncode, said), (1, 'hprofx: y.jfr cannot be written: Java Flight Recorder does not hold live objects\n'))

    def test_a_long_recording_has_several_chunks(self):
        piece = j.Chunk().metadata().stacks()
        for i in range(1000):
            piece.event('jdk.CPUTimeSample', startTime=j.TICKS + i, eventThread=1, stackTrace=1, samplingPeriod=10000)
        self.write_again(b''.join([piece.data()] * 600))
        self.assertGreater((self.folder / 'y.jfr').read_bytes().count(b'FLR\0\0\2\0\1'), 1)
        self.assertEqual(self.folded('samples', 'y.jfr'), [RUN + ' 600000'])


    def test_chunks_begin_at_different_times(self):
        """Also where no time is known."""
        (self.folder / 'a.folded').write_text(RUN + ' 2000000\n')
        self.assertEqual(self.run_it('convert', 'a.folded', 'y.jfr').returncode, 0)
        data, at, begins = (self.folder / 'y.jfr').read_bytes(), 0, []
        while at < len(data):
            begins.append(data[at + 32:at + 40])
            at += struct.unpack('>Q', data[at + 8:at + 16])[0]
        self.assertEqual((len(begins) > 2, len(set(begins))), (True, len(begins)))


class Encodings(Folder):
    def threads(self, names):
        c = j.Chunk().metadata().stacks()
        c.constants('java.lang.String', {5: j.Text('from a constant'), 6: j.Text('', j.EMPTY)})
        c.constants('java.lang.Thread', {10 + i: {'javaName': n, 'osName': 'os'} for i, n in enumerate(names)})
        for i in range(len(names)):
            c.event('jdk.ExecutionSample', sampledThread=10 + i, stackTrace=1, state=1)
        return sorted(re.match(r'\[(.*)\];p', s).group(1) for s in self.view('samples', c))

    def test_strings_of_every_encoding(self):
        names = [j.Text('utf-8 \u00e9\u4e2d\U0001f600'), j.Text('chars \u00e9\u4e2d\U0001f600', j.CHARS), j.Text('latin \u00e9', j.LATIN1), j.Text(5, j.CONSTANT)]
        self.assertEqual(self.threads(names), sorted(['utf-8 \u00e9\u4e2d\U0001f600', 'chars \u00e9\u4e2d\U0001f600', 'latin \u00e9', 'from a constant']))
        for none in (j.Text('', j.NULL), j.Text('', j.EMPTY), j.Text(6, j.CONSTANT), j.Text(99, j.CONSTANT)):
            self.assertEqual(self.threads([none]), ['os'])

    def test_half_a_pair_of_surrogates_is_no_character(self):
        c = j.Chunk()
        halves = bytes([j.CHARS]) + c.integer(3, 4) + c.integer(0xd83d, 2) + c.integer(ord('a'), 2) + c.integer(0xde00, 2)
        c.metadata().stacks().raw(c.record(1, b''.join(c.integer(0, 8) for _ in range(3)) + b'\0' + c.integer(1, 4) + c.integer(c.ids['java.lang.Thread'], 8) + c.integer(1, 4) +
                                           c.integer(9, 8) + c.string('os') + c.integer(1, 8) + halves + b'\0'))
        c.event('jdk.ExecutionSample', sampledThread=9, stackTrace=1, state=1)
        self.assertEqual(self.view('samples', c), {'[\ufffda\ufffd];p.C.main;p.C.run': 1})

    def test_metadata_in_other_encodings(self):
        for encoding in (j.CHARS, j.LATIN1):
            c = j.Chunk()
            c.metadata(encoding).stacks().event('jdk.ExecutionSample', sampledThread=1, stackTrace=1, state=1)
            self.assertEqual(self.view('samples', c), {RUN: 1})

    def test_names_that_would_break_a_line_are_escaped(self):
        self.assertEqual(self.threads(['a\nb']), ['a\\nb'])


class Layouts(Folder):
    """Only the metadata say what stands where."""

    def test_fields_in_another_order_and_unknown_ones(self):
        more = [('spare', 'jdk.Spare', 'a'), ('spares', 'java.lang.Class', 'ap'), ('n', 'short', ''), ('c', 'char', 'a'), ('f', 'float', ''), ('d', 'double', 'a'), ('s', 'java.lang.String', 'a')]
        types = {'jdk.Spare': [('b', 'byte', ''), ('l', 'long', 'a')]}
        types.update({name: more + list(reversed(fields)) + more for name, fields in {**j.TYPES, **j.EVENTS}.items()})
        del types['jdk.types.Symbol'], types['jdk.types.ThreadState']
        types.update({name: j.TYPES[name] for name in ('jdk.types.Symbol', 'jdk.types.ThreadState')})
        filled = {'spare': [{'b': 1, 'l': [1, -1]}, {}], 'spares': [1, 2], 'n': -3, 'c': [65, 0xffff], 'f': 1.5, 'd': [2.5], 's': [None, 'x', j.Text('', j.EMPTY)]}
        for compressed in (True, False):
            c = j.Chunk(compressed=compressed, types=types)
            fields = c.fields
            c.fields = lambda kind, values: fields(kind, {**filled, **values} if 'spares' in {f[0] for f in types[kind]} else values)
            c.stacks().event('jdk.ExecutionSample', sampledThread=1, stackTrace=2, state=1).event('jdk.ThreadPark', duration=10, eventThread=1, stackTrace=1, parkedClass=2).metadata()
            self.assertEqual(self.view('samples', c), {RUN + ';p.D.leaf': 1})
            self.assertEqual(self.view('park_delay', c), {RUN + ';p.D': 10000})

    def test_values_in_place_of_keys(self):
        types = {**j.TYPES, 'jdk.ExecutionSample': [('sampledThread', 'java.lang.Thread', ''), ('stackTrace', 'jdk.types.StackTrace', 'p'), ('startTime', 'long', 't')],
                 'java.lang.Class': [('name', 'java.lang.String', '')]}
        types['jdk.types.Method'] = [('type', 'java.lang.Class', ''), ('name', 'java.lang.String', '')]
        c = j.Chunk(types=types).metadata()
        c.constants('jdk.types.Method', {7: {'type': {'name': 'q/E'}, 'name': 'm'}}).constants('jdk.types.StackTrace', {1: {'frames': [{'method': 7}]}})
        c.event('jdk.ExecutionSample', sampledThread={'javaName': 'inline'}, stackTrace=1)
        self.assertEqual(self.view('samples', c), {'[inline];q.E.m': 1})

    def test_units_of_times(self):
        for flag, ns in (('t', 7000), ('n', 7), ('m', 7_000_000), ('', 7000)):
            c = j.Chunk(types={**j.TYPES, **j.EVENTS, 'jdk.ThreadSleep': [('startTime', 'long', 't'), ('duration', 'long', flag), ('eventThread', 'java.lang.Thread', 'p'), ('stackTrace', 'jdk.types.StackTrace', 'p')]})
            c.metadata().stacks().event('jdk.ThreadSleep', duration=7, eventThread=1, stackTrace=1)
            self.assertEqual(self.view('wall', c), {RUN + ';sleeping': ns}, flag)

    def test_a_time_that_is_none_counts_nothing(self):
        c = j.Chunk().metadata().stacks().event('jdk.JavaMonitorWait', duration=-1 << 63, eventThread=1, stackTrace=1, monitorClass=1).event(
            'jdk.JavaMonitorWait', duration=(1 << 63) - 1, eventThread=1, stackTrace=1, monitorClass=1)
        self.assertEqual(self.view('waits', c), {RUN + ';p.C': 2})

    def test_functions_have_no_class(self):
        c = j.Chunk().metadata().stacks().constants('jdk.types.Symbol', {50: {'string': '/usr/lib/libc.so.6'}}).constants('jdk.types.Method', {9: {'name': 50}})
        c.constants('jdk.types.StackTrace', {9: {'frames': [{'method': 9}, {'method': 1}]}}).event('jdk.ExecutionSample', sampledThread=1, stackTrace=9, state=1)
        self.assertEqual(self.view('samples', c), {'[main];p.C.main;/usr/lib/libc.so.6': 1})


class Chunks(Folder):
    def test_keys_hold_in_one_chunk(self):
        one, two = j.Chunk().metadata().stacks(), j.Chunk().metadata().stacks('q/', at=100)
        for c, n in ((one, 2), (two, 3)):
            for _ in range(n):
                c.event('jdk.ExecutionSample', sampledThread=1, stackTrace=1, state=1)
        self.assertEqual(self.view('samples', one.data() + two.data()), {RUN: 2, RUN.replace('p.', 'q.'): 3})

    def test_chunks_of_both_kinds_are_judged_together(self):
        one = j.Chunk().metadata().stacks().event('jdk.ExecutionSample', sampledThread=1, stackTrace=1, state=1)
        two = j.Chunk().metadata().stacks().event('jdk.CPUTimeSample', eventThread=1, stackTrace=2, samplingPeriod=1000)
        for data in (one.data() + two.data(), two.data() + one.data()):
            self.assertEqual(self.view('samples', data), {RUN + ';p.D.leaf': 1})
            self.assertEqual(self.view('execution_samples', data), {RUN: 1})

    def test_the_time_is_from_the_first_chunk_to_the_end_of_the_last(self):
        def chunk(s):
            return j.Chunk(start=j.START_NS + s * 10**9).metadata().stacks().event('jdk.ExecutionSample', sampledThread=1, stackTrace=1, state=1)
        self.assertEqual(self.facts(chunk(0).data() + chunk(100).data())[DURATION], [103_000_000_000])
        # of a chunk without a length its last event tells it
        c = j.Chunk().metadata().stacks().event('jdk.ThreadSleep', startTime=j.TICKS + 4_000_000, duration=500_000, eventThread=1, stackTrace=1)
        self.assertEqual(self.facts(c.data(size=0, duration_ns=0))[DURATION], [4_500_000_000])

    def test_metadata_and_constants_may_stand_anywhere_and_more_than_once(self):
        few = {**j.TYPES, 'jdk.ThreadPark': j.EVENTS['jdk.ThreadPark']}
        c = j.Chunk()
        c.event('jdk.ExecutionSample', sampledThread=1, stackTrace=1, state=1)
        c.types = few
        c.metadata()
        c.types = {**j.TYPES, **j.EVENTS}
        c.stacks().event('jdk.ExecutionSample', sampledThread=1, stackTrace=20, state=1).metadata()
        c.constants('jdk.types.StackTrace', {20: {'frames': [{'method': 1}]}, 1: {'frames': []}})  # the first of a key counts
        self.assertEqual(self.view('samples', c), {RUN: 1, '[main];p.C.main': 1})

    def test_gzip_and_other_commands(self):
        self.write(j.whole(), 'a.jfr')
        self.write(gzip.compress(j.whole().data()), 'b.jfr.gz')
        for words in (('view', 'a.jfr'), ('view', 'b.jfr.gz'), ('diff', 'a.jfr', 'b.jfr.gz'), ('merge', 'a.jfr', 'b.jfr.gz', 'ab.html'), ('convert', 'a.jfr', 'x.txt'), ('view', 'x.txt')):
            done = self.run_it(*words)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
        merged = self.run_it('merge', '--to', '.folded', 'a.jfr', 'b.jfr.gz', '-').stdout.decode()
        self.assertIn(RUN + ' 6\n', merged)
        self.assertIn('hprofx view', self.run_it('info', 'a.jfr').stdout.decode())

    def test_a_recording_in_which_nothing_happened(self):
        self.assertEqual(self.run_it('convert', self.write(j.Chunk().metadata().stacks()), 'x.folded').returncode, 0)


class Cut(Folder):
    def test_what_is_complete_is_read_of_a_file_that_is_cut_anywhere(self):
        data = j.whole().data()
        before = 0
        for n in list(range(4, len(data), 41)) + [len(data) - 1]:
            done = self.run_it('convert', '--view', 'samples', '--to', '.folded', self.write(data[:n]), '-')
            got = sum(int(line.rsplit(b' ', 1)[1]) for line in done.stdout.splitlines())
            self.assertIn(done.returncode, (1, 6), (n, done.stderr))
            self.assertTrue(b'cut off' in done.stderr or (b'no stacks' in done.stderr) or b'has no samples' in done.stderr, (n, done.stderr))
            self.assertGreaterEqual(got, before, n)
            before = got
        self.assertEqual(before, 7)

    def test_a_recording_that_is_still_being_written_says_so(self):
        for how in ({'size': 0}, {'state': 1}, {'state': 255}, {'size': 1 << 31}):
            self.assertEqual(self.view('native_samples', j.whole().data(**how), 6, CUT), {LEAF: 1})
        self.assertEqual(self.view('native_samples', j.whole().data() + b'more', 6, CUT), {LEAF: 1})
        self.assertEqual(self.view('native_samples', j.whole().data() + j.whole().data()[:-5], 6, CUT), {LEAF: 2})

    def test_without_metadata_nothing_can_be_read(self):
        late = j.Chunk().stacks().event('jdk.ExecutionSample', sampledThread=1, stackTrace=1, state=1)
        self.fails(late.data(size=0), 'cut off before its metadata')
        self.fails(late, 'has no metadata')
        self.assertEqual(self.view('native_samples', j.whole().data() + late.data(size=0), 6, 'the events of the last chunk cannot be read'), {LEAF: 1})

    def test_other_versions_are_named(self):
        self.fails(j.whole(version=(0, 9)), 'version 0.9')
        self.fails(j.whole(version=(3, 0)), 'version 3.0')


class Hostile(Folder):
    """Files that were made to harm: the reader ends soon, with little memory, and says what is wrong."""

    def harmless(self, data):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
        sanitized = b'__asan_' in pathlib.Path(PROGRAM).read_bytes()  # which reserves addresses
        done = self.run_it('convert', '--view', 'samples', '--to', '.folded', self.write(data), '-', **({} if sanitized else {'preexec_fn': limit}))
        self.assertIn(done.returncode, (0, 1, 6), done.stderr)
        return done

    def test_a_string_that_is_itself(self):
        c = j.Chunk().metadata().stacks().constants('java.lang.String', {5: j.Text(6, j.CONSTANT), 6: j.Text(5, j.CONSTANT)})
        c.constants('java.lang.Thread', {9: {'javaName': j.Text(5, j.CONSTANT), 'osName': 'os'}}).event('jdk.ExecutionSample', sampledThread=9, stackTrace=1, state=1)
        self.assertEqual(self.view('samples', c), {RUN.replace('main]', 'os]'): 1})

    def test_constants_that_name_each_other(self):
        types = {**j.TYPES, **j.EVENTS, 'jdk.types.Symbol': [('string', 'jdk.types.Symbol', 'p')]}
        c = j.Chunk(types=types).metadata().constants('jdk.types.Symbol', {1: {'string': 2}, 2: {'string': 1}}).constants('java.lang.Class', {1: {'name': 1}})
        c.constants('jdk.types.Method', {1: {'type': 1, 'name': 2}}).constants('jdk.types.StackTrace', {1: {'frames': [{'method': 1}]}})
        c.event('jdk.ExecutionSample', stackTrace=1)
        self.assertEqual(self.view('samples', c), {'?': 1})

    def test_a_type_within_itself(self):
        types = {**j.TYPES, **j.EVENTS, 'jdk.types.Symbol': [('string', 'jdk.types.Symbol', '')]}
        c = j.Chunk(types=types).metadata()
        body = b''.join(c.integer(0, 8) for _ in range(3)) + b'\0' + c.integer(1, 4) + c.integer(c.ids['jdk.types.Symbol'], 8) + c.integer(1, 4) + c.integer(1, 8) + bytes(50)
        done = self.harmless(c.raw(c.record(1, body)).event('jdk.ExecutionSample'))
        self.assertIn(b'constants', done.stderr)

    def test_many_values_of_no_bytes(self):
        layers = {'t.L0': []}
        for i in range(1, 12):
            layers['t.L%d' % i] = [('f%d' % k, 't.L%d' % (i - 1), '') for k in range(40)]
        types = {**j.TYPES, **j.EVENTS, **layers, 'jdk.ExecutionSample': [('a', 't.L11', ''), ('b', 't.L0', 'a')] + j.EVENTS['jdk.ExecutionSample']}
        c = j.Chunk(types=types).metadata().stacks()
        c.raw(c.record(c.ids['jdk.ExecutionSample'], c.integer(1 << 31, 4) + bytes(20)))
        self.assertIn(b'beyond all bounds', self.harmless(c).stderr)
        types['jdk.ExecutionSample'] = [('b', 't.L0', 'a')] + j.EVENTS['jdk.ExecutionSample']
        c = j.Chunk(types=types).metadata().stacks()
        c.raw(c.record(c.ids['jdk.ExecutionSample'], c.integer((1 << 32) - 1, 4) + bytes(20)))
        self.assertIn(b'beyond all bounds', self.harmless(c).stderr)

    def test_many_chunks_of_values_of_no_bytes(self):
        types = {'java.lang.String': [], 'long': [], 't.L0': [], 'jdk.ExecutionSample': [('b', 't.L0', 'a')]}
        c = j.Chunk(types=types).metadata()
        c.raw(c.record(c.ids['jdk.ExecutionSample'], c.integer(1000000, 4)))
        self.harmless(c.data() * 5000)

    def test_long_names_in_place_of_keys(self):
        types = {**j.TYPES, **j.EVENTS}
        types['jdk.types.StackFrame'] = [('method', 'jdk.types.Method', '')]
        types['jdk.types.Method'] = [('type', 'java.lang.Class', 'p'), ('name', 'jdk.types.Symbol', 'p')]
        c = j.Chunk(types=types).metadata().constants('jdk.types.Symbol', {1: {'string': 'x' * 4100}}).constants('java.lang.Class', {1: {'name': 1}})
        for k in range(3):
            c.constants('jdk.types.StackTrace', {k: {'frames': [{'method': {'type': 1, 'name': 1}}] * 60000}}).event('jdk.ExecutionSample', stackTrace=k)
        done = self.harmless(c)
        self.assertEqual(done.returncode, 6)
        self.assertIn(b'beyond all bounds', done.stderr)

    def test_numbers_that_are_too_large(self):
        c = j.Chunk()
        for body in (c.integer((1 << 32) - 1, 4), c.integer(1, 4) + b'\3' + c.integer((1 << 32) - 1, 4), c.integer(1, 4) + b'\4' + c.integer((1 << 32) - 1, 4), c.integer(1, 4) + b'\2' + c.integer(1, 8)):
            d = j.Chunk().raw(c.record(0, bytes(3) + body))
            self.assertEqual(self.harmless(d).returncode, 1)
        deep = c.integer(1, 4) + c.string('class') + (c.integer(0, 4) + c.integer(0, 4) + c.integer(1, 4)) * 5000
        self.assertEqual(self.harmless(j.Chunk().raw(c.record(0, bytes(3) + deep))).returncode, 1)
        for size in (1, 67, 1 << 40, (1 << 64) - 1):
            self.assertEqual(self.harmless(j.whole().data(size=size)).returncode, 1, size)
        for at, width in ((48, 8), (56, 8), (32, 8), (40, 8)):
            for value in (0, 1, (1 << 63), (1 << 64) - 1):
                data = bytearray(j.whole().data())
                data[at:at + width] = struct.pack('>Q', value)
                self.assertEqual(self.harmless(bytes(data)).returncode, 0, (at, value))

    def test_a_class_within_a_field(self):
        c = j.Chunk()
        words = ['root', 'class', 'field', 'annotation', 'value', 'TICKS', 'id', '7']

        def element(name, attributes, *children):
            return c.integer(words.index(name), 4) + c.integer(len(attributes), 4) + b''.join(c.integer(words.index(w), 4) for a in attributes for w in a) + c.integer(len(children), 4) + b''.join(children)
        tree = element('root', [], element('class', [], element('field', [], element('class', [('id', '7')]), element('annotation', [('value', 'TICKS')]))))
        c.raw(c.record(0, bytes(3) + c.integer(len(words), 4) + b''.join(c.string(w) for w in words) + tree))
        self.assertEqual(self.harmless(c).returncode, 0)

    def test_events_of_no_size(self):
        for junk in (bytes(4), b'\1', b'\x84\x80\x80\x00', b'\xff' * 12):
            done = self.harmless(j.Chunk().metadata().stacks().event('jdk.ExecutionSample', sampledThread=1, stackTrace=1).raw(junk).event('jdk.ExecutionSample'))
            self.assertEqual((done.returncode, done.stdout), (6, (RUN + ' 1\n').encode()), junk)

    def test_a_small_file_that_needs_much_memory_is_refused(self):
        c = j.Chunk().metadata().stacks()
        c.constants('jdk.types.StackTrace', {k: {'frames': [{'method': 1, 'lineNumber': k * 1000 + i} for i in range(200)]} for k in range(10, 200)})
        for k in range(10, 200):
            c.event('jdk.ExecutionSample', sampledThread=1, stackTrace=k)
        self.write(c)
        done = subprocess.run([PROGRAM, 'convert', 'x.jfr', 'x.folded'], cwd=self.folder, capture_output=True, env={'HPROFX_MEMORY': '1m'}, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b'HPROFX_MEMORY', done.stderr)


if __name__ == '__main__':
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
