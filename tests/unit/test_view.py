#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_view HPROFX [unittest arguments]: hprofx view from outside: tables, trees, callers and callees, threads, JSON; on a terminal and not."""
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'read'))
import hprof_files as h  # noqa: E402

PROGRAM = None
LAYERS = ';'.join('com.acme.web.Layer%d.handle' % i for i in range(9))
FOLDED = ('main;%s;com.acme.A.x;com.acme.B.y 30\nmain;%s;com.acme.A.x;com.acme.C.z;com.acme.A.x 40\n'
          'main;%s;com.acme.D.d;com.acme.E.e 20\nworker;com.acme.E.e 10\n' % (LAYERS, LAYERS, LAYERS))


class View(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, data, name='in'):
        (self.folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    def view(self, *arguments, status=0, said='', **how):
        how.setdefault('stdin', subprocess.DEVNULL)
        if 'input' in how:
            del how['stdin']
        done = subprocess.run([PROGRAM, 'view', *map(str, arguments)], cwd=self.folder, capture_output=True, check=False, **how)
        self.assertEqual(done.returncode, status, done.stderr)
        (self.assertIn if said else self.assertEqual)(said, done.stderr.decode())
        return done.stdout.decode()

    def on_terminal(self, *arguments, columns=100, **variables):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 50, columns, 0, 0))
        environment = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'LC_ALL', 'LC_CTYPE', 'LANG')}
        with subprocess.Popen([PROGRAM, 'view', *arguments], cwd=self.folder, stdout=slave, stdin=slave, env={**environment, **variables}) as running:
            os.close(slave)
            said = b''
            while True:
                try:
                    more = os.read(master, 65536)
                except OSError:  # nobody has the other end any more
                    more = b''
                if not more:
                    break
                said += more
        os.close(master)
        self.assertEqual(running.returncode, 0)
        return said.decode().replace('\r\n', '\n')

    def test_what_another_user_has_put_there_gets_no_picture(self):
        if os.geteuid() != 0:
            self.skipTest('only root gives files away')
        self.write(FOLDED)
        for make in (lambda name: name.touch(0o666), lambda name: os.mkfifo(name, 0o666)):
            name = self.folder / 'x.folded'
            make(name)
            os.chown(name, 65533, -1)
            with open(os.open(name, os.O_RDONLY | os.O_NONBLOCK), 'rb') as reader:
                self.view('-o', 'x.folded', 'in', status=1, said='cannot write x.folded: it belongs to user 65533, who could read what is written; choose another name')
                self.assertEqual(reader.read() or b'', b'')
            os.chown(name, 0, -1)
            if name.is_fifo():
                name.unlink()
            else:
                self.view('-o', 'x.folded', 'in')
                name.unlink()

    def test_the_table_has_self_and_total_and_recursion_counts_once(self):
        self.assertEqual(self.view('-n', '4', self.write(FOLDED)), '''CPU: samples 100
     self    total    samples  method
   40.00%   70.00%         40  com.acme.A.x
   30.00%   30.00%         30  com.acme.B.y
    0.00%   90.00%          0  main
    0.00%   90.00%          0  com.acme.web.Layer0.handle
  and 12 more
''')

    def test_the_tree_folds_the_middle_of_a_chain(self):
        self.assertEqual(self.view('--tree', self.write(FOLDED)), '''CPU: samples 100
    total     self   method, and below it what it calls
   90.00%    0.00%   |- main
   90.00%    0.00%   |  com.acme.web.Layer0.handle
                     |  ... 6 more
   90.00%    0.00%   |  com.acme.web.Layer7.handle
   90.00%    0.00%   |  com.acme.web.Layer8.handle
   70.00%    0.00%   |  |- com.acme.A.x
   40.00%    0.00%   |  |  |- com.acme.C.z
   40.00%   40.00%   |  |  |  com.acme.A.x
   30.00%   30.00%   |  |  `- com.acme.B.y
   20.00%    0.00%   |  `- com.acme.D.d
   20.00%   20.00%   |     com.acme.E.e
   10.00%    0.00%   `- worker
   10.00%   10.00%      com.acme.E.e
  Parts below 1 % are left out; --min 0 shows all.
''')
        self.assertEqual([line.split()[-1] for line in self.view('--tree', '--min', '0', 'in').splitlines()[3:11]],
                         ['com.acme.web.Layer%d.handle' % i for i in range(8)])
        cut = self.view('--tree', '--min', '25', 'in')
        self.assertNotIn('com.acme.D', cut)
        self.assertIn('Parts below 25 % are left out', cut)

    def test_callers_and_callees_of_a_method_are_trees_of_its_samples(self):
        self.assertEqual(self.view('--method', 'A.x', self.write(FOLDED)), '''CPU: samples 100
com.acme.A.x
  self 40 (40.00%), total 70 (70.00%)

    share            called by
  100.00%            com.acme.web.Layer8.handle
  100.00%            com.acme.web.Layer7.handle
                     ... 6 more
  100.00%            com.acme.web.Layer0.handle
  100.00%            main

    total     self   calls
   57.14%    0.00%   |- com.acme.C.z
   57.14%   57.14%   |  com.acme.A.x
   42.86%   42.86%   `- com.acme.B.y
  Shares are those of the method's total.
''')
        self.assertIn('called by\n  none\n', self.view('--method', 'main', 'in'))
        self.assertIn('calls\n  none\n', self.view('--method', 'com.acme.B.y', 'in'))

    def test_a_name_that_means_several_methods_lists_them(self):
        self.write(FOLDED)
        self.view('--method', 'Layer', 'in', status=2, said='hprofx: 9 methods have that name, or a part of it:\n')
        self.view('--method', 'handle', 'in', status=2, said='hprofx: which method? give more of its name\n')
        self.view('--method', 'nowhere', 'in', status=1, said='hprofx: the view has no method with nowhere in its name\n')
        self.assertIn('com.acme.web.Layer3.handle\n', self.view('--method', 'Layer3', 'in'))  # a part that only one has

    def test_a_nested_class_is_an_end_of_a_name(self):
        self.write('p.Outer$Inner.m 3\np.OtherInner.m 4\n')
        self.assertIn('\np.Outer$Inner.m\n  self 3 (', self.view('--method', 'Inner.m', 'in'))

    def test_all_views_of_a_file_are_shown_briefly(self):
        shown = self.view(self.write(h.text().data()))
        self.assertEqual(re.findall(r'^([A-Z][\w ]*): (?=\w+ )', shown, re.M), ['CPU', 'Wall clock', 'Allocations', 'Allocations', 'Heap', 'Monitors', 'Owners of monitors', 'Locks', 'Pinned virtual threads'])
        self.assertTrue(shown.startswith('10 samples: shares are right within 31.0 points.\nLook at A.main (60 % of the CPU time), B.x (40 %).\n\nCPU: samples 10\n'), shown)
        self.assertNotRegex(shown, r'[\x00-\x09\x0b-\x1f\x7f-\x9f]')
        self.assertNotRegex(shown, r'[ \t]\n')
        self.assertNotIn('Also here', shown)

    def test_one_view_says_which_others_there_are(self):
        shown = self.view('--view', 'lock', self.write(h.text().data()))
        self.assertIn('''
Monitors: blocked time 1.00 ms, contentions 3
     self       time      count  class
  100.00%    1.00 ms          3  java.lang.Object

     self    total       time      count  method
  100.00%  100.00%    1.00 ms          3  A.main
    0.00%  100.00%       0 ms          0  B.x

Also here: --view cpu, wall, alloc, heap, owner, park, pinned
''', shown)
        self.view('--view', 'wait', 'in', status=1, said='the profile has no wait; it has samples, ')

    def test_wall_clock_has_its_states_and_the_methods(self):
        shown = self.view('--view', 'wall', self.write(h.text().data()))
        self.assertIn('''
Wall clock: time 100 ms
     self       time  state
   50.00%      50 ms  parked
   30.00%      30 ms  runnable
   20.00%      20 ms  io

     self    total       time  method
   80.00%   80.00%      80 ms  A.main
   20.00%  100.00%      20 ms  B.x
''', shown)
        self.assertIn('   50.00%   50.00%   |  |- parked\n', self.view('--view', 'wall', '--tree', 'in'))

    def test_a_heap_dump_has_its_histogram_and_where_what_lives_was_allocated(self):
        shown = self.view('--view', 'heap', self.write(h.binary().data()))
        self.assertIn('''Heap: bytes 76 B, objects 6
     self      bytes    objects  class
''', shown)
        self.assertRegex(shown, r'\n +31\.58% +24 B +1  A\[\]\n')
        self.assertRegex(shown, r'\n +\d+\.\d\d% +100\.00% +76 B +5  A\.main\n')
        callers = self.view('--view', 'heap', '--method', 'int[]', 'in')
        self.assertRegex(callers, r'called by\n +100\.00% +A\.main\n')

    def test_threads_have_their_totals_and_can_be_chosen(self):
        self.write(h.text().data())
        shown = self.view('--threads', 'in')
        self.assertIn('     self    samples  thread\n   60.00%          6  main\n   40.00%          4  [the file does not tell]\n', shown)
        for name in ('mai', 'main'):
            shown = self.view('--view', 'cpu', '--thread', name, 'in')
            self.assertTrue(shown.startswith('CPU: samples 6 of 10\n  Filtered by --thread %s\n' % name), shown)
            self.assertIn('  100.00%  24.76  100.00%          6  A.main\n', shown)
        self.view('--thread', 'nobody', 'in', status=1, said='nothing in the profile fits --thread nobody; a pattern is a whole name, or has * for any characters')

    def test_sampled_rows_have_their_uncertainty_where_it_is_known(self):
        self.assertIn('   60.00%  26.06   60.00%          6  A.main\n', self.view(self.write(h.text().data())))
        self.assertNotIn('+-', self.view(self.write(FOLDED)))

    def test_sampled_allocations_have_their_uncertainty(self):
        sites = ('JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nwords\n--------\n\nTRACE 300001:\n\tA.m(A.java:1)\nTRACE 300002:\n\tB.n(B.java:1)\n'
                 'SITES BEGIN (ordered by live bytes) Thu Jan  1 00:00:00 1970\n          percent          live          alloc\'ed  stack class\n'
                 ' rank   self  accum     bytes objs     bytes  objs trace name\n    1  50.00%  50.00%         0    0      5000     5 300001 A\n'
                 '    2  50.00% 100.00%         0    0      5000     5 300002 B\nSITES END\nhprofx: lost: 0\n')
        self.assertNotIn('+-', self.view(self.write(sites)))
        sampled = self.write(sites + 'hprofx: standard error: 10.0 % of all allocated bytes, at most\n', 'sampled')
        shown = self.view(sampled)
        self.assertEqual(len(re.findall(r'50\.00%  +9\.\d\d .*[AB]', shown)), 4, shown)  # classes and methods
        self.assertIn('too close for their order: 101 samples. A longer run or a smaller sample= may', shown)
        for of in ('methods', 'classes'):
            self.assertIn('plus_minus', json.loads(self.view('--json', sampled))['views'][0][of][0])

    def test_contention_in_one_column_is_that_of_monitors_and_locks(self):
        self.write(h.text().data())
        columns = {}
        for view in ('lock', 'contentions', 'park'):
            self.view('--view', view, '-o', view + '.folded', 'in')
            columns[view] = [int(line.rsplit(' ', 1)[1]) for line in (self.folder / (view + '.folded')).read_text().splitlines()]
        tables = {v['view']: {m['name']: m['total'] for m in v['measures']} for v in json.loads(self.view('--json', 'in'))['views']}
        self.assertGreater(tables['park']['park_delay'], 0)
        self.assertEqual(sum(columns['lock']), tables['lock']['delay'] + tables['park']['park_delay'])
        self.assertEqual(sum(columns['contentions']), tables['lock']['contentions'])
        self.assertEqual(sum(columns['park']), tables['park']['park_delay'])

    def test_a_bound_of_memory_that_is_none_is_said(self):
        self.write(FOLDED)
        for value in ('lots', '0', '3x', '-1'):
            self.view('in', env={**os.environ, 'HPROFX_MEMORY': value}, said='hprofx: HPROFX_MEMORY is not a size such as 64m or 4g, and does not count: %s\n' % value)
        self.view('in', env={**os.environ, 'HPROFX_MEMORY': ''})

    def test_json_has_the_tables(self):
        said = json.loads(self.view('--json', self.write(h.text().data())))
        self.assertEqual([v['view'] for v in said['views']], ['cpu', 'wall', 'alloc', 'heap', 'lock', 'owner', 'park', 'pinned'])
        cpu, wall, alloc = said['views'][:3]
        self.assertEqual((cpu['measure'], cpu['exact'], cpu['measures']), ('samples', False, [{'name': 'samples', 'unit': 'count', 'total': 10}]))
        self.assertEqual(cpu['methods'], [{'name': 'A.main', 'self': 6, 'total': 6, 'plus_minus': 26.06}, {'name': 'B.x', 'self': 4, 'total': 10, 'plus_minus': 26.06}])
        self.assertEqual(wall['measures'], [{'name': 'wall', 'unit': 'nanoseconds', 'total': 100000000}])
        self.assertEqual(wall['states'], [{'name': 'parked', 'self': 50000000}, {'name': 'runnable', 'self': 30000000}, {'name': 'io', 'self': 20000000}])
        self.assertEqual(wall['methods'], [{'name': 'A.main', 'self': 80000000, 'total': 80000000}, {'name': 'B.x', 'self': 20000000, 'total': 100000000}])
        self.assertEqual(alloc['classes'], [{'name': 'A[]', 'self': 72, 'alloc_objects': 2}, {'name': 'A', 'self': 40, 'alloc_objects': 2}])
        self.assertIn('10 samples: shares are right', said['verdict'])
        said = json.loads(self.view('--json', '-n', '1', '--view', 'inuse_space', 'in'))
        self.assertEqual([(v['measure'], len(v['methods'])) for v in said['views']], [('inuse_space', 1)])

    def test_names_are_data(self):
        name = 'p.</script>"\\\x1b[31m\u202eé.m'
        self.write('main;%s;%s 3\n' % ('far.away.From' * 6, name))  # in the first bytes a control means pprof
        for form in ((), ('--tree',), ('--method', 'm')):
            shown = self.view(*form, 'in')
            self.assertNotRegex(shown, r'[\x00-\x09\x0b-\x1f\x7f-\x9f]')
            self.assertIn('</script>"\\\\u001B[31m', shown)
        said = self.view('--json', 'in')
        self.assertNotIn('</script', said)
        self.assertIn({'name': name.replace('\x1b', '\\u001B'), 'self': 3, 'total': 3}, json.loads(said)['views'][0]['methods'])

    def test_files_that_are_broken_show_what_could_be_read(self):
        data = h.text().data()
        self.write(data[:data.index(b'   2 40.00%')])
        shown = self.view('in', status=6, said='hprofx: in: broken at byte ')
        self.assertRegex(shown, r' 6  A\.main\n')
        self.view('missing', status=1, said='hprofx: missing: No such file')
        self.view(self.write('words\n'), status=1, said='neither HPROF, nor pprof, nor collapsed stacks')

    def test_methods_that_the_vm_replaces_are_named(self):
        table = '%s BEGIN (total = 10) Thu Jan  1 00:00:00 1970\nrank   self  accum   count trace method\n   1 100.00%% 100.00%%      10 300001 A.m\n%s END\n'
        self.write('JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nwords\n--------\n\nTRACE 300001:\n\tA.m(A.java:1)\n'
                   + table % (('CPU SAMPLES',) * 2) + table % (('CPU TIME (ms)',) * 2)
                   + 'hprofx: replaced by the VM: 30 methods of this table: %s and 6 more; why\nhprofx: lost: 0\n' % ', '.join(['java.lang.Math.max'] * 24))
        named = 'Replaced by the VM: 30 methods of this table: java.lang.Math.max, '
        self.assertIn(named, self.view('in'))
        self.assertIn('max and 6 more; why.\n', self.view('in', '--view', 'times'))
        self.assertNotIn(named, self.view('in', '--view', 'cpu'))

    def test_a_profile_without_stacks_says_why(self):
        shown = self.view(self.write('JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\n\nwords\n--------\n\n'
                                     'CPU SAMPLES BEGIN (total = 0) Thu Jan  1 00:00:00 1970\nCPU SAMPLES END\n'))
        self.assertEqual(shown, 'There is no sample: no Java thread used CPU time.\n\nCPU\n  none: no Java thread used CPU time when a sample was due\n')
        self.view('--view', 'cpu', 'in', status=1, said='the profile has no stacks')

    def test_usage_errors(self):
        self.write(FOLDED)
        for arguments, why in (([], 'view needs a profile'), (['-o', 'x.y', 'in'], 'no format has the suffix'), (['-o', 'x.html', '--json', 'in'], 'no --json'),
                               (['-o', 'x.html', '--tree', 'in'], '-o writes all of the profile'), (['-n', '0', 'in'], '-n wants a number'),
                               (['-n', 'x', 'in'], '-n wants a number'), (['-n', '-3', 'in'], '-n wants a number'), (['--min', '101', 'in'], '--min wants a percentage'),
                               (['--min', 'nan', 'in'], '--min wants a percentage'), (['--min', '', 'in'], '--min wants a percentage'),
                               (['--tree', '--table', 'in'], 'exclude each other'), (['--json', '--tree', 'in'], '--json shows tables'), (['--nonsense', 'in'], 'view has no option --nonsense;')):
            with self.subTest(arguments):
                self.assertEqual(self.view(*arguments, status=2, said=why), '')
        self.assertIn('usage: hprofx view', self.view('--help'))

    def test_standard_input_and_a_full_disk(self):
        self.assertIn('CPU: samples 100\n', self.view('-', input=FOLDED.encode()))
        with open('/dev/full', 'wb') as full:
            done = subprocess.run([PROGRAM, 'view', self.write(FOLDED)], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, b'hprofx: standard output cannot be written\n'))

    def test_a_terminal_gets_boxes_and_bold_if_it_can_show_them(self):
        self.write(FOLDED)
        shown = self.on_terminal('--tree', 'in', LANG='C.UTF-8')
        self.assertIn('\u251c\u2500 com.acme.A.x\n', shown)
        self.assertTrue(shown.startswith('\x1b[1mCPU: samples 100\x1b[0m\n'), shown)
        shown = self.on_terminal('--tree', 'in', LANG='C', NO_COLOR='1')
        self.assertTrue(shown.isascii())
        self.assertNotIn('\x1b', shown)

    def test_names_are_shortened_to_the_columns(self):
        long = 'com.acme.%s.OrderService.placeOrder' % '.'.join('part%d' % i for i in range(20))
        self.write('main;%s;q.R.s 5\nmain;%s;q.T.u 4\n' % (long, long))
        for form in ((), ('--tree',), ('--method', 'placeOrder')):
            for columns in (60, 90, 250):
                with self.subTest((form, columns)):
                    lines = self.on_terminal(*form, 'in', columns=columns, NO_COLOR='1').splitlines()
                    self.assertLessEqual(max(len(line) for line in lines if 'Service' in line), columns)
                    self.assertTrue(any('OrderService.placeOrder' in line for line in lines))
                    self.assertEqual(any(long in line for line in lines), columns == 250)

    def test_deep_and_wide_trees_end(self):
        self.write('\n'.join(';'.join('m%d' % (i % 7) for i in range(n)) + ' 1' for n in range(1, 400)) + '\n' + ';'.join(['deep'] * 100000) + ' 9\n')
        for form in ((), ('--tree',), ('--tree', '--min', '0'), ('--method', 'm3'), ('--method', 'deep')):
            self.assertGreater(len(self.view(*form, 'in')), 100)


if __name__ == '__main__':
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
