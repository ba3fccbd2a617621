# SPDX-License-Identifier: BSD-2-Clause
"""Hostile surroundings: limits of the process, full and read-only file systems, refused system calls, a wall clock that jumps, storms of threads and forks."""
import datetime
import os
import re
import shutil
import subprocess

import hprof_text
import jvmpi_agent
from attached import REFUSED, does, refuses
from preload import preload, refusing
from runner import test

OURS = ('hprofx: ', 'HPROF ')


def _limited(t, limit, program, *args, env=None, **kw):
    """The program under a limit of bash's ulimit, which children inherit."""
    return t.start_command(['bash', '-c', 'ulimit %s && exec "$@"' % limit, 'bash'] + t.command(program, *args, **kw), env=env).finish()


def _said(run, *words):
    """Lines of ours about losses."""
    lines = [ln for ln in run.err.splitlines() if ln.startswith(OURS) and not ln.startswith('hprofx: samples: ')]
    return [ln for ln in lines if all(w in ln for w in words)] if words else lines


# --- limits


@test(collectors=('G1',))
def three_hundred_threads_with_a_hundred_pending_signals(t):
    run = _limited(t, '-i 100', 'Alive', 300)
    t.complete(run, 0, 'alive 300\n')
    p = t.output()
    t.equal(len([n for n in p.names.values() if re.fullmatch(r'a\d+', n)]), 300, 'THREAD START of the threads')
    t.equal(len(_said(run, 'ulimit -i')), 1, 'lines that name the limit of pending signals: %s' % run.err)
    t.check(len(_said(run)) <= 4, 'more than a few lines: %s' % run.err)


@test(params=('10', '1'))
def a_small_limit_of_descriptors(t, interval):
    """Perf events (interval=1) take at most a quarter of the program's descriptors; the output takes one."""
    limit, files = 200, []
    (t.work / 'some').write_text('')
    for opts in (None, 'cpu=samples,interval=' + interval):
        run = _limited(t, '-n %d' % limit, 'Alive', 150, 'some', opts=opts, jvm=['-XX:-MaxFDLimit'])
        t.equal(run.code, 0, 'exit code (%s)' % run.err[-300:])
        files.append(int(re.fullmatch(r'alive 150 files (\d+)\n', run.out).group(1)))
    t.complete(run)
    t.output()
    t.equal(_said(run), [], 'lines')
    t.check(files[1] >= files[0] - limit // 4 - 2, 'descriptors left to the program: %d without the agent, %d with' % tuple(files))


@test(params=('24', '48'), collectors='any')
def an_address_space_that_is_nearly_full(t, spare_mb):
    """The least address space in which the JVM alone runs the program, and so many MB more."""
    jvm = ['-Xmx16m', '-XX:+UseSerialGC', '-Xss256k', '-XX:ReservedCodeCacheSize=8m', '-XX:CompressedClassSpaceSize=16m', '-Xshare:off', '-XX:ErrorFile=%s' % (t.dir / 'hs_err.log')]
    if not t.jdk.has('jit'):
        jvm.remove('-XX:ReservedCodeCacheSize=8m')

    # glibc reserves 64 MB for each further arena, and how many there are depends on the order of threads.
    env = {'MALLOC_ARENA_MAX': '1'}

    def runs(mb, opts):
        return _limited(t, '-v %d' % (mb << 10), 'Alive', 40, opts=opts, jvm=jvm, gc=False, env=env)
    low, high = 64, 4096
    while high - low > 8:
        middle = (low + high) // 2
        run = runs(middle, None)
        low, high = (low, middle) if (run.code, run.out) == (0, 'alive 40\n') else (middle, high)
    for k in range(3):
        run = runs(high + int(spare_mb) + k, 'cpu=samples,interval=1')
        t.equal((run.code, run.out), (0, 'alive 40\n'), 'exit code and stdout with %d + %s MB (%s)' % (high, spare_mb, run.err[-500:]))
        if not (t.work / 'java.hprof.txt').exists() or len(t.output().threads) < 40:
            t.check(_said(run), 'nothing said of what is missing')


# --- file systems


def _on_tmpfs(t, size, java):
    """Runs it in a tmpfs of that size; what is there at the end is copied to `kept`."""
    kept = t.dir / ('kept-' + size)
    shutil.rmtree(kept, ignore_errors=True)
    script = 'mount -t tmpfs -o size="$1" none "$0" && cd "$0" && mkdir "$2" && shift 2 && "$@"; code=$?; cp -p "$0"/* "$KEPT"; exit $code'
    return t.start_command(['unshare', '-m', 'sh', '-c', script, str(t.work), size, str(kept)] + java, env={'KEPT': str(kept)}).finish(), kept


def _needs_mounts(t):
    if subprocess.run(['unshare', '-m', 'mount', '-t', 'tmpfs', 'none', str(t.work)], capture_output=True).returncode != 0:
        t.skip('nothing can be mounted here (root in a user namespace of its own, or no root)')


@test(params=('4k', '8k', '16k', '32k', '64k'))
def a_full_tmpfs_leaves_a_valid_prefix(t, size):
    _needs_mounts(t)
    run, kept = _on_tmpfs(t, size, t.command('Alive', 1500, opts='cpu=samples,cutoff=0'))
    t.equal((run.code, run.out), (0, 'alive 1500\n'), 'exit code and stdout (%s)' % run.err[-300:])
    t.equal(len([x for x in _said(run, 'file=', 'space') if '.journal.part' not in x]), 1, 'lines about the full file system: %s' % run.err)
    t.equal(run.err.count('done.'), 0, '"done." though the dump is not complete')
    t.equal(len(_said(run, 'output bytes lost')), 1, 'lines about lost bytes: %s' % run.err)
    files = sorted(f.name for f in kept.iterdir())
    journal = ['java.hprof.txt.journal.part'] if _said(run, 'rebuild') else []  # where it was begun after the disk was full
    t.equal(files, journal + ['java.hprof.txt.part'], 'files')
    data = (kept / files[-1]).read_bytes()
    t.check(data.endswith(b'\n'), 'the part was not cut back to a whole line')
    p = hprof_text.parse(data, complete=False)
    t.equal(p.sections, [], 'sections')


@test()
def a_read_only_folder_refuses_before_main(t):
    _needs_mounts(t)
    script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$@"'
    run = t.start_command(['unshare', '-m', 'sh', '-c', script, str(t.work)] + t.command('Hello')).finish()
    t.equal((run.code, run.out), (1, ''), 'exit code and stdout')
    t.equal(_said(run)[:1], ["HPROF ERROR: can't create profile file: java.hprof.txt"], 'lines')
    t.equal(t.files(), [], 'files')


READ_ONLY_ROOT = r'''
mount --make-rprivate / && mkdir "$0/place" && mount -t tmpfs -o mode=0755 none "$0/place" || exit 120
mkdir "$0/place/x" "$0/place/out" && cp -r "$CLASSES" "$0/place/x/classes" && cp "$AGENT" "$0/place/x/libhprofx.so" && chmod -R a+rX "$0/place" && chown 1000:1000 "$0/place/out" || exit 121
mkdir -p /mnt && mount --move "$0/place" /mnt && mount -o remount,bind,ro / || exit 122
cd "/mnt/$1" && shift && "$@"; code=$?
if [ -e /mnt/out/java.hprof.txt ]; then cp /mnt/out/java.hprof.txt /proc/self/fd/3; fi
exit $code'''


@test(params=('out', 'x'))
def uid_1000_with_a_read_only_root(t, folder):
    """`out` may be written to, `x` not."""
    _needs_mounts(t)
    user = t.jdk.java(['setpriv', '--reuid=1000', '--regid=1000', '--clear-groups', '--no-new-privs'])
    if subprocess.run(user + ['-version'], capture_output=True).returncode != 0:
        t.skip('uid 1000 cannot run this JDK')
    # Later VMs say on stdout that they may not write /tmp (docs/testing.md).
    java = user + (['-Xlog:os=off'] if t.jdk.version >= 9 else []) + ['-Xmx64m', '-agentpath:/mnt/x/libhprofx.so=cpu=samples', '-cp', '/mnt/x/classes', 'Faults']
    with open(t.work / 'out.txt', 'wb') as copy:
        env = {'CLASSES': str(t.env.classes[8]), 'AGENT': str(t.env.agent)}
        script = READ_ONLY_ROOT.replace('/proc/self/fd/3', '/proc/self/fd/%d' % copy.fileno())
        run = t.start_command(['unshare', '-m', 'sh', '-c', script, str(t.work), folder] + java, env=env, pass_fds=[copy.fileno()]).finish()
    if folder == 'x':
        t.equal((run.code, run.out), (1, ''), 'exit code and stdout (%s)' % run.err)
        t.equal(_said(run)[:1], ["HPROF ERROR: can't create profile file: java.hprof.txt"], 'lines')
        return
    t.complete(run, 0, 'faults survived\n')
    t.equal(_said(run), [], 'lines')
    p = t.parse(t.work / 'out.txt')
    t.check(p.total and 'Faults.chain' in p.methods(), 'total %s' % p.total)


# --- archives of classes


def _jar(t):
    """The VM takes no folder into an archive."""
    jar = t.work / 'app.jar'
    subprocess.run([str(t.jdk.home / 'bin' / 'jar'), 'cf', str(jar), '-C', str(t.env.classes[8]), '.'], check=True)
    return str(jar)


TRAINING = {'AOTMode=record': (['-XX:AOTMode=record', '-XX:AOTConfiguration=made'], 'made'), 'AOTCacheOutput': (['-XX:AOTCacheOutput=made'], 'made')}
ALL = 'cpu=samples,cpu=times,heap=sites,sites=counts,interval=1'


@test(since=25, needs=('hotspot',), collectors=('G1',), params=TRAINING)
def a_jvm_that_trains_an_aot_cache(t, how):
    """No class is rewritten, the rest is profiled; the JVM that it starts at its end, with its environment, leaves the profile alone."""
    jvm, made = TRAINING[how]
    end = ['-XX:ErrorFile=hs_err.log', *jvm, '-cp', _jar(t), 'Gc', '2', '5']
    plain = t.start_command(t.jdk.java() + t.gc + end).finish()
    if plain.code != 0 or not (t.work / made).exists():
        t.skip('this JDK makes no AOT cache: %s' % plain.err[-200:])
    for opts, sections in ((ALL, ['SITES', 'CPU SAMPLES']), ('cpu=times', None)):
        for file in (made, 'java.hprof.txt'):
            (t.work / file).unlink(missing_ok=True)
        run = t.start_command(t.jdk.java() + t.gc + end, env={'JAVA_TOOL_OPTIONS': t.agent(opts)}).finish()
        t.equal((run.code, (t.work / made).exists(), (t.work / 'hs_err.log').exists()), (0, True, False), 'exit code, cache, crash (%s)' % run.err[-600:])
        t.equal(len(_said(run, 'cpu=times is off', 'records classes', how.split('=')[0])), 1, 'lines about cpu=times: %s' % run.err)
        t.equal([str(f.name) for f in t.work.glob('java.hprof*')], ['java.hprof.txt'] if sections else [], 'files')
        if sections:
            p = t.output(dumps=2)
            t.equal((p.sections, p.report['pid']), (sections, str(run.pid)), 'sections, pid')


@test(since=25, needs=('hotspot',), collectors=('G1',), params=TRAINING)
def an_agent_of_jvmpi_beside_an_aot_cache(t, how):
    jvm, made = TRAINING[how]
    end = ['-XX:ErrorFile=hs_err.log', *jvm, '-cp', _jar(t), 'Gc', '2', '5']
    plain = t.start_command(t.jdk.java() + t.gc + end).finish()
    if plain.code != 0 or not (t.work / made).exists():
        t.skip('this JDK makes no AOT cache: %s' % plain.err[-200:])
    (t.work / made).unlink()
    run = t.start_command(t.jdk.java() + t.gc + end, env={'JAVA_TOOL_OPTIONS': jvmpi_agent.shim(t, jvmpi_agent.library(t, 'tell'), 'calls')}).finish()
    t.equal((run.code, (t.work / made).exists(), (t.work / 'hs_err.log').exists()), (0, True, False), 'exit code, cache, crash (%s)' % run.err[-600:])
    t.equal(len(_said(run, 'jvmpi: the VM records classes', how.split('=')[0])), 1, 'lines about the archive: %s' % run.err)


@test(since=17, needs=('hotspot',), collectors=('G1',), params=('ArchiveClassesAtExit=made', '+RecordDynamicDumpInfo'))
def a_session_in_a_jvm_that_records_classes(t, how):
    run = t.start_command(t.jdk.java() + t.gc + ['-XX:' + how, '-cp', _jar(t), 'Attached'], stdin=subprocess.PIPE)
    run.wait_line('ready')
    refuses(t, REFUSED, 'records classes for an archive .*' + re.escape(how.split('=')[0]), 'start', '-e', 'times', '-o', t.work / 'x', run.pid)
    does(t, 'start', '-o', t.work / 'y', run.pid, ALL)
    does(t, 'stop', run.pid)
    if how[0] == '+':
        subprocess.run([str(t.jdk.home / 'bin' / 'jcmd'), str(run.pid), 'VM.cds', 'dynamic_dump', str(t.work / 'made')], check=True, capture_output=True)
    run.process.stdin.close()
    run.finish()
    t.equal((run.code, (t.work / 'made').exists()), (0, True), 'exit code, archive (%s)' % run.err[-600:])
    t.equal(t.parse(t.work / 'y', 2).sections, ['SITES', 'CPU SAMPLES', 'TIMELINE'], 'sections')


@test(until=11, needs=('hotspot',), collectors=('G1',))
def a_jvm_that_only_writes_an_archive(t):
    run = t.start_command(t.jdk.java() + ['-Xshare:dump', *(['-XX:+UnlockDiagnosticVMOptions'] if t.jdk.version == 8 else []), '-XX:SharedArchiveFile=made', t.agent('cpu=times')]).finish()
    t.equal((run.code, (t.work / 'made').exists(), _said(run)), (0, True, []), 'exit code, archive, lines (%s)' % run.err[-600:])
    t.equal([f.name for f in t.work.glob('java.hprof*')], [], 'files')


# --- refused system calls


def _refuse(t, call, error, *args, **kw):
    run = t.java(*args, env=refusing(t, call, error), **kw)
    if run.code == 125:
        t.skip('no seccomp filter can be installed here')
    return run


@test(params=(('EPERM', 1), ('ENOSYS', 38)))
def seccomp_refuses_timers(t, error):
    run = _refuse(t, 'timer_create', error[1], 'Faults')
    t.complete(run, 0, 'faults survived\n')
    p = t.output()
    t.equal(len([n for n in p.names.values() if re.fullmatch(r'f\d', n)]), 6, 'THREAD START of the threads')
    t.check(1 <= len(_said(run, 'timer')) <= 2, 'lines about the timers: %s' % run.err)
    t.check(len(_said(run)) <= 4, 'more than a few lines: %s' % run.err)


@test(params=(('EPERM', 1), ('ENOSYS', 38)))
def seccomp_refuses_perf_events(t, error):
    plain = t.profile('Faults', opts='cpu=samples,interval=1')[1]
    if 'perf' not in plain.report['sampler']:
        t.skip('perf events are refused here without a filter: %s' % plain.report['sampler'])
    (t.work / 'java.hprof.txt').unlink()
    run = _refuse(t, 'perf_event_open', error[1], 'Faults', opts='cpu=samples,interval=1')
    t.complete(run, 0, 'faults survived\n')
    p = t.output()
    t.equal(_said(run), [], 'lines')
    t.check('timer' in p.report['sampler'] and 'Faults.chain' in p.methods(), 'report %s' % p.report)


KILLED = {'perf_event_open': 'cpu=samples,interval=1', 'timer_create': 'cpu=samples', 'timer_settime': 'cpu=samples', 'timer_delete': 'cpu=times,times=sampled', 'membarrier': 'heap=sites,sites=counts',
          'process_vm_readv': 'wall=20', 'rt_tgsigqueueinfo': 'cpu=samples,sampler=asgct', 'eventfd2': 'start=n'}


@test(level='plain', collectors='any', params=sorted(KILLED), plain_params=('perf_event_open', 'timer_create'))
def seccomp_kills_who_makes_an_unusual_call(t, call):
    if call == 'membarrier' and t.jdk.version < 11:
        t.skip('sites=counts is tested from JDK 11 on')
    run = _refuse(t, call, 0, 'Faults', opts=KILLED[call])
    t.equal((run.code, run.out), (0, 'faults survived\n'), 'exit code and stdout (%s)' % run.err)
    lines = [ln for ln in _said(run) if 'seccomp' in ln]
    name = 'timer_create' if call.startswith('timer') else call
    t.check(lines in ([], ['hprofx: a seccomp filter kills whoever calls %s; hprofx does without; allow the call for the complete profile' % name]), 'lines: %s' % lines)
    t.check(lines or call in ('process_vm_readv', 'membarrier'), 'nothing is said')  # where that is not needed
    if call == 'perf_event_open':
        t.check('timer' in t.output().report['sampler'], 'the sampler')


# --- clocks


@test(params=('86400', '-86400', '34560000'))
def the_wall_clock_jumps(t, seconds):
    """It jumps while the program runs; CPU time, waits and the end are as without. The dates of the file are those of the clock that jumped."""
    def jumped(date):
        late = date - datetime.timedelta(seconds=int(seconds)) - datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
        return abs(late.total_seconds()) < 3600
    plain = t.profile('Faults', opts='cpu=samples,interval=1', stdout='faults survived\n')[1]
    (t.work / 'java.hprof.txt').unlink()
    for after in (0, 40, 80, 150):
        env = preload(t, 'wallclock', HPX_JUMP='%d:%s' % (after, seconds))
        run, p = t.profile('Faults', opts='cpu=samples,interval=1', stdout='faults survived\n', env=env)
        t.equal(_said(run), [], 'lines')
        t.check(plain.total / 3 < p.total < plain.total * 3, 'total %d, %d without a jump' % (p.total, plain.total))
        # a fast machine is done before the later moments
        t.check(after > 40 or jumped(p.dumps[0].date), 'no jump: the dump is of %s' % p.dumps[0].date)
        t.check(after > 0 or jumped(p.created), 'no jump at the start: the file is of %s' % p.created)
        figures = [v for v in p.report.values() if re.match(r'-', v)]
        t.equal(figures, [], 'negative figures of the report')
        (t.work / 'java.hprof.txt').unlink()


# --- storms


def _room_for(t, n):
    """Memory and processes for so many threads."""
    free = int(re.search(r'MemAvailable: +(\d+)', open('/proc/meminfo').read()).group(1)) // 1024
    most = [int(open('/proc/sys/kernel/threads-max').read()), int(open('/proc/sys/vm/max_map_count').read()) // 3]
    soft = subprocess.run(['bash', '-c', 'ulimit -u; ulimit -i'], capture_output=True, text=True).stdout.split()
    most += [int(x) for x in soft if x.isdigit()]
    if free < n * 0.3 or min(most) < n * 1.2:
        t.skip('%d MB and room for %d threads' % (free, min(most)))


@test(params=('10', '1'), timeout=900)
def thousands_of_threads_alive(t, interval):
    n = 10000 if t.level == 'long' else 3000
    _room_for(t, n)
    run, p = t.profile('Alive', n, opts='cpu=samples,interval=' + interval, stdout='alive %d\n' % n)
    names = [nm for nm in p.names.values() if re.fullmatch(r'a\d+', nm)]
    t.equal((len(names), len(set(names))), (n, n), 'THREAD START of the threads')
    t.equal(len([s for s in p.ended if re.fullmatch(r'a\d+', p.names[s])]), n, 'THREAD END of the threads')
    t.equal(_said(run), [], 'lines')


@test(params=('FORK', 'POSIX_SPAWN'), timeout=240)
def a_storm_of_forks(t, how):
    if how == 'POSIX_SPAWN' and t.jdk.version < 9:
        t.skip('JDK 8 does not start programs so on Linux')
    threads, each = 8, 40 if t.level != 'long' else 500
    _, p = t.profile('ForkStorm', threads, each, opts='cpu=samples,interval=1', jvm=['-Djdk.lang.Process.launchMechanism=' + how], stdout='storm %d\n' % (threads * each))
    t.equal(len(p.sections), 1, 'sections')
    t.equal([f for f in os.listdir(t.work) if f != 'java.hprof.txt'], [], 'files beside the output')
