# SPDX-License-Identifier: BSD-2-Clause
"""In the process: other agents, other owners of our signal, native threads, a C program that has a JVM."""
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import build
from preload import agent, java_agent, preload
from runner import test

JACOCO = pathlib.Path('/usr/share/java/org.jacoco.agent.jar')  # Debian's libjacoco-java; the agent is a jar inside
FAST = 'cpu=samples,interval=1,cutoff=0'


def _said(t, run, text, times=1):
    t.equal([text in ln for ln in run.err.splitlines()].count(True), times, 'lines with %r on stderr (%s)' % (text, run.err[-600:]))


# --- the signal

@test(level='plain', params=('1', '10'))
def a_handler_that_was_there_before_gets_its_signals_and_none_of_ours(t, interval):
    _, p = t.profile('OtherAgents', 'timer', 2000, 500, opts='cpu=samples,interval=' + interval, native=True, stdout='timers true strangers 0\n', env=preload(t, 'other_agents', OTHER_AGENTS_HANDLER='1'))
    t.check(p.total * int(interval) > 300, 'only %d samples' % p.total)


@test(level='plain')
def a_handler_taken_later_ends_sampling_when_the_next_thread_starts(t):
    run, p = t.profile('OtherAgents', 'thread', 0, 400, opts=FAST, native=True, stdout='timers false\n')
    _said(t, run, 'cpu=samples: the program replaced the handler of SIGPROF; sampling stops here; use signal=RTMIN+1 or sampler=poll')
    t.equal(p.having('OtherAgents.after'), 0, 'samples after the signal was taken')
    t.check(p.having('OtherAgents.before') > 100, 'no samples from before')
    t.check(any('CPU ms without sampling' in k for k in p.report), 'the report does not tell: %s' % p.report)


@test(level='plain')
def an_agent_behind_ours_that_gives_the_signal_its_default_action_ends_sampling_alone(t):
    run = t.java('HotSplit', 60, jvm=[t.agent(FAST)], agent=agent(t, 'other_agents'))
    t.complete(run, 0, 'done true\n')
    _said(t, run, 'the program replaced the handler of SIGPROF')
    t.output()


@test(level='plain', params=('async', 'asgct', 'walk'))
def clocks_of_other_profilers_in_the_same_ticks_take_no_stacks(t, sampler):
    """Their signals have lower numbers, so ours interrupts the first instruction of the handlers of both."""
    _, p = t.profile('HotSplit', 80, opts='cpu=samples,interval=4,cutoff=0,sampler=' + sampler, jvm=[agent(t, 'other_agents', 'tick')], stdout='done true\n')
    hot = sum(p.share('HotSplit.hot' + x) for x in 'ABC')
    t.check(hot > 0.8, 'share of the hot methods: %.2f' % hot)
    t.check(int(p.report['signals on top of another handler']) > 20, 'the report: %s' % p.report)


@test(timeout=120)
def a_handler_taken_later_ends_sampling_without_a_new_thread(t):
    run, p = t.profile('OtherAgents', 'take', 2000, 2500, opts=FAST, native=True, stdout='timers true\n')
    _said(t, run, 'the program replaced the handler of SIGPROF')
    # of 2500: the aggregator looks once a second; at the end of the JVM a thread starts, which would find it, too
    t.check(int(str(p.report['CPU ms without sampling']).split()[0]) > 500, 'found late: %s' % p.report)


@test(level='plain')
def another_signal_leaves_the_program_its_own(t):
    run, p = t.profile('OtherAgents', 'take', 2000, 400, opts=FAST + ',signal=RTMIN+1', native=True, stdout='timers true\n')
    _said(t, run, 'took', 0)
    t.check(p.having('OtherAgents.before') > 100 and p.having('OtherAgents.after') > 100, 'samples before and after: %s' % p.report)


def _blocked(cmd):
    """The command under a parent that blocks SIGPROF."""
    return [sys.executable, '-c', 'import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF]); os.execv(sys.argv[1], sys.argv[1:])'] + cmd


@test(level='plain')
def a_signal_blocked_by_the_parent_is_unblocked_and_said(t):
    run = t.start_command(_blocked(t.command('HotSplit', 60, opts=FAST))).finish()
    t.complete(run, 0, 'done true\n')
    _said(t, run, 'the JVM started with SIGPROF blocked')
    t.check(t.output().having('HotSplit.main') > 50, 'too few samples with a stack')


@test(level='plain')
def a_blocked_signal_that_somebody_handles_stays_blocked(t):
    env = preload(t, 'other_agents', OTHER_AGENTS_HANDLER='1')
    run = t.start_command(_blocked(t.command('HotSplit', 60, opts=FAST)), env=env).finish()
    t.complete(run, 0, 'done true\n')
    _said(t, run, 'a thread blocks the sampling signal')
    p = t.output()
    t.check(any('threads blocking the signal' in k for k in p.report), 'the report does not tell: %s' % p.report)


@test(level='plain')
def a_thread_that_blocks_the_signal_is_counted(t):
    run, p = t.profile('OtherAgents', 'attach', 2, 1, 50, True, True, opts=FAST, native=True, stdout='attached\n')
    _said(t, run, 'a thread blocks the sampling signal')
    t.equal(int(str(p.report['threads blocking the signal']).split()[0]), 2, 'threads blocking the signal')


# --- native threads, a JVM inside a C program

@test(level='plain')
def attached_threads_are_sampled_under_their_names(t):
    n = 5
    _, p = t.profile('OtherAgents', 'attach', 2, n, 60, True, False, opts=FAST + ',thread=y', native=True, stdout='attached\n')
    started = [(name, s) for s, name in p.names.items() if name.startswith('attached-')]
    t.equal(sorted(name for name, s in started), sorted(['attached-%d' % i for i in range(n)] * 2), 'threads')
    counts = p.by_thread()
    for name, s in started:
        t.check(s in p.ended, '%s has no end' % name)
        t.check(counts.get(s, 0) > 20, '%s has %d samples, about 60 expected' % (name, counts.get(s, 0)))


@test()
def threads_that_attach_and_leave_in_a_loop(t):
    n = 2000
    _, p = t.profile('OtherAgents', 'attach', 2, n, 0, True, False, opts=FAST, native=True, stdout='attached\n')
    attached = [x for x in p.threads.values() if x.name.startswith('attached-')]
    t.equal(len(attached), 2 * n, 'starts')
    t.equal(len([x for x in attached if x.ended]), 2 * n, 'ends')


@test()
def threads_that_end_attached(t):
    """A mistake of the program's: the VM keeps what it knows of the thread."""
    _, p = t.profile('OtherAgents', 'attach', 20, 1, 20, False, False, opts=FAST + ',thread=y', native=True, stdout='attached\n')
    started = [s for s, name in p.names.items() if name == 'attached-0']
    t.equal(len(started), 20, 'threads')
    counts = p.by_thread()
    t.check(sum(counts.get(s, 0) for s in started) > 200, 'samples: %s' % counts)


@test(level='plain', params=('main', 'thread'))
def a_c_program_with_a_jvm(t, where):
    launcher = t.dir / 'launcher'
    inc = t.jdk.home / 'include'
    subprocess.run(build.compiler() + ['-O2', '-D_GNU_SOURCE', '-I%s' % inc, '-I%s' % (inc / 'linux'), '-o', str(launcher),
                    str(pathlib.Path(__file__).parent / 'native' / 'launcher.c'), '-ldl', '-lpthread'], check=True)
    start, libjvm = t.jdk.embedding()
    base = start + [str(launcher), libjvm, where, '-Xmx256m', '-Djava.class.path=' + t.env.classpath(t.jdk)] + t.gc
    plain = t.start_command(base + ['--', 'HotSplit'] + t.arguments('HotSplit', [60])).finish()
    run = t.start_command(base + [t.agent(FAST), '--', 'HotSplit', '60'], env={'LAUNCHER_SIGNALS': '1'}).finish()
    t.equal((run.code, run.out), (plain.code, plain.out), 'exit code and stdout')
    t.complete(run, 7, 'done true\nC goes on\n')
    t.check(t.output().having('HotSplit.main') > 50, 'too few samples')


# --- other agents

def _same(t, program, *args, jvm, **kw):
    """The run without us, then with us: same exit code, same stdout, a valid profile."""
    plain = t.java(program, *args, opts=None, jvm=jvm, **kw)
    run, p = t.profile(program, *args, opts=FAST, jvm=jvm, **kw)
    mask = lambda s: re.sub(r'\d+', 'N', s)
    t.equal((run.code, mask(run.out)), (plain.code, mask(plain.out)), 'exit code and stdout')
    return run, p


@test(level='plain')
def a_debugger_may_attach(t):
    where = 'address=%s0' % ('127.0.0.1:' if t.jdk.version >= 9 else '')
    _, p = _same(t, 'HotSplit', 60, jvm=['-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,' + where])
    t.check(p.having('HotSplit.main') > 50, 'too few samples')


@test(level='plain')
def a_copy_under_another_name_stays_out(t):
    copy = t.dir / 'libcopied.so'
    shutil.copy(t.env.agent, copy)
    run = t.java('HotSplit', 30, jvm=[t.agent(FAST + ',file=first.txt')], agent='-agentpath:%s=cpu=samples,file=second.txt' % copy)
    t.complete(run, 0, 'done true\n')
    _said(t, run, 'loaded twice')
    t.check(t.output('first.txt').total > 20, 'the first has too few samples')
    t.equal([f for f in t.files() if 'second' in f], [], 'files of the second')


@test(since=11, needs=('jfr',))
def a_flight_recording(t):
    events = t.dir / 'all.jfc'
    events.write_text('<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0">' + ''.join(
        '<event name="jdk.%s"><setting name="enabled">true</setting>%s</event>' % (n, x) for n, x in (
            ('ExecutionSample', '<setting name="period">10 ms</setting>'), ('NativeMethodSample', '<setting name="period">10 ms</setting>'),
            ('ObjectAllocationInNewTLAB', ''), ('ObjectAllocationOutsideTLAB', ''), ('CPULoad', '<setting name="period">1 s</setting>'))) + '</configuration>')
    rec = t.work / 'rec.jfr'
    _, p = _same(t, 'HotSplit', 100, jvm=['-XX:StartFlightRecording=filename=%s,settings=%s' % (rec, events), '-Xlog:jfr*=off'])
    t.check(p.having('HotSplit.main') > 100, 'too few samples')
    r = subprocess.run([str(t.jdk.home / 'bin' / 'jfr'), 'summary', str(rec)], capture_output=True, text=True)
    t.equal(r.returncode, 0, 'jfr summary (%s)' % r.stderr)
    n = re.search(r'jdk\.ExecutionSample\s+(\d+)', r.stdout)
    t.check(n and int(n.group(1)) > 5, 'execution samples of the recording:\n%s' % r.stdout[:2000])


@test(since=25, needs=('jfr',), params=('', ',signal=RTMIN+1'))
def a_recording_of_cpu_time_has_its_signal_or_is_told(t, option):
    events = t.dir / 'cpu.jfc'
    events.write_text('<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0"><event name="jdk.CPUTimeSample">'
                      '<setting name="enabled">true</setting><setting name="throttle">10 ms</setting></event></configuration>')
    rec = t.work / 'rec.jfr'
    run, p = t.profile('HotSplit', 1000, opts=FAST + option,  # longer than the 10 s between two looks
                       stdout='done true\n', jvm=['-XX:StartFlightRecording=filename=%s,settings=%s' % (rec, events), '-Xlog:jfr*=off'])
    t.check(p.having('HotSplit.main') > 100, 'too few samples')
    r = subprocess.run([str(t.jdk.home / 'bin' / 'jfr'), 'summary', str(rec)], capture_output=True, text=True)
    n = int(re.search(r'jdk\.CPUTimeSample\s+(\d+)', r.stdout).group(1))
    t.check((n > 5) == bool(option), '%d samples of JFR' % n)
    _said(t, run, 'JFR records no jdk.CPUTimeSample', 0 if option else 1)


@test(level='plain', collectors='any')
def a_method_that_runs_on_in_a_version_before_its_redefinition_has_its_name(t):
    _, p = t.profile('OldVersion', 1500, opts='cpu=samples,interval=4,cutoff=0', stdout='done\n', jvm=[java_agent(t, 'OldVersion', 'Can-Retransform-Classes: true')])
    t.check(p.having('OldVersion$Runs.loop') > 2 * p.having('hprofx.unknown.method'), 'samples of the loop %d, without a name %d' %
            (p.having('OldVersion$Runs.loop'), p.having('hprofx.unknown.method')))


@test(since=11)
def jacoco(t):
    t.check(JACOCO.exists(), 'no %s: tools/setup installs it' % JACOCO)
    zipfile.ZipFile(JACOCO).extract('jacocoagent.jar', t.dir)
    # From release 11 on JaCoCo adds a dynamic constant to each class; classes of the newest release it does not know.
    classes = t.dir / 'classes11'
    t.env.javac(t.env.compiler(11), 11, [build.GOLDEN / 'programs' / 'HotSplit.java'], classes)
    t.equal((classes / 'HotSplit.class').read_bytes()[7], 55, 'version of the class file')
    run, p = _same(t, 'HotSplit', 60, jvm=['-javaagent:%s=destfile=cover.exec,includes=HotSplit' % (t.dir / 'jacocoagent.jar')], classes=classes)
    t.check((t.work / 'cover.exec').stat().st_size > 50, 'no coverage was recorded: %s' % run.err)
    t.check(b'HotSplit' in (t.work / 'cover.exec').read_bytes(), 'HotSplit is not in the coverage')
    hot = sum(p.share('HotSplit.hot' + x) for x in 'ABC') * p.total / max(1, p.having('HotSplit.main'))  # premain is in the profile, too
    t.check(hot > 0.8, 'share of the hot methods: %.2f' % hot)
