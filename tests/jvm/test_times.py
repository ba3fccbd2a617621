# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times: exact counts of programs that know them; classes that look as they are."""
import collections
import pathlib
import re

from expect import COUNT_CASES, COUNTS, EXACT, LONG_PIECES, SPLIT_LOOPS, calls, exact, expected, truth_ms
from hprof_text import CALLS, SAMPLES, SITES, TIMES
from preload import agent, java_agent
from runner import test

MODERN = ('records', 'sealed', 'streams', 'generated', 'loading')


# The property names the linker that the JDK has; whoever sets it gets no other from us. It is how these tests have JNI probes where downcalls can be had.
NO_DOWNCALLS = ['-Djdk.internal.foreign.CABI=SYS_V']

SAMPLED = EXACT + ',times=sampled,interval=0.5'
WAYS = {'cpu': (EXACT, []), 'sampled': (SAMPLED, []), 'natives': (EXACT, NO_DOWNCALLS), 'verified': (EXACT, ['-Xverify:all']), 'interpreted': (EXACT, ['-Xint']),
        'counts': (COUNTS, []), 'counts interpreted': (COUNTS, ['-Xint']), 'counts verified': (COUNTS, ['-Xverify:all']), 'counts beside': ('heap=sites,sites=counts,cpu=samples,depth=8,' + COUNTS, []),
        'allocations': ('heap=sites,sites=counts,cpu=times,cutoff=0,depth=8', [])}


def _counted(t, way, *program):
    """Every call is counted once, whatever the clock, the probes, and what is beside."""
    if way.endswith('verified') and not t.jdk.has('jit'):
        t.skip('an interpreter is too slow')
    opts, jvm = WAYS[way]
    run, p = t.profile(*program, opts=opts, jvm=jvm)
    beside = {'allocations': [SITES], 'counts beside': [SITES, SAMPLES]}.get(way, [])
    t.equal(p.sections, beside + [CALLS if way.startswith('counts') else TIMES], 'sections')
    exact(t, run, p)
    if way == 'sampled':
        t.check(p.report['times'].startswith('sampled by ') and 'probe overhead subtracted' not in p.report, 'times: %s' % p.report)
    if way == 'natives':
        t.equal(_probes(p), 'JNI natives: jdk.internal.foreign.CABI is set', 'probes')
    if way == 'allocations':
        t.equal(p.report['unmatched exits'], '0', 'unmatched exits')
    return p


@test(level='plain', emulated=True, params=[(way, case) for way in ('cpu', 'sampled', 'allocations', 'counts', 'counts beside') for case in COUNT_CASES] + [('verified', 'kinds'), ('counts verified', 'kinds')],
      plain_params=[(way, case) for way in ('cpu', 'sampled', 'allocations', 'counts') for case in ('recursion', 'exceptions', 'kinds')])
def counts_are_exact(t, param):
    way, case = param
    _counted(t, way, 'Count', case)


@test(level='plain', until=8, needs=('jit',), collectors=('Serial', 'Parallel'), params=('interpreted', 'counts interpreted'))
def the_interpreter_of_jdk_8_does_not_read_a_probe_as_a_field(t, way):
    """That of G1 has another entry of Reference.get, which does not look at its code."""
    _counted(t, way, 'Count', 'recursion')


@test(since=22, params=COUNT_CASES)
def counts_are_exact_without_downcalls(t, case):
    _counted(t, 'natives', 'Count', case)


@test(since=17, params=[(case, opts) for case in MODERN for opts in (EXACT, COUNTS)])
def counts_of_later_java_are_exact(t, param):
    case, opts = param
    run, p = t.profile('CountModern', case, opts=opts)
    exact(t, run, p)


@test(since=21)
def counts_of_switches_on_patterns_are_exact(t):
    run, p = t.profile('CountPatterns', opts=EXACT)
    exact(t, run, p)


HUGE = '''
public class Huge {
    static int step(int x) { return x * 31 + 1; }
    static int big(int h) { %s return h; }
    static int full(int h) { %s return h; }
    public static void main(String[] a) {
        int h = 1;
        for (int i = 0; i < 3; i++) { h = big(h); }
        for (int i = 0; i < 2; i++) { h = full(h); }
        if (h == 0) { throw new IllegalStateException(); }
    }
}
'''


@test(since=17)
def huge_methods(t):
    """20000 bytes, which the VM does not compile; 65527, which have no room for the calls: what these call is counted all the same."""
    source = t.work / 'huge' / 'Huge.java'
    source.parent.mkdir()
    source.write_text(HUGE % ('h = step(h);' * 4000, 'h = step(h);' * 13105))
    t.javac17(source, t.work)
    run = t.start_command(t.jdk.java() + t.gc + [t.agent(EXACT), '-cp', str(t.dir / 'huge'), 'Huge']).finish()
    t.equal(run.code, 0, 'exit code')
    p = t.output()
    got = calls(p)
    t.equal([got['Huge.' + m] for m in ('big', 'full', 'step')], [3, 0, 3 * 4000 + 2 * 13105], 'calls of big, full, step')
    t.check(any('longer than 65535' in str(v) for k, v in p.report.items() if k == 'methods not instrumented'), 'report %s' % p.report)
    t.equal(p.report.get('methods without exception probe'), '1 methods', "that of Object's constructor")


@test(level='plain')
def times_are_those_of_the_thread_clock(t):
    """Three methods of known CPU time, without calls inside but for the clock's."""
    run, p = t.profile('Split', 'plain', 2000, LONG_PIECES, opts='cpu=times,cutoff=0,depth=1')
    for m, ms in zip(SPLIT_LOOPS, truth_ms(run)):
        t.near(p.tables[0].self_ms()[m], ms, 0.03 * ms + 2, 'ms of %s' % m)


def _sleep_ms(p):
    ms = p.tables[0].self_ms()
    return ms['Calls.napper'] + sum(ms['java.lang.Thread.' + m] for m in ('sleep', 'sleepNanos', 'beforeSleep'))


@test()
def sleeping_is_no_cpu_time(t):
    _, p = t.profile('Calls', opts='cpu=times,cutoff=0,depth=1')
    ms = _sleep_ms(p)
    t.check(ms < 20, '200 ms of sleep are %.1f ms of CPU time' % ms)
    wall = t.profile('Calls', opts='cpu=times,times=wall,cutoff=0,depth=1')[1]
    ms = _sleep_ms(wall)
    t.check(ms >= 195, 'with times=wall 200 ms of sleep are %.1f ms' % ms)


@test(params=('cpu', 'wall'))
def waiting_is_no_cpu_time(t, clock):
    """The JDK's methods are left out: their time is that of the three that wait."""
    _, p = t.profile('Waits', 300, opts='cpu=times,cutoff=0,depth=1,include=Waits,times=' + clock, stdout='done\n')
    for m in ('Waits.notified', 'Waits.parked', 'Waits.blocked'):
        n, ms = p.tables[0].counts()[m], p.tables[0].self_ms()[m]
        t.check(n and (ms < 60 if clock == 'cpu' else ms > 295), '%s: %d calls, %.1f ms' % (m, n, ms))


@test()
def one_bad_class_does_not_fail_its_batch(t):
    """Another agent spoils a class as it is retransformed: it stays as it is, those retransformed with it are counted."""
    run = t.java('Count', 'kinds', jvm=[t.agent(EXACT)], agent=agent(t, 'spoiler', 'java/util/Properties'))
    t.complete(run, done='Dumping CPU usage by timing methods ... done.')
    p = t.output()
    exact(t, run, p)
    t.equal(p.report.get('classes not instrumented'), '1 refused by the VM or the rewriter, 0 for lack of memory, 0 that sessions made too big, 0 whose loader does not find the class that probes call', 'report')
    got = calls(p)
    t.equal([m for m in got if m.startswith('java.util.Properties.')], [], 'methods of the spoilt class')
    t.check(len([m for m in got if m.startswith('java.')]) > 100, 'methods of java.base: %d' % len(got))


@test(collectors='any')
def a_class_that_fails_once_is_tried_again(t):
    """As one that another agent has retransformed meanwhile. include= makes it a batch by itself."""
    run = t.java('Count', 'kinds', jvm=[t.agent(EXACT + ',include=java.util.Properties')], agent=agent(t, 'spoiler', 'java/util/Properties=1'))
    t.complete(run, done='Dumping CPU usage by timing methods ... done.')
    t.check('classes not instrumented' not in t.output().report, 'it is not instrumented')


def _compiled(t, folder, source):
    """The folder and the class file of class Body."""
    file = t.work / (folder + '.java.d') / 'Body.java'
    file.parent.mkdir()
    file.write_text(source)
    t.env.javac(t.env.compiler(8), 8, [file], t.dir / folder)
    return t.dir / folder, t.dir / folder / 'Body.class'


def _redefined(t, folder, opts, *words, jvm=()):
    """A run of Redefined, whose agent stands behind ours."""
    path = '%s:%s' % (t.env.classpath(t.jdk), folder)
    command = t.jdk.java() + t.gc + [*jvm, t.agent(opts + ',cutoff=0,include=Body'), java_agent(t, 'Redefined', 'Can-Retransform-Classes: true', 'Can-Redefine-Classes: true'), '-cp', path]
    run = t.start_command(command + ['Redefined', 'Body', *map(str, words)]).finish()
    t.equal(run.code, 0, 'exit code: %s' % run.err)
    return t.output()


def _objects(p):
    """Those that methods of Body make, by class."""
    made = collections.Counter()
    for r in p.table(SITES).rows:
        if p.traces[r.trace].frames[0].method.startswith('Body.'):
            made[r.name] += r.objects
    return made


WIDE = 'public class Body implements Runnable { public void run() { m0(0); new Object(); }\n%s }'


@test(collectors='any', since=11, params=('cpu=times', 'cpu=times,times=counts', 'heap=sites,sites=counts'))
def a_class_that_another_agent_retransforms_keeps_its_numbers(t, opts):
    """Each version with numbers of its own would give the class as many constants more, among which the VM looks up every one."""
    body, _ = _compiled(t, 'wide', WIDE % '\n'.join('static Object m%d(int x) { return x > 0 ? new Object() : null; }' % i for i in range(1500)))
    p = _redefined(t, body, opts, 40, jvm=['-Xlog:redefine+class+constantpool=debug:file=%s:none' % (t.work / 'log')])
    log = (t.work / 'log').read_text()
    constants = [int(m[1]) for m in re.finditer(r'merge_cp_len=(\d+), ', log)][-80:]  # two lines for a version, of the last 40
    t.check(len(constants) == 80, 'versions: %s' % constants)
    t.equal(constants[-1], constants[9], 'constants of the last version and of the fifth')
    if opts.startswith('cpu=times'):
        t.equal(calls(p)['Body.m0'], 41, 'calls of Body.m0')
    else:
        t.equal(sum(_objects(p).values()), 41, 'objects')


TURNED = '''
public class Body implements Runnable {
    public void run() { for (int i = 0; i < 3; i++) { one(); } for (int i = 0; i < 5; i++) { two(); } }
    %s
    %s
}
'''
ONE, TWO = 'static Object one() { return new StringBuilder(); }', 'static Object two() { return new int[3]; }'


@test(collectors='any', params=('cpu=times', 'cpu=times,times=counts', 'heap=sites,sites=counts'))
def a_class_whose_methods_change_places_gets_new_numbers(t, opts):
    body, first = _compiled(t, 'first', TURNED % (ONE, TWO))
    _, second = _compiled(t, 'second', TURNED % (TWO, ONE))
    p = _redefined(t, body, opts, 9, second, first)
    if opts.startswith('cpu=times'):
        got = calls(p)
        t.equal([got['Body.' + m] for m in ('one', 'two', 'run')], [30, 50, 10], 'calls of one, two, run')
    else:
        t.equal(_objects(p), {'java.lang.StringBuilder': 30, 'int[]': 50}, 'objects')


@test(level='plain')
def filters_leave_classes_alone(t):
    run, p = t.profile('Count', 'kinds', opts=EXACT + ',include=Count,exclude=Count$Made')
    got, want = calls(p), expected(run)
    for m, n in want.items():
        t.equal(got[m], 0 if m.startswith('Count$Made') else n, 'calls of %s' % m)
    t.check(all(m.startswith('Count') for m in got), 'methods: %s' % sorted(got))


@test()
def short_methods_are_left_alone(t):
    run, p = t.profile('Count', 'recursion', opts=EXACT + ',include=Count,min=15')
    got = calls(p)
    t.equal(got['Count.fib'], 21891, 'calls of Count.fib')
    t.equal(got['Count.<init>'], 0, 'calls of a method of 5 bytes')
    t.check(any('shorter' in v for k, v in p.report.items() if k == 'methods not instrumented'), 'report %s' % p.report)


@test()
def by_thread(t):
    run, p = t.profile('Count', 'threads', opts='cpu=times,cutoff=0,thread=y,depth=2')
    t.equal(sorted(p.by_thread('Count.step').values()), [20000] * 16, 'calls of Count.step by thread')


def _probes(p):
    return p.report['probes']


@test(level='plain', until=21)
def probes_are_natives_before_22(t):
    _, p = t.profile('Count', 'recursion', opts=EXACT)
    t.equal(_probes(p), 'JNI natives: this JDK has none', 'probes')


@test(level='plain', since=22, until=28, needs=('jit',), params=('plain', 'deny', 'check', 'verify', 'interpreter', 'c1', 'c2'), plain_params=('deny',))
def probes_are_downcalls(t, how):
    """Nothing but what the program says is on stdout, nothing but our lines on stderr: no warning about native access."""
    jvm = {'plain': [], 'deny': ['--illegal-native-access=deny'], 'check': ['-Xcheck:jni'], 'verify': ['-Xverify:all'],
           'interpreter': ['-Xint'], 'c1': ['-XX:TieredStopAtLevel=1'], 'c2': ['-XX:-TieredCompilation']}[how]
    if t.jdk.version < 24:
        jvm = [o for o in jvm if o != '--illegal-native-access=deny']
    for case in ('kinds', 'threads') if how == 'interpreter' else ('kinds', 'storms', 'threads'):
        run, p = t.profile('Count', case, opts=EXACT, jvm=jvm)
        exact(t, run, p)
        t.equal(_probes(p), 'critical downcalls', 'probes')
        t.equal([l for l in run.out.splitlines() if not l.startswith('expect ')], [], 'other lines on stdout')
        t.equal([l for l in run.err.splitlines() if not l.startswith(('hprofx: ', 'Dumping '))], [], 'other lines on stderr')
        pathlib.Path(t.work / 'java.hprof.txt').unlink()


@test(level='plain', since=22)
def filters_that_leave_java_base_alone(t):
    """No class of java.base is changed: the tracker of that module reaches its natives all the same."""
    for jvm in ([], NO_DOWNCALLS):
        run, p = t.profile('Count', 'recursion', opts=EXACT + ',include=Count', jvm=jvm)
        exact(t, run, p)
        pathlib.Path(t.work / 'java.hprof.txt').unlink()
