# SPDX-License-Identifier: BSD-2-Clause
"""One scenario, run and judged."""
import collections
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import zipfile

import attached
import build
import harness
import hprof_text
import judge
import plants
import runner

HERE = pathlib.Path(__file__).resolve().parent
HELPERS = ('Blocked', 'Asleep', 'Cpu')  # of tests/jvm/programs
LIMIT = 90  # seconds of the reference
CODES = {'return': 0, 'exit': 3, 'halt': 4, 'throw': 5, 'term': 143}
OWN_LINES = re.compile(r'truth .*|phase \d+|done \d+|ready|end|caught')
# Lines on stderr that say what the manual page says they do, and when they may stand there.
ANY, UNLOADING, BUSY, CHECKED, REWRITTEN = lambda s: True, lambda s: {'load', 'collect'} & set(s.noises) or any(t.activity == 'Plugs' for t in s.tasks), lambda s: s.dumps == 'timer', \
    lambda s: '-Xcheck:jni' in s.jvm, \
    lambda s: bool({'times', 'sites', 'counts'} & set(s.modes)) or re.search('cpu=times|heap=', s.first) or s.beside != 'none'
DECLARED = [(re.compile(line), when) for line, when in (
    (r'Dumping .* done\.', ANY), (r'hprofx: (samples|sites|wall clock|contentions|calls|heap|live|monitor dump): .*', ANY),
    (r'hprofx: cpu=samples: AsyncGetCallTrace may fault, and -Xcheck:jni reports handlers of faults; using sampler=walk instead', CHECKED),
    (r'hprofx: methods without (lines|names): \d+ \(.*: class unloaded, or no memory\)', UNLOADING),  # a collection unloads hidden classes of method handles
    (r'hprofx: heap=\w+: to count live objects in (the JVM|a copy of the process) would stop the program for about \d+ ms, and maxpause=.*', ANY),  # the report says that there are none
    (r'hprofx: heap dump: to read the heap in the JVM would stop the program for about \d+ ms, and maxpause=.*', lambda s: s.first == 'heap'),  # that session is not judged
    (r'hprofx: methods without names: \d+ \(.*', REWRITTEN),  # those that run on in a version from before their class was rewritten
    (r'hprofx: gc=y: no garbage was collected before the last dump: .*', lambda s: 'gc=y' in s.agent and s.gc in ('ZGC', 'Shenandoah')),  # docs/sites.md
    (r'hprofx: dumps skipped: \d+ \(.*', BUSY), (r'hprofx: lost, .*: \d+ \(.*', ANY))]  # the judge sees which figures it concerns
LATE = re.compile(r'WARNING: (A JVM TI agent has been loaded dynamically|If a serviceability tool is|If a serviceability tool is not|Dynamic loading of agents)')


class Env(build.Env):
    """The activities alone, of each release."""

    def __init__(self, agent, jdks):
        super().__init__(agent, jdks)
        self.controls = {}

    def _compile(self):
        self.classes = {}
        for release, folder in ((8, 'java'), (21, 'java21'), (28, 'java28')):
            files = sorted((HERE / folder).glob('*.java'))
            files += [HERE.parent / 'jvm' / 'programs' / ('%s.java' % name) for name in HELPERS] if release == 8 else []
            with_jdk = self.compiler(release)
            if files and with_jdk:
                self.classes[release] = self.tmp / ('classes%d' % release)
                self.javac(with_jdk, release, files, self.classes[release])


    def harm(self, j):
        """The agent of harm.c."""
        made = self.tmp / 'harm.so'
        with self.lock:
            if not made.exists():
                include = j.home / 'include'
                subprocess.run(build.compiler() + ['-shared', '-fPIC', '-I%s' % include, '-I%s' % (include / 'linux'), '-o', str(made), str(HERE / 'harm.c')], check=True)
        return made

    def premain(self):
        """A jar whose agent is the program."""
        jar = self.tmp / 'premain.jar'
        with self.lock:
            if not jar.exists():
                with zipfile.ZipFile(jar, 'w') as z:
                    z.writestr('META-INF/MANIFEST.MF', 'Manifest-Version: 1.0\nPremain-Class: Program\nCan-Retransform-Classes: true\n')
        return jar


@dataclasses.dataclass
class Outcome:
    failures: list
    judged: collections.Counter
    judgements: list
    skipped: str = ''
    spread: bool = False  # its failures may be chance


class Once:
    def __init__(self, env, s, plant):
        self.env, self.s, self.plant = env, s, plant
        self.jdk = next(j for j in env.jdks if j.label == s.jdk)
        if s.gc == 'Shenandoah' and s.gc not in self.jdk.offered():  # some vendors leave it out
            self.s = s = s.with_(gc='G1')
        slow = {'-Xint', '-Xcomp', '-Xcheck:jni'} & set(s.jvm)
        case = runner.Case('truth', None, None, self.jdk, s.gc, False, LIMIT * harness.SLOW * (2 if slow else 1) * (1 if self.jdk.has('jit') else 4))
        self.t = harness.Test(env, case)
        self.outcome = Outcome([], collections.Counter(), [])

    # --- running

    def command(self, agent):
        s = self.s
        words = ['told' if s.told else 'alone', str(s.phases + s.unseen), s.end, ','.join(s.noises) or '-'] + [str(t) for t in s.tasks]
        jvm, own = list(s.flags), '-javaagent:%s=%s' % (self.env.premain(), ' '.join(str(t) for t in s.tasks if t.carrier == 'premain'))
        if s.beside == 'before' or s.beside == 'behind' and not agent:
            jvm.append(own)
        elif s.beside == 'behind':
            jvm, agent = jvm + [agent], own
        if self.plant in plants.HARM:
            jvm.append('-agentpath:%s=%s' % (self.env.harm(self.jdk), self.plant))
        return self.t.command('Program', *words, opts=None, agent=agent, jvm=jvm)

    def options(self, name):
        s = self.s
        return '%s,file=%s%s' % (s.agent, name, ',dump=150ms' if s.dumps == 'timer' else '')

    def loaded(self):
        library = attached.library(self.t)
        if self.s.begin == 'attached':
            return None
        return '-agentpath:%s=%s' % (library, 'start=n' if self.s.begin == 'late' else self.options('0.txt'))

    def hprofx(self, *words):
        done = attached.hprofx(self.t, *words)
        if done.returncode != 0:
            raise harness.Failure('hprofx %s: status %d: %s' % (' '.join(map(str, words)), done.returncode, done.stderr))

    def tell(self, run):
        run.process.stdin.write(b'\n')
        run.process.stdin.flush()

    def heap(self, run, with_agent):
        """A phase that no session records: hprofx -e heap is told of the program, and may not hold up its work."""
        file = self.t.work / 'first.hprof'
        words = [attached.of_build(self.t, 'hprofx'), '--agent', attached.library(self.t), '-e', 'heap', '-o', file, str(run.pid)]
        asked = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.t.work) if with_agent else None
        try:
            while asked and asked.poll() is None and not records(run.pid):
                time.sleep(0.01)
            self.tell(run)
            run.wait_line('done 1')
            if asked:
                err = asked.communicate(timeout=60 * harness.SLOW)[1]
                self.say('command', None if asked.returncode == 0 else 'hprofx -e heap: status %d: %s' % (asked.returncode, err))
        finally:
            if asked and asked.poll() is None:
                asked.kill()
                asked.wait()

    def phases(self, run, with_agent):
        """The program is told its phases, sessions around them."""
        s, began = self.s, with_agent and s_begins_by_command(self.s)
        if s.unseen:
            self.heap(run, with_agent)
        elif began and s.first != 'none':
            self.hprofx('start', '-o', self.t.work / 'first.txt', run.pid, s.first)
            self.hprofx('stop', run.pid)
        for n in range(1, s.phases + 1):
            if began and (n == 1 or s.sessions > 1):
                options = s.agent + (',dump=150ms' if s.dumps == 'timer' else '')
                self.hprofx('start', '-o', self.t.work / ('%d.txt' % (n - 1)), run.pid, options)
            self.tell(run)
            run.wait_line('done %d' % (n + s.unseen))
            if with_agent and s.dumps == 'command' and n < s.phases:
                self.hprofx('dump', run.pid)
            if began and (n == s.phases or s.sessions > 1):
                self.hprofx('stop', run.pid)
        self.tell(run)

    def go(self, agent, with_agent):
        run = self.t.start_command(self.command(agent), stdin=subprocess.PIPE if self.s.told else subprocess.DEVNULL)
        run.wait_line('ready')
        if self.s.told:
            self.phases(run, with_agent)
        if self.s.end == 'term':
            run.wait_line('end')
            run.signal(signal.SIGTERM)
        run.finish()
        if self.s.told:
            run.process.stdin.close()
        return run

    # --- judging

    def say(self, what, failure):
        self.outcome.judged[what] += 1
        if failure:
            self.outcome.failures.append(failure)

    def files(self):
        """The profile of each session; of phases without one of their own, one."""
        for n in range(self.s.sessions):
            path = self.t.work / ('%d.txt' % n)
            if not path.exists():
                raise harness.Failure('no profile %s' % path.name)
            try:
                yield hprof_text.parse(path.read_bytes(), cutoff=0)
            except hprof_text.Malformed as e:
                raise harness.Failure('%s: %s' % (path, e)) from e

    def truths(self, out):
        """Of each session."""
        before, *told = re.split(r'^phase \d+$', out, flags=re.M)  # what premain tells stands before
        told = told[self.s.unseen:]
        parts = [judge.Truth(x) for x in told]
        if len(parts) != self.s.phases or not all('truth ' in x.text for x in parts) and any(t.carrier != 'premain' for t in self.s.tasks):
            raise harness.Failure('the program told %d phases of %d' % (len(parts), self.s.phases))
        for earlier, part in zip(parts, parts[1:]):
            part.kept = judge.sum_by([*earlier.kept.items(), *part.alive.items()])
        return parts if self.s.sessions > 1 else [judge.Truth('\n'.join([before, *told]))]

    def no_harm(self, run):
        s = self.s
        want = CODES[s.end]
        self.say('harm', None if run.code == want else 'exit code %s, expected %d: %s' % (run.code, want, run.err[-300:]))
        strange = [x for x in run.out.splitlines() if not OWN_LINES.fullmatch(x)]
        errors = [x for x in run.err.splitlines() if not LATE.match(x) and not any(when(s) and line.fullmatch(x) for line, when in DECLARED)]
        if strange or errors:
            control = self.control()
            strange = [x for x in strange if x not in control.out.splitlines()]
            errors = [x for x in errors if x not in control.err.splitlines()]
        self.say('harm', 'lines on stdout: %s' % strange[:5] if strange else None)
        kind = judge.Spread if all(x.startswith('hprofx: ') for x in errors) else str
        self.say('harm', kind('lines on stderr: %s' % errors[:5]) if errors else None)
        left = [p.name for p in self.t.work.iterdir() if not re.fullmatch(r'(\d+|first)\.txt|first\.hprof', p.name)]
        self.say('harm', 'files left: %s' % left if left else None)

    def control(self):
        """The same without the agent."""
        return self.go(None, False)

    def views(self, n, p):
        """What the command makes of the file, of the tables that it has."""
        found = {}
        for view, tables in judge.VIEWS.items():
            if tables(p):
                words = [attached.of_build(self.t, 'hprofx'), 'view', '--json', '--view', view, '%d.txt' % n]
                done = subprocess.run(words, capture_output=True, text=True, cwd=self.t.work, timeout=60 * harness.SLOW, check=False)
                if done.returncode != 0:
                    raise harness.Failure('hprofx view --view %s: status %d: %s' % (view, done.returncode, done.stderr))
                found[view] = json.loads(done.stdout)
        return found

    def judge(self, what, verdicts):
        for text, failure in verdicts:
            self.outcome.judgements.append('%s %s' % ('FAIL' if failure else 'ok', failure or text))
            self.say(what, failure)

    def run(self):
        s, modes = self.s, '+'.join(self.s.modes)
        try:
            run = self.go(self.loaded(), True)
            self.no_harm(run)
            for n, (p, truth) in enumerate(zip(self.files(), self.truths(run.out))):
                self.judge('command', judge.shown(p, self.views(n, p)))
                plants.falsify(self.plant, s.modes, p)
                self.judge(modes, judge.session(s, p, truth, self.jdk.version))
            if s.paired == 'y':
                plain = self.control()
                same = judge.Truth(run.out).results == judge.Truth(plain.out).results and plain.code == run.code
                self.say('harm', None if same else 'results or exit code differ from those without the agent')
                self.judge('harm', judge.slower(s, judge.Truth(run.out), judge.Truth(plain.out)))
                if s.unseen:
                    self.judge('harm', judge.slower(s.with_(modes=()), *(judge.Truth(x.out.split('done 1\n')[0]) for x in (run, plain))))
        except harness.Skip as e:
            self.outcome.skipped = str(e)
        except harness.Failure as e:
            self.outcome.failures.append(str(e))
        finally:
            self.t.kill_all()
        self.outcome.spread = all(isinstance(f, judge.Spread) for f in self.outcome.failures)
        if self.outcome.failures:
            self.outcome.failures.append(self.t.story())
            self.env.keep_tmp = True
        else:
            self.t.remove()
        return self.outcome


def collectors(j):
    """Those to choose from; to start a VM with each would take longer than a seed."""
    return ('Serial', 'Parallel', 'G1') + (('ZGC', 'Shenandoah') if j.version >= 11 and j.kind == 'server' else ())


def records(pid):
    """Whether threads of hprofx are in the process: a session has begun."""
    try:
        return any(x.read_text().startswith('hprofx') for x in pathlib.Path('/proc/%d/task' % pid).glob('*/comm'))
    except OSError:  # a thread that ends
        return False


def s_begins_by_command(s):
    return s.begin != 'start'


def run(env, s, plant=None):
    return Once(env, s, plant).run()
