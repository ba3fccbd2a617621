#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_run HPROFX [unittest arguments]: hprofx run with programs that start no JVM, one, or several. The JVMs are scripts that write what the agent would: a profile
to file= of JAVA_TOOL_OPTIONS."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = None
OK, FAILED, PARTIAL = 0, 1, 6
# jvm METHOD SAMPLES [VIEW]; HPX_LEFT: it leaves a journal; "held": and lives on; "begun": it lives on and has no journal yet
JVM = '''#!%s
import fcntl, os, re, sys
file = re.search(r'-agentpath:[^=]*=.*?file=([^,]*)', os.environ['JAVA_TOOL_OPTIONS'])[1].rstrip("'")
file = re.sub(r'%%(.)', lambda m: {'p': str(os.getpid()), 'h': 'host', '%%': '%%'}.get(m[1], m[0]), file)
if os.environ.get('HPX_LEFT'):
    file += '.part' if os.environ['HPX_LEFT'] == 'begun' else '.journal.part'
method, n, view = (sys.argv + ['CPU SAMPLES'])[1:4]
with open(file, 'w') as out:
    if os.environ.get('HPX_LEFT') in ('held', 'begun'):
        fcntl.flock(out, fcntl.LOCK_EX)
        print(os.getpid(), flush=True)
        if os.fork() == 0:
            os.close(1)
            os.close(2)
            open('go').read()
        os._exit(0)
    out.write('JAVA PROFILE 1.0.1, created Thu Jan  1 00:00:00 1970\\n\\nwords\\n--------\\n\\nTHREAD START (obj=50000010, id = 200001, name="main", group="main")\\nTRACE 300001: (thread=200001)\\n\\t%%s(A.java:1)\\n'
              '%%s BEGIN (total = %%s) Thu Jan  1 00:00:00 1970\\nrank   self  accum   count trace method\\n   1 100.00%%%% 100.00%%%% %%7s 300001 %%s\\n%%s END\\n'
              'hprofx: lost: 0\\nhprofx: service: Main%%s\\nhprofx: pid: %%d\\n' %% (method, view, n, n, method, view, n, os.getpid()))
print(os.getpid())
''' % sys.executable


class Run(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / '100%p'  # the name of a folder is no pattern
        self.folder.mkdir()
        self.script('jvm', JVM)
        self.before = set(pathlib.Path('/tmp').glob('hprofx-run-*'))

    def script(self, name, text):
        (self.folder / name).write_text(text if text.startswith('#!') else '#!/bin/sh\n' + text)
        (self.folder / name).chmod(0o755)

    def run_it(self, *words, program='./jvms', status=OK, **env):
        """(stdout without the numbers of the JVMs, stderr, these numbers)"""
        done = subprocess.run([PROGRAM, 'run', *words, '--', program], capture_output=True, text=True, cwd=self.folder, env={**os.environ, **env})
        self.assertEqual(done.returncode, status, done.stderr)
        pids = re.findall(r'^(\d+)$', done.stdout, re.M)
        return re.sub(r'^\d+\n', '', done.stdout, flags=re.M), done.stderr, pids

    def files(self):
        return sorted(f.name for f in self.folder.iterdir() if f.name not in ('jvm', 'jvms'))

    def leaves(self):
        """What the runs of this test left in /tmp. Other tests may run."""
        return [f for f in set(pathlib.Path('/tmp').glob('hprofx-run-*')) - self.before if any('\n\tA.' in g.read_text() for g in f.rglob('*') if g.is_file())]

    def test_several_are_listed_and_added_up(self):
        self.script('jvms', './jvm A.a 30; ./jvm A.b 70; ./jvm A.a 100\n')
        out, _, pids = self.run_it()
        lines = out.splitlines()
        for line, pid, n in zip(sorted(lines[:3], key=lambda x: pids.index(re.search(r'\d+', x)[0])), pids, (30, 70, 100)):
            self.assertRegex(line, r'^Process %s, Main%d: CPU, .*%d' % (pid, n, n))
        self.assertEqual(lines[3], 'The sum of the 3 JVMs:')
        self.assertRegex(out, r'65\.00%.* 130  A\.a\n')
        self.assertRegex(out, r'35\.00%.* 70  A\.b\n')
        self.assertEqual((self.files(), self.leaves()), ([], []))

    def test_a_page_has_their_sum(self):
        self.script('jvms', './jvm A.a 30; ./jvm A.b 70\n')
        out, err, pids = self.run_it('-o', 'x.folded')
        self.assertEqual((out, sorted((self.folder / 'x.folded').read_text().splitlines())), ('x.folded\n', ['[main];A.a 30', '[main];A.b 70']))
        self.assertEqual(re.findall(r'^Process (\d+),', err, re.M), sorted(pids, key=int))
        out, _, pids = self.run_it('-o', 'y.%p.folded')
        self.assertEqual(sorted(out.splitlines()), sorted('y.%s.folded' % p for p in pids))
        self.assertEqual([(self.folder / ('y.%s.folded' % p)).read_text() for p in pids], ['[main];A.a 30\n', '[main];A.b 70\n'])
        self.assertEqual(self.leaves(), [])
        out, _, _ = self.run_it('-o', '-')
        self.assertIn('CPU SAMPLES BEGIN (total = 100)', out)

    def test_each_writes_its_own_file(self):
        self.script('jvms', './jvm A.a 30; ./jvm A.b 70\n')
        (self.folder / 'x.1.txt').write_text('of another run')
        for given, name in (('x.txt', 'x.%s.txt'), ('y', 'y.%s'), ('z-%p-%h.txt', 'z-%s-host.txt'), ('100%%.txt', '100%%.%s.txt')):
            out, _, pids = self.run_it('-o', given)
            self.assertEqual(sorted(pathlib.Path(line).name for line in out.splitlines()), sorted(name % p for p in pids))
            self.assertIn('total = 70', (self.folder / (name % pids[1])).read_text())

    def test_the_only_one_has_the_name(self):
        self.script('jvms', './jvm A.a 30\n')
        (self.folder / 'x.txt').write_text('old')
        self.assertEqual(self.run_it('-o', 'x.txt')[0], 'x.txt\n')
        self.assertIn('total = 30', (self.folder / 'x.txt').read_text())
        self.assertEqual(self.files(), ['x.txt'])
        self.assertIn('A.a', self.run_it()[0])

    def test_force_n_keeps_what_has_the_name(self):
        """Of each writer: a JVM, beside it; the command, which refuses before the program runs."""
        self.script('jvms', './jvm A.a 30\n')
        self.script('java', 'JAVA_TOOL_OPTIONS=$1 ./jvm A.a 30\n')
        for program in ('./jvms', './java'):
            (self.folder / 'x.txt').write_text('JAVA PROFILE old')
            out, _, pids = self.run_it('-o', 'x.txt', 'force=n', program=program)
            self.assertEqual((out, (self.folder / 'x.txt').read_text()), ('x.%s.txt\n' % pids[0], 'JAVA PROFILE old'))
        (self.folder / 'x.folded').write_text('old')
        self.assertIn('x.folded exists, and force=n keeps it', self.run_it('-o', 'x.folded', 'force=n', status=FAILED)[1])
        self.assertEqual(((self.folder / 'x.folded').read_text(), self.run_it('-o', 'y.folded', 'force=n')[0]), ('old', 'y.folded\n'))

    def test_a_name_is_as_the_jvm_has_expanded_it(self):
        self.script('jvms', './jvm A.a 30\n')
        self.assertEqual(self.run_it('-o', 'x-%h.txt')[0], 'x-host.txt\n')
        self.script('jvms', './jvm A.a 30; sleep 1.1\n')
        name = self.run_it('-o', 'y-%p-%t.folded')[0].split('-', 2)[2]
        self.assertLess(name.strip(), time.strftime('%Y%m%d-%H%M%S.folded'))

    def test_split_has_several_files_of_a_jvm(self):
        self.script('jvms', './jvm A.a 30; for f in $HPX_OF; do cp $f $f.1; done\n')
        out, _, pids = self.run_it('-o', 'x.txt', 'split=y,dump=1s', HPX_OF='x.*.txt')
        self.assertEqual(out, 'x.{0}.txt\nx.{0}.txt.1\n'.format(pids[0]))
        self.script('jvms', './jvm A.a 30; for f in $(echo $JAVA_TOOL_OPTIONS | sed "s/.*file=//;s/%p.*//")*; do cp $f $f.1; done\n')
        self.assertRegex(self.run_it('split=y,dump=1s')[0], r'The sum of the 2 profiles:(.|\n)* 60  A\.a\n')
        for words in ([], ['-o', 'y.txt'], ['start']):  # what takes one profile from a JVM leaves none of the others in its /tmp
            done = subprocess.run([PROGRAM, *words, str(os.getpid()), 'split=y,dump=1s'], capture_output=True, text=True, cwd=self.folder)
            self.assertIn('split=y has the JVM write several files', done.stderr)
            self.assertEqual((done.returncode, (self.folder / 'y.txt').exists()), (2, False))

    @unittest.skipUnless(os.geteuid() == 0, 'not as root')
    def test_a_program_of_root_may_become_another_user(self):
        self.folder.chmod(0o755)
        self.folder.parent.chmod(0o755)
        self.script('jvms', 'setpriv --reuid=65534 --regid=65534 --clear-groups ./jvm A.a 30; ./jvm A.a 30; for f in $(echo $JAVA_TOOL_OPTIONS | sed "s/.*file=//;s/%p.*//"); do stat -c "%a %u" $f $f/..; done\n')
        out = self.run_it()[0]
        self.assertRegex(out, r'The sum of the 2 JVMs:(.|\n)* 60  A\.a\n')
        self.assertIn('1733 0\n711 0\n', out)  # other users know no name to put anything at
        self.assertEqual(self.leaves(), [])

    def test_profiles_of_different_kinds_are_shown_one_by_one(self):
        self.script('jvms', './jvm A.a 30; ./jvm A.b 70 "CPU TIME (ms)"\n')
        out, _, _ = self.run_it()
        self.assertIn('The 2 JVMs have nothing in common that could be added.', out)
        self.assertEqual(len(re.findall(r'^Look at A\.[ab] ', out, re.M)), 2, out)

    def test_no_jvm_is_no_failure_of_the_program(self):
        for status in (OK, 3):
            self.script('jvms', 'exit %d\n' % status)
            for out in ([], ['-o', 'x.txt'], ['-o', 'x.html']):
                said = self.run_it(*out, status=status)
                self.assertRegex(said[1], r'^hprofx: no JVM has written a profile\. .*JAVA_TOOL_OPTIONS.*`hprofx PID`')
        self.assertEqual((self.files(), self.leaves()), ([], []))

    def test_threads_are_shown_by_themselves(self):
        self.script('jvms', './jvm A.a 30\n')
        self.assertNotIn('Thread ', self.run_it()[0])
        out = self.run_it('-t')[0]
        self.assertRegex(out, r'100\.00% +30  main\n')
        self.assertRegex(out, r'\nThread main\n[^\n]*\n +100\.00% +100\.00% +30  A\.a\n')

    def test_all_has_monitors_and_locks(self):
        self.script('jvms', 'echo "$JAVA_TOOL_OPTIONS" >&2; exit 3\n')
        self.assertRegex(self.run_it('-e', 'all', status=3)[1], r'monitor=y.*locks=y')

    def test_one_that_was_killed_is_told(self):
        self.script('jvms', './jvm A.a 30; HPX_LEFT=1 ./jvm A.b 70\n')
        out, err, pids = self.run_it('-o', 'x.txt', status=PARTIAL)
        self.assertEqual(self.files(), sorted('x.%s.txt' % pids[0:1][0] if i == 0 else 'x.%s.txt.journal.part' % p for i, p in enumerate(pids)))
        self.assertRegex(err, r'the profile (/.*/x\.%s\.txt) is not finished; `hprofx recover \1` rebuilds it' % pids[1])
        self.assertNotIn('x.%s.txt' % pids[1], out)

    def test_one_that_still_runs_is_told(self):
        os.mkfifo(self.folder / 'go')
        for how in ('held', 'begun'):
            self.script('jvms', './jvm A.a 30; HPX_LEFT=%s ./jvm A.b 70\n' % how)
            _, err, pids = self.run_it('-o', 'x.txt', status=PARTIAL)
            (self.folder / 'go').write_text('')
            self.assertRegex(err, r'a JVM of the program still runs; its profile will be /.*/x\.%s\.txt' % pids[1])

    def test_what_goes_on_in_the_background_keeps_its_folder(self):
        """An agent that cannot make its file ends the JVM before main."""
        os.mkfifo(self.folder / 'go')
        self.script('jvms', '(read x <go; ./jvm A.a 30 >go) >/dev/null 2>&1 &\n')
        folder = re.search(r'processes of the program still run; .* will be in (/tmp/hprofx-run-[\w/]+)\n', self.run_it()[1])[1]
        self.assertTrue(pathlib.Path(folder).is_dir())
        (self.folder / 'go').write_text('\n')
        pid = (self.folder / 'go').read_text().strip()
        self.assertIn('A.a', (pathlib.Path(folder) / pid).read_text())
        shutil.rmtree('/'.join(folder.split('/')[:3]))  # of root it is within another one

    def test_a_process_that_was_left_behind_and_ends_is_gone(self):
        """As scripts that stop a daemon wait for it."""
        self.script('jvms', "sh -c 'sleep 1000 & echo $! >number'; kill $(cat number); i=0\n"
                            'while kill -0 $(cat number) 2>/dev/null; do i=$((i + 1)); [ $i -lt 100 ] || exit 9; sleep 0.1; done\n./jvm A.a 30\n')
        self.assertIn('A.a', self.run_it()[0])

    def test_a_file_that_is_no_profile_is_left_alone(self):
        self.script('jvms', 'echo words >x.7.txt; echo words >x.old.txt\n')
        self.assertIn('no JVM has written a profile', self.run_it('-o', 'x.txt')[1])
        self.assertEqual((self.files(), (self.folder / 'x.7.txt').read_text()), (['x.7.txt', 'x.old.txt'], 'words\n'))

    def test_what_came_after_a_dump_is_told(self):
        """A JVM that has dumped and was killed: a profile, and the journal of the rest."""
        self.script('jvms', './jvm A.a 30; for f in x.*.txt; do cp $f $f.journal.part; done\n')
        out, err, pids = self.run_it('-o', 'x.txt', status=PARTIAL)
        self.assertEqual((out, self.files()), ('x.%s.txt\n' % pids[0], ['x.%s.txt' % pids[0], 'x.%s.txt.journal.part' % pids[0]]))
        self.assertRegex(err, r'x\.%s\.txt is not finished; `hprofx recover' % pids[0])


if __name__ == '__main__':
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
