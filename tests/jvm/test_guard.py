# SPDX-License-Identifier: BSD-2-Clause
"""A fault of the stack walk costs a sample; the faults that the VM lives by are the VM's."""
import re

from preload import agent, preload
from runner import test

OPTS = 'cpu=samples,sampler=asgct,interval=1,cutoff=0,force=y'
LINE = 'hprofx: cpu=samples: AsyncGetCallTrace faulted three times; using sampler=walk instead'
SAMPLED = {'needs': ('jit', 'hotspot'), 'timeout': 90}


def _faulty(t, kind, every, rounds, **kw):
    """(run, profile, times that the walk was made to go wrong)"""
    count = t.dir / 'wrong.txt'
    plain = t.java('Traps', rounds, opts=None)
    t.equal(plain.code, 0, 'exit code without the agent')
    run, p = t.profile('Traps', rounds, 'faulty', opts=OPTS, stdout=plain.out, native=True,
                       env=preload(t, 'faulty', HPX_FAULTY='%s:%d:%s' % (kind, every, count)), **kw)
    return run, p, int(count.read_text())


def _faults(run):
    m = re.search(r'^hprofx: faults: (\d+) ', run.err, re.M)
    return int(m.group(1)) if m else 0


@test(level='plain', params=('segv', 'bus', 'wild', 'jump'), plain_params=('segv', 'bus'), **SAMPLED)
def a_fault_of_the_walk_costs_a_sample(t, kind):
    run, p, wrong = _faulty(t, kind, 20, 100)
    t.check(3 <= wrong <= 5, 'walks that went wrong: %d, none begins after the third' % wrong)
    t.equal(_faults(run), wrong, 'faults counted')
    t.equal(run.err.splitlines().count(LINE), 1, 'lines about it')
    t.check(p.names and sum(p.innermost_of(['hprofx.unknown.fault']).values()) >= 3, 'the samples show the cause')


@test(level='plain', **SAMPLED)
def a_self_test_that_faults_takes_walk(t):
    run, p, wrong = _faulty(t, 'first', 1, 20)
    t.equal((wrong, _faults(run)), (1, 1), 'faults')
    t.check('hprofx: cpu=samples: AsyncGetCallTrace failed its self-test; using sampler=walk instead' in run.err, 'no line about it')
    t.check(p.report['sampler'].startswith('walk'), 'sampler %s' % p.report['sampler'])


@test(level='plain', emulated=True, **SAMPLED)
def one_fault_ends_nothing(t):
    run, p, wrong = _faulty(t, 'segv', 60, 60)
    t.check(1 <= wrong <= 3, 'walks that went wrong: %d' % wrong)
    t.equal(_faults(run), wrong, 'faults counted')


# From 26 on a method's id is no longer the address of its address, by which the library knows the frame.
@test(level='plain', until=25, **SAMPLED)
def faults_of_safefetch_are_the_vms(t):
    run, _, wrong = _faulty(t, 'safefetch', 1, 20, jvm=['-Xint'])
    t.check(wrong >= 20, 'probes: %d' % wrong)
    t.equal(_faults(run), 0, 'faults counted')


@test(level='plain', collectors='all', needs=('jit',), params=('asgct', 'native'), timeout=90)
def traps_of_the_vm_work_as_before(t, how):
    plain = t.java('Traps', 80, opts=None)
    run, p = t.profile('Traps', 80, opts=OPTS if how == 'asgct' else 'cpu=samples,native=y,interval=1,cutoff=0', stdout=plain.out)
    t.equal(_faults(run), 0, 'faults counted')
    t.check(p.total > 100, '%d samples' % p.total)


@test(level='plain', **SAMPLED)
def no_handler_of_the_program_runs_under_the_guard(t):
    """Its faults would be taken for those of AsyncGetCallTrace. A read of the structures tells its faults by their pc."""
    file = t.dir / 'guarded.txt'
    _, p = t.profile('HotSplit', 60, opts='cpu=samples,sampler=asgct,interval=1', stdout='done true\n', env=preload(t, 'guarded', GUARDED=str(file)))
    t.check(p.report['sampler'].startswith('asgct'), 'sampler %s' % p.report['sampler'])
    blocked, open_ = map(int, file.read_text().split())
    t.check(blocked > p.total / 2, '%d guarded regions for %d samples' % (blocked, p.total))
    t.equal(open_, 0, 'guarded regions with signals open')


@test(level='plain', params=('1', '10'), plain_params=('10',), **SAMPLED)
def no_thread_is_sampled_before_the_guard(t, interval):
    """One that starts while VMInit runs, as of another agent's premain, waits for the guard and the self-test."""
    file = t.dir / 'early.txt'
    _, p = t.profile('HotSplit', 30, opts='cpu=samples,sampler=asgct,interval=' + interval, stdout='done true\n', jvm=[agent(t, 'earlythread')],
                     env=preload(t, 'earlythread', EARLYTHREAD=str(file)))
    attached, clocks = map(int, file.read_text().split())
    t.equal(attached, 1, 'threads attached meanwhile')
    t.equal(clocks, 0, 'clocks started before the guard')
    t.equal([n for n in p.names.values() if n == 'early'], ['early'], 'THREAD START of that thread')
