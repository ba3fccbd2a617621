# SPDX-License-Identifier: BSD-2-Clause
"""Golden cases of monitor=y: our facts beside the recorded ones of the original, by the rules of tests/golden/README.md."""
from golden import Recorded, compared, facts, monitors_as_recorded, sections, threads
from hprof_text import MONITOR_TIME, SAMPLES
from runner import test

# case: prefix, whether its threads contend
CASES = {'monitor-locks': ('Locks', True), 'monitor-samples': ('Locks', True), 'exit-exception': ('Ends', False)}


def _compare(t, name, prefix, contends, in_order=True):
    """The run as recorded; returns its profile."""
    recorded = Recorded(name)
    run = t.java(recorded.program[0], *recorded.program[1:], opts=recorded.options)
    t.equal((run.code, run.out), (recorded.code, recorded.stdout), 'exit code and stdout')
    for ln in recorded.stderr:
        t.check(ln in run.err.splitlines(), 'stderr has no %r' % ln)
    path = t.work / 'java.hprof.txt'
    p, got = t.parse(path, dumps=None), facts(path, prefix)
    order = list if in_order else sorted
    t.equal(order(threads(got)), order(threads(recorded.facts)), 'THREAD facts')
    t.equal(sections(got), sections(recorded.facts), 'SECTIONS facts')
    t.check(MONITOR_TIME in p.sections or not contends, 'no MONITOR TIME, though its threads contend')
    monitors_as_recorded(t, got, recorded, prefix)
    return p


@test(level='plain', emulated=True, collectors='any', params=compared(CASES), plain_params=('monitor-locks', 'exit-exception'))
def case(t, name):
    if CASES[name][0] == 'Locks':
        t.needs('stops')
    p = _compare(t, name, *CASES[name])
    if name.startswith('monitor-'):
        waiting = [(m.owned, [p.names[s] for s in m.enter], sorted(p.names[s] for s in m.notify)) for m in p.monitor_dumps[-1].of('LLocks$Bell;')]
        t.equal(waiting, [(False, [], ['listener1', 'listener2'])], 'the monitor that only has waiters, which the original did not list')
        rows = [r for r in p.table(MONITOR_TIME).rows if r.name == 'Locks$Gate']
        # the two threads that are blocked at the end have not entered
        t.equal([(r.count, p.traces[r.trace].frames[0].method) for r in rows], [(3, 'Locks.enter')], 'contended entries')
    if name == 'monitor-samples':
        recorded = Recorded(name)  # as recorded there are few samples
        t.java(recorded.program[0], *recorded.program[1:], opts=recorded.options + ',interval=1,file=often')
        by_method = {method: n for method, n in t.parse(t.work / 'often', dumps=None).table(SAMPLES).counts().items() if method.startswith('Locks')}
        t.equal(max(by_method, key=by_method.get, default=None), 'Locks$9.run', 'the method with most samples: %s' % by_method)


compared(['monitor-states', 'monitor-crowd'])


# Thread.suspend, by which the program makes one of its states, throws from JDK 20 on.
@test(level='plain', emulated=True, collectors='any', until=19)
def states(t):
    t.needs('stops')
    _compare(t, 'monitor-states', 'States', False)


@test(level='plain', emulated=True, collectors='any')
def crowd(t):
    """500 threads of one monitor. The original's 1300 s of contention were "1 ms", and its rows had half of the entries of one method."""
    p = _compare(t, 'monitor-crowd', 'Crowd', True, in_order=False)
    rows = [(p.traces[r.trace].frames[0].method, r.count) for r in p.table(MONITOR_TIME).rows if r.name == 'java.lang.Object']
    t.equal(sorted(rows), [('Crowd.enter', 375), ('Crowd.enterSlow', 125)], 'contended entries by method')
