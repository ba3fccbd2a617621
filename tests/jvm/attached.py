# SPDX-License-Identifier: BSD-2-Clause
"""The program Attached, or one like it, and the command hprofx that profiles it."""
import contextlib
import pathlib
import re
import subprocess
import time

from harness import SLOW

OK, FAILED, USAGE, NO_JVM, NOT_PERMITTED, REFUSED, PARTIAL = 0, 1, 2, 3, 4, 5, 6


class Program:
    """Attached, which does what it is told."""

    def __init__(self, t, *words, jvm=(), opts=None, agent=None, prefix=(), env=None, classes=None):
        """words: the program and its arguments. prefix: the start of a command that starts the JVM."""
        agent = agent if opts is None else '-agentpath:%s=%s' % (library(t), opts)
        self.run = t.start_command(list(prefix) + t.command(*(words or ('Attached',)), jvm=jvm, opts=None, agent=agent, classes=classes), env=env, stdin=subprocess.PIPE)
        self.told = 0
        self.run.wait_line('ready')

    def tell(self, line):
        self.told += 1
        self.run.process.stdin.write(line.encode() + b'\n')
        self.run.process.stdin.flush()
        self.run.wait_line('done %d' % self.told)

    def end(self, t):
        self.run.process.stdin.close()
        self.run.finish()
        t.equal((self.run.code, self.run.out.splitlines()[-1]), (0, 'end'), 'exit code and last line of the program (%s)' % self.run.err)


def of_build(t, name):
    found = next((f / name for f in t.env.agent.resolve().parents if (f / name).is_file()), None)
    if found is None:
        t.skip('this build has no ' + name)
    return str(found)


def library(t):
    """Not the one that counts its blocks, which takes the end of a session for that of the program."""
    return of_build(t, 'agent/libhprofx.so')


def command(t):
    return [of_build(t, 'hprofx'), '--agent', library(t)]


def hprofx(t, *args, prefix=()):
    program = command(t)[:1] if args[:1] == ('list',) else command(t)  # it loads nothing
    return subprocess.run(list(prefix) + program + [str(a) for a in args], capture_output=True, text=True, cwd=t.work, timeout=max(1, t.deadline - time.monotonic()))


def does(t, *args, **kw):
    done = hprofx(t, *args, **kw)
    t.equal(done.returncode, OK, 'hprofx %s: %s' % (' '.join(map(str, args)), done.stderr))
    return done.stdout


def refuses(t, status, says, *args, **kw):
    done = hprofx(t, *args, **kw)
    t.equal((done.returncode, done.stdout), (status, ''), 'status and stdout of hprofx %s (%s)' % (' '.join(map(str, args)), done.stderr))
    t.check(re.search(says, done.stderr) and done.stderr.startswith('hprofx: '), 'it says %r' % done.stderr)


def own_number(pid):
    """Of a process as it sees itself."""
    return int(re.search(r'^NSpid:.*?(\d+)$', pathlib.Path('/proc/%d/status' % pid).read_text(), re.M)[1])


def leaves_no_profile(t, command):
    """Of the process of a command that has ended in good order."""
    t.equal([str(f) for f in pathlib.Path('/tmp').glob('hprofx-%d-*' % command.pid)], [], 'what the command leaves in /tmp')


def leaves_nothing(t, pid):
    """Nothing of hprofx is awake in the process, or lies in its /tmp. What was told to leave may still be on its way."""
    tmp = pathlib.Path('/proc/%d/root/tmp' % pid)
    own = own_number(pid)

    def left():
        tasks = pathlib.Path('/proc/%d/task' % pid)
        names = []
        for p in tasks.iterdir():
            with contextlib.suppress(OSError):  # it has ended
                names.append((p / 'comm').read_text().strip())
        files = [str(f) for f in tmp.iterdir() if re.search(r'hprofx-%d(?![\d-])' % own, f.name)]  # not the profile of a command that had this number
        timers = pathlib.Path('/proc/%d/timers' % pid)
        return [n for n in names if n.startswith('hprofx')] + files + (['timers'] if timers.exists() and timers.read_text() else [])
    until = time.monotonic() + 10 * SLOW
    while left() and time.monotonic() < until:
        time.sleep(0.02)
    t.equal(left(), [], 'what hprofx leaves behind')


def wait_for_session(t, pid, state='running'):
    while 'session: %s' % state not in does(t, 'status', pid):
        t.within_time(t.runs[0])
        time.sleep(0.05)
