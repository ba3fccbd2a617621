# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times,times=counts: exact counts by counters in the program's own code, whatever the compilers and threads do; test_times.py has its cases, too."""
from attached import Program, does
from expect import COUNTS, calls, exact, expected
from hprof_text import CALLS
from runner import test
from waiting import ask

HOW = {'interpreter': ['-Xint'], 'compiled': ['-Xcomp'], 'c1': ['-XX:TieredStopAtLevel=1'], 'c2': ['-XX:-TieredCompilation'], 'checked': ['-Xcheck:jni']}
JAVA, NATIVES = 'counters in Java code', 'JNI natives: '


@test(level='plain', needs=('jit',), params=[(how, case) for how in HOW for case in ('recursion', 'exceptions', 'threads')], plain_params=[('c2', 'recursion')])
def counts_are_exact_whoever_runs_the_code(t, param):
    how, case = param
    run, p = t.profile('Count', case, opts=COUNTS, jvm=HOW[how])
    exact(t, run, p)
    t.equal(p.report['probes'], JAVA, 'probes')
    t.equal([line for line in run.err.splitlines() if not line.startswith(('hprofx: ', 'Dumping '))], [], 'other lines on stderr')


@test(needs=('jit',))
def allocations_beside_say_how_they_are_counted(t):
    run, p = t.profile('Count', 'recursion', opts='heap=sites,sites=counts,' + COUNTS)
    exact(t, run, p)
    t.equal((p.report['probes'], p.report['probes of allocations'].split(':')[0]), (JAVA, 'critical downcalls' if t.jdk.version >= 22 else 'JNI natives'), 'probes')


@test(level='plain', params=((16, 40), (300, 1)), plain_params=((16, 40),))
def threads_that_come_and_go_lose_no_call(t, param):
    """Their counters go to the threads behind them, with what they have counted."""
    threads, rounds = param
    run, p = t.profile('CountMany', threads, rounds, opts=COUNTS)
    exact(t, run, p)
    blocks = int(p.report['counters'].split()[1])
    t.check(threads < blocks < threads + 60, 'counters of %d threads' % blocks)  # four times as many short ones have run, one at a time


@test()
def calls_while_the_vm_ends_are_counted_or_not(t):
    run, p = t.profile('CountMany', 8, 20, 'daemons', opts=COUNTS)
    exact(t, run, p)


@test(level='plain', since=21, params=('', '-Xint', '-Xcomp'), plain_params=('',))
def virtual_threads_count_on_whatever_carrier(t, jvm):
    run, p = t.profile('CountVirtual', 2000 if jvm == '' else 200, opts=COUNTS, jvm=[jvm] if jvm else [])
    exact(t, run, p)


@test(level='plain')
def classes_that_come_and_go_are_counted(t):
    """Also those of a name that another class had before it was unloaded."""
    n, names = 1000, 50
    _, p = t.profile('UnloadMany', n, 0, names, opts=COUNTS)
    got = calls(p)
    t.equal([got['gen.C%d.r%d' % (k % names, k)] for k in range(n)], [1] * n, 'calls of the generated methods')
    t.equal(sum(got['UnloadMany.burn%d' % k] for k in range(3)), 1000, 'calls of what they call')


@test()
def two_runs_count_the_same(t):
    counts = []
    for _ in range(2):
        run, p = t.profile('Count', 'recursion', opts=COUNTS + ',include=Count:java.util.TreeMap')
        exact(t, run, p)
        counts.append(calls(p))
        (t.work / 'java.hprof.txt').unlink()
    t.equal(counts[0], counts[1], 'calls of the first and the second run')


@test(level='plain', collectors='any')
def each_dump_has_the_calls_since_the_one_before(t):
    p = Program(t, opts=COUNTS + ',file=out')
    sent = (1000, 20000, 7)
    for n in sent:
        p.tell('calls %d' % n)
        t.check(ask(p.run, 'Dumping method calls ... done.'), 'the program has ended')
    p.end(t)
    tables = t.parse(t.work / 'out', None).tables
    t.equal([d.title for d in tables], [CALLS] * (len(sent) + 1), 'sections')
    t.equal([d.counts().get('Attached.leaf', 0) for d in tables], [*sent, 0], 'calls of leaf')


@test(level='plain', collectors='any')
def sessions_of_a_running_program_count_what_runs_in_them(t):
    p = Program(t)
    pid = p.run.pid
    p.tell('calls 30000')
    for i, n in enumerate((50000, 600)):
        does(t, 'start', '-o', t.work / str(i), pid, COUNTS + ',verbose=n')
        p.tell('calls %d' % n)
        does(t, 'stop', pid)
        p.tell('calls 1000')
        got = calls(t.parse(t.work / str(i), None))
        t.equal((got['Attached.leaf'], got['Attached.calls']), (n, 1), 'calls of leaf and calls in session %d' % i)
    p.end(t)


@test(level='plain', collectors='any')
def short_methods_and_others_are_left_alone(t):
    run, p = t.profile('Count', 'kinds', opts=COUNTS + ',include=Count,exclude=Count$Made')
    got = calls(p)
    for m, n in expected(run).items():
        t.equal(got[m], 0 if m.startswith('Count$Made') else n, 'calls of %s' % m)
    t.check(all(m.startswith('Count') for m in got), 'methods: %s' % sorted(got))
