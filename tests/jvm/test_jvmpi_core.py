# SPDX-License-Identifier: BSD-2-Clause
"""JVMPI: loading, threads, ids, raw monitors, monitors, collections. tests/jvmpi/core.c checks inside the JVM, odd.c misbehaves."""
import re
import shutil
import signal

import jvmpi_agent
from runner import test

SUBJECTS = ('codes', 'ids', 'trace', 'collections', 'threads', 'suspension', 'statuses', 'agent', 'monitors', 'raw', 'locks', 'unloads')


def _core(t, *subjects):
    core = jvmpi_agent.library(t, 'core')
    return t.start('JvmpiCore', core, *subjects, agent=jvmpi_agent.shim(t, core, 'a:b,c'), jvm=jvmpi_agent.checked(t), env={'HPROFX_JVMPI_RULES': '0'})


def _sound(t, run, subjects):
    t.equal(run.code, 0, 'exit code: %s' % run.err[-300:])
    t.equal(re.findall(r'^BAD .*', run.out, re.M), [], 'checks that failed')
    t.equal(re.findall(r'^done (\w+)$', run.out, re.M), list(subjects), 'subjects that were checked')
    t.check(re.search(r'^shut down, \d+ checks$', run.out, re.M), 'no JVM_SHUT_DOWN')
    t.equal([line for line in run.err.splitlines() if line.startswith('hprofx')], [], 'messages')


@test(params=SUBJECTS, collectors='any')
def subject(t, name):
    if name == 'unloads' and (t.jdk.version, t.case.collector) == (11, 'ZGC'):
        t.skip('ZGC of JDK 11 unloads no classes')
    _sound(t, _core(t, name).finish(), [name])


@test(collectors='all')
def lock_of_a_collection_is_lent_by_a_thread_that_stands_still(t):
    """The agent enters its monitor in GC_START, and calls the VM where it has entered the same one."""
    _sound(t, _core(t, 'locks', 'collections').finish(), ['locks', 'collections'])


@test(collectors='any', since=21)
def a_virtual_thread_is_seen_as_its_carrier(t):
    core = jvmpi_agent.library(t, 'core')
    run = t.java('JvmpiVirtual', core, agent=jvmpi_agent.shim(t, core, 'a:b,c'), jvm=jvmpi_agent.checked(t), env={'HPROFX_JVMPI_RULES': '0'})
    _sound(t, run, ['virtual'])


@test(collectors='any', params=('status', 'stacks'))
def threads_that_end_while_they_are_asked_about(t, what):
    """Before JDK 10 the VM takes a lock of a thread that has ended; GetFrameCount of JDK 17 reads what that had: they crashed within 20 s."""
    run = t.java('EndingOwners', 5000, agent=jvmpi_agent.shim(t, jvmpi_agent.library(t, 'polls'), what), env={'HPROFX_JVMPI_RULES': '0'})
    t.equal((run.code, run.out.splitlines()[-1:]), (0, ['done']), 'exit code, stdout')


@test(collectors='any')
def sigquit_is_a_data_dump_request(t):
    run = _core(t, 'threads', 'dump')
    run.wait_line('waiting')
    run.signal(signal.SIGQUIT)
    run.wait_line('dump requested')
    run.kill()
    t.equal(re.findall(r'^BAD .*', run.out, re.M), [], 'checks that failed')


def _odd(t, option, jvm=(), env=None):
    return t.java('Gc', 20, 3, agent=jvmpi_agent.shim(t, jvmpi_agent.library(t, 'odd'), option), jvm=[*jvmpi_agent.checked(t), *jvm], env=env)


def _ours(run):
    return [line for line in run.err.splitlines() if line.startswith('hprofx')]


@test(collectors='any', params=('null', 'later', 'events'))
def an_odd_agent_harms_nobody(t, how):
    plain = t.java('Gc', 20, 3, opts=None, jvm=jvmpi_agent.checked(t))
    run = _odd(t, how)
    t.equal((run.code, run.out), (plain.code, plain.out), 'exit code and output')
    lines = 0 if how == 'events' else 1
    t.equal(len(_ours(run)), lines, 'messages: %s' % _ours(run))


@test(collectors='any', params=('load', 'THREAD_START', 'JVM_INIT_DONE', 'GC_START', 'GC_FINISH', 'JVM_SHUT_DOWN'))
def profiler_exit_ends_the_vm_with_its_code(t, where):
    run = _odd(t, 'exit=' + where)
    t.equal(run.code, 7, 'exit code')
    t.equal('leaving' in run.out, where != 'load', 'the handler ran')
    t.equal(_ours(run), [], 'messages')


@test(collectors='any')
def what_cannot_be_loaded_ends_before_main_with_one_line(t):
    none, odd = jvmpi_agent.library(t, 'none'), jvmpi_agent.library(t, 'odd')
    for agent, text in (('', 'name an agent: -agentpath:libhprofx-jvmpi.so=AGENT.so:options'), (':x', 'name an agent: -agentpath:libhprofx-jvmpi.so=AGENT.so:options'),
                        ('/none/such.so:x', 'cannot load the agent: /none/such.so: cannot open shared object file'), ('nosuch', 'cannot load the agent: '),
                        (none, 'the agent %s has no function JVM_OnLoad' % none), ('%s:fails' % odd, 'JVM_OnLoad of the agent %s failed' % odd),
                        ('%s:version' % odd, 'JVM_OnLoad of the agent %s failed' % odd)):
        run = t.java('Gc', 20, 3, agent=jvmpi_agent.shim(t, agent))
        t.equal((run.code, run.out), (1, ''), 'exit code and output with the agent %s' % agent)
        t.equal(len(run.err.splitlines()), 1, 'lines with the agent %s: %s' % (agent, run.err))
        t.check(run.err.startswith('hprofx: jvmpi: ' + text), 'message with the agent %s: %s' % (agent, run.err))


@test(collectors='any')
def a_name_is_looked_for_as_xrun_did(t):
    folder = jvmpi_agent.library(t, 'odd').parent
    for name in ('jvmpi-odd', 'libjvmpi-odd.so'):
        run = t.java('Gc', 20, 3, agent=jvmpi_agent.shim(t, name, 'exit=load'), env={'LD_LIBRARY_PATH': str(folder)})
        t.equal(run.code, 7, 'exit code of the agent %s: %s' % (name, run.err))
    shutil.copy(folder / 'libjvmpi-odd.so', t.work)
    run = t.java('Gc', 20, 3, agent=jvmpi_agent.shim(t, 'libjvmpi-odd.so', 'exit=load'))
    t.equal(run.code, 7, 'exit code of an agent in the working directory: %s' % run.err)


@test(collectors='any')
def broken_rules_are_said_once_each(t):
    rules = ('RunGC was called while collections were disabled', 'EnableGC was called without DisableGC', 'GetThreadObject was called while collections were enabled; call DisableGC first',
             'jobject2jobjectID was called while collections were enabled; call DisableGC first', 'RawMonitorExit was called by a thread that had not entered the monitor',
             'RawMonitorWait was called by a thread that had not entered the monitor', 'a function got a raw monitor that does not exist',
             'ThreadHasRun was called for a thread that is not suspended', 'RequestEvent was called with a jobjectID while collections were enabled; call DisableGC first',
             'EnableEvent or DisableEvent was called in a collection')
    run = _odd(t, 'rules', env={'HPROFX_JVMPI_RULES': '1'})
    t.equal(run.code, 0, 'exit code')
    t.equal(sorted(_ours(run)), sorted('hprofx: jvmpi: the agent broke a rule: ' + r for r in rules), 'rules')
    quiet = _odd(t, 'rules', env={'HPROFX_JVMPI_RULES': '0'})
    t.equal((quiet.code, _ours(quiet)), (0, []), 'exit code and messages without the check')


@test(level='plain', collectors='all', needs=('hotspot',), params=('', 'end'))
def a_collection_gets_a_monitor_whose_owner_stands_still_in_jni(t, until):
    """The handler of an entry calls JNI until a collection has begun whose handler enters the same monitor."""
    run = jvmpi_agent.run(t, 'held', until, 'JvmpiFib', 1)
    starts, finishes = map(int, re.search(r'^told (\d+) (\d+) \d+$', run.out, re.M).groups())
    t.check(starts >= 5 and 0 <= starts - finishes <= 1, 'collections begun and ended: %s' % [starts, finishes])
