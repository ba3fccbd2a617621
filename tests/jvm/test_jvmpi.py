# SPDX-License-Identifier: BSD-2-Clause
"""JVMPI: agents in the manner of its time (tests/jvmpi), and what they are told beside what the program knows and what hprofx counts."""
import collections
import re

import jvmpi_agent
from expect import COUNT_CASES, calls, exact, expected, known_blocks, sites_are_exact
from hprof_text import MONITOR_TIME
from runner import test


@test(level='plain', collectors='any')
def every_event_comes_and_every_function_answers(t):
    """The agent holds all return codes to the table; the program causes every event that there is."""
    jit = t.jdk.has('jit')
    run = jvmpi_agent.run(t, 'every', '', 'JvmpiEvery', jvmpi_agent.library(t, 'every'), 'compiled' if jit else 'interpreted', code=23)
    t.check('done' in run.out.splitlines(), 'the program did not come to its end')
    rows = re.findall(r'^(event|function) (\S+) (\S+) (\d+)$', run.out, re.M)
    t.equal(len(rows), 37 + 28, 'rows')
    absent = {name for _, name, _, n in rows if n == '0'}
    want = {name for _, name, kind, _ in rows if kind == 'NOT'} | (set() if jit else {'COMPILED_METHOD_LOAD', 'COMPILED_METHOD_UNLOAD'})
    t.equal(absent, want, 'events and functions without a call')


def _calls(run):
    """[(method, entries, entries2, those with an object, exits)]: a method of several signatures has a row for each."""
    rows = re.findall(r'^calls (\S+) (\d+) (\d+) (\d+) (\d+)$', run.out, re.M)
    return [(name, *map(int, figures)) for name, *figures in rows if name.startswith('Count')]  # threads of the JDK stand in its methods at the end


@test(level='plain', params=COUNT_CASES, plain_params=('recursion', 'kinds'), collectors='any')
def calls_are_those_of_cpu_times(t, case):
    run = jvmpi_agent.run(t, 'tell', 'calls', 'Count', case)
    got, want = collections.Counter(), expected(run)
    for name, entries, entries2, with_object, exits in _calls(run):
        t.equal(entries2, entries, 'METHOD_ENTRY2 of %s' % name)
        if name == 'Count.endless':  # the stack may overflow in the probe of an exit, too: in the few innermost frames of each of 20 overflows
            t.check(entries - 20 * 16 <= exits <= entries, '%s: %d entries, %d exits' % (name, entries, exits))
        else:
            t.equal(exits, entries, 'METHOD_EXIT of %s' % name)
        t.check(with_object in (0, entries), '%s: %d calls, %d of them with an object' % (name, entries, with_object))
        got[re.sub(r'(\.lambda\$\w+)\$\d+$', r'\1', name)] += entries
    t.equal({m: got[m] for m in want}, want, 'calls told and made')
    timed, p = t.profile('Count', case, opts='cpu=times,cutoff=0,depth=1')
    exact(t, timed, p)
    of_program = {m: n for m, n in calls(p).items() if m.startswith('Count') and m != 'Count.endless' and '$$Lambda' not in m}  # ends with the stack; is hidden
    t.equal({m: got[m] for m in of_program}, of_program, 'calls told, and of cpu=times')


@test(level='plain', collectors='any', params=(('threads', 16, 8, 20), ('kinds', 12, 20)))
def contentions_are_those_of_monitor_y(t, program):
    """In one JVM with hprofx: the same contentions."""
    run = jvmpi_agent.run(t, 'tell', 'locks', 'Contend', *program, jvm=[t.agent('monitor=y,cutoff=0,depth=16,thread=y')])
    p = t.output(dumps=None)
    told = {word: collections.Counter({(c, thread): int(n) for c, thread, n in re.findall(r'^%s (\S+) (.+) (\d+)$' % word, run.out, re.M)}) for word in ('enter', 'entered')}
    t.equal(told['enter'], told['entered'], 'entered after contention')
    made = collections.Counter()
    for b in known_blocks(run.out, 'blocked'):
        made[b.klass, b.thread] += b.count
    seen = collections.Counter()
    for r in p.table(MONITOR_TIME).rows:
        seen[r.name, p.names[p.traces[r.trace].thread]] += r.count
    t.check(made, 'the program knows of no block')
    got = told['enter']
    own = {k: n for k, n in made.items() if k[0].startswith('Contend')}  # the JDK has classes and arrays of its own to contend for
    t.equal({k: got[k] for k in own}, own, 'contentions told and made')
    t.equal({k: got[k] for k in made}, {k: seen[k] for k in made}, 'contentions told, and of monitor=y')


# --- a small HPROF of 1999 (tests/jvmpi/hprof99.c), whose file is that of HPROF

@test(level='plain', collectors='any', measures=True, needs=('stops',))
def samples_of_an_hprof_of_1999_have_the_shares_of_the_program(t):
    jvmpi_agent.run(t, 'hprof99', 'cpu=samples,interval=4,depth=4', 'HotSplit', 400)
    p = t.parse(t.work / 'java.hprof.txt')
    got = p.innermost_of(['HotSplit.hotA', 'HotSplit.hotB', 'HotSplit.hotC'])
    total = sum(got.values())
    t.check(total > 100 and total > 0.9 * p.total, '%d samples, %d of the program' % (p.total, total))
    for method, share in (('HotSplit.hotA', 0.6), ('HotSplit.hotB', 0.3), ('HotSplit.hotC', 0.1)):
        t.near(got[method] / total, share, 4 * (share * (1 - share) / total) ** 0.5 + 0.03, 'share of ' + method)
    t.check(all(f.line > 0 for r in p.rows for f in p.traces[r.trace].frames if f.method.startswith('HotSplit.')), 'frames of the program without lines')


@test(collectors='all')
def sites_of_an_hprof_of_1999_are_exact_with_all_collectors(t):
    run = jvmpi_agent.run(t, 'hprof99', 'heap=sites,depth=40', 'Sites', 'new', 100, native=True)
    sites_are_exact(t, run, t.parse(t.work / 'java.hprof.txt'))


@test(level='plain', collectors='any', params=('new', 'arrays', 'multi', 'copies', 'indirect', 'native'), plain_params=('new', 'multi', 'native'))
def sites_of_an_hprof_of_1999_are_exact(t, group):
    if group == 'native' and t.jdk.version == 8:
        t.skip('nothing on JDK 8 sees what JNI and Unsafe allocate')
    run = jvmpi_agent.run(t, 'hprof99', 'heap=sites,depth=40,file=old', 'Sites', group, 100, native=True)
    p = t.parse(t.work / 'old')
    sites_are_exact(t, run, p)
    _, now = t.profile('Sites', group, 100, opts='heap=sites,cutoff=0,depth=40', native=True)
    t.equal(_made(p), _made(now), 'objects and bytes by class of the program, and of heap=sites')


def _made(p):
    sums = {}
    for r, _ in p.sites:
        if r.name.startswith('Sites'):
            name = re.sub(r'Lambda.*', 'Lambda', r.name)  # numbered by the VM
            objects, size = sums.get(name, (0, 0))
            sums[name] = objects + r.objects, size + r.bytes
    return sums
