# SPDX-License-Identifier: BSD-2-Clause
"""hprofx and ends: of the command and of the JVM, at any moment; a JVM that is stopped; several commands at once."""
import contextlib
import os
import pathlib
import re
import select
import signal
import subprocess
import threading
import time

import preload
import waiting
from attached import FAILED, NO_JVM, OK, REFUSED, Program, command, does, hprofx, leaves_no_profile, leaves_nothing, library, own_number, refuses, wait_for_session
from faults import Control, Fault
from hprof_text import TIMES
from runner import test


def _begins(t, *args):
    return subprocess.Popen([*command(t), *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=t.work)


def _without_slow(err):
    """On a busy machine an answer may take a second, which is said."""
    return re.sub(r'hprofx: process \d+ does not answer yet.*\n', '', err)


def _ends(t, process):
    out, err = process.communicate(timeout=max(1, t.deadline - time.monotonic()))
    return process.returncode, out, err


def _triggers(t, p):
    """What asks the JVM to listen."""
    return [str(f) for folder in (t.work, pathlib.Path('/tmp')) for f in folder.glob('.attach_pid%d' % p.run.pid)]


def _waits_for_answer(process):
    """Connected, and asleep."""
    proc = pathlib.Path('/proc/%d' % process.pid)
    links = [os.path.realpath(f) for f in (proc / 'fd').iterdir()]  # of one that is closed meanwhile: its own name
    return any('/socket:[' in x for x in links) and ' S ' in (proc / 'stat').read_text()


def _healthy(t, p):
    """A whole session can follow, nothing is left, and nobody asked the JVM for its threads."""
    file = t.work / 'after'
    does(t, 'start', '-e', 'times', '-o', file, p.run.pid, 'cutoff=0')
    p.tell('calls 40')
    does(t, 'stop', p.run.pid)
    t.equal(t.parse(file, 1).table(TIMES).counts().get('Attached.leaf'), 40, 'calls')
    leaves_nothing(t, p.run.pid)
    t.equal(_triggers(t, p), [], 'requests to listen that are left')
    t.check('Full thread dump' not in p.run.out, 'a thread dump was asked for')
    p.end(t)


def _kill(process):
    process.kill()
    process.communicate()
    for f in pathlib.Path('/tmp').glob('hprofx-%d-*.profile*' % process.pid):
        f.unlink(missing_ok=True)  # it stays there for the user (hprofx(1))


def _is_empty(pipe):
    return not select.select([pipe], [], [], 0)[0]


def _full_pipe(t):
    """A pipe that takes no byte more, and its reader."""
    pipe = t.work / 'pipe'
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    filler = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while os.write(filler, bytes(4096)):
            pass
    os.close(filler)
    return pipe, reader


def _stopped(t, heard):
    """A stopped JVM, and a command that waits for it. heard: the JVM listens already."""
    p = Program(t)
    if heard:
        does(t, '-d', '50ms', p.run.pid)  # it loads the library
        leaves_nothing(t, p.run.pid)
    waiting.stopped(p.run)
    waits = _begins(t, '-d', '100ms', p.run.pid)
    waiting.until(p.run, lambda: _waits_for_answer(waits) if heard else _triggers(t, p))
    return p, waits


def _stops(t, p):
    done = hprofx(t, 'stop', p.run.pid)
    t.check(done.returncode == OK or (done.returncode, done.stderr) == (REFUSED, 'hprofx: no session is running\n'), 'stop: %d, %s' % (done.returncode, done.stderr))
    t.check('session: none' in does(t, 'status', p.run.pid), 'there is a session after it was stopped')


# --- the command is killed

@test(collectors='any', params=('before_it_listens', 'while_it_loads_the_library'))
def a_command_killed_before_the_jvm_answers(t, when):
    p, killed = _stopped(t, when == 'while_it_loads_the_library')
    _kill(killed)
    p.run.signal(signal.SIGCONT)
    _stops(t, p)
    _healthy(t, p)


@test(collectors='any')
def a_command_killed_in_its_session(t):
    p = Program(t)
    killed = _begins(t, '-d', '100s', '-e', 'times', p.run.pid, 'cutoff=0')
    wait_for_session(t, p.run.pid)
    p.tell('calls 1000')
    _kill(killed)
    t.check('session: running' in does(t, 'status', p.run.pid), 'the session has ended')
    _stops(t, p)
    for f in pathlib.Path('/tmp').glob('hprofx-%d-*.profile' % killed.pid):
        t.equal(t.parse(f, 1).table(TIMES).counts().get('Attached.leaf'), 1000, 'calls in the profile that stays')
        f.unlink()
    _healthy(t, p)


@test(collectors='any')
def a_command_killed_while_it_reads_the_profile(t):
    p = Program(t)
    for _ in range(3):
        killed = _begins(t, '-d', '100ms', p.run.pid)
        waiting.until(p.run, lambda: killed.poll() is not None or list(pathlib.Path('/tmp').glob('hprofx-%d-*.profile' % killed.pid)))
        _kill(killed)
        _stops(t, p)
    _healthy(t, p)


# --- a session that ends while it has something to do

@test(level='plain', collectors=('Shenandoah',), since=20)
def one_that_ends_behind_a_dump_whose_collection_is_forbidden(t):
    """This collector takes the collection for one that the program has forbidden: nothing is freed."""
    p = Program(t, jvm=['-XX:+DisableExplicitGC'])
    does(t, 'start', '-e', 'alloc', '-o', t.work / 'x', p.run.pid, 'sites=exact,live=y,gc=y,cutoff=0')
    p.tell('make 555')
    does(t, 'dump', p.run.pid)
    does(t, 'stop', p.run.pid)
    _healthy(t, p)


@test(collectors='any', params=('stop', 'start'))
def one_whose_output_stalls_ends_with_the_next(t, verb):
    p, pipe, parts = Program(t), t.work / 'pipe', []
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # and does not read: an image of the heap is more than a pipe holds
    does(t, 'start', '-e', 'heap', '-o', pipe, p.run.pid)
    refuses(t, FAILED, 'the session has not ended: its output does not move', 'stop', p.run.pid)
    t.check('session: has not ended' in does(t, 'status', p.run.pid), 'the status')
    os.set_blocking(reader, True)

    def read():
        while part := os.read(reader, 1 << 20):
            parts.append(part)
        os.close(reader)
    reads = threading.Thread(target=read)
    reads.start()
    if verb == 'start':
        does(t, 'start', '-e', 'times', '-o', t.work / 'next', p.run.pid)
    does(t, 'stop', p.run.pid)
    reads.join()
    (t.work / 'image').write_bytes(b''.join(parts))
    t.equal(len(t.binary(t.work / 'image').heaps), 1, 'heap dumps of the session that stalled')
    _healthy(t, p)


@test(collectors='any')
def one_with_a_duration_whose_output_stalls_ends_by_itself(t):
    p, (pipe, reader) = Program(t), _full_pipe(t)
    does(t, 'start', '-d', '100ms', '-e', 'times', '-o', pipe, p.run.pid, 'include=Attached')
    wait_for_session(t, p.run.pid, 'has not ended')
    os.set_blocking(reader, True)
    while os.read(reader, 1 << 20):
        pass
    os.close(reader)
    wait_for_session(t, p.run.pid, 'none')
    t.equal(p.run.err.count('the session has not ended: its output does not move'), 1, 'lines about the stall')
    _healthy(t, p)


def _cannot_begin(t, p, control, thread, output):
    """Which call starts it is tried with files before."""
    def start(k, to):
        leaves_nothing(t, p.run.pid)  # so that each time all threads are started
        control.arm(Fault('pthread_create', 'EAGAIN', k))
        done = hprofx(t, 'start', '-e', 'times', '-o', to, p.run.pid, 'include=Attached')
        control.disarm()
        return done
    for k in range(1, 16):
        done = start(k, t.work / 'tried')
        if not control.tally()[0]['pthread_create']:
            t.skip('the preloaded library does not see this VM load the agent')
        if thread in done.stderr:
            break
        if done.returncode == OK:
            does(t, 'stop', p.run.pid)
    done = start(k, output)
    t.equal((done.returncode, done.stdout), (FAILED, ''), 'status and stdout')
    t.check('a thread of the profiler could not be started: cannot start thread %s: ' % thread in done.stderr, 'it says %r' % done.stderr)


@test(collectors='any', params=('stop', 'start'))
def one_that_cannot_begin_and_whose_output_stalls_is_told_as_that(t, verb):
    """Its writer's thread has begun when the next one cannot. Status, start and stop say the same, until its output moves."""
    control, (pipe, reader) = Control(t), _full_pipe(t)
    p = Program(t, env=control.environment(t, '-'))
    _cannot_begin(t, p, control, 'hprofx-service', pipe)
    why = 'a session that could not begin has not ended: its output does not move; try again later'
    t.equal([ln.strip() for ln in does(t, 'status', p.run.pid).splitlines()], ['session: could not begin, and has not ended', 'reason: its output does not move'], 'the status')
    refuses(t, FAILED, why, 'start', '-e', 'times', '-o', t.work / 'no', p.run.pid)
    refuses(t, FAILED, why, 'stop', p.run.pid)
    while not _is_empty(reader) and os.read(reader, 1 << 20):  # a pipe that the other end has closed is not empty, and gives nothing
        pass
    does(t, verb, p.run.pid, *(['-e', 'times', '-o', t.work / 'next'] if verb == 'start' else []))
    if verb == 'start':
        does(t, 'stop', p.run.pid)
    os.close(reader)
    _stops(t, p)
    _healthy(t, p)


@test(collectors='any')
def one_that_cannot_begin_waits_for_no_reader(t):
    """Without the writer's thread nothing is written to a pipe."""
    control, pipe = Control(t), t.work / 'pipe'
    p = Program(t, env=control.environment(t, '-'))
    os.mkfifo(pipe)
    _cannot_begin(t, p, control, 'hprofx-out', pipe)
    _stops(t, p)
    _healthy(t, p)


@test(collectors='any')
def the_status_of_one_that_ends_with_the_jvm(t):
    """Its output does not move, which VMDeath waits for."""
    p, pipe = Program(t), t.work / 'pipe'
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # and does not read
    does(t, 'start', '-e', 'heap', '-o', pipe, p.run.pid)
    ends = threading.Thread(target=p.end, args=(t,))
    ends.start()
    waiting.until(p.run, lambda: 'session: running' not in does(t, 'status', p.run.pid))
    said = does(t, 'status', p.run.pid)
    os.set_blocking(reader, True)
    while os.read(reader, 1 << 20):
        pass
    os.close(reader)
    ends.join()
    t.check('session: is ending' in said, 'the status is %r' % said)


# --- several commands

@test(collectors='any')
def of_several_commands_one_begins_and_the_others_are_told(t):
    p = Program(t)
    all_of_them = [_begins(t, 'start', '-e', 'times', '-o', t.work / str(i), p.run.pid, 'cutoff=0') for i in range(5)]
    ends = [_ends(t, b) for b in all_of_them]
    t.equal(sorted(code for code, _, _ in ends), [OK] + 4 * [REFUSED], 'statuses: %s' % ends)
    begun = next(b.pid for b, e in zip(all_of_them, ends) if e[0] == OK)
    for code, _, err in ends:
        t.check(code == OK or ('begun by process %d of user' % begun in err and 'hprofx: a session is running' in err), 'one is told %r' % err)
    does(t, 'stop', p.run.pid)
    t.equal(len([f for f in t.files() if f.isdigit()]), 1, 'profiles')
    _healthy(t, p)


# --- the JVM is stopped, or ends

@test(collectors='any', params=('new', 'listening'))
def a_jvm_that_goes_on_after_a_stop_is_profiled(t, state):
    p, waits = _stopped(t, state == 'listening')
    p.run.signal(signal.SIGCONT)
    code, out, err = _ends(t, waits)
    said = [line for line in err.splitlines(True) if ' does not answer yet' not in line]  # if it was stopped for a second
    t.equal((code, said), (OK, []), 'status, stderr')
    t.check('Attached used ' in out, 'no profile')
    _healthy(t, p)


@test(level='long', collectors='any')
def a_jvm_that_stays_stopped_is_said(t):
    p, waits = _stopped(t, False)
    code, out, err = _ends(t, waits)
    p.run.signal(signal.SIGCONT)
    t.equal((code, out), (REFUSED, ''), 'status, stdout')
    t.check(re.fullmatch(r'hprofx: process {0} does not answer yet: it is stopped, .*; waiting up to \d+ s\nhprofx: process {0} does not answer; it may be stopped, .*\n'.format(p.run.pid), err), 'it says %r' % err)
    _healthy(t, p)


@test(collectors='any', params=('new', 'listening'))
def a_jvm_that_ends_meanwhile_is_said(t, state):
    p, waits = _stopped(t, state == 'listening')
    p.run.process.kill()  # the zombie is still a process
    code, out, err = _ends(t, waits)
    t.equal((code, out, _without_slow(err)), (NO_JVM, '', 'hprofx: process %d has ended\n' % p.run.pid), 'status, stdout, stderr')
    t.equal(_triggers(t, p), [], 'requests to listen that are left')
    p.run.kill()
    pathlib.Path('/tmp/.java_pid%d' % p.run.pid).unlink(missing_ok=True)


@test(level='plain', collectors='any')
def a_jvm_that_is_killed_leaves_what_can_be_rebuilt(t):
    p = Program(t)
    waits = _begins(t, '-d', '100s', '-e', 'times', p.run.pid, 'cutoff=0')
    wait_for_session(t, p.run.pid)
    p.tell('calls 1000')
    waiting.until(p.run, lambda: any(f.stat().st_size for f in pathlib.Path('/tmp').glob('hprofx-%d-*.journal.part' % waits.pid)))
    p.run.process.kill()
    p.run.finish()
    code, out, err = _ends(t, waits)
    t.equal((code, out), (NO_JVM, ''), 'status, stdout')
    name = re.search(r'`hprofx recover (/tmp/hprofx-%d-\S+\.profile)` rebuilds the profile' % waits.pid, err)
    t.check(name is not None, 'it says %r' % err)
    done = subprocess.run([command(t)[0], 'recover', name[1]], capture_output=True, text=True)
    t.equal(done.returncode, OK, 'status of recover: %s' % done.stderr)
    pathlib.Path(name[1]).unlink()
    leaves_no_profile(t, waits)
    pathlib.Path('/tmp/.java_pid%d' % p.run.pid).unlink(missing_ok=True)


@test(collectors='any')
def a_jvm_that_ends_at_any_moment_is_said(t):
    """It does so while the command reaches it, connects, or begins."""
    for i in range(6):
        p = Program(t)
        late = _begins(t, '-d', '100ms', '-e', ('cpu', 'times')[i % 2], p.run.pid)
        p.end(t)
        code, out, err = _ends(t, late)
        refused = (code, err) == (REFUSED, 'hprofx: the JVM is ending\n')  # by the agent, when the JVM has said that it ends
        t.check(code in (OK, NO_JVM) or refused, 'status %d, stdout %s, stderr %s' % (code, out, err))
        t.check(code != NO_JVM or re.search(r'there is no process|has ended|is ending', err), 'it says %r' % err)
        t.equal(_triggers(t, p), [], 'requests to listen that are left')
        left = [f.name for f in pathlib.Path('/tmp').iterdir() if f.name == '.hprofx-%d' % p.run.pid or f.name.startswith('hprofx-%d-' % late.pid)]
        t.equal(left, [], 'files in /tmp')
        pathlib.Path('/tmp/.java_pid%d' % p.run.pid).unlink(missing_ok=True)  # of a JVM that listened when it had begun to end


def _held(t, at, agent=None):
    """A JVM that is held in its start, or will be at its end, and the FIFO that lets it go on (native/starts.c)."""
    fifo = t.work / 'fifo'
    os.mkfifo(fifo)
    env = {'STARTS_AT': at, 'STARTS_FIFO': str(fifo)}
    if at in ('program', 'signals'):
        env = preload.preload(t, 'starts', **env)
    else:
        agent = preload.agent(t, 'starts')
    return t.start_command(t.command('Attached', opts=None, agent=agent), env=env, stdin=subprocess.PIPE), fifo


def _await_hold(run, fifo):
    """What lets it go on when it is closed."""
    ends = []

    def is_read():
        with contextlib.suppress(OSError):  # nobody reads it yet
            ends.append(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
        return ends
    waiting.until(run, is_read)
    return ends[0]


def _sleeps(process):
    """The command waits before its next attempt; True also if it has ended."""
    with contextlib.suppress(OSError):
        return process.poll() is not None or pathlib.Path('/proc/%d/syscall' % process.pid).read_text().split()[0] == '230'  # clock_nanosleep
    return False


def _was_asked(run):
    """The JVM listens, and has loaded the library if it does that before it lives (JDK 20 and earlier)."""
    return pathlib.Path('/tmp/.java_pid%d' % own_number(run.pid)).exists() and (run.test.jdk.version > 20 or '/libhprofx' in pathlib.Path('/proc/%d/maps' % run.pid).read_text())


def _profiles_when_it_runs(t, run, fifo, has_tried):
    go = _await_hold(run, fifo)
    looks = hprofx(t, 'doctor', run.pid)
    waits = _begins(t, '-d', '50ms', run.pid)
    waiting.until(run, lambda: waits.poll() is not None or has_tried(waits))
    waiting.until(run, lambda: _sleeps(waits))
    os.close(go)
    code, out, err = _ends(t, waits)
    t.equal((code, _without_slow(err)), (OK, ''), 'status, stderr')
    t.check('Attached used ' in out, 'no profile')
    run.wait_line('ready')
    run.process.stdin.close()
    run.finish()
    t.equal((run.code, run.out.splitlines()), (0, ['ready', 'end']), 'exit code and stdout of the program (%s)' % run.err)
    return looks


@test(level='plain', collectors='any', params=('program', 'signals'))
def a_jvm_that_is_starting_is_waited_for(t, at):
    looks = _profiles_when_it_runs(t, *_held(t, at), _sleeps)
    if at == 'signals':
        t.check(looks.returncode == OK and 'the JVM is starting; commands wait up to 10 s' in looks.stdout, 'doctor says %s' % looks.stdout)


@test(level='plain', collectors='any', since=17)
def a_jvm_that_listens_and_does_not_live_is_waited_for(t):
    run, fifo = _held(t, 'live')
    _profiles_when_it_runs(t, run, fifo, lambda waits: _was_asked(run))
    t.check('HPROF ERROR' not in run.err, 'its stderr: %s' % run.err)


@test(level='plain', collectors='any')
def a_jvm_that_waits_for_commands_is_waited_for(t):
    run, fifo = _held(t, 'signals', '-agentpath:%s=start=n' % library(t))
    _profiles_when_it_runs(t, run, fifo, _sleeps)


@test(collectors='any', params=('ends', 'stays'))
def a_jvm_behind_its_death_is_said(t, how):
    run, fifo = _held(t, 'end')
    run.wait_line('ready')
    run.process.stdin.close()
    go = _await_hold(run, fifo)
    late = _begins(t, '-d', '50ms', run.pid)
    waiting.until(run, lambda: late.poll() is not None or _was_asked(run))
    waiting.until(run, lambda: _sleeps(late))
    if how == 'ends':
        os.close(go)
    code, out, err = _ends(t, late)
    if how == 'stays':
        os.close(go)
    run.finish()
    says = 'hprofx: process %d ' % run.pid + ('has ended\n' if how == 'ends' else 'is starting, or is ending; try again when it runs\n')
    t.equal((code, out, err, run.code), (NO_JVM if how == 'ends' else REFUSED, '', says, 0), 'status, stdout, stderr, exit code of the program')
    pathlib.Path('/tmp/.java_pid%d' % run.pid).unlink(missing_ok=True)
