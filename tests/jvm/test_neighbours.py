# SPDX-License-Identifier: BSD-2-Clause
"""What the agent must leave as it was: system calls, children, the JVM's class archives."""
import re
import subprocess

from runner import test


@test(level='plain', collectors=('G1', 'Parallel'))
def system_calls_see_eintr_no_more_often(t):
    rounds = 30 if t.level == 'plain' else 100
    counts = {}
    for opts in (None, 'cpu=samples,interval=1', 'cpu=samples'):
        run = t.java('Eintr', rounds, opts=opts, native=True)
        t.equal(run.code, 0, 'exit code')
        counts[opts] = int(re.match(r'eintr (\d+) of', run.out).group(1))
    t.check(max(counts.values()) <= counts[None], 'calls that saw EINTR: %s' % counts)
    t.output()


def _no_files_of_ours(t, path):
    held = [ln for ln in path.read_text().splitlines() if '/java.hprof' in ln]
    t.equal(held, [], 'files that the child holds')


@test()
def a_forked_child_does_not_sample_write_or_hold_our_file(t):
    run, p = t.profile('Forks', 5, 0, opts='cpu=samples,interval=1,cutoff=0', native=True, stdout='forked 5\n')
    _no_files_of_ours(t, t.work / 'child.txt')
    t.equal(p.sections, ['CPU SAMPLES'], 'sections')
    t.equal(run.err.count('Dumping'), 1, 'messages about a dump')


@test(level='plain', collectors='any')
def a_forked_child_does_not_listen_for_commands(t):
    """A command would find nobody who answers."""
    run = t.java('Forks', 5, 0, opts='start=n', native=True)
    t.equal((run.code, run.out, run.err), (0, 'forked 5\n', ''), 'end')
    t.check('socket:' not in (t.work / 'child.txt').read_text(), 'the child holds a socket')


@test(params=('heap=sites', 'heap=sites,sites=counts', 'heap=sites,sites=counts,cpu=times'))
def a_forked_child_counts_no_allocations(t, mode):
    run, p = t.profile('Forks', 5, 0, opts=mode, native=True, stdout='forked 5\n')
    _no_files_of_ours(t, t.work / 'child.txt')
    t.equal((p.sections[0], run.err.count('Dumping')), ('SITES', 1), 'first section, messages about a dump')


@test(level='plain')
def a_big_process_that_forks_in_a_loop_ends(t):
    n, mb = (10, 500) if t.level == 'plain' else (40, 1500)
    t.profile('Forks', n, mb, opts='cpu=samples,interval=1', native=True, stdout='forked %d\n' % n)


@test(params=('FORK', 'VFORK', 'POSIX_SPAWN'))
def commands_in_a_loop(t, how):
    if how == 'POSIX_SPAWN' and t.jdk.version < 9:
        t.skip('JDK 8 does not start programs so on Linux')
    _, p = t.profile('Execs', 150, 'ls', '-l', '/proc/self/fd', opts='cpu=samples,interval=1', jvm=['-Djdk.lang.Process.launchMechanism=' + how], stdout='executed 150\n')
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
