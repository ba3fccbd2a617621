# SPDX-License-Identifier: BSD-2-Clause
"""Thousands of short threads, and classes that come and go."""
import collections
import errno
import math
import os
import pathlib
import re
import signal
import subprocess
import threading

from attached import Program, does, leaves_nothing
from build import NOTHING_READ
from expect import burnt_ms, cpu_ms, distance, shares_of, truth
from harness import DONE
from hprof_text import SAMPLES, SITES, TIMES, WALL
from preload import agent, preload, refusing
from runner import test
from waiting import until


def _pairs(t, p, count):
    starts = [s for s, n in p.names.items() if re.fullmatch(r't\d+', n)]
    t.equal(len(starts), count, 'THREAD START of the short threads')
    t.equal({p.names[s] for s in starts}, {'t%d' % i for i in range(count)}, 'names')
    t.equal({p.threads[s].group for s in starts}, {'short'}, 'groups')
    t.equal(set(starts) - p.ended, set(), 'short threads without THREAD END')


@test(level='plain', collectors=('G1', 'ZGC'), params=('1', '10'), plain_params=('1',), longer=True)
def short_threads(t, interval):
    n = 500 if t.level == 'plain' else 5000
    run, p = t.profile('ShortThreads', n, 400, opts='cpu=samples,thread=y,cutoff=0,interval=' + interval)
    _pairs(t, p, n)
    used = cpu_ms(run) / float(interval)
    counts = p.by_thread()
    got = sum(c for s, c in counts.items() if re.fullmatch(r't\d+', p.names.get(s, '')))
    # Each thread uses less than an interval and is counted with probability used/interval; beyond the five sigma: what a thread uses after its last
    # look at the clock (5 %).
    t.near(got, used, 5 * math.sqrt(used) + 0.05 * used, 'samples of the short threads, their CPU time in intervals')


@test(level='plain', since=21, collectors='any', params=('cpu=samples,interval=4', 'wall=10', 'heap=sites'))
def classes_that_the_vm_does_not_announce_get_names(t, mode):
    """JDK 21 raises no ClassPrepare for classes that are loaded in the transition of a virtual thread."""
    _, p = t.profile('Pools', 1000, opts=mode + ',cutoff=0,depth=64', stdout='true\n')
    title = SITES if mode.startswith('heap') else WALL if mode.startswith('wall') else SAMPLES
    rows = [(r.bytes if title == SITES else r.count, {f.method for f in p.traces[r.trace].frames}) for r in p.table(title).rows]
    whole = sum(n for n, methods in rows if 'java.util.concurrent.FutureTask.run' in methods)
    lacks = sum(n for n, methods in rows if 'hprofx.unknown.method' in methods)
    t.check(whole > 2 * lacks, 'in the pool with all names: %d, with a method without one: %d' % (whole, lacks))


@test(params=('0.2', '0.5'), measures=True)
def threads_that_end_before_their_first_signal(t, interval):
    """What was due and had no signal is counted when a thread ends."""
    n = 5000
    run, p = t.profile('ShortThreads', n, 50, opts='cpu=samples,thread=y,cutoff=0,interval=' + interval)
    if 'perf' not in p.report['sampler']:
        t.skip('perf events are refused here: %s' % p.report['sampler'])
    used = cpu_ms(run) / float(interval)
    counts = p.by_thread()
    got = sum(c for s, c in counts.items() if re.fullmatch(r't\d+', p.names.get(s, '')))
    t.check(p.having('hprofx.unknown.no_Java_frame') > 0, 'no interval ended before the first Java frame of one of %d threads' % n)
    # Beyond the five sigma: what a thread uses after its last look at the clock is more of a thread so short.
    t.near(got, used, 5 * math.sqrt(used) + 0.25 * used, 'samples of the short threads, their CPU time in intervals')


@test(level='plain', params=('0.1', '1'))
def perf_events_never_begin_with_a_tiny_period(t, interval):
    """Such an event fires again and again while its thread is in the kernel."""
    n, ns = 500, float(interval) * 1e6
    opened = t.work / 'periods'
    _, p = t.profile('ShortThreads', n, 0, opts='cpu=samples,interval=' + interval, env=preload(t, 'periods', PERIODS=str(opened)))
    if 'perf' not in p.report['sampler']:
        t.skip('perf events are refused here: %s' % p.report['sampler'])
    periods = [int(line) for line in opened.read_text().split()]
    t.check(len(periods) >= n, '%d perf events for %d threads' % (len(periods), n))
    t.check(min(periods) >= min(ns / 2, 100e3), 'the shortest first period is %d ns' % min(periods))
    t.check(max(periods) <= ns, 'the longest first period is %d ns' % max(periods))


def _labels(t, p):
    seen, bodies = 0, 0
    for tr in p.traces.values():
        for i, f in enumerate(tr.frames):
            m = re.fullmatch(r'gen\.C(\d+)\.(\w+)', f.method)
            if m:
                seen += 1
                t.equal((m.group(2), f.source), ('r' + m.group(1), 'C%s.java' % m.group(1)), 'method and file of gen.C%s' % m.group(1))
                callee = tr.frames[i - 1].method if i > 0 else ''
                if callee.startswith('UnloadMany.burn'):  # else the JVM resolves the call
                    bodies += 1
                    t.equal(callee, 'UnloadMany.burn%d' % (int(m.group(1)) % 3), 'callee of gen.C%s' % m.group(1))
    t.check(bodies > seen / 2, 'only %d of %d generated methods call their body' % (bodies, seen))
    return seen


@test(level='plain', collectors=('G1', 'Serial', 'Parallel', 'ZGC', 'Shenandoah'), timeout=300, longer=True)
def classes_are_unloaded_and_keep_their_names(t):
    """Each generated class has its own method, file and callee: a label of another class shows."""
    n, ns, least = {'plain': (600, 1000, 50), 'full': (3000, 300, 300), 'long': (30000, 200, 1000)}[t.level]
    never = t.jdk.version < 12 and t.case.collector == 'ZGC'  # -XX:+PrintFlagsFinal of 11 shows ClassUnloading = false under ZGC
    _, p = t.profile('UnloadMany', n, ns, opts='cpu=samples,interval=1,cutoff=0,depth=12', stdout='unloaded %s\n' % (0 if never else 'MANY'))
    seen = _labels(t, p)
    t.check(seen > least, 'only %d frames of generated classes' % seen)


@test()
def threads_that_attach_while_the_vm_starts(t):
    """VMInit lists the threads that are there; one that is just being attached has no name or group yet and must begin by itself."""
    for _ in range(25):
        _, p = t.profile('Hello', jvm=[agent(t, 'attacher', 300)], stdout='hi\n')
        t.equal([x for x in p.threads.values() if x.name == '' or x.group == ''], [], 'threads without a name or a group')
        (t.work / 'java.hprof.txt').unlink()


EARLY = ('Early.burnA', 'Early.burnB', 'Early.burnC')


def _only_where_the_vm_tells_ids(t):
    if t.jdk.kind == 'zero':
        t.skip('the tables of the zero VM have no kernel ids')


def _by_name(t, why=None):
    """What the report says of ids where they are not told for that reason."""
    why = why if t.jdk.has('hotspot') else NOTHING_READ
    return why and 'by name, ' + why


def _early(t, opts, ms=100):
    """Threads of one name that are older than the session."""
    run = t.start_command(t.command('Early', ms, opts=None), stdin=subprocess.PIPE)
    run.wait_line('ready')
    does(t, 'start', '-o', t.work / 'java.hprof.txt', run.pid, opts + ',cutoff=0,thread=y')
    run.process.stdin.close()
    run.finish()
    t.equal(run.code, 0, 'exit code: %s' % run.err)
    return run, t.parse(t.work / 'java.hprof.txt', 1)


def _each_near(t, got, used):
    """Timers look at ticks alone, so a thread that others interrupt often is counted right on the whole only."""
    for group, ms in used.items():
        t.near(got.get(group, 0), ms, 0.5 * ms, 'ms of the thread of %s' % group)
    all_ms = sum(used.values())
    t.near(sum(got.get(group, 0) for group in used), all_ms, 0.1 * all_ms, 'ms of all these threads')


@test(level='plain', params=('async', 'walk', 'poll'), plain_params=('async',), measures=True, needs=('hotspot',))
def older_threads_are_sampled_all(t, engine):
    """Neither their number nor their names matter."""
    _only_where_the_vm_tells_ids(t)
    run, p = _early(t, 'cpu=samples,interval=5,sampler=' + engine)
    by_thread = p.by_thread()
    counts = {p.threads[s].group: by_thread.get(s, 0) for s, n in p.names.items() if n == 'early'}
    used = burnt_ms(run)
    t.equal(sorted(counts), sorted(used), 'groups of the threads')
    _each_near(t, {g: 5 * n for g, n in counts.items()}, used)
    methods = p.innermost_of(EARLY)
    got, want = shares_of([methods[m] for m in EARLY]), truth(run)
    t.check(engine != 'async' or distance(got, want) <= 0.05, 'shares %s, the truth %s' % (got, want))  # the others take few stacks of so many at once
    t.check(engine == 'poll' or 'effective interval' in p.report, 'some threads are polled')
    t.check('thread ids' not in p.report, 'the report: %s' % p.report.get('thread ids'))


@test(level='plain', measures=True, needs=('hotspot',))
def older_threads_are_timed_all(t):
    _only_where_the_vm_tells_ids(t)
    run, p = _early(t, 'cpu=times,times=sampled,interval=5')
    _each_near(t, p.table(TIMES).self_ms(lambda r: p.threads[p.traces[r.trace].thread].group), burnt_ms(run))


@test(level='plain')
def the_report_says_where_the_vm_tells_no_ids(t):
    _, p = t.profile('Hello', opts='cpu=times', stdout='hi\n')
    t.equal(p.report.get('thread ids'), _by_name(t, "the VM's tables have no OSThread._thread_id as expected" if t.jdk.kind == 'zero' else None), 'the report')


@test(level='plain')
def without_the_vms_ids_older_threads_are_found_by_name(t):
    """There are others of that name, so they are announced and not sampled, which is counted. Some may have no name yet when the session begins."""
    run, p = _early(t, 'cpu=samples,interval=5,vmstructs=n', ms=5)
    t.equal(p.report['thread ids'], _by_name(t, 'vmstructs=n'), 'the report')
    t.equal(list(p.names.values()).count('early'), 24, 'threads that are announced')
    t.check(re.search(r'^hprofx: threads not sampled: (1[2-9]|2\d) ', run.err, re.M), 'the loss: %s' % run.err)


@test(level='plain', params=('_osthread=gone', '_osthread=+8', '_thread_id=+4', '_thread_id=gone'), needs=('hotspot',))
def contradictions_turn_to_the_names(t, what):
    _only_where_the_vm_tells_ids(t)
    owner = ('OSThread' if what.startswith('_thread_id') else 'Thread' if t.jdk.version > 24 else 'JavaThread')
    _, p = t.profile('Burn', 200, 200, opts='cpu=samples,interval=5,thread=y', jvm=[agent(t, 'tables', '%s.%s' % (owner, what))])
    t.check(p.report['thread ids'].startswith('by name, '), 'the report: %s' % p.report)
    t.check(p.total > 50, '%d samples' % p.total)


@test(level='plain', params=('EPERM', 'ENOSYS'), needs=('hotspot',))
def a_kernel_that_refuses_to_read_turns_to_the_names(t, error):
    _only_where_the_vm_tells_ids(t)
    _, p = t.profile('Burn', 200, 200, opts='cpu=samples,interval=5,thread=y', env=refusing(t, 'process_vm_readv', getattr(errno, error)))
    t.equal(p.report['thread ids'], 'by name, the system refuses process_vm_readv', 'the report')
    t.check(p.total > 50, '%d samples' % p.total)


def _tables(t, program, *args):
    """Runs and forgets the file: KiB of the tables that traces do not need, classes held, classes forgotten."""
    _, p = t.profile(program, *args)
    (t.work / 'java.hprof.txt').unlink()
    tables = re.fullmatch(r'(\d+) KiB, of which (\d+) KiB for traces', p.report['tables'])
    classes = re.fullmatch(r'(\d+) known, (\d+) unloaded', p.report['classes'])
    return int(tables.group(1)) - int(tables.group(2)), int(classes.group(1)), int(classes.group(2))


@test(collectors=('Serial', 'G1', 'ZGC'))
def unloaded_classes_are_forgotten(t):
    """500 at most wait for the next collection; a sweep is due when those held have doubled, or are 1000 more; tables grow by doubling."""
    if (t.jdk.version, t.case.collector) == (11, 'ZGC'):
        t.skip('ZGC of JDK 11 unloads no classes')
    few, held, gone = _tables(t, 'UnloadMany', 5000, 0)
    t.check(held < 4000 and gone > 3000, '%d classes held, %d forgotten of 5000' % (held, gone))
    many, held, gone = _tables(t, 'UnloadMany', 20000, 0)
    t.check(held < 4000 and gone > 18000, '%d classes held, %d forgotten of 20000' % (held, gone))
    t.check(many < few + 1024, 'tables: %d KiB after 5000 classes, %d KiB after 20000' % (few, many))


@test()
def ended_threads_are_forgotten(t):
    few, _, _ = _tables(t, 'ShortThreads', 2000, 0)
    many, _, _ = _tables(t, 'ShortThreads', 20000, 0)
    t.check(many < 1.2 * few, 'tables: %d KiB after 2000 threads, %d KiB after 20000' % (few, many))


@test(level='plain', params=('cpu=times', 'heap=sites,sites=counts,live=n'))
def what_threads_without_memory_for_a_state_do_is_counted_as_lost(t, opts):
    if 'counts' in opts and t.jdk.version < 11:
        t.skip('sites=counts is tested from JDK 11 on')
    memory = 'mmap' if 'counts' in opts else 'posix_memalign'  # large states are pages
    env = preload(t, 'faults', HPX_FAULTS_FILE=str(t.dir / 'faults'), HPX_FAULTS='%s:1+:%d' % (memory, errno.ENOMEM))
    run, p = t.profile('Stateless', opts=opts + ',cutoff=0', env=env, stdout='done 1000\n')
    t.check('threads not sampled' in p.report, 'the report: %s' % p.report)
    lost = re.match(r'(\d+) ', p.report.get('calls not counted' if 'times' in opts else 'allocations not counted', '0 '))
    t.check(1000 <= int(lost[1]) < 10000000, 'the loss: %s' % p.report)


RENAMED = {'a first': 'a newest', 'b first': 'b "newest" \\ \xe9\n', 'c first': 'c newest', 'd first': None}


def _folded(t, file, view='cpu'):
    """Samples by thread."""
    by_thread = collections.Counter()
    for line in t.read('convert', '--view', view, '--to', '.folded', file, '-').splitlines():
        stack, count = line.rsplit(' ', 1)
        by_thread[stack.split(';')[0]] += int(count)
    return by_thread


@test(level='plain', collectors='any', params=('a', 'b', 'request', 'attached'))
def a_thread_that_renames_itself_is_shown_by_its_newest_name(t, how):
    """Its first name stays in THREAD START."""
    opts = 'cpu=samples,thread=y,interval=2,cutoff=0' + {'b': ',format=b', 'request': ',doe=n'}.get(how, '')
    file = t.work / ('java.hprof' if how == 'b' else 'java.hprof.txt')
    if how in ('attached', 'request'):
        run = t.start_command(t.command('Renames', 200, 'told', opts=None if how == 'attached' else opts), stdin=subprocess.PIPE)
        run.wait_line('ready')
        if how == 'attached':
            does(t, 'start', '-o', file, run.pid, opts)
        run.process.stdin.write(b'\n')
        run.process.stdin.flush()
        run.wait_line('done')
        if how == 'request':
            run.signal(signal.SIGQUIT)
            until(run, file.exists)
        run.process.stdin.close()
        run.finish()
        p = t.parse(file, 1)
    elif how == 'b':
        t.complete(t.java('Renames', 200, opts=opts), stdout='done\n', done=DONE)
        p = t.binary(file)
    else:
        _, p = t.profile('Renames', 200, opts=opts)
    names = {name: p.newest.get(s) for s, (name, _, _) in p.threads.items()} if how == 'b' else {th.name: th.newest for th in p.threads.values()}
    t.equal({n: names[n] for n in RENAMED}, RENAMED, 'first names and newest ones')
    t.check(not any(new for n, new in names.items() if n not in RENAMED), 'other threads have newest names: %s' % names)
    shown = _folded(t, file)
    for first, newest in RENAMED.items():
        t.check(any((newest or first)[:8] in stack for stack in shown), 'no samples of %r: %s' % (newest or first, shown))
        t.check(not newest or not any(first in stack for stack in shown), 'samples of %r: %s' % (first, shown))


@test(level='plain', since=21, collectors='any')
def a_virtual_thread_that_renames_itself_is_shown_by_its_newest_name(t):
    _, p = t.profile('Renames', 50, 'virtual', opts='monitor=y,thread=y,cutoff=0,depth=16', stdout='done\n')
    t.equal([th.newest for th in p.threads.values() if th.name == 'v first'], ['v newest'], 'newest name')
    if t.jdk.version >= 24:
        shown = _folded(t, t.work / 'java.hprof.txt', 'lock')
        t.check('[v newest]' in shown and '[v first]' not in shown, 'shown: %s' % shown)


@test(level='plain', collectors='any', params=('cpu=samples,interval=1', 'wall=10', 'cpu=times', 'monitor=y', 'heap=sites'))
def a_program_that_sleeps_has_nothing_of_ours(t, mode):
    """The threads that begin and end a session and find those of the program are own work, also where there are many, and are not in it."""
    run = t.start_command(t.command('ManyAsleep', 1500, opts=None), stdin=subprocess.PIPE)
    run.wait_line('ready')
    does(t, 'start', '-o', t.work / 'java.hprof.txt', run.pid, mode + ',cutoff=0,thread=y')
    does(t, 'stop', run.pid)
    run.process.stdin.close()
    run.finish()
    p = t.parse(t.work / 'java.hprof.txt', 1)
    t.equal([n for n in p.names.values() if n.startswith('hprofx')], [], 'threads of hprofx')
    t.check(len(p.names) > 1500, '%d threads' % len(p.names))
    if mode.startswith('cpu=samples'):
        t.equal({p.names[s]: n for s, n in p.by_thread().items() if n > 0 and p.names[s] in ('main', 'asleep')}, {}, 'samples of who sleeps')


def _own_memory(pid):
    """Bytes that are no file's."""
    return 1024 * int(re.search(r'^RssAnon:\s+(\d+)', pathlib.Path('/proc/%d/status' % pid).read_text(), re.M)[1])


@test(collectors=('Serial',), needs=('jit',), one_jdk=True)
def what_waits_for_an_output_that_stalls_is_bounded(t):
    """Nobody reads the pipe while thousands of threads come and go: what the agent keeps for it has an end, what is lost is said once, and who is shown begins
    and ends."""
    limit, names, first, more = 16 << 20, 1000, 25000, 75000
    pipe, parts = t.work / 'pipe', []
    p = Program(t, jvm=['-Xms64m', '-Xmx64m', '-XX:+AlwaysPreTouch'])
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    p.tell('short %d %d' % (first // 5, names))  # the VM has what it needs for that
    does(t, 'start', '-e', 'cpu', '-o', pipe, p.run.pid)
    before = _own_memory(p.run.pid)
    p.tell('short %d %d' % (first, names))
    full = _own_memory(p.run.pid)
    p.tell('short %d %d' % (more, names))
    after = _own_memory(p.run.pid)
    print('     memory: %.1f MB, then %.1f MB more [%d]' % ((full - before) / 1e6, (after - full) / 1e6, t.jdk.version), flush=True)
    t.check(full - before < 2.5 * limit, 'bytes that wait, and what keeps them: %d' % (full - before))
    t.check(after - full < limit / 2, 'bytes more for %d threads more: %d' % (more, after - full))
    t.equal(p.run.err.count('the output is too slow: 16 MB wait for it'), 1, 'lines that say so (%s)' % p.run.err)
    os.set_blocking(reader, True)

    def read():
        while part := os.read(reader, 1 << 20):
            parts.append(part)
        os.close(reader)
    reads = threading.Thread(target=read)
    reads.start()
    does(t, 'stop', p.run.pid)
    reads.join()
    (t.work / 'profile').write_bytes(b''.join(parts))
    profile = t.parse(t.work / 'profile', None)
    shown = [s for s, name in profile.names.items() if name == 'n' * names]
    lost = int(profile.report['thread events lost'].split()[0])
    t.check(len(shown) > 1000 and lost > 1000, 'shown, lost: %d, %d' % (len(shown), lost))
    t.equal((len(shown) + lost, set(shown) - profile.ended), (first + more, set()), 'shown and lost; shown without an end')
    leaves_nothing(t, p.run.pid)
    p.end(t)
