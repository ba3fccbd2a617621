# SPDX-License-Identifier: BSD-2-Clause
"""One test: a directory of its own, JVMs started in it (each a process group that dies with the test), checks that say what was expected."""
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'format'))
import build  # noqa: E402
import hprof_binary  # noqa: E402
import hprof_text  # noqa: E402

DUMPING = {'monitor': ' contended monitor usage ...', 'dump': ' Java heap ...', 'sites': ' allocation sites ...', 'samples': ' CPU usage by sampling running threads ...', 'wall': ' time of threads by state ...', 'times': ' CPU usage by timing methods ...', 'old': ' CPU usage in old prof format ...', 'counts': ' method calls ...', 'timeline': ' times of samples ...'}
DONE = 'Dumping%s done.' % DUMPING['samples']
SLOW = float(os.environ.get('HPX_SLOW') or 1)  # how many times as long as on the reference everything takes (tools/speed): of every limit
# The argument that counts rounds of work (others name CPU time): without a compiler a tenth of them takes as long.
ROUNDS = {'HotSplit': 0, 'Gc': 1}
OURS = re.compile(r'^(HPROF|hprofx|Dumping )', re.M)


class Failure(Exception):
    pass


class Harm(Failure):
    """A crash, a program that does not end or ends otherwise, a file that is not sound, a sanitizer's report: a repetition that passes does not make up for it."""


class Hang(Harm):
    """The test itself goes on behind its deadline."""

    def __init__(self):
        super().__init__('the test itself does not end')


class Skip(Exception):
    pass


class Run:
    """A started program: its output files, its end."""

    def __init__(self, test, cmd, env, cwd, pass_fds, stdin):
        self.cmd, self.cwd, self.test = cmd, cwd, test
        n = len(test.runs)
        self.out_path, self.err_path = test.dir / ('out%d.log' % n), test.dir / ('err%d.log' % n)
        with open(self.out_path, 'wb') as o, open(self.err_path, 'wb') as e:
            self.process = subprocess.Popen(cmd, stdin=stdin, stdout=o, stderr=e, env=env, cwd=cwd, start_new_session=True, pass_fds=pass_fds)
        self.pid = self.process.pid
        test.runs.append(self)

    @property
    def out(self):
        return self.out_path.read_text('utf-8', 'replace')

    @property
    def err(self):
        return self.err_path.read_text('utf-8', 'replace')

    @property
    def code(self):
        return self.process.returncode

    def wait_line(self, line):
        """Waits until the program has printed the line; the test's deadline bounds it."""
        while line not in self.out.splitlines():
            if self.process.poll() is not None:
                if line in self.out.splitlines():
                    return
                raise Failure('the program ended before it printed %r' % line)
            self.test.within_time(self)
            time.sleep(0.01)

    def signal(self, number):
        os.kill(self.pid, number)

    def finish(self):
        while True:
            try:
                self.process.wait(timeout=max(0.01, min(5, self.test.deadline - time.monotonic())))
                break
            except subprocess.TimeoutExpired:
                self.test.within_time(self)
        if list(pathlib.Path(self.cwd).glob('hs_err_pid*')):
            raise Harm('the JVM crashed')
        return self

    def kill(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


class Test:
    def __init__(self, env, case):
        self.env, self.case, self.jdk = env, case, case.jdk
        self.level = case.jdk.level
        self.gc = case.jdk.gc(case.collector)
        safe = re.sub(r'[^A-Za-z0-9.-]+', '_', str(case))[:80]
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix=safe + '-', dir=env.tmp))
        self.work = self.dir / 'work'
        self.work.mkdir()
        self.runs = []
        self.began = time.monotonic()
        self.deadline = self.began + case.timeout
        self.hangs = False
        self.planted = False  # walks of stacks go wrong on purpose

    def allow(self, seconds):
        """The test may take so many seconds of the reference from now on."""
        self.deadline = time.monotonic() + SLOW * seconds

    def in_turn(self, things, count):
        """Returns about `count` of them, evenly spread; every seed returns others, a long run all of them."""
        step = 1 if self.level == 'long' else -(-len(things) // count)
        return things[self.case.turn % step::step] if things else things

    # --- running

    def javac17(self, source, jar):
        """Compiles one program that needs a jar, into the folder of the source's name."""
        to = self.dir / source.parent.name
        to.mkdir()
        with_jdk = self.env.compiler(17)
        subprocess.run([str(with_jdk.home / 'bin' / 'javac'), '--release', '17', '-cp', str(jar), '-d', str(to), str(source)], check=True, env=build.clean_environment())

    def agent(self, opts):
        return '-agentpath:%s%s' % (self.env.agent, '' if opts is None else '=' + opts)

    def command(self, program, *args, opts='cpu=samples', agent=None, jvm=(), native=False, gc=True, classes=None):
        """opts None: without the agent, unless `agent` holds the argument that loads it. classes: a folder before those of all tests."""
        cmd = self.jdk.java() + ['-Xmx512m'] + (self.gc if gc else [])
        cmd += list(jvm)
        if native:
            cmd += ['-Djava.library.path=%s' % self.env.native_dir(self.jdk)] + (['--enable-native-access=ALL-UNNAMED'] if self.jdk.version >= 22 else [])
        if agent is not None:
            cmd.append(agent)
        elif opts is not None:
            cmd.append(self.agent(opts))
        path = ([str(classes)] if classes else []) + [self.env.classpath(self.jdk)]
        return cmd + ['-cp', ':'.join(path), program] + self.arguments(program, args)

    def arguments(self, program, args):
        words = [str(a) for a in args]
        i = ROUNDS.get(program)
        if i is not None and i < len(words) and not self.jdk.has('jit'):
            words[i] = str(max(1, int(words[i]) // 10))
        return words

    def start_command(self, cmd, env=None, cwd=None, pass_fds=(), stdin=subprocess.DEVNULL):
        e = build.clean_environment()
        if self.env.sanitized:
            if 'LD_PRELOAD' in (env or {}):
                raise Skip('what the test preloads calls functions that the sanitizer replaces before that is ready')
            e.update(self.env.sanitized.environment(self.dir))
        e.update(env or {})
        return Run(self, cmd, e, str(cwd or self.work), pass_fds, stdin)

    def start(self, program, *args, env=None, cwd=None, pass_fds=(), **kw):
        return self.start_command(self.command(program, *args, **kw), env, cwd, pass_fds)

    def java(self, program, *args, **kw):
        """Runs to the end."""
        return self.start(program, *args, **kw).finish()

    def control(self, run):
        """run(): without the agent, what a run with it is held to. One that fails is made again, once; the output says so."""
        first = run()
        if first.code == 0:
            return first
        print('again: %s: without the agent the exit code was %s: %s' % (self.case, first.code, ' '.join((first.err or first.out)[-300:].split())), flush=True)
        second = run()
        self.equal(second.code, 0, 'exit code without the agent, a second time')
        return second

    def profile(self, program, *args, opts='cpu=samples', code=0, name='java.hprof.txt', stdout=None, verbose=True, cwd=None, **kw):
        """Runs with the agent and holds the run to what every run must keep: exit code, untouched stdout, messages, a safe and complete file. (run, Profile)"""
        run = self.java(program, *args, opts=opts, cwd=cwd, **kw)
        text = opts or kw.get('agent') or ''
        asked = re.findall(r'(?:cpu|heap)=(\w+)', text) + ['monitor'] * ('monitor=y' in text) + ['wall'] * ('wall=' in text) + ['timeline'] * ('timeline=y' in text)
        asked += ['dump', 'sites'] if 'all' in asked else []
        asked = ['counts' if m == 'times' and 'times=counts' in text else m for m in asked]
        modes = [m for m in DUMPING if m in asked] or ['samples']
        self.complete(run, code, stdout, verbose, 'Dumping%s done.' % ''.join(DUMPING[m] for m in modes))
        return run, self.output(name, cwd, None if 'monitor' in modes else len(set(modes) - {'timeline'}))

    def complete(self, run, code=0, stdout=None, verbose=True, done=DONE):
        if run.code != code:
            raise Harm('exit code: %r, expected %r' % (run.code, code))
        if stdout is not None and run.out != stdout:
            raise Harm('stdout: %r, expected %r' % (run.out, stdout))
        self.check(not OURS.search(run.out), 'stdout has lines of ours')
        self.equal(run.err.splitlines().count(done), 1 if verbose else 0, 'lines "Dumping ... done." on stderr')
        self.check('HPROF ERROR' not in run.err, 'HPROF ERROR on stderr')

    def output(self, name='java.hprof.txt', cwd=None, dumps=1):
        path = pathlib.Path(cwd or self.work) / name
        self.check(path.exists(), 'no output file %s' % path)
        self.equal(oct(stat.S_IMODE(path.stat().st_mode)), '0o600', 'mode of the output')
        self.check(not path.with_name(path.name + '.part').exists(), '%s.part is still there' % name)
        return self.parse(path, dumps)

    def parse(self, path, dumps=1, **how):
        """The text file, held to the format by both readers. dumps: how many sections it has; None: any number. how: as of hprof_text.parse()."""
        try:
            p = hprof_text.parse(path.read_bytes(), **how)
        except hprof_text.Malformed as e:
            raise Harm('%s: %s' % (path, e)) from e
        if dumps is not None:
            self.equal(len(p.sections) - len(p.timelines), dumps, 'sections of %s without those of times' % path)
        self.sound(path, p.sections if not p.heaps else [])  # in text classes stand behind their objects, which is a note
        self.check(self.planted or ', 0 different' in p.report.get('stacks of events compared', ', 0 different'), 'stacks of events compared: %s' % p.report.get('stacks of events compared'))
        return p

    def reader(self):
        """The command of the build that the agent is of; None: the build has none."""
        agent = self.env.agent.resolve()
        return next((str(f / 'hprofx') for f in agent.parents if (f / 'hprofx').is_file()), None)

    def read(self, *args):
        """What the command says with these arguments, which it must be content with. A build without it skips the test."""
        if not self.reader():
            self.skip('this build has no command')
        words = [str(a) for a in args]
        r = subprocess.run([self.reader()] + words, capture_output=True, text=True)
        self.equal(r.returncode, 0, 'hprofx %s: %s' % (' '.join(words), (r.stdout + r.stderr)[-500:]))
        return r.stdout

    def heap(self, path):
        """(how many heap dumps the file has, {class: (objects, bytes)} of the last)"""
        said = json.loads(self.read('info', '--json', path))
        return said['heap_dumps'], {c['name']: (c['heap_objects'], c['self']) for v in said['views'] if v['view'] == 'heap' for c in v['classes']}

    def sound(self, path, sections):
        """hprofx check; without a note where the file is one dump, which has no section twice."""
        if self.reader():
            self.read('check', *(['--strict'] if sections and len(set(sections)) == len(sections) else []), path)

    def binary(self, path):
        """The binary file, read and held to the format by both readers."""
        try:
            p = hprof_binary.read(path)
        except hprof_binary.Malformed as e:
            raise Failure('%s: %s' % (path, e)) from e
        self.sound(path, ['CPU SAMPLES'] * len(p.tables) + ['SITES'] * len(p.lists) + ['HEAP DUMP'] * len(p.heaps))
        return p

    # --- checks

    def skip(self, text):
        raise Skip(text)

    def needs(self, what):
        """For some parameters of a test what needs= says for all."""
        if not self.jdk.has(what):
            self.skip('this VM or build has no ' + what)

    def check(self, condition, text):
        if not condition:
            raise Failure(text)

    def equal(self, got, want, what):
        if got != want:
            raise Failure('%s: %r, expected %r' % (what, got, want))

    def near(self, got, want, tolerance, what):
        if not abs(got - want) <= tolerance:
            raise Failure('%s: %.3f, expected %.3f +- %.3f' % (what, got, want, tolerance))

    def files(self):
        return sorted(p.name for p in self.work.iterdir())

    # --- the end

    def within_time(self, run):
        if time.monotonic() < self.deadline:
            return
        try:  # the JVM's own thread dump says where it hangs
            run.signal(signal.SIGQUIT)
            run.process.wait(timeout=2)
        except (subprocess.TimeoutExpired, ProcessLookupError):
            pass
        run.kill()
        raise Harm('not done after %d s' % (time.monotonic() - self.began))

    def kill_all(self):
        for r in self.runs:
            if r.process.poll() is None:
                r.kill()

    def story(self):
        """The last command and its output, for a person who has to repeat it."""
        lines = ['directory: %s' % self.dir]
        if self.runs:
            r = self.runs[-1]
            lines += ['command: (cd %s; %s)' % (r.cwd, shlex.join(r.cmd)), 'exit code: %s' % r.code]
            for what, text in (('stdout', r.out), ('stderr', r.err)):
                tail = text.splitlines()[-12:]
                lines += ['%s:' % what] + ['  ' + x[:300] for x in tail] if tail else []
        return '\n'.join(lines)

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)
