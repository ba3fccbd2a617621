# SPDX-License-Identifier: BSD-2-Clause
"""hprofx: the command that profiles a JVM that runs."""
import contextlib
import errno
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time

import waiting
from attached import FAILED, NO_JVM, NOT_PERMITTED, OK, REFUSED, USAGE, Program, command, does, hprofx, leaves_no_profile, leaves_nothing, library, own_number, refuses, wait_for_session
from hprof_text import SITES, TIMES
from preload import preload
from runner import test


@test(level='plain', emulated=True, collectors='all')
def sessions_begin_and_end(t):
    p = Program(t)
    for i, calls in enumerate((1000, 123)):
        file = t.work / ('%d.txt' % i)
        does(t, 'start', '-e', 'times', '-o', file, p.run.pid, 'cutoff=0')
        p.tell('calls %d' % calls)
        does(t, 'stop', p.run.pid)
        counts = t.parse(file, 1).table(TIMES).counts()
        t.equal((counts.get('Attached.leaf'), counts.get('Attached.calls')), (calls, 1), 'calls of leaf and of calls in session %d' % i)
        p.tell('calls 77')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any', params=('heap=sites', 'cpu=samples'), plain_params=('cpu=samples',))
def threads_that_end_between_sessions_harm_nothing(t, mode):
    """The VM forgets what it knows of them if no environment of JVMTI is left, and writes to it in the next session (vm.h)."""
    p = Program(t)
    for i in range(6):
        p.tell('threads 400')
        does(t, 'start', '-o', t.work / ('%d.txt' % i), p.run.pid, mode)
        does(t, 'stop', p.run.pid)
        p.tell('threads 0')
    p.end(t)


def _has_handler(pid, number):
    return int(re.search(r'^SigCgt:\s*(\w+)$', pathlib.Path('/proc/%d/status' % pid).read_text(), re.M)[1], 16) >> (number - 1) & 1


def _sampled(t, p, file):
    does(t, 'start', '-o', t.work / file, p.run.pid, 'interval=1,cutoff=0')
    p.tell('burn 300 0')
    does(t, 'stop', p.run.pid)
    t.check(t.parse(t.work / file, 1).having('Attached.burnMore') > 20, 'samples in %s' % file)


@test(level='plain', collectors='any')
def the_signal_is_the_programs_again_after_a_session(t):
    p = Program(t)
    for file in ('0.txt', '1.txt'):
        _sampled(t, p, file)
        t.equal(_has_handler(p.run.pid, signal.SIGPROF), 0, 'the signal has a handler')
    os.kill(p.run.pid, signal.SIGPROF)
    t.equal(p.run.process.wait(), -signal.SIGPROF, 'the end by that signal')


@test(level='plain', collectors='any', since=25)
def flight_recorder_samples_after_a_session(t):
    """It does not begin where the signal has a handler. The next session calls its handler."""
    p = Program(t)

    def tool(name, *words):
        return subprocess.run([*t.jdk.tool(name), *words], capture_output=True, text=True, check=True, cwd=t.work).stdout

    def recorded(file):
        tool('jcmd', str(p.run.pid), 'JFR.dump', 'name=x', 'filename=%s' % (t.work / file))
        return int(re.search(r'^ jdk.CPUTimeSample +(\d+) ', tool('jfr', 'summary', str(t.work / file)), re.M)[1])

    _sampled(t, p, '0.txt')
    tool('jcmd', str(p.run.pid), 'JFR.start', 'name=x', 'jdk.CPUTimeSample#enabled=true', 'jdk.CPUTimeSample#throttle=10ms')
    p.tell('burn 500 0')
    first = recorded('0.jfr')
    t.check(first > 5, 'samples of Flight Recorder: %d (%s)' % (first, p.run.out))
    _sampled(t, p, '1.txt')
    p.tell('burn 500 0')
    t.check(recorded('1.jfr') > first + 5, 'samples of Flight Recorder after another session: %d after %d' % (recorded('1.jfr'), first))
    p.end(t)


@test(level='plain', collectors='any')
def a_session_says_whose_it_is(t):
    """Every session is a run of its own, with the names of the program's environment."""
    p = Program(t, env={'OTEL_SERVICE_NAME': 'shop'})
    reports = []
    for name in ('a.txt', 'b.txt'):
        does(t, 'start', '-e', 'times', '-o', t.work / name, p.run.pid)
        p.tell('calls 10')
        does(t, 'stop', p.run.pid)
        reports.append(t.parse(t.work / name, 1).report)
    t.equal([(r['pid'], r['service'], r['profile'].split(',')[0]) for r in reports], [(str(p.run.pid), 'shop', '1')] * 2, 'whose it is')
    for r in reports:  # classes get their probes one after the other
        t.check(re.fullmatch(r'\d+ ms since 1970, \d+ ms after the run began; in all threads and loaded classes \d+ ms later', r['recorded from']), 'from when: %s' % r['recorded from'])
    t.check(int(reports[0]['run began'].split()[0]) < int(reports[1]['run began'].split()[0]), 'begins: %s' % [r['run began'] for r in reports])
    p.end(t)


@test(level='plain', collectors='any', measures=True)
def it_shows_what_the_program_does(t):
    p = Program(t)
    profile = subprocess.Popen([*command(t), '-d', '100s', str(p.run.pid), 'interval=1'], stdout=subprocess.PIPE, text=True)
    wait_for_session(t, p.run.pid)
    p.tell('burn 300 100')
    profile.send_signal(signal.SIGINT)
    shown = profile.communicate(timeout=60)[0]
    t.equal(profile.returncode, OK, 'status')
    totals = dict((m[1], float(m[0])) for m in re.findall(r'^.* ([\d.]+)% [^%]*  (Attached\.burn\w+)$', shown, re.M))
    if t.jdk.has('jit'):
        t.check(totals['Attached.burnMore'] > totals['Attached.burnLess'] > 0, 'shares: %s' % shown)
    t.check(re.search(r'^Attached used [\d.]+ of \d+ CPUs? for .*\n(?s:.*)^\d+ samples?: shares .*\n(?:Look at .*\n)?(?:\d+ of \d+ compiled methods, .*\n)?\nCPU: samples ', shown, re.M), 'no verdict and table: %s' % shown)
    leaves_no_profile(t, profile)
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def a_heap_dump_is_taken_at_once(t):
    """No site is recorded, for which every class would be rewritten and every allocation counted."""
    p = Program(t)
    p.tell('make 100')
    refuses(t, USAGE, '-e heap dumps the heap at once', '-e', 'heap', '-d', '5s', p.run.pid)
    done = hprofx(t, '-e', 'heap', p.run.pid)
    t.equal((done.returncode, done.stderr), (OK, ''), 'status, stderr')
    t.check(done.stdout.startswith('Heap dump: ') and '\nClasses\n' in done.stdout, 'it shows %r' % done.stdout)  # as hprofx heap
    does(t, '-e', 'heap', '-o', t.work / 'x.hprof', p.run.pid, 'sites=none')
    t.equal(len(t.binary(t.work / 'x.hprof').heaps), 1, 'heap dumps')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any', since=11)
def only_exact_modes_rewrite_classes(t):
    """What the help of the command calls low leaves the program's code as it is."""
    p = Program(t)
    costs = dict(re.findall(r'([a-z]+) \((low|slow|pause)\b', re.search(r'--event WHAT(.*?)\n  -o', does(t, '--help'), re.S)[1]))
    t.equal(set(costs), {'cpu', 'wall', 'times', 'alloc', 'live', 'lock', 'heap', 'all'}, 'kinds whose cost the help tells')
    rewritten = {kind: re.search('classes restored: [1-9]', hprofx(t, '-e', kind, *(('-d', '50ms') if kind != 'heap' else ()), '-o', t.work / kind, p.run.pid).stderr) for kind in costs}
    t.equal({k for k in costs if rewritten[k]}, {k for k, c in costs.items() if c == 'slow'}, 'kinds that rewrite classes')
    p.end(t)


@test(level='plain', collectors='any', since=11)
def threads_that_ran_before_are_those_of_the_program(t):
    """The report counts none of the profiler, and none that starts in the session."""
    p = Program(t)
    does(t, 'start', '-e', 'alloc', '-o', t.work / 'x', p.run.pid, 'sites=exact,cutoff=0')
    p.tell('short 3 9')
    does(t, 'stop', p.run.pid)
    prof = t.parse(t.work / 'x', 1)
    started = [th for th in prof.threads.values() if th.name == 'n' * 9]
    t.equal(len(started), 3, 'threads that start in the session')
    t.equal(int(re.search(r' on (\d+) threads? that ran before', prof.report['not seen'])[1]), len(prof.threads) - len(started), 'threads that ran before')
    p.end(t)


@test(level='plain', params=('', ',gc=y'), plain_params=('',))
def exact_sites_collect_no_garbage_unless_asked(t, more):
    """And count every object of a thread that had begun to allocate before."""
    p = Program(t)
    p.tell('make 1000')
    p.tell('collections')
    does(t, 'start', '-e', 'alloc', '-o', t.work / 'x', p.run.pid, 'sites=exact,cutoff=0' + more)
    p.tell('make 70000')
    does(t, 'stop', p.run.pid)
    p.tell('collections')
    rows = [r for r in t.parse(t.work / 'x', 1).table(SITES).rows if r.name == 'Attached$Made']
    t.equal(sum(r.objects for r in rows), 70000, 'objects')
    p.end(t)
    before, after = map(int, re.findall(r'^collections (\d+)$', p.run.out, re.M))
    t.equal(after > before, more != '', 'the VM has collected (%d, then %d collections)' % (before, after))


@test(level='plain', collectors='any')
def what_threads_allocate_while_a_session_begins_is_neither_its_nor_lost(t):
    """Probes run from when a class has been rewritten, the threads have states only when all have been."""
    p = Program(t)
    p.tell('making 3')
    does(t, 'start', '-o', t.work / 'x', p.run.pid, 'heap=sites,cutoff=0')
    does(t, 'stop', p.run.pid)
    p.tell('making 0')
    lost = t.parse(t.work / 'x', 1).report.get('allocations not counted', '0')
    t.equal(lost, '0', 'allocations not counted')
    p.end(t)


@test(level='plain', collectors=('ZGC',), since=17)
def all_ways_to_allocate_end_at_the_same_time(t):
    """The program runs on while the end of the session collects."""
    p = Program(t)
    p.tell('copying')
    does(t, 'start', '-e', 'alloc', '-o', t.work / 'x', p.run.pid, 'sites=counts,live=n,gc=y,cutoff=0')
    p.tell('burn 500 500')
    does(t, 'stop', p.run.pid)
    p.tell('making 0')
    rows = t.parse(t.work / 'x', 1).table(SITES).rows
    made, copied = (sum(r.objects for r in rows if r.name == name) for name in ('Attached$Made', 'Attached$Copied[]'))
    t.check(made > 1000 and abs(made - copied) <= 2, '%d objects, %d copies' % (made, copied))
    p.end(t)


@test(level='plain', collectors='any')
def the_second_command_is_told_who_is_there(t):
    p = Program(t)
    does(t, 'start', '-o', t.work / 'x', p.run.pid)
    done = hprofx(t, '-d', '1', p.run.pid)
    t.equal((done.returncode, done.stdout), (REFUSED, ''), 'status, stdout')
    t.check(re.fullmatch(r'hprofx: a session is running, begun by process \d+ of user %d \d+ s ago; hprofx stop ends it\n' % os.geteuid(), done.stderr), 'it says %r' % done.stderr)
    does(t, 'stop', p.run.pid)
    refuses(t, REFUSED, 'no session is running', 'stop', p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def a_jvm_whose_own_session_could_not_begin_is_profiled_by_a_command(t):
    """A thread that cannot be started, in VMInit, and an output that cannot be made, at load."""
    failed = []
    for k in range(1, 5):
        env = preload(t, 'faults', HPX_FAULTS_FILE=str(t.dir / ('faults%d' % k)), HPX_FAULTS='pthread_create:%d:%d' % (k, errno.EPERM))
        p = Program(t, opts='cpu=samples,file=%s' % (t.work / ('own%d' % k)), env=env)
        failed += re.findall(r'cannot start (?:the|thread) (\S+)', p.run.err)
        if 'cannot start' in p.run.err:
            t.check('session: none' in does(t, 'status', p.run.pid), 'the status after %s' % p.run.err)
            refuses(t, REFUSED, 'no session is running', 'stop', p.run.pid)
            does(t, 'start', '-e', 'times', '-o', t.work / str(k), p.run.pid, 'cutoff=0')
            p.tell('calls 1000')
            does(t, 'stop', p.run.pid)
            t.equal(t.parse(t.work / str(k), 1).table(TIMES).counts().get('Attached.leaf'), 1000, 'calls')
        p.end(t)
    t.equal(failed, ['hprofx-out:', 'hprofx-service:', 'aggregator'], 'threads that could not be started')


@test(level='plain', collectors='any')
def a_session_ends_by_itself(t):
    p = Program(t)
    does(t, 'start', '-d', '300ms', '-e', 'times', '-o', t.work / 'x', p.run.pid, 'cutoff=0')
    wait_for_session(t, p.run.pid, 'none')
    t.parse(t.work / 'x', 1)
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def one_that_another_command_ends_is_shown_all_the_same(t):
    """And its own end does not end the session of another."""
    p = Program(t)
    first = subprocess.Popen([*command(t), '-d', '100s', '-e', 'times', str(p.run.pid), 'cutoff=0'], stdout=subprocess.PIPE, text=True)
    wait_for_session(t, p.run.pid)
    p.tell('calls 100000')
    does(t, 'stop', p.run.pid)
    does(t, 'start', '-e', 'times', '-o', t.work / 'second', p.run.pid, 'cutoff=0')
    first.send_signal(signal.SIGINT)
    shown = first.communicate(timeout=60)[0]
    t.equal(first.returncode, OK, 'status of the first')
    t.check('Attached.leaf' in shown, 'the first shows %r' % shown)
    p.tell('calls 12')
    does(t, 'stop', p.run.pid)
    t.equal(t.parse(t.work / 'second', 1).table(TIMES).counts().get('Attached.leaf'), 12, 'calls in the second')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def a_program_that_ends_meanwhile_is_shown(t):
    p = Program(t)
    first = subprocess.Popen([*command(t), '-d', '100s', '-e', 'times', str(p.run.pid), 'cutoff=0'], stdout=subprocess.PIPE, text=True)
    wait_for_session(t, p.run.pid)
    p.tell('calls 100000')
    tmp = pathlib.Path(os.path.realpath('/proc/%d/root' % p.run.pid)) / 'tmp'
    p.end(t)
    shown = first.communicate(timeout=60)[0]
    t.equal(first.returncode, OK, 'status')
    t.check('Attached.leaf' in shown, 'it shows %r' % shown)
    t.check('Full thread dump' not in p.run.out, 'a thread dump was asked for')
    t.equal([f.name for f in tmp.iterdir() if f.name == '.hprofx-%d' % p.run.pid], [], 'sockets')


@test(level='plain', collectors='any')
def two_commands_at_once_do_not_hinder_each_other(t):
    p = Program(t)
    does(t, '-d', '50ms', p.run.pid)  # it loads the library
    both = [subprocess.Popen([*command(t), 'status', str(p.run.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(6)]
    for b in both:
        out, err = b.communicate(timeout=60)
        err = re.sub(r'hprofx: process \d+ does not answer yet.*\n', '', err)  # on a busy machine
        t.equal((b.returncode, out, err), (OK, '  session: none\n', ''), 'status, output')
    t.check('Full thread dump' not in p.run.out, 'a thread dump was asked for')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def a_stopped_program_is_said_and_can_be_left(t):
    p = Program(t)
    does(t, '-d', '50ms', p.run.pid)  # it loads the library
    waiting.stopped(p.run)
    try:
        waits = subprocess.Popen([*command(t), '-d', '1s', str(p.run.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while waits.poll() is None:
            t.within_time(p.run)
            time.sleep(0.3)  # the second one ends it wherever it waits
            waits.send_signal(signal.SIGINT)
        waits.communicate()
        t.check(waits.returncode != OK, 'it does not end')
    finally:
        p.run.signal(signal.SIGCONT)
    t.check('session' in does(t, 'status', p.run.pid), 'no answer afterwards')
    hprofx(t, 'stop', p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def a_program_that_is_stopped_under_its_session_is_told(t):
    p = Program(t)
    profile = subprocess.Popen([*command(t), '-d', '100s', str(p.run.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_session(t, p.run.pid)
    waiting.stopped(p.run)
    profile.send_signal(signal.SIGINT)
    said = profile.stderr.readline()
    p.run.signal(signal.SIGCONT)
    shown = profile.communicate(timeout=60)[0]
    t.check('it is stopped, and goes on with SIGCONT' in said, 'it says %r' % said)
    t.check(profile.returncode == OK and 'Attached used ' in shown, 'then it shows %r' % shown)
    p.end(t)


@test(level='plain', collectors='any')
def what_cannot_be_is_refused_in_a_sentence(t):
    p = Program(t)
    refuses(t, USAGE, r'cpu option value must be', p.run.pid, 'cpu=smples')
    refuses(t, NO_JVM, 'there is no process 4194305', 4194305)
    refuses(t, NO_JVM, 'is no JVM', os.getpid())
    refuses(t, NO_JVM, 'no JVM matches', 'a-name-that-nobody-has')
    refuses(t, USAGE, '-d wants a time', '-d', 'soon', p.run.pid)
    refuses(t, USAGE, '-e wants', '-e', 'everything', p.run.pid)
    refuses(t, USAGE, 'too many words', p.run.pid, 'depth=3', 'cutoff=0')
    refuses(t, USAGE, 'has a comma', 'start', '-o', 'a,b', p.run.pid)
    (t.work / 'kept').write_text('as it was')
    refuses(t, NO_JVM, 'there is no process', '-o', 'kept', 4194305)
    t.equal((t.work / 'kept').read_text(), 'as it was', 'the file of a command that failed')
    (t.work / 'link').symlink_to('kept')
    refuses(t, 1, 'cannot write link', '-o', 'link', p.run.pid)
    refuses(t, 1, 'cannot write /no/such', '-o', '/no/such/x', p.run.pid)
    thread = next(int(n) for n in os.listdir('/proc/%d/task' % p.run.pid) if int(n) != p.run.pid)
    refuses(t, NO_JVM, 'there is no process', thread)
    t.check('Full thread dump' not in p.run.out, 'a thread dump was asked for')
    if os.geteuid() == 0:
        nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
        refuses(t, NOT_PERMITTED, 'belongs to another user', p.run.pid, prefix=nobody)
    p.end(t)
    for jvm, says in (('-XX:+DisableAttachMechanism', 'DisableAttachMechanism'), ('-XX:-EnableDynamicAgentLoading', 'EnableDynamicAgentLoading')):
        if 'Dynamic' in jvm and t.jdk.version < 21:
            continue
        p = Program(t, jvm=[jvm])
        refuses(t, REFUSED, says, p.run.pid)
        p.end(t)


@test(level='plain', collectors='any')
def one_that_waits_from_its_start_needs_no_attaching(t):
    p = Program(t, jvm=['-XX:+DisableAttachMechanism', *(['-XX:-EnableDynamicAgentLoading'] if t.jdk.version >= 21 else [])], opts='start=n')
    for _ in range(2):
        t.check('Attached used ' in does(t, '-d', '100ms', p.run.pid), 'no profile')
        t.check('session: none' in does(t, 'status', p.run.pid), 'a session')
    does(t, 'start', '-o', t.work / 'x', '-e', 'times', p.run.pid, 'cutoff=0')
    p.tell('calls 321')
    p.end(t)
    t.equal(t.parse(t.work / 'x', 1).table(TIMES).counts().get('Attached.leaf'), 321, 'calls')
    t.check(not os.path.exists('/tmp/.hprofx-%d' % p.run.pid), 'the socket is still there')


def shown_until(t, read, pattern):
    shown = ''
    for _ in range(1000):
        if re.search(pattern, shown):
            return shown
        shown += read()
    t.check(False, 'no %r in %r' % (pattern, shown[-2000:]))


@test(level='plain', collectors='any')
def top_shows_one_second_after_the_other(t):
    p = Program(t)
    top = subprocess.Popen([*command(t), 'top', '-d', '2s', str(p.run.pid)], stdout=subprocess.PIPE, text=True)
    shown = top.communicate(timeout=60)[0]
    t.equal(top.returncode, OK, 'status')
    t.check(re.search(r'^\d+ threads, \d+ on a CPU or waiting for one\.\nAttached used ', shown, re.M), 'top shows %r' % shown)
    t.check(re.search(r'^Monitor dump\n', shown, re.M), 'no states of threads: %r' % shown)
    leaves_no_profile(t, top)
    t.check(re.search(r'Own CPU time: \d+\.\d{3} ms \(\d+\.\d\d % of the program.s\)', shown), 'its cost: %r' % shown)
    top = subprocess.Popen([*command(t), 'top', str(p.run.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    top.stdout.readline()
    top.stdout.close()  # as head does
    said = top.stderr.read()
    t.equal((top.wait(), said), (OK, b''), 'status, stderr where nobody reads')
    leaves_no_profile(t, top)
    leaves_nothing(t, p.run.pid)
    refuses(t, USAGE, 'top has no option -o', 'top', '-o', 'x', p.run.pid)
    refuses(t, USAGE, 'cpu, wall, times or lock', 'top', '-e', 'alloc', p.run.pid)
    refuses(t, USAGE, 'cannot show the heap', 'top', p.run.pid, 'heap=sites')
    p.end(t)


@test(level='plain', collectors='any')
def top_counts_only_what_filters_leave(t):
    p = Program(t)
    p.tell('making 1')
    top = [*command(t), 'top', '-d', '2s']
    shown = subprocess.run([*top, '--include', 'Attached', '--by', 'Attached.make', str(p.run.pid)], stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    t.equal(shown.returncode, OK, 'status')
    t.check(re.search(r'^By Attached\.make: each stack .*\n  Filtered by --include Attached \(CPU: samples [\d,]+ of [\d,]+\)\n *CPU samples  method\n.*  Attached\.make\n(?:.*\[none of these\]\n)? *100\.00% +[\d,]+  \[all\]\n', shown.stdout, re.M), 'by: %r' % shown.stdout)
    t.check(re.search(r'^CPU: samples [\d,]+ of [\d,]+', shown.stdout, re.M), 'the head: %r' % shown.stdout)
    shown = subprocess.run([*top, '--thread', 'no such thread', str(p.run.pid)], stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    t.equal(shown.returncode, OK, 'status without a thread')
    t.check("\nnothing in the profile fits --thread 'no such thread'" in shown.stdout, 'without a thread: %r' % shown.stdout)
    t.check('samples' not in shown.stdout, 'it shows something: %r' % shown.stdout)
    p.tell('making 0')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def top_on_a_terminal_has_the_last_seconds_and_ends_with_q(t):
    p = Program(t)
    p.tell('making 1')
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 120, 0, 0))
    top = subprocess.Popen([*command(t), 'top', str(p.run.pid)], stdin=its, stdout=its, stderr=subprocess.PIPE, env={**os.environ, 'TERM': 'xterm', 'LC_ALL': 'C'})
    os.close(its)
    read = lambda: os.read(ours, 4096).decode(errors='replace')
    shown_until(t, read, r'(?s)Attached used .*last 30 s')  # of one screen: what did not change is not drawn again
    os.write(ours, b'q')
    until = time.monotonic() + 60
    while top.poll() is None and time.monotonic() < until:
        with contextlib.suppress(OSError):  # it has closed the terminal
            if select.select([ours], [], [], 0.1)[0]:
                read()
    ended = top.poll() is not None
    top.kill()
    t.equal((ended, top.wait(), top.stderr.read()), (True, OK, b''), 'whether it ended, status, stderr')
    os.close(ours)
    leaves_no_profile(t, top)
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def top_that_is_killed_leaves_no_session(t):
    p = Program(t)
    top = subprocess.Popen([*command(t), 'top', str(p.run.pid)], stdout=subprocess.PIPE, text=True)
    shown_until(t, top.stdout.readline, r'Attached used ')
    top.kill()
    top.wait()
    top.stdout.close()
    until = time.monotonic() + 60
    while 'session: none' not in does(t, 'status', p.run.pid) and time.monotonic() < until:
        time.sleep(0.02)
    t.check('session: none' in does(t, 'status', p.run.pid), 'the session goes on')
    for f in pathlib.Path('/tmp').glob('hprofx-%d-*.profile*' % top.pid):
        f.unlink(missing_ok=True)
    p.end(t)


@test(collectors='any', needs=('hotspot', 'jit'), params=('', 'n'))
def start_n_asks_for_debug_information_if_it_may_touch_the_vm(t, structures):
    p = Program(t, jvm=['-XX:+UnlockDiagnosticVMOptions'], opts='start=n', prefix=['env', 'HPROFX_VMSTRUCTS=' + structures])
    flags = subprocess.run([*t.jdk.tool('jcmd'), str(p.run.pid), 'VM.flags', '-all'], capture_output=True, text=True, timeout=100).stdout
    t.equal(re.findall(r'\bDebugNonSafepoints\s+:?= (\w+)', flags), ['false' if structures == 'n' else 'true'], 'the flag')
    p.end(t)


def _older(t, p, file):
    does(t, 'start', '-o', file, p.run.pid)
    p.tell('calls 1000')
    does(t, 'stop', p.run.pid)
    line = t.parse(file, 1).report.get('without debug information')
    return [float(n) for n in re.fullmatch(r'(\d+) of (\d+) compiled methods, ([0-9.e+]+) % of the code', line).groups()] if line else None


@test(level='plain', collectors='any', needs=('hotspot', 'jit'))
def the_report_tells_how_much_code_is_older(t):
    p = Program(t)
    p.tell('calls 100000')
    old, methods, percent = _older(t, p, t.work / 'late')
    t.check(0 < old <= methods and 0 < percent <= 100, '%s' % [old, methods, percent])
    p.tell('burn 50 50')
    again = _older(t, p, t.work / 'again')
    t.check(again[1] - again[0] >= (methods - old) / 2, 'code of the first session counts as old: %s, then %s' % ([old, methods], again))
    p.end(t)
    waits = Program(t, opts='start=n')
    t.equal(_older(t, waits, t.work / 'waits'), None, 'of a JVM that has waited')
    waits.end(t)


@test(level='plain', collectors='any')
def a_command_that_comes_before_the_jvm_lives_is_told_so(t):
    run = t.start_command(t.command('Attached', opts=None, agent='-agentpath:%s=start=n' % library(t)), stdin=subprocess.PIPE)
    name, answers = '/tmp/.hprofx-%d' % run.pid, []
    waiting.until(run, lambda: os.path.exists(name) or run.process.poll() is not None)
    until = t.deadline
    while answers[-1:] != ['ok'] and time.monotonic() < until:
        with socket.socket(socket.AF_UNIX) as s, contextlib.suppress(ConnectionRefusedError, FileNotFoundError):  # bound, and does not listen yet
            s.connect(name)
            s.sendall(b'start 60000 cpu=samples,file=%s\n' % bytes(t.work / 'x'))
            with s.makefile() as lines:
                answers.append(next(ln.strip() for ln in lines if ln.startswith(('ok', 'error'))))
    t.check(answers[-1:] == ['ok'] and all('the JVM is starting' in a for a in answers[:-1]), 'answers: %s' % set(answers))
    run.wait_line('ready')
    run.process.stdin.close()
    run.finish()
    t.equal(run.code, 0, 'exit code: %s' % run.err)


@test(level='plain', collectors='any')
def help_on_the_socket_begins_nothing(t):
    p = Program(t, opts='start=n')
    with socket.socket(socket.AF_UNIX) as s:
        s.connect('/tmp/.hprofx-%d' % p.run.pid)
        s.sendall(b'start 0 help\n')
        with s.makefile() as lines:
            answer = next(ln.strip() for ln in lines if ln.startswith(('ok', 'error')))
    t.check(re.fullmatch(r'error \d+ help is for the command line of the JVM', answer), 'answer %r' % answer)
    t.check('session: none' in does(t, 'status', p.run.pid), 'a session')
    p.end(t)


@test(level='plain', collectors='any')
def start_n_is_alone_and_for_the_start(t):
    run = t.java('Hello', opts='start=n,interval=5')
    t.equal((run.code, run.out), (1, ''), 'exit code, stdout')
    t.check('HPROF ERROR: start=n takes no other options' in run.err, 'stderr: %s' % run.err)
    p = Program(t)
    refuses(t, USAGE, 'start=n', '-d', '100ms', p.run.pid, 'start=n')
    p.end(t)


@test(level='plain', collectors='any')
def a_jvm_without_signals_listens_from_its_start(t):
    p = Program(t, jvm=['-Xrs'])
    t.check('Attached used ' in does(t, '-d', '100ms', p.run.pid), 'no profile')
    p.end(t)


@test(level='plain', collectors='any')
def a_session_of_the_start_can_be_ended_and_another_begun(t):
    p = Program(t, opts='cpu=times,cutoff=0,file=first,verbose=n')
    p.tell('calls 11')
    does(t, 'stop', p.run.pid)
    p.tell('calls 5')
    does(t, 'start', '-e', 'times', '-o', 'second', p.run.pid, 'cutoff=0')
    p.tell('calls 22')
    does(t, 'stop', p.run.pid)
    for name, calls in (('first', 11), ('second', 22)):
        t.equal(t.parse(t.work / name, 1).table(TIMES).counts().get('Attached.leaf'), calls, 'calls in ' + name)
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any', params=('cpu', 'wall'))
def a_method_that_runs_on_in_rewritten_code_has_its_name(t, what):
    """main is entered with probes and never returns: the version that runs has no jmethodID once the class has its old code back."""
    p = Program(t, opts='cpu=times,cutoff=0,file=first,verbose=n')
    p.tell('calls 11')
    does(t, 'stop', p.run.pid)
    for name in ('second', 'third'):
        does(t, 'start', '-e', what, '-o', name, p.run.pid, 'cutoff=0,depth=64')
        p.tell('burn 100 100')
        does(t, 'stop', p.run.pid)
        traces = [trace.frames for trace in t.parse(t.work / name, 1).traces.values() if trace.frames]
        frames = [f for trace in traces for f in trace]
        # 11 enters methods of an interface in a version from before its class was rewritten, for which no loaded class has an id
        judged = {trace[-1].method for trace in traces} if t.jdk.version == 11 else {f.method for f in frames}
        t.check('hprofx.unknown.method' not in judged, 'a frame has no name in the ' + name)
        t.check(any(f.method == 'Attached.main' and f.line > 0 for f in frames), 'no line of main in the %s: %s' % (name, frames))
    p.end(t)


@test(level='plain', collectors='any')
def it_has_its_name_while_the_program_loads_classes(t):
    """A thread stays in Iterable.forEach, entered with probes, and no list of the loaded classes is complete for long."""
    p = Program(t, 'StaysLoading', opts='cpu=times,cutoff=0,file=first,verbose=n')
    p.tell('round')
    does(t, 'stop', p.run.pid)
    p.tell('round')
    does(t, 'start', '-e', 'cpu', '-o', 'second', p.run.pid, 'cutoff=0,depth=64')
    p.tell('burn 200 100')
    does(t, 'stop', p.run.pid)
    traces = [[f.method for f in trace.frames] for trace in t.parse(t.work / 'second', 1).traces.values() if trace.frames]
    stays = [trace for trace in traces if 'StaysLoading.stay' in trace]
    t.check(stays and all('java.lang.Iterable.forEach' in trace for trace in stays), 'stacks of the thread that stays: %s' % stays[:3])
    t.check(not any('hprofx.unknown.method' in trace for trace in stays), 'a frame has no name: %s' % stays[:3])
    p.end(t)


@test(level='plain', collectors='any')
def root_profiles_a_program_of_another_user(t):
    if os.geteuid() != 0:
        t.skip('only root becomes another user')
    t.env.tmp.chmod(0o711)
    t.dir.chmod(0o711)
    t.work.chmod(0o777)
    other = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    if subprocess.run(other + [str(t.jdk.home / 'bin' / 'java'), '-version'], capture_output=True).returncode != 0:
        t.skip('another user cannot run this JDK')
    p = Program(t, prefix=other)
    t.check('Attached used ' in does(t, '-d', '200ms', p.run.pid), 'no profile')
    t.check('Attached used ' in does(t, '-d', '200ms', p.run.pid, prefix=other), 'no profile for its own user')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def an_output_that_cannot_be_written_loses_no_profile(t):
    """It is opened before the program runs; if it cannot be written in the end, the profile stays where the message says."""
    program = t.command('Hello', opts=None)
    refuses(t, FAILED, 'cannot write /nowhere/x.html: ', 'run', '-o', '/nowhere/x.html', '--', *program)
    t.equal(hprofx(t, 'run', '-o', '/nowhere/x.txt', '--', *program).stdout, '', 'what a program has written that shall not run')
    os.mkfifo(t.work / 'x.html')
    closed = "import os, signal, subprocess, sys; r = os.open('x.html', os.O_RDONLY | os.O_NONBLOCK); p = subprocess.Popen(sys.argv[1:]); import time\n" \
             "while '/x.html' not in ' '.join(os.readlink(f.path) for f in os.scandir('/proc/%d/fd' % p.pid) if os.path.islink(f.path)) and p.poll() is None: time.sleep(0.01)\n" \
             "os.close(r); sys.exit(p.wait())"
    done = subprocess.run([sys.executable, '-c', closed, *command(t), 'run', '-e', 'times', '-o', 'x.html', '--', *program], capture_output=True, text=True, cwd=t.work, timeout=60)
    stays = re.search(r'^hprofx: the profile stays at (/tmp/hprofx-run-\w+/\d+)$', done.stderr, re.M)
    t.check(done.returncode == FAILED and stays and 'cannot write x.html' in done.stderr, 'status %d, it says %r' % (done.returncode, done.stderr))
    kept = pathlib.Path(stays[1])
    t.check(kept.read_text().startswith('JAVA PROFILE 1.0.1') and 'CPU TIME' in kept.read_text(), 'the profile that stays')
    kept.unlink()
    kept.parent.rmdir()


@test(level='plain', collectors='any')
def a_program_that_does_nothing_is_shown(t):
    """Every table without rows says why, and a picture without stacks, too. Nothing stays in /tmp."""
    p = Program(t)
    for kind, why in (('cpu', 'There is no sample: '), ('alloc', '  none: nothing was allocated'), ('lock', '  none: no thread waited for a monitor')):
        if kind == 'alloc' and t.jdk.version < 11:
            continue
        shown = does(t, '-e', kind, '-d', '50ms', p.run.pid, *(('interval=100',) if kind == 'cpu' else ()))
        t.check(why in shown, '%s shows %r' % (kind, shown))
        t.check(kind == 'cpu' or 'Not seen, because the session began while the program ran: ' in shown, '%s shows %r' % (kind, shown))
    for name in ('x.html', 'x.pb.gz', 'x.folded', 'x.speedscope.json', 'x.firefox.json', 'x.otlp', 'x.collapsed'):
        profile = subprocess.Popen([*command(t), '-e', 'lock', '-d', '50ms', '-o', name, str(p.run.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=t.work)
        said = profile.communicate()
        t.equal((profile.returncode, said[0]), (OK, name + '\n'), 'status and stdout for %s (%s)' % (name, said[1]))
        t.check('%s says only that the profile has no stacks' % name in said[1], 'it says %r' % said[1])
        leaves_no_profile(t, profile)
    t.check('It was idle nearly all the time.' in (t.work / 'x.html').read_text() or 'nothing to show' in (t.work / 'x.html').read_text(), 'the page')
    p.end(t)


@test(level='plain', collectors='any', since=11)
def what_is_not_measured_has_no_column(t):
    p = Program(t)
    for kind, live in (('alloc', False), ('live', True)):
        profile = subprocess.Popen([*command(t), '-e', kind, '-d', '100s', str(p.run.pid), 'sample=1k'], stdout=subprocess.PIPE, text=True)
        wait_for_session(t, p.run.pid)
        p.tell('make 300000')  # beyond what the VM lets pass on a thread that ran before, and no garbage to collect
        profile.send_signal(signal.SIGINT)
        shown = profile.communicate(timeout=60)[0]
        lives = 'live bytes' in shown or 'none: of what was allocated while it was recorded nothing lived' in shown
        t.check('\nAllocations' in shown and lives == live, '-e %s shows %r' % (kind, shown))
    p.end(t)


@test(level='plain', collectors='any')
def every_program_that_starts_a_jvm_is_run(t):
    """A launcher of Java gets the agent as its option, any other program by JAVA_TOOL_OPTIONS."""
    java = t.command('Attached', opts=None)
    shown = subprocess.run([*command(t), 'run', '-e', 'times', 'cutoff=0', *java], input='calls 321\n', capture_output=True, text=True, cwd=t.work, timeout=60)
    t.check(shown.returncode == OK and 'Calls: ' in shown.stdout, 'without --: status %d, stdout %r, stderr %r' % (shown.returncode, shown.stdout[-500:], shown.stderr))
    (t.work / 'run it.sh').write_text('#!/bin/sh\nexec "$@"\n')
    (t.work / 'run it.sh').chmod(0o755)
    (t.work / 'a folder').mkdir()
    (t.work / 'One.java').write_text('class One { }')
    for program in (['./run it.sh', *java], [*t.jdk.tool('javac'), 'One.java']):
        done = subprocess.run([*command(t), 'run', '-o', 'a folder/x.html', '--', *program], input='calls 321\n', capture_output=True, text=True, cwd=t.work, timeout=60,
                              env={**os.environ, 'JAVA_TOOL_OPTIONS': '-Dits=own'})
        t.check(done.returncode == OK and done.stdout.endswith('a folder/x.html\n'), '%s: status %d, stdout %r, stderr %r' % (program[0], done.returncode, done.stdout, done.stderr))
        t.check('-Dits=own' in done.stderr, 'its own options: %r' % done.stderr)
        (t.work / 'a folder/x.html').unlink()


@test(level='plain', collectors='any')
def every_jvm_of_a_program_has_its_own_profile(t):
    (t.work / 'both').write_text('#!/bin/sh\n"$@" | grep end; echo calls 654 | "$@"\n')
    (t.work / 'both').chmod(0o755)
    both = [*command(t), 'run', '-e', 'times', '-o', 'x.txt', 'cutoff=0,include=Attached', './both', *t.command('Attached', opts=None)]
    done = subprocess.run(both, input='calls 321\n', capture_output=True, text=True, cwd=t.work, timeout=60)
    names = re.findall(r'^x\.\d+\.txt$', done.stdout, re.M)
    t.equal((done.returncode, len(names)), (OK, 2), 'status, profiles (%r, %r)' % (done.stdout, done.stderr))
    t.equal(sorted(t.parse(t.work / n, 1).table(TIMES).counts().get('Attached.leaf') for n in names), [321, 654], 'calls')
    del both[both.index('-o'):both.index('-o') + 2]
    done = subprocess.run(both, input='calls 321\n', capture_output=True, text=True, cwd=t.work, timeout=60)
    t.check(len(re.findall(r'^Process \d+, Attached: Calls, ', done.stdout, re.M)) == 2 and re.search(r' 975 +Attached\.leaf$', done.stdout, re.M), 'both: %r, %r' % (done.stdout, done.stderr))


@test(level='plain', collectors='any')
def a_session_without_a_file_is_shown_at_its_end(t):
    """And every command of a session says what it did, and where the file is."""
    p = Program(t)
    said = does(t, 'start', '-e', 'times', p.run.pid, 'cutoff=0')
    kept = [path for path in (fd.readlink() for fd in pathlib.Path('/proc/%d/fd' % p.run.pid).iterdir() if fd.is_symlink()) if '.kept' in path.name]
    t.check(kept, 'the JVM has a file of its own open')
    t.check(re.fullmatch(r'session \d+ of process %d has begun; `hprofx stop %d` ends it and shows its profile\n' % (p.run.pid, p.run.pid), said), 'start says %r' % said)
    t.check(re.search(r'begun by: process \d+ of user %d\n' % os.geteuid(), does(t, 'status', p.run.pid)), 'status')
    p.tell('calls 1000000')
    shown = does(t, 'stop', p.run.pid)
    t.check('Attached.leaf' in shown and 'Calls: ' in shown, 'stop shows %r' % shown)
    does(t, 'start', '-e', 'times', p.run.pid, 'cutoff=0')
    p.tell('calls 100')
    t.check(does(t, 'stop', '-o', 'x.html', p.run.pid).endswith('x.html\n') and (t.work / 'x.html').read_text().startswith('<!'), 'stop -o')
    file = t.work / 'x'
    t.check(does(t, 'start', '-o', file, p.run.pid).endswith('its profile is %s\n' % file), 'start -o')
    t.equal(does(t, 'dump', p.run.pid), 'the JVM writes a profile to %s\n' % file, 'dump says')
    refuses(t, USAGE, 'begun with -o and writes .*; stop it without -o, then hprofx convert', 'stop', '-o', 'y.html', p.run.pid)  # the session goes on
    t.check(not (t.work / 'y.html').exists(), 'a refused stop made its file')
    t.check(does(t, 'stop', p.run.pid).endswith('the session has ended; its profile is %s\n' % file), 'stop says')
    does(t, '-e', 'lock', '-d', '50ms', p.run.pid, 'stacks=sampled')  # which asks for no owners
    t.equal([str(path) for path in kept if pathlib.Path('/proc/%d/root%s' % (p.run.pid, path)).exists()], [], 'profiles in its /tmp')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def a_session_that_ended_by_itself_is_found(t):
    p = Program(t)
    said = does(t, 'start', '-e', 'times', '-d', '500ms', p.run.pid, 'cutoff=0')
    file = re.search(r' it ends by itself after 0\.5 s and writes (/tmp/hprofx-\S+) in the /tmp of the JVM, which `hprofx stop %d` shows' % p.run.pid, said)
    t.check(file, 'start says %r' % said)
    p.tell('calls 1000')
    wait_for_session(t, p.run.pid, 'none')
    status = does(t, 'status', p.run.pid)
    t.check('ended by itself: its profile is %s of the JVM; `hprofx stop %d` shows it' % (file[1], p.run.pid) in status, 'status says %r' % status)
    others = [pathlib.Path('/proc/%d/root/tmp/hprofx-%d-%sffffffffffffffff.kept' % (p.run.pid, own_number(p.run.pid), start)) for start in ('', '1-')]
    for other in others:  # of another JVM with this number, in a container that shares /tmp
        other.write_text('not ours')
    shown = hprofx(t, 'stop', p.run.pid)
    for other in others:
        other.unlink()
    t.check(shown.returncode == OK and 'Calls: ' in shown.stdout and 'had ended by itself' in shown.stderr, 'stop says %r, %r' % (shown.stdout, shown.stderr))
    t.equal((does(t, 'status', p.run.pid).count('itself'), hprofx(t, 'stop', p.run.pid).returncode), (0, REFUSED), 'it is gone')
    t.check(does(t, 'start', '-o', 'x-%p.txt', p.run.pid).endswith('its profile is %s/x-%d.txt\n' % (t.work, own_number(p.run.pid))), 'start -o')
    does(t, 'stop', p.run.pid)
    t.equal(does(t, '-d', '50ms', '-o', 'y-%p.folded', p.run.pid), 'y-%d.folded\n' % p.run.pid, 'a file of the command')
    p.end(t)


@test(level='plain', collectors='any', since=11)
def a_program_from_its_source_has_a_name(t):
    """And of two that match both are listed, with what tells them apart."""
    (t.work / 'Shop.java').write_text('class Shop { public static void main(String[] a) throws Exception { System.out.println("ready"); System.in.read(); } }')
    java = [*t.jdk.tool('java'), '--source', str(t.jdk.version), str(t.work / 'Shop.java')]
    shops = [t.start_command(java + [color], stdin=subprocess.PIPE) for color in ('red', 'blue')]
    for s in shops:
        s.wait_line('ready')
    for s in shops:
        t.check(re.search(r'^ *%d .*  Shop( |$)' % s.pid, does(t, 'list'), re.M), 'list says %r' % does(t, 'list'))
    done = hprofx(t, 'status', 'Shop.java')
    t.check(done.returncode == USAGE and all(re.search(r'^ *%d  .*Shop\.java %s$' % (s.pid, c), done.stderr, re.M) for s, c in zip(shops, ('red', 'blue'))), 'it says %r' % done.stderr)
    for s in shops:
        s.process.stdin.close()
        s.finish()


@test(level='plain', collectors='any', since=9)
def a_program_whose_command_line_is_in_a_file_has_a_name(t):
    p = Program(t)  # its class is compiled
    java = t.command('Attached', opts=None)
    (t.work / 'of its own').write_text('# how it starts\n-Xmx64m "-Dsome.thing=a \\"b\\" \\\n   c" # more\n' + ' '.join("'%s'" % w for w in java[len(t.jdk.java()):]) + ' red\n')
    named = t.start_command([*t.jdk.java(), '@of its own', '@blue'], stdin=subprocess.PIPE)
    named.wait_line('ready')
    t.check(re.search(r'^ *%d .*  Attached( |$)' % named.pid, does(t, 'list'), re.M), 'list says %r' % does(t, 'list'))
    t.check('session: none' in does(t, 'status', 'some.thing'), 'it is not found by what is in the file')
    done = hprofx(t, 'status', 'Attached')
    says = [r'^ *%d  ' % p.run.pid, r'^ *%d  .* -Xmx64m -Dsome.thing=a "b" c -Xmx512m ' % named.pid]  # long lines are cut
    t.check(done.returncode == USAGE and all(re.search(s, done.stderr, re.M) for s in says), 'it says %r' % done.stderr)
    t.equal(hprofx(t, 'status', '@of its').returncode, NO_JVM, 'it is found by the name of the file')
    named.process.stdin.close()
    named.finish()
    p.end(t)


@test(level='plain', collectors='any')
def all_is_what_the_jvm_has(t):
    p = Program(t)
    done = hprofx(t, '-e', 'all', '-d', '50ms', p.run.pid)
    t.equal((done.returncode, 'is without allocation sites: JDK 8' in done.stderr, 'Allocations\n' in done.stdout or 'Allocations: ' in done.stdout), (OK, t.jdk.version < 11, t.jdk.version >= 11), 'status, what it says and shows (%s)' % done.stderr)
    p.end(t)


@test(level='plain', collectors='any')
def the_end_of_a_session_says_what_it_left(t):
    p = Program(t)
    for kind, some in (('times', True), ('cpu', False)):
        does(t, 'start', '-e', kind, '-o', t.work / kind, p.run.pid)
        p.tell('calls 100')
        said = does(t, 'stop', p.run.pid)
        restored = re.search(r'^  classes restored: (\d+); the agent sleeps$', said, re.M)
        t.check(restored and int(restored[1]) > 100 if some else 'restored' not in said, 'stop says %r' % said)
    p.end(t)


@test(level='plain', collectors='any')
def a_reader_that_has_seen_enough_is_no_fault(t):
    p = Program(t)
    does(t, '-e', 'heap', '-o', t.work / 'x.hprof', p.run.pid)
    p.end(t)
    for words in (('info', 'x.hprof'), ('view', 'x.hprof'), ('--help',)):
        shows = subprocess.run(['bash', '-c', 'sleep 0.2; exec "$@"', '-', *command(t)[:1], *words], stdout=_closed_pipe(), stderr=subprocess.PIPE, text=True, cwd=t.work, timeout=60)
        t.equal(shows.stderr, '', 'stderr of hprofx %s | head -1' % ' '.join(words))


def _closed_pipe():
    """Whose reader is gone."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


@test(level='plain', collectors='any')
def options_that_the_agent_does_not_take_reach_no_jvm(t):
    p = Program(t)
    for says, options in (('Unknown option: intervall; hprofx: did you mean interval\\?|; did you mean interval\\?', 'intervall=1'), ('leave out file= and net=', 'depth=4,file=/tmp/x'),
                          ('depth', 'depth=many')):
        refuses(t, USAGE, says, '-d', '100ms', p.run.pid, options)
        refuses(t, USAGE, says, 'top', '-d', '100ms', p.run.pid, options)
        refuses(t, USAGE, says, 'run', options, '--', 'java')
    t.check('session: none' in does(t, 'status', p.run.pid), 'a session')
    refuses(t, REFUSED, 'no session is running', 'stop', p.run.pid)
    t.check('libhprofx' not in pathlib.Path('/proc/%d/maps' % p.run.pid).read_text(), 'the library was loaded')
    p.end(t)


@test(level='plain', collectors='any')
def an_old_file_is_no_profile_of_a_program_that_leaves_none(t):
    (t.work / 'x').write_text('old')
    ends = t.work / 'ends'
    ends.write_text('#!/bin/sh\nexit 127\n')
    ends.chmod(0o755)
    for file in ([], ['-o', 'x']):
        refuses(t, OK, 'no JVM has written a profile', 'run', *file, '--', 'true')
        refuses(t, 127, 'no JVM has written a profile', 'run', *file, '--', ends)
    refuses(t, 127, r'cannot run /nowhere/java: [^:]*\n$', 'run', '--', '/nowhere/java')
    ignore = 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])'
    done = subprocess.run([sys.executable, '-c', ignore, *command(t), 'run', '--', str(ends)], capture_output=True, text=True, cwd=t.work, timeout=60)
    t.equal(done.returncode, 127, 'status where SIGCHLD is ignored (%s)' % done.stderr)
    t.equal((t.work / 'x').read_text(), 'old', 'the file')
