#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every format that hprofx converts to, read back: all values of all stacks are those of the source, whoever reads.

python3 -m unittest discover -s tests/formats. HPX_BUILD=FOLDER: another build than build/. If a program is not installed (tests/formats/readers), its tests are
skipped; what Python reads by itself is always tested. The real profile is one of javac, and needs a JDK 17."""
import collections
import fractions
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import files  # noqa: E402
import programs  # noqa: E402
import source  # noqa: E402

sys.path.insert(0, str(source.ROOT / 'tests' / 'read'))
import jfr_files  # noqa: E402

BUILD = pathlib.Path(os.environ.get('HPX_BUILD', source.ROOT / 'build')).resolve()
HPROFX = BUILD / 'hprofx'
NO_STACK = '[no stack]'
UNITS = {'samples': 'count', 'cpu': 'nanoseconds', 'wall': 'nanoseconds', 'alloc_objects': 'count', 'alloc_space': 'bytes', 'inuse_objects': 'count', 'inuse_space': 'bytes',
         'contentions': 'count', 'delay': 'nanoseconds'}
TITLES = {'samples': 'CPU: samples', 'cpu': 'CPU: CPU time', 'wall': 'Wall clock: time', 'alloc_objects': 'Allocations: allocated objects', 'alloc_space': 'Allocations: allocated bytes',
          'inuse_objects': 'Allocations: live objects', 'inuse_space': 'Allocations: live bytes', 'contentions': 'Monitors: contentions', 'delay': 'Monitors: blocked time'}
MAIN = ('samples', 'wall', 'alloc_space', 'delay')
JAVAC = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']


def named(stacks):
    """A stack without frames as formats show it that have none."""
    out = collections.Counter()
    for names, value in stacks.items():
        out[names or (NO_STACK,)] += value
    return out


def as_folded(stacks):
    """What write_folded.c does to names."""
    out = collections.Counter()
    for names, value in named(stacks).items():
        if names != (NO_STACK,):
            head, blank, last = names[-1].rpartition(' ')
            if names[0] == '#' or names[0].startswith('# '):
                names = ('\\' + names[0],) + names[1:]
            names = names[:-1] + ((head + '_' + last) if blank and all(c in '0123456789.' for c in last) else names[-1],)
        out[tuple(n.replace(';', ',') for n in names)] += value
    return out


def told(column):
    """A column of a format with threads, sources and lines, but none with stacks of no frames."""
    return collections.Counter({(thread, frames or ((NO_STACK, '', 0),)): value for (thread, frames), value in column.items()})


class Case(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix='hprofx-formats-')
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.made = {}

    def converted(self, name, suffix, *options):
        """The path of a source as a file of this format."""
        out = self.folder / ('%s%s%s' % (name, '-'.join(options), suffix))
        if out not in self.made:
            self.made[out] = subprocess.run([HPROFX, 'convert', *options, self.path(name), out], capture_output=True, text=True, timeout=programs.LIMIT, check=False)
        done = self.made[out]
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        return out

    def path(self, name):
        path = self.folder / name
        if not path.exists():
            path.write_bytes(self.source(name).data)
        return path

    sources = {}

    def source(self, name):
        if name not in self.sources:
            made = {'everything.txt': source.everything, 'plain.folded': source.folded, 'javac.txt': self.javac}[name]()
            self.sources[name] = made
        return self.sources[name]

    def javac(self):
        """A profile of javac. It compiles two sources of the tests; one lacks its library, so javac's status is 1. The stacks are whole: the engine of the Firefox
        Profiler shows at most 100 callees of a frame, and a thread has many more outermost frames where stacks are cut."""
        found = programs.jdk17()
        if not found or not (BUILD / 'agent' / 'libhprofx.so').exists():
            self.skipTest('no JDK 17, or no agent in the build')
        out = self.folder / 'javac-profile'
        options = 'cpu=samples,interval=1,thread=y,depth=128,verbose=n,force=y,file=%s' % out
        subprocess.run([found + '/bin/java', *JAVAC, '-agentpath:%s=%s' % (BUILD / 'agent' / 'libhprofx.so', options), '-m', 'jdk.compiler/com.sun.tools.javac.Main', '-nowarn',
                        '-d', self.folder, *(source.ROOT / 'tests' / 'bci').glob('AsmCheck.java'), *(source.ROOT / 'tests' / 'format' / 'heap').glob('Dump.java')],
                       cwd=self.folder, capture_output=True, timeout=programs.LIMIT, check=False)
        profile = source.real(out.read_bytes(), 1)
        self.assertGreater(len(profile.columns['samples']), 20, 'stacks of javac')
        return profile

    def program(self, call, *arguments):
        try:
            return call(*arguments)
        except programs.NotAvailable as e:
            return self.skipTest(str(e))


class Values(Case):
    """The source with all that is odd, read by Python alone."""
    name = 'everything.txt'

    def test_collapsed_stacks_have_each_measure(self):
        for measure in UNITS:
            got = files.folded(self.converted(self.name, '.folded', '--view', measure).read_bytes())
            self.assertEqual(got, as_folded(self.source(self.name).rooted(measure)), measure)

    def test_pprof_has_all_measures_with_threads_sources_and_lines(self):
        got = files.pprof(self.converted(self.name, '.pb.gz').read_bytes())
        self.assertEqual({m: u for m, (u, _) in got.items()}, UNITS)
        for measure in UNITS:
            self.assertEqual(got[measure][1], told(self.source(self.name).columns[measure]), measure)

    def test_the_first_measure_of_pprof_is_the_one_asked_for(self):
        data = self.converted(self.name, '.pb.gz', '--view', 'alloc').read_bytes()
        m = files.message(files.gzip.decompress(data))
        self.assertEqual(m[6][files.one(m, 14)], b'alloc_space')

    def test_speedscope_has_all_measures(self):
        got = files.speedscope(self.converted(self.name, '.speedscope.json').read_bytes())
        self.assertEqual(set(got), set(TITLES.values()))
        for measure, unit in UNITS.items():
            self.assertEqual(got[TITLES[measure]], ('none' if unit == 'count' else unit, named(self.source(self.name).rooted(measure))), measure)

    def test_the_first_profile_of_speedscope_is_the_one_asked_for(self):
        for view, measure in (('CPU time', 'cpu'), ('samples', 'samples'), ('lock', 'delay'), ('inuse_objects', 'inuse_objects')):
            got = files.speedscope(self.converted(self.name, '.speedscope.json', '--view', view).read_bytes())
            self.assertEqual(next(iter(got)), TITLES[measure])

    def check_firefox(self, measures, *options):
        got = files.firefox(self.converted(self.name, '.firefox.json', *options).read_bytes())
        self.assertEqual(list(got), [TITLES[m] for m in measures])
        for measure in measures:
            want = told(self.source(self.name).columns[measure])
            kind, factor = {'count': ('samples', 1), 'nanoseconds': ('tracing-ms', 1000000), 'bytes': ('bytes', 1)}[UNITS[measure]]
            self.assertEqual(got[TITLES[measure]], (kind, {k: fractions.Fraction(v, factor) for k, v in want.items()}), measure)

    def test_firefox_has_the_main_measures_with_threads_sources_and_lines(self):
        self.check_firefox(MAIN)

    def test_firefox_has_the_measure_asked_for_first_and_in_the_place_of_its_main_one(self):
        self.check_firefox(('contentions', 'samples', 'wall', 'alloc_space'), '--view', 'contentions')

    def test_pprof_read_again_is_the_same(self):
        again = self.folder / 'again.pb.gz'
        subprocess.run([HPROFX, 'convert', self.converted(self.name, '.pb.gz'), again], check=True, timeout=programs.LIMIT)
        self.assertEqual(files.pprof(again.read_bytes()), files.pprof(self.converted(self.name, '.pb.gz').read_bytes()))

    def test_two_files_added_are_twice_one(self):
        twice = self.folder / 'twice.pb.gz'
        subprocess.run([HPROFX, 'merge', self.path(self.name), self.converted(self.name, '.pb.gz'), twice], check=True, timeout=programs.LIMIT)
        for measure, (_, column) in files.pprof(twice.read_bytes()).items():
            self.assertEqual(column, {k: 2 * v for k, v in told(self.source(self.name).columns[measure]).items()}, measure)

    def test_json_has_no_tag_of_html(self):
        for suffix in ('.speedscope.json', '.firefox.json'):
            self.assertNotIn(b'<', self.converted('plain.folded', suffix).read_bytes())

    def test_a_file_that_differs_is_seen(self):
        wrong = files.folded(self.converted(self.name, '.folded').read_bytes().replace(b' 43\n', b' 44\n'))
        self.assertNotEqual(wrong, as_folded(self.source(self.name).rooted('samples')))


class FoldedValues(Case):
    """Names that only collapsed stacks can have."""

    def test_all_formats_have_the_stacks(self):
        want = self.source('plain.folded').stacks('samples')
        self.assertEqual(files.folded(self.converted('plain.folded', '.folded').read_bytes()), want)
        self.assertEqual(files.pprof(self.converted('plain.folded', '.pb.gz').read_bytes())['samples'][1], self.source('plain.folded').columns['samples'])
        self.assertEqual(files.speedscope(self.converted('plain.folded', '.speedscope.json').read_bytes()), {'CPU: samples': ('none', want)})
        got = files.firefox(self.converted('plain.folded', '.firefox.json').read_bytes())
        self.assertEqual(got['CPU: samples'][1], {('all threads', tuple((n, '', 0) for n in names)): v for names, v in want.items()})


class GoPprof(Case):
    def raw(self, name):
        got = self.program(programs.pprof_raw, self.converted(name, '.pb.gz'))
        for measure, column in self.source(name).columns.items():
            self.assertEqual(got[measure], (UNITS[measure], told(column)), measure)

    def test_raw_has_every_stack(self):
        self.raw('everything.txt')

    def test_raw_has_every_stack_of_a_real_profile(self):
        self.raw('javac.txt')

    def test_top_has_every_method(self):
        for name in ('everything.txt', 'javac.txt'):
            want = collections.Counter()
            for names, value in self.source(name).stacks('samples').items():
                want[names[-1] if names else NO_STACK] += value
            self.assertEqual(self.program(programs.pprof_top, self.converted(name, '.pb.gz'), 'samples'), want)


class Speedscope(Case):
    def test_its_own_format_pprof_and_collapsed_stacks(self):
        for name in ('everything.txt', 'plain.folded', 'javac.txt'):
            own, pprof, folded = self.program(programs.speedscope, *(self.converted(name, s) for s in ('.speedscope.json', '.pb.gz', '.folded')))
            stacks, roots = self.source(name).stacks('samples'), self.source(name).rooted('samples')
            for measure in self.source(name).columns:
                unit = UNITS[measure]
                self.assertEqual(own[TITLES[measure]], ('none' if unit == 'count' else unit, named(self.source(name).rooted(measure))), measure)
            self.assertEqual([s for _, s in pprof.values()], [named(stacks)])
            self.assertEqual([s for _, s in folded.values()], [as_folded(roots)])


class FirefoxProfiler(Case):
    def test_its_own_format(self):
        for name in ('everything.txt', 'plain.folded', 'javac.txt'):
            measures = [m for m in MAIN if m in self.source(name).columns]
            got = collections.defaultdict(collections.Counter)

            def read(file=self.converted(name, '.firefox.json')):
                with programs.Engine(file, self.folder) as engine:
                    for handle, process, thread in engine.threads():
                        kind, stacks = engine.stacks(handle)
                        for names, value in stacks.items():
                            got[process, kind][thread, names] += value
            self.program(read)
            want = collections.defaultdict(collections.Counter)
            for measure in measures:
                kind = {'count': 'samples', 'nanoseconds': 'tracing-ms', 'bytes': 'bytes'}[UNITS[measure]]
                for (thread, frames), value in self.source(name).columns[measure].items():
                    want[TITLES[measure], kind][thread or 'all threads', tuple(n for n, _, _ in frames) or (NO_STACK,)] += value / 1e6 if kind == 'tracing-ms' else value
            self.assertEqual(got, want, name)

    def test_collections_are_markers(self):
        """Of the first thread of each process; with the name of the collector where it is told."""
        made = jfr_files.whole()
        made.constants('jdk.types.GCName', {1: {'name': 'G1 "New" </script>'}})
        for name in (0, 1):
            made.event('jdk.GarbageCollection', startTime=jfr_files.TICKS + (1 + name) * jfr_files.FREQUENCY, duration=jfr_files.FREQUENCY // 4, gcId=name, name=name, longest=1.0)
        made.event('jdk.ExecutionSample', startTime=jfr_files.TICKS + 3 * jfr_files.FREQUENCY, sampledThread=1, stackTrace=1, state=1)  # it shows what is between samples
        (self.folder / 'collections.jfr').write_bytes(made.data())
        file = self.folder / 'collections.firefox.json'
        subprocess.run([HPROFX, 'convert', self.folder / 'collections.jfr', file], check=True, timeout=programs.LIMIT)
        self.assertNotIn(b'<', file.read_bytes())
        files.firefox(file.read_bytes())

        def read():
            with programs.Engine(file, self.folder) as engine:
                return [(process, [m for m in engine.markers(handle) if m[3] > 1]) for handle, process, _ in engine.threads()]
        seen = set()
        for process, markers in self.program(read):
            self.assertEqual(markers, [('GC pause', 'GC', 1000, 250, {}), ('GC pause', 'GC', 2000, 250, {'collector': 'G1 "New" </script>'})] if process not in seen else [])
            seen.add(process)
        self.assertGreater(len(seen), 1)

    def test_collapsed_stacks(self):
        def read(): # it makes a sample of each count, so the others are too many
            with programs.Engine(self.converted('javac.txt', '.folded'), self.folder) as engine:
                return [engine.stacks(handle)[1] for handle, _, _ in engine.threads()]
        self.assertEqual(self.program(read), [as_folded(self.source('javac.txt').rooted('samples'))])


class Otlp(Case):
    def test_protoc_reads_the_tables_and_every_value(self):
        for name in ('everything.txt', 'plain.folded', 'javac.txt'):
            got, facts = self.program(programs.otlp, self.converted(name, '.otlp'))
            self.assertEqual(set(got), set(self.source(name).columns))
            for measure, column in self.source(name).columns.items():
                self.assertEqual(got[measure], (UNITS[measure], column), measure)
        _, facts = self.program(programs.otlp, self.converted('everything.txt', '.otlp'))
        self.assertEqual(facts, {'hprofx.lost': '3 samples', 'hprofx.own': '5 ms </script>'})

    def test_it_is_a_request_for_a_collector_too(self):
        got, _ = self.program(programs.otlp, self.converted('everything.txt', '.otlp'), 'opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest')
        self.assertEqual(got['samples'][1], self.source('everything.txt').columns['samples'])


class MissionControl(Case):
    def test_it_reads_every_event_and_has_nothing_to_say(self):
        column = self.source('javac.txt').column('samples', source=False)
        rows, said = self.program(programs.jmc, self.converted('javac.txt', '.jfr'))
        self.assertEqual(said, '')
        for kind in ('jdk.ExecutionSample', 'jdk.CPUTimeSample'):
            got = collections.Counter((thread, tuple((name, '', line) for name, line in frames)) for of, thread, _, frames in rows if of == kind)
            self.assertEqual(got, column, kind)

    def test_events_of_every_kind(self):
        made = jfr_files.cpu_time()
        made.event('jdk.GCPhasePause', duration=9, gcId=-1, name='GC Pause')
        (self.folder / 'kinds').write_bytes(made.data() + made.data())
        file = self.folder / 'kinds.jfr'
        subprocess.run([HPROFX, 'convert', self.folder / 'kinds', file], capture_output=True, timeout=programs.LIMIT, check=True)
        rows, said = self.program(programs.jmc, file)
        self.assertEqual(said, '')
        shown = json.loads(subprocess.run([HPROFX, 'view', '--json', file], capture_output=True, timeout=programs.LIMIT, check=True).stdout)
        totals = {m['name']: m['total'] for v in shown['views'] for m in v['measures']}
        count, ns = collections.Counter(r[0] for r in rows), collections.Counter()
        for kind, _, length, _ in rows:
            ns[kind] += length
        for kind, measure, length in (('jdk.CPUTimeSample', 'samples', None), ('jdk.JavaMonitorEnter', 'contentions', 'delay'), ('jdk.JavaMonitorWait', 'waits', 'wait_delay'), ('jdk.ThreadPark', 'parks', 'park_delay'),
                                      ('hprofx.WallClock', None, 'wall')):
            self.assertTrue(measure is None or count[kind] == totals[measure] > 0, (kind, count, totals))
            self.assertTrue(length is None or ns[kind] == totals[length] > 0, (kind, ns, totals))
        self.assertEqual((count['jdk.GCPhasePause'], count['jdk.ObjectAllocationSample']), (2, 4))


if __name__ == '__main__':
    unittest.main()
