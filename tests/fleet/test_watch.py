#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hprofx watch, with JVMs that run: they come and go, refuse, do not answer, belong to others; watchers are killed.

python3 -m unittest discover -s tests/fleet -p test_watch.py. HPX_BUILD=FOLDER: another build than build/. A test uses JDK 17 unless it says otherwise."""
import collections
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest


ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get('HPX_BUILD', ROOT / 'build')).resolve()
DRIVER, HPROFX, AGENT = BUILD / 'tests' / 'watch-driver', BUILD / 'hprofx', BUILD / 'agent' / 'libhprofx.so'
SLOW = float(os.environ.get('HPX_SLOW') or 1)
LIMIT = 60 * SLOW # until something must have happened
OTHER_USER = 12345
NAME = re.compile(r'(\d+)-(\d+)-(\d+)-(\d{6})\.hprof')
TMP = pathlib.Path('/tmp')


def jdk(release):
    return subprocess.run(['bash', '-c', '. "$0/tools/common.sh" && find_jdk "$1"', ROOT, str(release)], capture_output=True, text=True, check=False).stdout.strip()


def holds(condition, what):
    """Waits until it does."""
    until = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > until:
            raise AssertionError('not within %d s: %s' % (LIMIT, what() if callable(what) else what))
        time.sleep(0.05)


def children(pid):
    """All processes below."""
    found = []
    for name in pathlib.Path('/proc/%d/task/%d/children' % (pid, pid)).read_text().split():
        found += [int(name), *children(int(name))]
    return found


def lives(pid):
    try:
        return pathlib.Path('/proc/%d/stat' % pid).read_text().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError:
        return False


class Watch:
    """The driver: a process that watches."""

    def __init__(self, case, *asked, folder=None, **how):
        self.folder = folder or pathlib.Path(tempfile.mkdtemp(dir=case.folder))
        self.err = tempfile.TemporaryFile(dir=case.folder)
        words = [DRIVER, self.folder, 'match=' + case.mark, 'agent=%s' % AGENT, 'budget=100', *asked]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err, text=True, **how)
        case.addCleanup(self.end)

    def ask(self, what):
        self.process.stdin.write(what + '\n')
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline() or '"it has ended"')

    @property
    def counts(self):
        return self.ask('counts')

    def until(self, **least):
        holds(lambda: all(self.counts[key] >= n for key, n in least.items()), lambda: '%r of %r; %s' % (least, self.counts, self.said))

    @property
    def said(self):
        if self.err.closed:
            return self.all
        self.err.seek(0)
        return self.err.read().decode()

    def stop(self):
        """The last counts."""
        counts = self.ask('stop')
        self.end()
        return counts

    def end(self):
        if not self.process.stdin.closed:
            self.process.stdin.close()
            try:
                self.process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
            self.err.seek(0)
            self.all = self.err.read().decode()
            self.err.close()

    @property
    def profiles(self):
        """{pid: {session: [numbers]}}"""
        found = collections.defaultdict(lambda: collections.defaultdict(list))
        for name in sorted(os.listdir(self.folder)):
            is_one = NAME.fullmatch(name)
            if is_one:
                pid, _, session, number = map(int, is_one.groups())
                found[pid][session].append(number)
        return found


class Case(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.home = jdk(17)
        if not cls.home or not AGENT.exists() or not DRIVER.exists():
            raise unittest.SkipTest('no JDK 17, no agent or no tests/watch-driver in the build')
        folder = tempfile.TemporaryDirectory(prefix='hprofx-watch-test-')
        cls.addClassCleanup(folder.cleanup)
        cls.classes = pathlib.Path(folder.name)
        cls.classes.chmod(0o755)
        subprocess.run([cls.home + '/bin/javac', '--release', '8', '-nowarn', '-d', cls.classes, ROOT / 'tests' / 'fleet' / 'Busy.java'], check=True, capture_output=True)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='hprofx-watch-test-')
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        self.mark = 'hprofx.test.' + self.folder.name # in the command lines of this test's JVMs
        self.jvms = []

    def java(self, *options, home=None, inside=(), classes=None, **how):
        """inside: a command that starts it."""
        p = subprocess.Popen([*inside, (home or self.home) + '/bin/java', '-Xmx64m', '-XX:+UseSerialGC', '-D%s=y' % self.mark, *options, '-cp', classes or self.classes, 'Busy'], cwd=self.folder,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **how)
        self.addCleanup(self.kill, p)
        self.jvms.append(p)
        self.assertEqual(p.stdout.readline(), 'ready\n')
        return p

    def kill(self, process):
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            pipe.close()

    def leave(self, process):
        process.stdin.close()
        self.assertEqual(process.wait(LIMIT), 0)

    def left_in_tmp(self):
        """Files of this test's JVMs: other watchers may run here."""
        return sorted(path.name for p in self.jvms for path in TMP.glob('hprofx-watch-%d-*' % p.pid))

    def check_profiles(self, watch, pid):
        """All are sound, and none is missing."""
        for session, numbers in watch.profiles[pid].items():
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)), session)
        for path in watch.folder.iterdir():
            self.assertEqual(path.stat().st_mode & 0o7777, 0o600)
            self.assertEqual(subprocess.run([HPROFX, 'check', path], capture_output=True, check=False).returncode, 0, path)

    def check_lost(self, watch, **lost):
        self.assertEqual({key: n for key, n in watch.counts.items() if key.startswith('lost') and n}, lost, watch.said)

    def status(self, process):
        return subprocess.run([HPROFX, 'status', str(process.pid)], capture_output=True, text=True, check=False).stdout

    def has_session(self, process):
        return 'session: running' in self.status(process)

    # ---- JVMs come and go ----

    def come_and_go(self, home):
        w = Watch(self, 'every=1')
        p = self.java(home=home)
        w.until(watched=1, profiles=2)
        self.leave(p)
        w.until(sessions_ended=1)
        holds(lambda: w.counts['jvms'] == 0 or w.counts['matched'] == 0, 'the JVM is forgotten')
        self.check_lost(w)
        c = w.counts
        self.assertEqual(c['profiles'], sum(map(len, w.profiles[p.pid].values())))
        self.assertEqual(c['profile_bytes'], sum(path.stat().st_size for path in w.folder.iterdir()))
        self.assertGreater(c['agent_cpu_ns'], 0)
        self.check_profiles(w, p.pid)
        text = ''.join(path.read_text('utf-8', 'replace') for path in w.folder.iterdir())
        self.assertIn('Busy.work', text)
        self.assertIn('SITES BEGIN', text)
        self.assertEqual(self.left_in_tmp(), [])
        self.assertEqual(w.said, '')

    def test_a_jvm_comes_is_profiled_and_goes(self):
        self.come_and_go(self.home)

    def test_a_jvm_of_25_comes_is_profiled_and_goes(self):
        home = jdk(25)
        if not home:
            self.skipTest('no JDK 25')
        self.come_and_go(home)

    def test_a_jvm_of_8_has_no_sites(self):
        home = jdk(8)
        if not home:
            self.skipTest('no JDK 8')
        p = self.java(home=home)
        w = Watch(self, 'every=1')
        w.until(profiles=2)
        w.stop()
        self.check_profiles(w, p.pid)
        self.assertNotIn('SITES BEGIN', ''.join(path.read_text('utf-8', 'replace') for path in w.folder.iterdir()))

    def test_one_that_refuses_is_told_of_once_and_the_others_are_watched(self):
        jvms = [self.java(), self.java(), self.java('-XX:+DisableAttachMechanism')]
        w = Watch(self, 'every=1')
        w.until(watched=2, refused_jvm=1, profiles=4)
        holds(lambda: w.profiles[jvms[0].pid] and w.profiles[jvms[1].pid], 'both are profiled')
        self.assertEqual(w.counts['matched'], 3)
        self.assertEqual(len(w.said.splitlines()), 1, w.said)
        self.assertIn('process %d, Busy, is left alone: ' % jvms[2].pid, w.said)
        self.assertIn('-XX:+DisableAttachMechanism', w.said)
        self.assertEqual(w.counts['refused_jvm'], 1)
        self.check_lost(w)
        w.stop()
        self.check_profiles(w, jvms[0].pid)
        self.check_profiles(w, jvms[1].pid)
        self.assertFalse(self.has_session(jvms[0]))
        self.assertEqual(self.left_in_tmp(), [])

    def test_a_pattern_chooses(self):
        p = self.java()
        w = Watch(self, 'every=1', 'match=no.such.program')
        other = Watch(self, 'every=1', 'match=*%s=?' % self.mark)
        other.until(profiles=1)
        self.assertGreaterEqual(w.counts['jvms'], 1)
        self.assertEqual((w.counts['matched'], w.counts['sessions_begun']), (0, 0))
        self.assertEqual(list(other.profiles), [p.pid])

    # ---- how much ----

    def test_a_part_of_the_time(self):
        p = self.java()
        w = Watch(self, 'every=3', 'for=1')
        w.until(sessions_begun=2, sessions_ended=2)
        holds(lambda: not self.has_session(p), 'it rests')
        w.until(sessions_begun=3)
        w.stop()
        self.check_profiles(w, p.pid)
        self.assertEqual({len(numbers) for numbers in w.profiles[p.pid].values()}, {1})
        self.assertGreaterEqual(len(w.profiles[p.pid]), 3)

    def test_a_tiny_budget_ends_the_session_and_the_jvm_rests(self):
        self.java()
        w = Watch(self, 'every=1', 'budget=0.000001')
        w.until(over_budget=1, left_alone=1, sessions_ended=1, profiles=1)
        self.assertIn('more than the budget, 1e-06 % of the host; the process rests\n', w.said)
        self.assertEqual(w.counts['watched'], 0)
        self.check_lost(w)

    def test_a_host_outside_the_share_watches_nobody(self):
        self.java()
        w = Watch(self, 'every=1', 'share=0.0000001', 'host=a')
        w.until(jvms=1)
        self.assertEqual((w.counts['matched'], w.counts['sessions_begun']), (0, 0))
        self.assertIn('this host is not among 1e-07 % of all hosts', w.said)

    def test_a_flush_brings_a_profile_now(self):
        p = self.java()
        w = Watch(self, 'every=3600')
        w.until(sessions_begun=1)
        for n in (1, 2):
            self.assertIs(w.ask('flush'), True)
            self.assertEqual(w.counts['profiles'], n)
        self.assertEqual(list(w.profiles[p.pid].values()), [[1, 2]])

    # ---- what is in the way ----

    def test_the_session_of_another_is_left_alone(self):
        p = self.java()
        out = self.folder / 'other.hprof'
        subprocess.run([HPROFX, 'start', '--agent', AGENT, '-o', out, str(p.pid)], check=True, capture_output=True)
        w = Watch(self, 'every=1')
        w.until(refused_session=1)
        self.assertIn('session is running', w.said)
        self.assertIn(str(out), self.status(p))
        w.stop()
        self.assertIn(str(out), self.status(p))

    def test_a_session_that_another_ends_is_not_begun_again(self):
        p = self.java()
        w = Watch(self, 'every=1')
        w.until(profiles=1)
        subprocess.run([HPROFX, 'stop', str(p.pid)], check=True, capture_output=True)
        w.until(refused_session=1, sessions_ended=1)
        self.assertIn('another command has ended the session', w.said)
        self.assertFalse(self.has_session(p))
        self.check_lost(w)
        self.check_profiles(w, p.pid)

    def test_a_stopped_jvm_holds_up_neither_others_nor_the_end(self):
        stuck, fine, deaf = self.java(), self.java(), self.java()
        deaf.send_signal(signal.SIGSTOP) # before anything is loaded
        w = Watch(self, 'every=1')
        w.until(sessions_begun=2, watched=3)
        stuck.send_signal(signal.SIGSTOP)
        before = w.counts['profiles']
        w.until(profiles=before + 2)
        begin = time.monotonic()
        w.stop()
        self.assertLess(time.monotonic() - begin, 15 * SLOW) # 10 s are promised
        self.check_profiles(w, fine.pid)
        self.kill(deaf)
        stuck.send_signal(signal.SIGCONT)
        holds(lambda: not self.has_session(stuck), 'its session ends when it goes on')
        again = Watch(self, 'every=1')
        again.until(leftover_profiles=1, sessions_begun=2)
        again.stop()
        self.assertEqual(self.left_in_tmp(), [])

    def test_what_is_not_the_jvms_own_file_is_not_read(self):
        if os.geteuid() != 0:
            self.skipTest('needs root')
        self.java()
        secret = self.folder / 'secret'
        secret.write_text('a secret')
        w = Watch(self, 'every=3600')
        w.until(sessions_begun=1)
        holds(lambda: any(name.endswith('.hprof.part') for name in self.left_in_tmp()), 'the agent writes')
        base = next(TMP / name[:-5] for name in self.left_in_tmp() if name.endswith('.hprof.part'))
        self.addCleanup(lambda: [path.unlink() for path in TMP.glob(base.name + '*') if not path.is_dir()])
        files = {n: pathlib.Path('%s.%d' % (base, n)) for n in (1, 2, 3, 4, 5, 6, 4000000000)}
        files[1].symlink_to(secret)
        os.mkfifo(files[3])
        for n in (2, 4, 5, 6, 4000000000):
            files[n].write_text('text %d' % n)
        os.chown(files[5], OTHER_USER, OTHER_USER)
        self.assertEqual(w.stop()['lost_foreign'], 3)
        self.assertEqual([sorted(numbers) for numbers in list(w.profiles.values())[0].values()], [[2, 4, 6, 7]])
        self.assertNotIn('secret', ''.join(path.read_text('utf-8', 'replace') for path in w.folder.iterdir()))
        self.assertEqual(secret.read_text(), 'a secret')

    def test_a_full_disk_is_counted(self):
        self.java()
        w = Watch(self, 'every=1', preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
        w.until(lost_disk=2)
        self.assertEqual(w.counts['profiles'], 0)
        w.stop()
        self.assertEqual(os.listdir(w.folder), [])

    # ---- users ----

    def test_root_watches_the_jvm_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest('needs root')
        p = self.java(user=OTHER_USER, group=OTHER_USER, extra_groups=[])
        self.folder.chmod(0o755)
        folder = self.folder / 'of-other'
        folder.mkdir(0o700)
        os.chown(folder, OTHER_USER, OTHER_USER)
        w = Watch(self, 'every=1', folder=folder)
        w.until(profiles=2)
        w.stop()
        self.check_profiles(w, p.pid)
        self.assertEqual({path.stat().st_uid for path in folder.iterdir()}, {OTHER_USER})
        self.assertEqual(self.left_in_tmp(), [])

    def test_another_user_watches_its_own_jvms_alone(self):
        if os.geteuid() != 0:
            self.skipTest('needs root')
        self.java()
        own = self.java(user=OTHER_USER, group=OTHER_USER, extra_groups=[])
        folder = self.folder / 'of-other'
        folder.mkdir(0o700)
        os.chown(folder, OTHER_USER, OTHER_USER)
        w = Watch(self, 'every=1', folder=folder, user=OTHER_USER, group=OTHER_USER, extra_groups=[])
        w.until(profiles=2)
        self.assertEqual((w.counts['matched'], w.said), (1, ''))
        self.assertEqual(list(w.profiles), [own.pid])

    def test_a_jvm_in_a_container_is_watched_from_outside(self):
        """It has a /tmp and numbers of processes of its own."""
        inside = ('unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', 'mount -t proc proc /proc && mount -t tmpfs tmpfs /tmp && exec "$0" "$@"')
        if subprocess.run([*inside, 'true'], capture_output=True, check=False).returncode != 0:
            self.skipTest('no namespaces here')
        seen = tempfile.TemporaryDirectory(prefix='hprofx-watch-test-', dir='/var/tmp')
        self.addCleanup(seen.cleanup)
        shutil.copy(self.classes / 'Busy.class', seen.name)
        outer = self.java(inside=inside, classes=seen.name)
        pid, = children(outer.pid)
        w = Watch(self, 'every=1')
        w.until(profiles=2)
        self.assertEqual(os.listdir('/proc/%d/root/tmp' % pid).count('libhprofx-1.so'), 0)
        outer.stdin.close()
        w.until(sessions_ended=1)
        self.check_lost(w)
        self.assertEqual(list(w.profiles), [pid])
        self.check_profiles(w, pid)

    # ---- the end of watchers ----

    def test_nothing_goes_on_when_the_parent_is_killed(self):
        p = self.java()
        w = Watch(self, 'every=1')
        w.until(profiles=1)
        below = children(w.process.pid)
        self.assertEqual(len(below), 2)
        w.process.kill()
        holds(lambda: not any(map(lives, below)), 'watcher and keeper have ended')
        self.assertFalse(self.has_session(p))
        self.check_profiles(w, p.pid)
        self.assertEqual(self.left_in_tmp(), [])

    def test_sessions_end_when_all_are_killed_and_the_next_watcher_brings_what_they_left(self):
        p = self.java()
        w = Watch(self, 'every=3600')
        w.until(sessions_begun=1)
        below = children(w.process.pid)
        for number in (signal.SIGSTOP, signal.SIGKILL): # none of them sees that another has died
            for pid in below:
                os.kill(pid, number)
        self.assertEqual(w.process.poll(), None)
        holds(lambda: w.counts['ended'] == 1, 'the driver sees it')
        holds(lambda: not self.has_session(p), 'the session ends')
        self.assertEqual(os.listdir(w.folder), [])
        self.assertEqual(len(self.left_in_tmp()), 1)
        again = Watch(self, 'every=3600')
        again.until(leftover_profiles=1)
        again.stop()
        self.assertEqual(len(os.listdir(again.folder)), 2)
        self.assertEqual(self.left_in_tmp(), [])

    def test_keepers_end_in_good_order_when_the_watcher_is_killed(self):
        p = self.java()
        w = Watch(self, 'every=3600')
        w.until(sessions_begun=1)
        watcher, keeper = children(w.process.pid)
        os.kill(watcher, signal.SIGKILL)
        holds(lambda: not lives(keeper), 'the keeper has ended')
        self.assertEqual(w.counts['profiles'], 1)
        self.assertFalse(self.has_session(p))
        self.assertEqual(self.left_in_tmp(), [])

    def test_a_signal_ends_the_watcher_in_good_order(self):
        p = self.java()
        w = Watch(self, 'every=3600')
        w.until(sessions_begun=1)
        os.kill(min(children(w.process.pid)), signal.SIGTERM)
        holds(lambda: w.counts['ended'] == 1, 'the watcher has ended')
        self.assertEqual(w.counts['profiles'], 1)
        self.assertFalse(self.has_session(p))
        self.check_lost(w)

    def test_what_makes_no_sense_is_refused(self):
        for asked, why in (('every=0.5', '--every'), ('for=60', '--for'), ('share=101', '--share'), ('budget=-1', '--budget'), ('what=heap', '-e wants'),
                           ('more=dump=1s', 'dump='), ('more=cpu=sampels', 'sampels'), ('agent=/nowhere', '/nowhere')):
            done = subprocess.run([DRIVER, self.folder, *([] if asked.startswith('agent') else ['agent=%s' % AGENT]), asked], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
            self.assertIn(why, done.stderr)
            self.assertIn(done.returncode, (1, 2), asked)


if __name__ == '__main__':
    unittest.main()
