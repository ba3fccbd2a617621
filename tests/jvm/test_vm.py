# SPDX-License-Identifier: BSD-2-Clause
"""What the JDK under test is and offers: the facts of docs/testing.md that a program can look at, and that its commands behave as installed ones."""
import re

from preload import agent
from runner import test

ASKED = 50


def _offers(t, jvm=()):
    """(program's run, words by the first word of a line) of the agent native/offers.c."""
    run = t.java('Hello', opts=None, agent=agent(t, 'offers', ASKED), jvm=jvm)
    t.equal(run.code, 0, 'exit code')
    lines = {ln.split()[0]: ln.split()[1:] for ln in run.out.splitlines() if re.match(r'(jvmti|AsyncGetCallTrace|capabilities|stacks) ', ln)}
    t.equal(lines['stacks'], [str(ASKED)], 'stacks')
    return run, lines


def _capabilities(t, bits):
    """Their names, from the JDK's own header. Up to 17 the VM leaves the second half of the structure as it was."""
    names = re.findall(r'unsigned int (can_\w+) : 1;', (t.jdk.home / 'include' / 'jvmti.h').read_text())
    return {names[int(b)] for b in bits if int(b) < len(names)}


@test(collectors='any', level='plain')
def offers_what_the_table_says(t):
    _, lines = _offers(t)
    can, version, zero = _capabilities(t, lines['capabilities']), t.jdk.version, t.jdk.kind == 'zero'
    t.equal(lines['AsyncGetCallTrace'], ['yes'], 'AsyncGetCallTrace')
    t.equal(lines['jvmti'][0].split('.')[0], '1' if version == 8 else str(version), 'version of JVMTI')
    for name, there in (('can_generate_sampled_object_alloc_events', version >= 11), ('can_support_virtual_threads', version >= 21),
                        ('can_pop_frame', not zero), ('can_force_early_return', not zero), ('can_tag_objects', True), ('can_get_thread_cpu_time', True),
                        ('can_generate_compiled_method_load_events', True), ('can_retransform_classes', True), ('can_generate_monitor_events', True)):
        t.equal(name in can, there, name)


@test(collectors='any', level='plain')
def one_stack_stops_all_threads_before_16_and_one_thread_since(t):
    if t.jdk.version < 9:
        run, _ = _offers(t, ['-XX:+PrintSafepointStatistics', '-XX:PrintSafepointStatisticsCount=1'])
        stops, shakes = len(re.findall(r'^ *[0-9.]+: GetStackTrace ', run.out, re.M)), 0
    else:
        run, _ = _offers(t, ['-Xlog:safepoint=info,handshake=info'])
        # From 15 on the line comes at the end: Safepoint "Name", ...
        stops = len(re.findall(r'Entering safepoint region: GetStackTrace|Safepoint "GetStackTrace"', run.out))
        shakes = len(re.findall(r'Handshake "GetStackTrace", Targeted threads: 1,', run.out))
    t.equal((stops, shakes), (ASKED, 0) if t.jdk.version < 16 else (0, ASKED), 'safepoints and handshakes for %d stacks' % ASKED)


@test(collectors='any', level='plain', needs=('hotspot',))
def its_commands_keep_folder_environment_and_streams(t):
    (t.work / 'in').write_text('a line\n')
    with open(t.work / 'in', 'rb') as stdin:
        run = t.start_command(t.command('Where', 'an arg', opts='cpu=samples'), env={'HPX_WHERE': 'x y'}, stdin=stdin).finish()
    t.equal((run.code, run.out), (7, '%s\nx y\nan arg\na line\n' % t.work), 'exit code and stdout')
    t.equal(run.err.splitlines()[0], 'err', 'stderr')
    t.output()


@test(collectors='any', level='plain')
def jcmd_reaches_a_program_that_is_profiled(t):
    run = t.start('Pause', 20, opts='cpu=samples')
    run.wait_line('ready')
    for command, want in (('VM.version', 'VM version'), ('Thread.print', '"main"')):
        ask = t.start_command([str(t.jdk.home / 'bin' / 'jcmd'), str(run.pid), command]).finish()
        t.equal(ask.code, 0, 'exit code of jcmd (%s)' % (ask.out + ask.err)[-300:])
        t.check(want.lower() in ask.out.lower(), '%s: %s' % (command, ask.out[:300]))
    t.check('hprofx-aggr' not in ask.out, 'a thread of ours that never enters the JVM is in its thread dump')
    run.signal(15)
    run.finish()
    t.complete(run, 143, 'ready\n')
    t.output()
