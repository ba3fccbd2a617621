#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_convert HPROFX [unittest arguments]: hprofx convert and merge from outside: files of the original agent value by value, round trips,
what it refuses, and what a failure leaves."""
import collections
import gzip
import json
import os
import pathlib
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'read'))
import hprof_files as h  # noqa: E402
import hprof_stacks  # noqa: E402

PROGRAM = None
GOLDEN = HERE.parent / 'read' / 'golden'
NO_PROFILE = {'force-n'}  # as in test_read.py
FOLDED = 'main;p.C.m 3\nmain;p.C.m;p.D.n 4\nmain 1\n'


def folded(text):
    found = collections.Counter()
    for line in text.splitlines():
        stack, value = line.rsplit(' ', 1)
        found[stack] += int(value)
    return found


def bare(stacks):
    """The same without the threads at the root."""
    return sum((collections.Counter({re.sub(r'^\[(?!rest\])[^;]*\];', '', stack): n}) for stack, n in stacks.items()), collections.Counter())


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, data, name='in'):
        path = self.folder / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def run_it(self, *arguments, **how):
        how.setdefault('stdin', subprocess.DEVNULL)
        if 'input' in how:
            del how['stdin']
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, check=False, **how)

    def done(self, *arguments, status=0, said='', **how):
        """Standard output of a run that ends so; said: what stderr is, or a part of it."""
        done = self.run_it(*arguments, **how)
        self.assertEqual(done.returncode, status, done.stderr)
        error = done.stderr.decode()
        (self.assertIn if said else self.assertEqual)(said, error)
        return done.stdout.decode()


class Values(Folder):
    def files(self):
        for path in sorted(GOLDEN.glob('*/*.gz')):
            if path.parent.name not in NO_PROFILE:
                yield path

    def test_every_value_of_the_original_agents_files_is_there_also_through_pprof(self):
        measures = collections.Counter()
        for path in self.files():
            stacks = hprof_stacks.Stacks(gzip.decompress(path.read_bytes())).found
            wanted = {measure: +values for measure, values in stacks.items() if +values}
            if not wanted:
                continue
            with self.subTest(str(path.relative_to(GOLDEN))):
                pprof = self.folder / 'x.pb.gz'
                self.done('convert', path, pprof)
                for measure, values in wanted.items():
                    measures[measure] += 1
                    for file in (path, pprof):
                        self.assertEqual(bare(folded(self.done('convert', '--view', measure, '--to', '.folded', file, '-'))), values, measure)
        for measure, least in (('samples', 10), ('calls', 5), ('time', 5), ('alloc_space', 10), ('inuse_objects', 10), ('heap_space', 2), ('delay', 1)):
            self.assertGreaterEqual(measures[measure], least, measure)

    def test_small_files_of_both_formats_have_their_values(self):
        for pieces in (h.text(), h.times(), h.old(), h.old().drop('report'), h.binary(), h.binary(4, 1), h.binary(8, 1), h.binary(4, 2)):
            data = pieces.data()
            with self.subTest(data[:30]):
                path = self.write(data)
                for measure, wanted in hprof_stacks.Stacks(data).found.items():
                    if +wanted:
                        self.assertEqual(bare(folded(self.done('convert', '--view', measure, '--to', '.folded', path, '-'))), +wanted, measure)

    def test_classes_of_objects_are_classes_still_in_pprof(self):
        stacks = 'TRACE 300001:\n\tA.m(A.java:1)\n'
        sites = ('SITES BEGIN (ordered by live bytes) Thu Jan  1 00:00:00 1970\n          percent          live          alloc\'ed  stack class\n'
                 ' rank   self  accum     bytes objs     bytes  objs trace name\n    1 100.00% 100.00%        64    1        72     2 300001 B\nSITES END\n')
        self.done('convert', self.write(stacks + sites), 'x.pb.gz')
        shown = self.done('view', 'in')
        self.assertRegex(shown, r'class\n +100.00% .* B\n')
        self.assertEqual(self.done('view', 'x.pb.gz'), shown.split('\n\n', 1)[1])
        self.done('convert', self.write('main;A.m 1\n'), 'y.pb.gz')  # has no objects
        self.assertNotIn(b'their classes', gzip.decompress((self.folder / 'y.pb.gz').read_bytes()))

    def test_gzip_is_read(self):
        self.assertEqual(self.done('convert', '--to', '.folded', self.write(gzip.compress(FOLDED.encode())), '-'), 'main 1\nmain;p.C.m 3\nmain;p.C.m;p.D.n 4\n')

    def test_merge_adds(self):
        one, two = self.write(FOLDED, 'one'), self.write('main;p.C.m 10\nother 5\n', 'two')
        wanted = folded(FOLDED) + folded('main;p.C.m 10\nother 5\n')
        self.assertEqual(folded(self.done('merge', '--to', '.folded', one, two, '-')), wanted)
        self.done('merge', one, two, 'x.pb.gz')
        self.assertEqual(folded(self.done('merge', '--to', '.folded', 'x.pb.gz', one, '-')), wanted + folded(FOLDED))
        twice = self.done('merge', '--to', '.folded', self.write(h.text().data(), 'text'), 'text', '-')
        once = self.done('convert', '--to', '.folded', 'text', '-')
        self.assertEqual(folded(twice), folded(once) + folded(once))

    def test_one_file_may_be_merged_too(self):
        self.assertEqual(folded(self.done('merge', '--to', '.folded', self.write(FOLDED), '-')), folded(FOLDED))


class Losses(Folder):
    """What the output cannot hold is told, and is not asked for in vain."""

    def test_a_heap_beside_allocations_is_told(self):
        stacks = 'TRACE 300001:\n\tA.m(A.java:1)\n'
        sites = ('SITES BEGIN (ordered by live bytes) Thu Jan  1 00:00:00 1970\n          percent          live          alloc\'ed  stack class\n'
                 ' rank   self  accum     bytes objs     bytes  objs trace name\n    1 100.00% 100.00%        64    1        72     2 300001 A\nSITES END\n')
        heap = ('HEAP DUMP BEGIN (1 objects, 16 bytes) Thu Jan  1 00:00:00 1970\nCLS 52 (name=A, trace=300000)\n\tsuper\t\t51\n'
                'OBJ 61 (sz=16, trace=300001, class=A@52)\nHEAP DUMP END\n')
        both = self.write(stacks + heap + sites)
        self.done('convert', both, 'x.txt', said='x.txt is without Heap beside Allocations')
        self.assertEqual(self.done('convert', '--view', 'alloc', '--to', '.folded', 'x.txt', '-'), 'A.m;A 72\n')
        self.done('convert', '--view', 'heap', both, 'y.txt', status=1, said='y.txt cannot be written')
        self.done('convert', self.write(stacks + heap), 'z.txt')
        self.assertEqual(self.done('convert', '--to', '.folded', 'z.txt', '-'), 'A.m;A 16\n')

    def test_CPU_time_without_samples_is_no_HPROF(self):
        profile = b'\x0a\x04\x08\x01\x10\x02' + b'\x12\x06\x0a\x01\x01\x12\x01\x07' + b'\x22\x02\x08\x01' + b'2\x00' + b'2\x03cpu' + b'2\x0bnanoseconds'
        self.assertEqual(self.done('convert', '--to', '.folded', self.write(profile), '-'), '0x0 7\n')
        self.done('convert', 'in', 'x.txt', status=1, said='does not hold CPU time without a number of samples')
        self.assertEqual(os.listdir(self.folder), ['in'])

    def test_sentences_about_one_file_are_not_those_of_several(self):
        self.write(h.text().data())
        self.done('convert', 'in', 'one.firefox.json')
        self.done('merge', 'in', 'in', 'two.firefox.json')
        self.assertEqual(['"verdict"' in (self.folder / file).read_text() for file in ('one.firefox.json', 'two.firefox.json')], [True, False])


class Kinds(Folder):
    """What a file is shows in its bytes; what hprofx does not read is refused, and named if it has a name."""

    def test_kinds_that_are_not_read_are_named(self):
        self.done('convert', self.write(FOLDED), 'own.otlp')
        self.done('convert', 'in', 'own.html')
        self.done('convert', 'in', 'own.speedscope.json')
        for name, data, named in (
                ('own.otlp', None, 'OpenTelemetry'), ('own.html', None, 'a page'), ('own.speedscope.json', None, 'speedscope'),
                ('x.jar', b'PK\3\4' + bytes(60), 'zip or jar'), ('perf.data', b'PERFILE2' + bytes(60), 'perf script'), ('x.zst', b'\x28\xb5\x2f\xfd' + bytes(60), 'zstd'),
                ('gc.log', b'[0.005s][info][gc] Using G1\n[0.2s][info][gc] Heap 12\n', 'log of the JVM'), ('x.svg', b'<svg width="1">\n', 'picture')):
            if data is not None:
                self.write(data, name)
            for packed in (False, True):
                if packed:
                    (self.folder / name).write_bytes(gzip.compress((self.folder / name).read_bytes()))
                self.done('convert', name, 'x.folded', status=1, said=named)
                self.done('view', name, status=1, said=named)
            self.assertIn(named, self.run_it('info', name).stdout.decode(), name)
        self.assertFalse((self.folder / 'x.folded').exists())

    def test_lines_of_a_log_are_no_samples(self):
        log = '2026-11-27 18:30:01 INFO request served in 12\n2026-11-27 18:30:02 WARN queue; length is 17\nException in thread main\n' * 3
        for data in (log, 'worker finished job 12\nworker began job 13\n', '"main" prio=5 tid=0x1 nid=12\n   java.lang.Thread.State: RUNNABLE\n\tat A.b(A.java:1)\n'):
            self.done('convert', self.write(data), 'x.folded', status=1, said='neither HPROF, nor pprof, nor collapsed stacks')
        for data in ('main 12\n', 'void f(int, char) 3\n', '[main tid=17];p.C.m 4\n', 'pool thread 1;p.C.m 4\n', FOLDED + 'worker finished job 12\n', '{lambda(int)#1}::operator();x 3\n'):
            self.done('convert', '--to', '.folded', self.write(data), '-')

    def test_two_counts_are_refused(self):
        self.done('convert', self.write('a;b 10 12\na;c 3 4\n'), 'x.folded', status=1, said='two counts')
        self.assertEqual(self.done('convert', '--to', '.folded', self.write('a;b 10\na;c 3 4\n'), '-', status=6, said='line 2'), 'a;b 10\n')

    def test_kinds_of_frames_of_async_profiler_are_no_part_of_names(self):
        stacks = ''.join('java/lang/Thread.run_[%s];p/C.m_[%s];vfs_read_[k] 1\n' % (a, b) for a in 'ji01' for b in 'ji01')
        self.assertEqual(self.done('convert', '--to', '.folded', self.write(stacks), '-'), 'java.lang.Thread.run;p.C.m;vfs_read 16\n')
        self.assertEqual(self.done('convert', '--to', '.folded', self.write('a_[x];b_[] 1\n'), '-'), 'a_[x];b_[] 1\n')


class Threads(Folder):
    PROFILE = ('JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nwords\n--------\n\nTHREAD START (obj=1, id = 200001, name="main", group="main")\n'
               'THREAD START (obj=2, id = 200002, name="pool-1 thread 2", group="main")\nTRACE 300001: (thread=200001)\n\tp.C.m(C.java:1)\n\tp.C.main(C.java:2)\n'
               'TRACE 300002: (thread=200002)\n\tp.C.m(C.java:1)\n\tp.C.main(C.java:2)\nTRACE 300003: (thread=200002)\n\t<empty>\n'
               'CPU SAMPLES BEGIN (total = 10) Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n   1 50.00% 50.00%       5 300001 p.C.m\n'
               '   2 30.00% 80.00%       3 300002 p.C.m\n   3 20.00% 100.00%       2 300003 <empty trace>\nCPU SAMPLES END\n')
    WANTED = {'[main];p.C.main;p.C.m': 5, '[pool-1 thread 2];p.C.main;p.C.m': 3, '[pool-1 thread 2]': 2}

    def test_where_a_format_has_no_threads_they_are_roots(self):
        self.write(self.PROFILE)
        for name in ('x.folded', 'x.collapsed'):
            self.done('convert', 'in', name)
            self.assertEqual(folded((self.folder / name).read_text()), self.WANTED)
        self.assertEqual(folded(self.done('convert', '--to', '.folded', 'x.folded', '-')), self.WANTED)
        self.done('convert', 'in', 'x.speedscope.json')
        made = json.loads((self.folder / 'x.speedscope.json').read_text())
        frames = [f['name'] for f in made['shared']['frames']]
        one = made['profiles'][0]
        self.assertEqual({';'.join(frames[i] for i in stack): n for stack, n in zip(one['samples'], one['weights'])}, self.WANTED)

    def test_other_formats_keep_them_apart(self):
        self.write(self.PROFILE)
        for name in ('x.pb.gz', 'x.txt'):
            self.done('convert', 'in', name)
            self.assertEqual(folded(self.done('convert', '--to', '.folded', name, '-')), self.WANTED, name)
        self.assertNotIn('[main]', self.done('view', 'in'))


class Suffixes(Folder):
    """One table, for convert, view, run and what is attached to; what a suffix is not, is refused before work begins."""

    def test_unknown_suffixes_are_refused_with_the_nearest(self):
        self.write(FOLDED)
        for name, nearest in (('x.svg', '.html'), ('x.json', '.speedscope.json'), ('x.foldd', '.folded'), ('x.pb.gzz', '.pb.gz'), ('x.tx', '.txt'), ('x.HTM', '.html')):
            for line in (('convert', 'in', name), ('merge', 'in', 'in', name), ('view', 'in', '-o', name), ('run', '-o', name, '--', '/bin/false'), ('-o', name, '4194305'), ('start', '-o', name, '4194305')):
                self.done(*line, status=2, said='%s: no format has the suffix %s; the nearest is %s' % (name, name[name.rindex('.'):], nearest))
            self.assertFalse((self.folder / name).exists())
        self.done('convert', 'in', 'x.2', status=2, said='no format has the suffix of the file')

    def test_a_word_for_a_format_is_no_file(self):
        """Other profilers take -o collapsed; a file of that name would be HPROF."""
        self.write(FOLDED)
        for name, file in (('collapsed', 'collapsed.collapsed'), ('flamegraph', 'flamegraph.html'), ('jfr', 'jfr.jfr')):
            for line in (('convert', 'in', name), ('run', '-o', name, '--', '/bin/false'), ('-o', name, '4194305'), ('start', '-o', name, '4194305')):
                self.done(*line, status=2, said='%s names a format, and a file is wanted: %s' % (name, file))
            self.assertFalse((self.folder / name).exists())

    def test_standard_output_is_a_dash_or_its_file(self):
        self.write(FOLDED)
        for name in ('-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'):
            self.assertEqual(folded(self.done('convert', '--to', '.folded', 'in', name)), folded(FOLDED))
            self.done('start', '-o', name, '4194305', status=2, said='is not standard output')
        with open(self.folder / 'kept', 'a+', encoding='utf-8') as kept:  # what is there before stays
            kept.write('first 1\n')
            kept.flush()
            subprocess.run([PROGRAM, 'convert', '--to', '.folded', 'in', '/dev/stdout'], cwd=self.folder, stdout=kept, check=True)
        self.assertEqual(folded((self.folder / 'kept').read_text()), folded(FOLDED) + folded('first 1'))
        self.assertFalse((self.folder / '-').exists())

    def test_a_suffix_that_the_mode_cannot_have_is_refused(self):
        for line, why in ((('-e', 'times', '-o', 'x.hprof'), 'x.hprof is binary HPROF by its suffix'), (('-e', 'lock', '-o', 'x.hprof'), 'x.hprof is binary HPROF by its suffix'),
                          (('-o', 'x.hprof', 'format=a'), 'leave out format='), (('-o', 'x.txt', 'format=b'), 'leave out format=')):
            self.done('run', *line, '--', '/bin/false', status=2, said=why)


class Command(Folder):
    def test_usage_errors_are_told_before_anything_is_read(self):
        self.write(FOLDED)
        for arguments, why in ((['convert'], 'convert needs a profile, and the file to write'), (['convert', 'in'], 'convert needs a profile'),
                               (['convert', 'in', 'in', 'x.folded'], 'convert needs a profile'), (['merge', 'in'], 'merge needs profiles'), (['merge'], 'merge needs profiles'),
                               (['convert', 'in', 'x.xyz'], 'no format has the suffix'), (['convert', 'missing', 'x.xyz'], 'no format has the suffix'),
                               (['convert', 'in', '-'], 'no format has the suffix'), (['convert', '--to', 'folded.xyz', 'in', 'x.folded'], 'no format has the suffix'),
                               (['convert', '--no', 'in', 'x.folded'], 'convert has no option --no;'), (['convert', 'in', 'x.folded', '--view'], '--view wants a value: --view VIEW')):
            with self.subTest(arguments):
                self.assertEqual(self.done(*arguments, status=2, said=why), '')
                self.assertEqual(os.listdir(self.folder), ['in'])

    def test_help_names_every_suffix_and_all_can_be_written(self):
        text = self.done('convert', '--help')
        suffixes = [word for line in text.split('Suffixes:\n')[1].splitlines() if line.startswith('  .') for word in line.split() if word[0] == '.']
        self.assertGreaterEqual(len(suffixes), 11)
        path = self.write(h.text().data())
        for suffix in suffixes:
            with self.subTest(suffix):
                done = self.run_it('convert', path, 'x' + suffix)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertGreater((self.folder / ('x' + suffix)).stat().st_size, 0)

    def test_standard_input_and_output(self):
        text = self.done('convert', '--to', '.folded', '-', '-', input=FOLDED.encode())
        self.assertEqual(folded(text), folded(FOLDED))
        packed = self.run_it('convert', '--to', '.pb.gz', '-', '-', input=FOLDED.encode())
        self.assertEqual((packed.returncode, packed.stdout[:2]), (0, b'\x1f\x8b'))
        self.assertEqual(folded(self.done('convert', '--to', '.folded', '-', '-', input=packed.stdout)), folded(FOLDED))
        self.done('convert', '--to', '.folded', '-', '-', input=b'', status=1, said='standard input: neither HPROF, nor pprof, nor collapsed stacks')

    def test_a_new_file_is_the_users_alone_and_an_old_one_keeps_its_mode(self):
        self.write(FOLDED)
        self.done('convert', 'in', 'x.folded', preexec_fn=lambda: os.umask(0))
        self.assertEqual(stat.S_IMODE((self.folder / 'x.folded').stat().st_mode), 0o600)
        old = self.write('something longer than what comes, ' * 10, 'y.folded')
        old.chmod(0o644)
        self.done('convert', 'in', 'y.folded')
        self.assertEqual(stat.S_IMODE(old.stat().st_mode), 0o644)
        self.assertEqual(folded(old.read_text()), folded(FOLDED))

    def test_a_link_is_not_followed(self):
        self.write(FOLDED)
        target = self.write('keep', 'target')
        (self.folder / 'x.folded').symlink_to(target)
        (self.folder / 'y.folded').symlink_to('nothing')
        for name in ('x.folded', 'y.folded'):
            self.done('convert', 'in', name, status=1, said='cannot write %s: ' % name)
            self.assertTrue((self.folder / name).is_symlink())
        self.assertEqual(target.read_text(), 'keep')
        self.assertFalse((self.folder / 'nothing').exists())

    def test_a_broken_file_gives_the_rest_and_says_so(self):
        data = h.text().data()
        self.write(data[:data.index(b'   2 40.00%')])
        self.done('convert', 'in', 'x.folded', status=6, said='in: broken at byte ')
        self.assertEqual(folded((self.folder / 'x.folded').read_text()), {'[main];B.x;A.main': 6, '[rest]': 4})
        self.write(FOLDED + 'no count\n', 'two')
        self.done('merge', 'two', 'in', 'y.folded', status=6, said='two: line 4 is not a stack and a count; such lines are left out')
        self.assertEqual(folded((self.folder / 'y.folded').read_text()), folded(FOLDED) + folded('[main];B.x;A.main 6\n[rest] 4'))

    def test_what_cannot_be_read_leaves_nothing(self):
        for data, why in ((b'', 'neither HPROF'), (b'\x0a\x05\x00', 'not a pprof profile'), (b'words\n', 'neither HPROF'), (None, 'No such file')):
            with self.subTest(data):
                path = self.write(data) if data is not None else 'missing'
                self.done('convert', path, 'x.folded', status=1, said=why)
                self.assertFalse((self.folder / 'x.folded').exists())
        self.done('convert', self.folder, 'x.folded', status=1, said='in: neither HPROF')
        (self.folder / 'in').unlink()
        self.done('convert', self.folder, 'x.folded', status=1, said='the folder has no profile')

    def test_a_file_that_does_not_fit_is_removed(self):
        def small():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
        self.write(FOLDED)
        for name in ('x.folded', 'x.pb.gz'):
            self.done('convert', 'in', name, status=1, said='cannot write %s: ' % name, preexec_fn=small)
            self.assertFalse((self.folder / name).exists())
        for suffix in ('.folded', '.pb.gz'):
            self.done('convert', '--to', suffix, 'in', '/dev/full', status=1, said='cannot write /dev/full: No space left on device')
            with open('/dev/full', 'wb') as full:
                done = subprocess.run([PROGRAM, 'convert', '--to', suffix, 'in', '-'], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b'cannot write standard output: No space left on device', done.stderr)
        self.assertTrue(pathlib.Path('/dev/full').is_char_device())

    def test_a_view_that_is_not_there_is_told_with_those_that_are(self):
        self.write(h.text().data())
        self.done('convert', '--view', 'nonsense', 'in', 'x.folded', status=1, said='the profile has no nonsense; it has samples, wall, alloc_space, alloc_objects, inuse_objects')
        self.write(FOLDED, 'folded')
        self.done('convert', '--view', 'alloc', 'folded', 'x.folded', status=1, said='hprofx: the profile has no alloc; it has samples\n')
        self.done('convert', 'empty', 'x.folded', status=1, said='empty: No such file')
        self.assertFalse((self.folder / 'x.folded').exists())

    def test_a_profile_without_stacks_gives_a_file_that_says_so(self):
        """Of an idle program, and of a session that has written no dump yet."""
        head = 'JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nwords\n--------\n\n'
        self.write(head, 'begun')
        self.write(head + 'CPU SAMPLES BEGIN (total = 0) Thu Jan  1 00:00:00 1970\nCPU SAMPLES END\nhprofx: service: <img src=x>\nhprofx: lost: 0\n', 'idle')
        for name, why in (('begun', 'The file has no dump yet.'), ('idle', 'There is no sample: no Java thread used CPU time.')):
            for view in ([], ['--view', 'alloc']):
                for suffix in ('.html', '.pb.gz', '.folded', '.collapsed', '.txt', '.hprof', '.speedscope.json', '.firefox.json', '.otlp', '.jfr'):
                    with self.subTest((name, view, suffix)):
                        out = 'x' + suffix
                        self.assertEqual(self.done('convert', *view, name, out, said='hprofx: %s says only that the profile has no stacks\n' % out), '')
                        self.assertEqual((self.folder / out).stat().st_mode & 0o777, 0o600)
                        (self.folder / out).rename(self.folder / ('got' + suffix))
                page = (self.folder / 'got.html').read_text()
                self.assertIn('There is nothing to show: the profile has no stacks.', page)
                self.assertIn(why, page)
                self.assertNotIn('<img', page)
        self.assertEqual(json.loads((self.folder / 'got.speedscope.json').read_text())['profiles'], [])
        self.done('merge', 'idle', 'begun', 'x.html', said='hprofx: x.html says only that the profile has no stacks\n')
        self.done('view', 'idle', '-o', 'y.html', said='hprofx: y.html says only that the profile has no stacks\n')
        self.assertEqual(self.done('convert', '--to', '.html', 'idle', '-', said='hprofx: standard output says only that the profile has no stacks\n')[:15], '<!DOCTYPE html>')

    def test_names_of_files_are_said_without_controls(self):
        self.done('convert', 'a\x1b[2Jb', 'x.folded', status=1, said='a?[2Jb: No such file')


if __name__ == '__main__':
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
