# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times where calls end in an odd way: exceptions out of the probes themselves, Thread.stop, stacks that overflow."""
import collections

from expect import no_odd_exits
from preload import agent
from runner import test

EXACT = 'cpu=times,cutoff=0,depth=64'
# Interpreter, first compiler, both: a probe's exception takes another way out of each.
ENGINES = {'int': ['-Xint'], 'c1': ['-XX:TieredStopAtLevel=1'], 'both': []}


def callers(p, method):
    """Calls of the method by the methods below it, innermost first."""
    c = collections.Counter()
    for r in p.rows:
        if r.method == method and r.count:
            c[tuple(f.method for f in p.traces[r.trace].frames[1:])] += r.count
    return c


def callers_are(t, p, method, want):
    got = callers(p, method)
    wrong = [(n, ' < '.join(c[:3] + ('... %d' % len(c),)), want.get(c, 0)) for c, n in (got | want).items() if n != want.get(c, 0) or got[c] != n]
    t.check(not wrong, 'callers of %s: %d wrong; (calls, callers, expected): %s' % (method, len(wrong), wrong[:5]))


def calls(p, method):
    return p.tables[-1].counts()[method]


def odd_probe(t):
    """The agent that stands before the natives of the probes; from JDK 22 on they are used where the linker was chosen by property."""
    return [agent(t, 'oddprobe'), '-Djdk.internal.foreign.CABI=SYS_V']


DEPTH = 12  # of OddProbe
MAIN = ('OddProbe.main',)


@test(level='plain', params=tuple(sorted(ENGINES)), plain_params=('both',), needs=('jit',))
def an_exception_behind_an_exit_is_no_second_exit(t, engine):
    rounds = 3000
    for behind in (1, 3):
        run, p = t.profile('OddProbe', 1, behind, 0, rounds, opts=EXACT, native=True,
                           jvm=ENGINES[engine] + odd_probe(t))
        t.check(run.out.startswith('caught in %d ' % behind), 'stdout %r' % run.out)
        f = ('OddProbe.f',) * (DEPTH + 1 - behind)
        callers_are(t, p, 'OddProbe.leaf', {f + MAIN: rounds, ('OddProbe.after',) + MAIN: rounds})
        t.equal(calls(p, 'OddProbe.f'), rounds * (DEPTH + 1), 'calls of f')
        no_odd_exits(t, p)


@test(needs=('jit',))
def an_exception_behind_an_entry_is_closed_by_the_next_exit_below(t):
    """The call of `below` began, and its body did not: nobody says its exit until f's."""
    rounds = 3000
    run, p = t.profile('OddProbe', 0, 1, 0, rounds, opts=EXACT, native=True, jvm=odd_probe(t))
    t.check(run.out.startswith('caught in 1 '), 'stdout %r' % run.out)
    f = ('OddProbe.f',) * DEPTH
    callers_are(t, p, 'OddProbe.leaf', {f + MAIN: rounds, ('OddProbe.after',) + MAIN: rounds})
    t.equal((calls(p, 'OddProbe.f'), calls(p, 'OddProbe.below')), (rounds * (DEPTH + 1), rounds), 'calls of f and below')
    t.equal([p.report['missed exits'], p.report['unmatched exits']], [str(rounds), '0'], 'missed exits, unmatched exits')


@test(until=19, needs=('jit',), params=tuple(sorted(ENGINES)))
def thread_stop_says_no_exit_twice(t, engine):
    """Where it strikes is chance; the recursion has no handler, so each call of it has one exit at most. An entry may lack its exit (its body never began) until
    beStopped exits."""
    run, p = t.profile('Stopped', 400, opts=EXACT, jvm=ENGINES[engine], stdout='stopped 400\n')
    t.equal(p.report['unmatched exits'], '0', 'unmatched exits')
    base = ('Stopped.work', 'Stopped$1.run')
    callers_are(t, p, 'Stopped.last', {('Stopped.after',) + base: 400})
    leaf = callers(p, 'Stopped.leaf')
    t.equal(leaf[('Stopped.down',) * 21 + ('Stopped.finish',) + base], 1, 'leaf at the end of the recursion')
    t.equal([calls(p, 'Stopped.%s' % m) for m in ('beStopped', 'down', 'finish')], [400, 21, 1], 'calls of beStopped, down and finish')


LEVEL = 30  # of Overflow


def overflown(t, run, p, rounds, base):
    storm = ('Overflow.storm',) + base
    caught = {('Overflow.rec',) * (LEVEL + 1) + storm: 2 * rounds, ('Overflow.mix',) * (LEVEL + 1) + storm: rounds,
              ('Overflow.mutual',) + ('Overflow.ping', 'Overflow.pong') * (LEVEL // 2) + ('Overflow.ping',) + storm: rounds}
    callers_are(t, p, 'Overflow.caught', caught)
    leafs = {('Overflow.caught',) + c: n for c, n in caught.items()}
    leafs.update({('Overflow.outside',) + storm: rounds, ('Overflow.afterwards',) + storm: 4 * rounds})
    callers_are(t, p, 'Overflow.leaf', leafs)
    t.equal('ran %d %d %d %d\n' % tuple(calls(p, 'Overflow.%s' % m) for m in ('rec', 'ping', 'pong', 'mix')), run.out, 'calls counted')
    t.equal(p.report['unmatched exits'], '0', 'unmatched exits')


@test(level='plain', params=tuple(sorted(ENGINES)), plain_params=('both',), needs=('jit',), timeout=100)
def stacks_that_overflow_leave_no_call_behind(t, engine):
    rounds = 10
    run, p = t.profile('Overflow', rounds, opts=EXACT, jvm=ENGINES[engine])
    overflown(t, run, p, rounds, ('Overflow.main',))


@test(level='plain', params=('times', 'old'))
def a_stack_overflow_in_a_probe_does_not_show_it(t, mode):
    t.profile('OverflowTraces', 20, opts='cpu=%s,cutoff=0,depth=8' % mode, stdout='overflows 20, others []\n')


@test(since=21, params=tuple(sorted(ENGINES)), needs=('jit',), timeout=100)
def stacks_of_virtual_threads_that_overflow_leave_no_call_behind(t, engine):
    rounds = 4
    run, p = t.profile('OverflowVirtual', rounds, opts=EXACT, jvm=ENGINES[engine])
    got = callers(p, 'Overflow.storm')
    base = max(got, key=got.get)
    overflown(t, run, p, rounds, base)


@test(level='plain', since=21, timeout=100)
def a_virtual_thread_that_yields_near_the_end_of_its_stack_goes_on(t):
    run, _ = t.profile('DeepYield', opts=EXACT)
    t.equal(run.out, 'yielded\n', 'stdout')
