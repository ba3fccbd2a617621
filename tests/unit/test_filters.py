#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_filters HPROFX [unittest arguments]: --include, --exclude, --thread, --state, --root and --leaf of view, convert, merge and diff, and what they say, against
profiles whose answers are counted here."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'read'))
import hprof_files as h  # noqa: E402

PROGRAM = None
# Of stack and samples. Names are as the JVM makes them, and worse.
STACKS = {
    'm.Main.main;w.OrderServlet.doGet;d.Pool.get': 10,
    'm.Main.main;w.OrderServlet.doGet;w.OrderServlet.doGet;d.Pool.get': 5,
    'm.Main.main;w.CartServlet.doPost;w.OrderServlet.doGet;d.Pool$Lock.take': 7,
    'm.Main.main;w.CartServlet$Inner.doPost;d.Pool.get': 3,
    'm.Main.main;wide.OrderServlet.doGet': 2,
    'm.Main.main;k.Kt.été-ß(int, long);k.Kt.<init>': 4,
    'm.Main.main;s.Odd.\'q"uote': 1,
    'x.Timer.run': 20,
}
ALL = sum(STACKS.values())
# Of pattern: what it means, told apart here without patterns.
PATTERNS = {
    'w.OrderServlet': lambda frames: any(f.startswith('w.OrderServlet.') for f in frames),
    'w.CartServlet': lambda frames: any(f.startswith(('w.CartServlet.', 'w.CartServlet$')) for f in frames),
    'w.CartServlet$Inner': lambda frames: any(f.startswith('w.CartServlet$Inner.') for f in frames),
    'w': lambda frames: any(f.startswith('w.') for f in frames),
    'w.OrderServlet.doGet': lambda frames: 'w.OrderServlet.doGet' in frames,
    '*Servlet.do*': lambda frames: any('Servlet.do' in f for f in frames),
    '*.CartServlet': lambda frames: any('.CartServlet.' in f for f in frames),
    'd.*.take': lambda frames: any(f.startswith('d.') and f.endswith('.take') for f in frames),
    'k.Kt.été-ß': lambda frames: any('été' in f for f in frames),
    '*.<init>': lambda frames: any('<init>' in f for f in frames),
    's.Odd.\'q"uote': lambda frames: any('uote' in f for f in frames),
    'OrderServlet': lambda frames: False,
    '*': lambda frames: True,
}


def message(*fields):
    """Protobuf, of (number, int or bytes), with numbers below 128."""
    return b''.join(bytes([n << 3 | 2, len(v)]) + v if isinstance(v, bytes) else bytes([n << 3, v]) for n, v in fields)


def pprof_with_an_inlined_method():
    """main calls p.A.outer, into which p.B.inlined is compiled (5 samples); main alone has 3."""
    strings = [b'', b'samples', b'count', b'p.Main.main', b'p.A.outer', b'p.B.inlined']
    lines = [[1], [3, 2]]  # functions of a location, the inlined one first
    return message((1, message((1, 1), (2, 2))), (2, message((1, bytes([2, 1])), (2, bytes([5])))), (2, message((1, bytes([1])), (2, bytes([3])))),
                   *((4, message((1, i + 1), *((4, message((1, f))) for f in of))) for i, of in enumerate(lines)),
                   *((5, message((1, i + 1), (2, i + 3))) for i in range(3)), *((6, s) for s in strings))


def fitting(means):
    return sum(n for stack, n in STACKS.items() if means(stack.split(';')))


class Filters(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / 'in.folded').write_text(''.join('%s %d\n' % each for each in STACKS.items()))
        (self.folder / 'hprof').write_bytes(h.text().data())

    def run_it(self, *arguments, status=0, said=''):
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.returncode, status, (arguments, done.stderr))
        (self.assertIn if said else self.assertEqual)(said, done.stderr.decode())
        return done.stdout.decode()

    def cpu(self, *arguments, file='in.folded'):
        """Samples, samples without the filter, and methods by name."""
        view = json.loads(self.run_it('view', '--json', *arguments, file))['views'][0]
        return view['measures'][0]['total'], view['measures'][0].get('of'), {m['name']: (m['self'], m['total']) for m in view['methods']}

    def folded(self, *arguments):
        self.run_it('convert', *arguments, 'in.folded', 'out.folded')
        return dict((line.rsplit(' ', 1)[0], int(line.rsplit(' ', 1)[1])) for line in (self.folder / 'out.folded').read_text().splitlines())

    def test_included_and_excluded_are_all(self):
        for pattern, means in PATTERNS.items():
            wanted = fitting(means)
            for option, n in (('--include', wanted), ('--exclude', ALL - wanted)):
                with self.subTest((option, pattern)):
                    if n == 0:
                        self.run_it('view', option, pattern, 'in.folded', status=1, said='nothing in the profile fits ' + option)
                        continue
                    self.assertEqual(self.cpu(option, pattern)[:2], (n, ALL))
                    self.assertEqual(sum(self.folded(option, pattern).values()), n)

    def test_several_are_any_of_them_and_kinds_agree(self):
        self.assertEqual(self.cpu('--include', 'x', '--include', 'k')[0], 24)
        self.assertEqual(self.cpu('--exclude', 'x', '--exclude', 'k')[0], ALL - 24)
        self.assertEqual(self.cpu('--include', 'w', '--exclude', 'w.CartServlet')[0], 15)

    def test_roots_and_leaves_cut_at_the_outermost_method(self):
        self.assertEqual(self.folded('--root', '*Servlet*.do*'), {
            'w.OrderServlet.doGet;d.Pool.get': 10, 'w.OrderServlet.doGet;w.OrderServlet.doGet;d.Pool.get': 5, 'wide.OrderServlet.doGet': 2,
            'w.CartServlet.doPost;w.OrderServlet.doGet;d.Pool$Lock.take': 7, 'w.CartServlet$Inner.doPost;d.Pool.get': 3})
        self.assertEqual(self.folded('--leaf', 'w'), {
            'm.Main.main;w.OrderServlet.doGet': 15, 'm.Main.main;w.CartServlet.doPost': 7, 'm.Main.main;w.CartServlet$Inner.doPost': 3})
        self.assertEqual(self.folded('--root', 'w.CartServlet', '--leaf', 'd.Pool'), {
            'w.CartServlet.doPost;w.OrderServlet.doGet;d.Pool$Lock.take': 7, 'w.CartServlet$Inner.doPost;d.Pool.get': 3})

    def test_each_view_says_what_was_filtered(self):
        shown = self.run_it('view', '--include', 'w.CartServlet', '--exclude', 'w.CartServlet$Inner', 'in.folded')
        self.assertTrue(shown.startswith("CPU: samples 7 of 52\n  Filtered by --include w.CartServlet --exclude 'w.CartServlet$Inner'\n     self "), shown)
        for form in (['--tree'], ['--threads'], ['--method', 'd.Pool$Lock.take']):
            self.assertTrue(self.run_it('view', *form, '--include', 'w.CartServlet', '--exclude', '*Inner*', 'in.folded').startswith('CPU: samples 7 of 52\n  Filtered by '))
        said = json.loads(self.run_it('view', '--json', '--include', 'w', 'in.folded'))
        self.assertEqual((said['filtered'], said['views'][0]['measures'][0]['of']), ('--include w', ALL))
        self.assertNotIn('filtered', json.loads(self.run_it('view', '--json', 'in.folded')))
        hostile = self.run_it('view', '--include', '*', '--exclude', '\x1b[31m', 'in.folded')
        self.assertIn("--exclude '\\u001B[31m'", hostile)

    def test_threads_states_and_classes_of_hprof(self):
        views = {v['view']: v for v in json.loads(self.run_it('view', '--json', 'hprof'))['views']}
        wall = {s['name']: s['self'] for s in views['wall']['states']}
        for state, time in wall.items():
            of = {v['view']: v for v in json.loads(self.run_it('view', '--json', '--state', state, 'hprof'))['views']}
            self.assertEqual(list(of), ['wall'])  # nothing else has a state
            self.assertEqual(of['wall']['measures'], [{'name': 'wall', 'unit': 'nanoseconds', 'total': time, 'of': sum(wall.values())}])
        self.assertEqual(self.cpu('--thread', 'main', file='hprof')[:2], (6, 10))
        self.assertEqual(self.cpu('--thread', 'm*n', file='hprof')[:2], (6, 10))
        self.assertEqual(self.cpu('--exclude', 'main', file='hprof')[:2], (4, 10))
        classes = {c['name']: c['self'] for c in views['alloc']['classes']}
        for name, size in classes.items():
            alloc = json.loads(self.run_it('view', '--view', 'alloc', '--json', '--include', name, 'hprof'))['views'][0]
            self.assertIn((name, size), [(c['name'], c['self']) for c in alloc['classes']])

    def test_every_format_that_is_read_back_has_what_is_left_and_says_so(self):
        for suffix, says in (('.pb.gz', True), ('.txt', True), ('.hprof', True), ('.folded', False)):
            with self.subTest(suffix):
                self.run_it('convert', '--include', 'w', 'in.folded', 'out' + suffix)
                shown = self.run_it('view', 'out' + suffix)
                self.assertIn('CPU: samples 25 of 52\n' if says else 'CPU: samples 25\n', shown)
                self.assertEqual('  Filtered by --include w\n' in shown, says, shown)
                self.assertNotIn('x.Timer', shown)

    def test_a_sum_with_a_profile_that_was_not_filtered_is_of_both(self):
        for suffix in ('.pb.gz', '.txt'):
            self.run_it('convert', '--include', 'w', 'in.folded', 'out' + suffix)
            for files in (['out' + suffix, 'in.folded'], ['in.folded', 'out' + suffix]):
                self.assertIn('CPU: samples 77 of 104\n  Filtered by --include w\n', self.run_it('view', *files))
            self.assertEqual(self.cpu('--exclude', 'd.Pool.get', file='out' + suffix)[:2], (fitting(lambda f: any(x.startswith('w.') for x in f) and 'd.Pool.get' not in f), ALL))

    def test_totals_that_nobody_can_have_written_are_left_alone(self):
        for text in (b'samples', b'samples x count', b'samples 9', b'samples 9 bytes', b'other 9 count', b'; ;', b'samples 0 count', b'samples 9x count', b' 9 count', b'x' * 5000):
            lines = h.text().data() + b'hprofx: filtered: --include x\nhprofx: before filters: ' + text + b'\n'
            (self.folder / 'odd').write_bytes(lines)
            self.assertEqual(self.cpu(file='odd')[:2], (10, None), text)

    def test_formats_for_others_say_it_where_they_can(self):
        for suffix in ('.speedscope.json', '.firefox.json', '.otlp', '.html'):
            self.run_it('convert', '--include', 'w', 'in.folded', 'out' + suffix)
        self.assertEqual(json.loads((self.folder / 'out.speedscope.json').read_text())['name'], '--include w')
        self.assertEqual([p['name'] for p in json.loads((self.folder / 'out.speedscope.json').read_text())['profiles']], ['CPU: samples (25 of 52)'])
        firefox = json.loads((self.folder / 'out.firefox.json').read_text())
        self.assertIn({'label': 'filtered by', 'format': 'string', 'value': '--include w'}, firefox['meta']['extra'][0]['entries'])
        self.assertEqual({t['processName'] for t in firefox['threads']}, {'CPU: samples (25 of 52)'})
        otlp = (self.folder / 'out.otlp').read_bytes()
        for text in (b'hprofx.filtered', b'hprofx.before_filters', b'--include w', b'samples 52 count'):
            self.assertIn(text, otlp)
        for suffix in ('.speedscope.json', '.firefox.json', '.otlp'):
            self.assertNotIn(b'x.Timer', (self.folder / ('out' + suffix)).read_bytes(), suffix)

    def test_a_profile_of_which_nothing_is_left_is_written_as_one_without_stacks(self):
        self.run_it('convert', '--include', 'nowhere', 'in.folded', 'out.pb.gz', said='the profile has no stacks')

    def test_merge_filters_the_sum(self):
        self.run_it('merge', '--include', 'w', 'in.folded', 'in.folded', 'hprof', 'sum.pb.gz')
        self.assertEqual(self.cpu(file='sum.pb.gz')[0], 50)
        shown = self.run_it('view', '--include', 'w', 'in.folded', 'hprof')
        self.assertIn('CPU: samples 25 of %d\n' % (ALL + 10), shown)

    def test_diff_filters_both_sides(self):
        (self.folder / 'after.folded').write_text('m.Main.main;w.OrderServlet.doGet 30\nx.Timer.run 500\n')
        shown = self.run_it('diff', '--include', 'w', 'in.folded', 'after.folded', '-o', 'd.html', '-o', 'd.json')
        self.assertIn('Before: in.folded, 25 samples. After: after.folded, 30 samples.\nFiltered by --include w: before 25 of 52, after 30 of 530 (samples).\n', shown)
        said = json.loads((self.folder / 'd.json').read_text())
        self.assertEqual((said['filtered'], [r['of'] for r in said['before'] + said['after']]), ('--include w', [52, 530]))
        self.assertNotIn('x.Timer.run', [m['method'] for m in said['methods']])
        self.assertNotIn('Filtered', self.run_it('diff', 'in.folded', 'after.folded'))

    def test_diff_of_a_side_of_which_nothing_is_left(self):
        (self.folder / 'after.folded').write_text('x.Timer.run 500\n')
        shown = self.run_it('diff', '--absolute', '--include', 'w', 'in.folded', 'after.folded')
        self.assertIn('Before: in.folded, 25 samples. After: after.folded, 0 samples.\nFiltered by --include w: before 25 of 52, after 0 of 500 (samples).\n', shown)
        self.assertIn('gone', shown)
        self.run_it('diff', '--include', 'w', 'in.folded', 'after.folded')
        (self.folder / 'both').write_bytes(h.text().data())  # it has other views, too
        self.assertIn('after 0 of 10 (samples)', self.run_it('diff', '--include', 'w', '--include', 'A[]', 'in.folded', 'both'))
        for words, why in (([], 'nothing in the profiles fits --include nowhere'), (['--view', 'cpu'], 'no profile has cpu that fits --include nowhere')):
            self.run_it('diff', '--include', 'nowhere', *words, 'in.folded', 'after.folded', status=2, said=why)

    def test_inlined_methods_are_methods(self):
        (self.folder / 'inlined').write_bytes(pprof_with_an_inlined_method())
        self.assertEqual(self.cpu(file='inlined')[2], {'p.B.inlined': (5, 5), 'p.Main.main': (3, 8), 'p.A.outer': (0, 5)})
        for option, n in (('--include', 5), ('--exclude', 3)):
            self.assertEqual(self.cpu(option, 'p.B.inlined', file='inlined')[:2], (n, 8))
        self.assertEqual(self.cpu('--root', 'p.B', file='inlined')[2], {'p.B.inlined': (5, 5)})
        self.assertEqual(self.cpu('--leaf', 'p.A', file='inlined')[2], {'p.A.outer': (5, 5), 'p.Main.main': (0, 5)})
        self.assertEqual(self.by('--by', 'p.B', file='inlined')[1], {'p.B.inlined': [5]})

    def test_diff_of_heaps_says_what_was_filtered(self):
        (self.folder / 'heap').write_bytes(h.binary().data())
        shown = self.run_it('diff', '--view', 'heap', '--include', 'A[]', 'heap', 'heap')
        self.assertIn('Filtered by --include \'A[]\': before ', shown)

    # ---- --by ----

    def by(self, *arguments, file='in.folded'):
        said = json.loads(self.run_it('view', '--json', *arguments, file))
        return said, {row['method']: row['values'] for row in said['rows']}

    def test_by_has_a_row_for_each_method_whose_outermost_stacks_are_counted_once(self):
        said, rows = self.by('--by', '*Servlet*.do*')
        self.assertEqual(rows, {'w.OrderServlet.doGet': [15], 'w.CartServlet.doPost': [7], 'w.CartServlet$Inner.doPost': [3], 'wide.OrderServlet.doGet': [2]})
        self.assertEqual((said['rest']['values'], said['columns']), ([25], [{'view': 'cpu', 'measure': 'samples', 'unit': 'count', 'total': ALL}]))
        self.assertEqual(list(rows), sorted(rows, key=lambda name: -rows[name][0]))
        shown = self.run_it('view', '--by', 'w.OrderServlet', '--by', 'k.Kt.été-ß', 'in.folded')
        self.assertEqual(shown, '''By w.OrderServlet, k.Kt.été-ß: each stack counts for its outermost method that matches
      CPU samples  method
   42.31%      22  w.OrderServlet.doGet
    7.69%       4  k.Kt.été-ß(int, long)
   50.00%      26  [none of these]
  100.00%      52  [all]
''')
        self.run_it('view', '--by', 'nowhere', 'in.folded', status=1, said='no stack has a method that matches --by')
        self.assertIn('  and 3 more\n', self.run_it('view', '--by', '*Servlet*.do*', '-n', '1', 'in.folded'))

    def test_by_leaves_out_rows_below_min_in_every_column(self):
        shown = self.run_it('view', '--by', '*Servlet*.do*', '--min', '10', 'in.folded')
        self.assertNotIn('Inner', shown)
        self.assertIn('  13.46%       7  w.CartServlet.doPost\n', shown)
        self.assertIn('  and 2 more\n', shown)
        self.assertEqual(list(self.by('--by', '*Servlet*.do*', '--min', '10')[1]), ['w.OrderServlet.doGet', 'w.CartServlet.doPost'])
        self.assertIn('  and 3 more\n', self.run_it('view', '--by', '*Servlet*.do*', '-n', '1', '--min', '10', 'in.folded'))
        strings = [b'', b'samples', b'count', b'cycles', b'p.A.a', b'p.B.b']
        (self.folder / 'two').write_bytes(message((1, message((1, 1), (2, 2))), (1, message((1, 3), (2, 2))),
                                                  *((2, message((1, bytes([i])), (2, bytes(values)))) for i, values in ((1, [9, 1]), (2, [1, 9]))),
                                                  *((4, message((1, i), (4, message((1, i))))) for i in (1, 2)), *((5, message((1, i), (2, i + 3))) for i in (1, 2)),
                                                  *((6, s) for s in strings)))
        self.assertEqual(self.by('--by', 'p', '--min', '50', file='two')[1], {'p.A.a': [9, 1], 'p.B.b': [1, 9]})
        self.assertEqual(self.by('--by', 'p', '--min', '50', '--view', 'cpu', file='two')[1], {'p.A.a': [9]})

    def test_by_adds_up_for_each_pattern(self):
        for pattern, means in PATTERNS.items():
            n = fitting(means)
            if n == 0:
                continue
            said, rows = self.by('--by', pattern)
            self.assertEqual((sum(v[0] for v in rows.values()), said['rest']['values'][0]), (n, ALL - n), pattern)

    def test_by_tells_all_views_and_what_was_filtered(self):
        said, rows = self.by('--by', 'B', '--thread', 'main', file='hprof')
        of = {(c['view'], c.get('state')): (v, c['total'], c.get('of')) for c, v in zip(said['columns'], rows['B.x'])}
        self.assertEqual(of[('cpu', None)], (6, 6, 10))
        self.assertEqual(of[('wall', None)], (80000000, 80000000, 100000000))
        self.assertEqual(of[('wall', 'waiting')], (50000000, 50000000, None))  # parked
        self.assertEqual(said['filtered'], '--thread main')
        shown = self.run_it('view', '--by', 'B', '--view', 'wall', '--state', 'io', 'hprof')
        self.assertEqual(shown, '''By B: each stack counts for its outermost method that matches
  Filtered by --state io (Wall clock: time 20 ms of 100 ms)
     wall    time  waiting    time  method
  100.00%   20 ms  100.00%   20 ms  B.x
  100.00%   20 ms  100.00%   20 ms  [all]
''')

    def test_by_goes_with_no_other_form(self):
        for words, why in ((['--by', 'w', '--tree'], 'exclude each other'), (['--by', 'w', '-o', 'x.html'], 'nor --by'), (['--by='], '--by wants')):
            self.run_it('view', *words, 'in.folded', status=2, said=why)

    def test_wrong_ones(self):
        for option in ('include', 'exclude', 'thread', 'state', 'root', 'leaf'):
            for verb, words in (('view', ['in.folded']), ('convert', ['in.folded', 'x.html']), ('diff', ['in.folded', 'in.folded']), ('top', ['1'])):
                self.run_it(verb, '--%s=' % option, *words, status=2, said='--%s wants ' % option)


if __name__ == '__main__':
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
