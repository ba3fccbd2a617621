# SPDX-License-Identifier: BSD-2-Clause
"""What the agent must leave as it was: system calls, children, the JVM's class archives, its checks of JNI."""
import re
import subprocess

from runner import test


@test(level='plain', collectors=('G1', 'Parallel'), longer=True)
def system_calls_see_eintr_no_more_often(t):
    rounds = 30 if t.level == 'plain' else 100
    counts = {}
    for opts in (None, 'cpu=samples,interval=1', 'cpu=samples', 'wall=1', 'wall=y'):
        run = t.java('Eintr', rounds, opts=opts, native=True)
        t.equal(run.code, 0, 'exit code')
        counts[opts] = int(re.match(r'eintr (\d+) of', run.out).group(1))
    t.check(max(counts.values()) <= counts[None], 'calls that saw EINTR: %s' % counts)
    t.output()


def _no_files_of_ours(t, path):
    held = [ln for ln in path.read_text().splitlines() if '/java.hprof' in ln]
    t.equal(held, [], 'files that the child holds')


MODES = {'cpu=samples,interval=1,cutoff=0': 'CPU SAMPLES', 'wall=1,cutoff=0': 'WALL CLOCK (ms)', 'heap=sites': 'SITES', 'heap=sites,sites=counts': 'SITES', 'heap=sites,sites=counts,cpu=times': 'SITES'}


@test(level='plain', params=sorted(MODES), plain_params=('wall=1,cutoff=0',))
def a_forked_child_does_not_count_write_or_hold_our_file(t, mode):
    run, p = t.profile('Forks', 5, 0, opts=mode, native=True, stdout='forked 5\n')
    _no_files_of_ours(t, t.work / 'child.txt')
    t.equal((p.sections[0], run.err.count('Dumping')), (MODES[mode], 1), 'first section, messages about a dump')


@test(level='plain', collectors='any')
def a_forked_child_does_not_listen_for_commands(t):
    """A command would find nobody who answers."""
    run = t.java('Forks', 5, 0, opts='start=n', native=True)
    t.equal((run.code, run.out, run.err), (0, 'forked 5\n', ''), 'end')
    t.check('socket:' not in (t.work / 'child.txt').read_text(), 'the child holds a socket')


@test(level='plain', longer=True)
def a_big_process_that_forks_in_a_loop_ends(t):
    n, mb = (10, 500) if t.level == 'plain' else (40, 1500)
    t.profile('Forks', n, mb, opts='cpu=samples,interval=1', native=True, stdout='forked %d\n' % n)


@test(params=[(how, mode) for mode in ('cpu=samples,interval=1', 'wall=1') for how in ('FORK', 'VFORK', 'POSIX_SPAWN')])
def commands_in_a_loop(t, param):
    how, mode = param
    if how == 'POSIX_SPAWN' and t.jdk.version < 9:
        t.skip('JDK 8 does not start programs so on Linux')
    _, p = t.profile('Execs', 150, 'ls', '-l', '/proc/self/fd', opts=mode, jvm=['-Djdk.lang.Process.launchMechanism=' + how], stdout='executed 150\n')
    t.check('java.hprof' not in (t.work / 'exec.txt').read_text(), 'the child holds our file')


def _shared(t, name, **kw):
    log = t.work / name
    run = t.java('Hello', jvm=['-Xlog:class+load:file=%s' % log, '-Xlog:cds:file=%s.cds' % log], **kw)
    t.equal((run.code, run.out), (0, 'hi\n'), 'exit code and stdout')
    return log.read_text().count('source: shared objects file'), (log.parent / (log.name + '.cds')).read_text()


@test(level='plain', collectors=('Serial', 'G1'), since=11)
def class_data_sharing_stays_on(t):
    plain, _ = _shared(t, 'plain.log', opts=None)
    ours, cds = _shared(t, 'ours.log')
    t.output()
    if plain == 0:
        t.skip('this JDK has no archive of its own for %s' % t.case.collector)
    t.check(ours >= plain - 5, '%d classes from the archive, %d without the agent\n%s' % (ours, plain, cds[-500:]))


@test(since=25)
def the_aot_cache_stays_on(t):
    jar = t.work / 'app.jar'
    classes = t.env.classes[8]
    subprocess.run([str(t.jdk.home / 'bin' / 'jar'), 'cf', str(jar), '-C', str(classes), 'Gc.class', '-C', str(classes), 'Cpu.class', '-C', str(classes), 'Gc$1.class',
                    '-C', str(classes), 'Gc$2.class'], check=True)
    java = t.jdk.java() + t.gc + ['-Xmx512m']
    end = ['-cp', str(jar), 'Gc', '2', '5']
    record = t.start_command(java + ['-XX:AOTCacheOutput=app.aot'] + end).finish()
    if record.code != 0 or not (t.work / 'app.aot').exists():
        t.skip('this JDK makes no AOT cache: %s' % record.err[-200:])
    log = ['-XX:AOTCache=app.aot', '-XX:AOTMode=on', '-Xlog:aot*:file=aot.log', '-Xlog:class+load:file=load.log']
    counts = []
    for agent in ([], [t.agent('cpu=samples')]):
        run = t.start_command(java + agent + log + end).finish()
        t.equal(run.code, 0, 'exit code (with the agent: %s; %s)' % (bool(agent), run.out[-300:]))
        counts.append((t.work / 'load.log').read_text().count('source: shared objects file'))
    t.output()
    t.check(counts[0] > 300 and counts[1] >= counts[0] - 5, 'classes from the cache without and with the agent: %s' % counts)


CHECKED = ('cpu=samples,interval=1,sampler=asgct', 'cpu=samples,sampler=poll', 'heap=sites')


@test(params=CHECKED, plain_params=CHECKED[::2], level='plain', collectors='any')
def with_check_jni_nothing_of_ours_is_on_stdout(t, mode):
    """The VM would report handlers of faults that are not its own. JDK 8 warns of its own launcher."""
    plain = t.java('HotSplit', 100, opts=None, jvm=['-Xcheck:jni'])
    run = t.java('HotSplit', 100, opts=mode + ',cutoff=0', jvm=['-Xcheck:jni'])
    t.equal((run.code, run.out), (plain.code, plain.out), 'exit code and stdout')
    t.check('WARNING' not in run.err and 'FATAL' not in run.err, 'the JVM warns: %s' % run.err)
    p = t.output()
    if 'poll' not in mode and t.jdk.has('hotspot') and t.jdk.kind != 'zero':
        said = ['hprofx: cpu=samples: AsyncGetCallTrace may fault, and -Xcheck:jni reports handlers of faults; using sampler=walk instead']
        t.equal([ln for ln in run.err.splitlines() if 'Xcheck' in ln], said if 'cpu=samples' in mode else [], 'lines about it')
    if mode == 'heap=sites':
        t.equal(p.report.get('stacks of events not walked'), '-Xcheck:jni reports handlers of faults', 'the report')
