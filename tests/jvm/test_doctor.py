# SPDX-License-Identifier: BSD-2-Clause
"""hprofx doctor: what it tells is so, and what it asks nothing of a JVM."""
import os
import pathlib
import re
import subprocess
import sys

from attached import library, of_build
from preload import preload
from runner import test
from waiting import until

OK, FAILED, USAGE, NO_JVM, NOT_PERMITTED, REFUSED = 0, 1, 2, 3, 4, 5
BLOCKED = (sys.executable, '-c', 'import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF]); os.execvp(sys.argv[1], sys.argv[1:])')
NOBODY = ('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups')
def start(t, jvm=(), opts=None, prefix=(), env=None):
    """Attached, which waits."""
    agent = None if opts is None else '-agentpath:%s=%s' % (library(t), opts)
    run = t.start_command(list(prefix) + t.command('Attached', jvm=jvm, opts=None, agent=agent), stdin=subprocess.PIPE, env=env)
    run.wait_line('ready')
    return run


def end(t, run):
    """Its output shows whether anything was asked of it: a SIGQUIT prints its threads, an attached agent warns."""
    run.process.stdin.close()
    run.finish()
    t.equal((run.code, run.out), (0, 'ready\nend\n'), 'exit code and stdout of the program (%s)' % run.err)


def hprofx(t, *args, prefix=(), agent=None, env=None):
    return subprocess.run([*prefix, of_build(t, 'hprofx'), '--agent', agent or library(t), *map(str, args)],
                          capture_output=True, text=True, cwd=t.work, timeout=100, env={**os.environ, **(env or {})})


def doctor(t, status, *args, **kw):
    """Its lines."""
    done = hprofx(t, 'doctor', *args, **kw)
    t.equal((done.returncode, done.stderr), (status, ''), 'status and stderr of hprofx doctor (%s)' % done.stdout)
    bad = [line for line in done.stdout.splitlines() if not re.match(r'(ok  |note|no  ) [^:]+: ', line)]
    t.equal(bad, [], 'lines that are no facts')
    return done.stdout


def has(t, said, pattern):
    t.check(re.search(pattern, said, re.M), 'no %r in:\n%s' % (pattern, said))


def has_not(t, said, pattern):
    t.check(not re.search(pattern, said, re.M), '%r in:\n%s' % (pattern, said))


def folders(t, pid):
    """Files that an attempt would leave or make."""
    tmp = pathlib.Path('/proc/%d/root/tmp' % pid)
    return sorted(f.name for f in [*tmp.iterdir(), *pathlib.Path('/proc/%d/cwd' % pid).iterdir()] if re.search(r'(pid%d|hprofx-%d(\.so)?)$' % (pid, pid), f.name))


def facts(t, run, status=OK, **kw):
    return doctor(t, status, run.pid, **kw)


def same_as_attaching(t, run, said):
    """The sentence of `no attach` is that with which an attempt ends."""
    tried = hprofx(t, '-d', '100ms', run.pid)
    sentence = re.search(r'^no   attach: (.*)', said, re.M)[1]
    t.equal(tried.stderr, 'hprofx: %s\n' % sentence, 'what an attempt says')
    return tried.returncode


@test(level='plain', collectors='any')
def a_jvm_that_can_be_profiled_is_ok_and_is_left_alone(t):
    run = start(t)
    before, threads = folders(t, run.pid), len(os.listdir('/proc/%d/task' % run.pid))
    said = facts(t, run)
    has(t, said, r'^ok   process: %d, Attached, user %d, HotSpot (1\.)?%d\b' % (run.pid, os.geteuid(), t.jdk.version))
    has(t, said, r'^ok   attach: possible, with ')
    has(t, said, r'^ok   timers: \d+ threads')
    has(t, said, r'^note inlined methods: in code that is compiled already')
    (has if t.jdk.version >= 21 else has_not)(t, said, r'^note warnings: ')
    (has if t.jdk.version == 8 else has_not)(t, said, r'^note verdict: ')
    has_not(t, said, r'^no |^note (signal|options|timers)')
    has(t, doctor(t, OK), r'^ok   JVM: %d, Attached$' % run.pid)
    t.equal((folders(t, run.pid), len(os.listdir('/proc/%d/task' % run.pid))), (before, threads), 'files and threads')
    end(t, run)


@test(level='plain', collectors='any')
def options_that_silence_a_note(t):
    run = start(t, jvm=['-XX:+UnlockDiagnosticVMOptions', '-XX:+DebugNonSafepoints', *(['-XX:+EnableDynamicAgentLoading'] if t.jdk.version >= 9 else [])])
    has_not(t, facts(t, run), r'^note (inlined|warnings)')
    end(t, run)


@test(level='plain', collectors='any')
def what_forbids_to_attach_is_told_as_an_attempt_tells_it(t):
    for where in ('command line', 'JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS'):
        flag = '-XX:+DisableAttachMechanism'
        run = start(t, jvm=[flag] if where == 'command line' else (), env={} if where == 'command line' else {where: "-Dx='a b' " + flag})
        if where == 'JDK_JAVA_OPTIONS' and t.jdk.version == 8:  # which does not read it
            has(t, facts(t, run), r'^ok   attach: ')
        else:
            t.equal(same_as_attaching(t, run, facts(t, run, REFUSED)), REFUSED, 'status of an attempt')
        end(t, run)
    run = start(t, jvm=['-XX:-DisableAttachMechanism'], env={'JAVA_TOOL_OPTIONS': '-XX:+DisableAttachMechanism'})
    has(t, facts(t, run), r'^ok   attach: ')
    t.equal(hprofx(t, '-d', '100ms', run.pid).returncode, OK, 'status of an attempt')
    end(t, run)


@test(level='plain', collectors='any', since=9)
def dynamic_loading_that_is_off_is_told(t):
    run = start(t, jvm=['-XX:-EnableDynamicAgentLoading'])
    said = facts(t, run, REFUSED)
    has(t, said, 'EnableDynamicAgentLoading')
    t.equal(same_as_attaching(t, run, said), REFUSED, 'status of an attempt')
    end(t, run)


@test(level='plain', collectors='any')
def a_library_that_is_loaded_and_a_session_are_seen(t):
    run = start(t, jvm=['-XX:+DisableAttachMechanism'], opts='start=n')
    has(t, facts(t, run), r'^ok   attach: hprofx is loaded and listens')
    t.equal(hprofx(t, 'start', '-o', t.work / 'x', run.pid).returncode, OK, 'start')
    has(t, facts(t, run, REFUSED), r'^no   attach: a session runs .* `hprofx stop %d`' % run.pid)
    t.equal(hprofx(t, '-d', '1s', run.pid).returncode, REFUSED, 'status of an attempt')
    t.equal(hprofx(t, 'stop', run.pid).returncode, OK, 'stop')
    has_not(t, facts(t, run), r'^note inlined')
    end(t, run)
    run = start(t, opts='cpu=samples,file=y,verbose=n')
    has(t, facts(t, run, REFUSED), r'^no   attach: a session runs')
    t.equal(hprofx(t, 'stop', run.pid).returncode, OK, 'stop')
    # The agent listens until it has answered, and a moment longer.
    until(run, lambda: re.search(r'^ok   attach: possible; hprofx is loaded: /', facts(t, run), re.MULTILINE))
    run.process.stdin.close()
    run.finish()


@test(level='plain', collectors='any')
def what_is_no_jvm_of_ours_is_refused(t):
    def fails(status, says, *args, **kw):
        done = hprofx(t, 'doctor', *args, **kw)
        t.equal((done.returncode, re.search(says, done.stdout + done.stderr) is not None), (status, True),
                'status, and %r in %r' % (says, done.stdout + done.stderr))
    fails(NO_JVM, r'^hprofx: there is no process 4194305\n$', 4194305)
    fails(NO_JVM, r'^no   attach: process %d is no JVM; ' % os.getpid(), os.getpid())
    fails(NO_JVM, r'^hprofx: no JVM matches', 'a-name-that-nobody-has')
    fails(USAGE, r'^hprofx: too many words', 1, 2)
    run = start(t)
    if os.geteuid() == 0:
        fails(NOT_PERMITTED, r'^hprofx: process %d belongs to another user; become user 0, or root\n$' % run.pid, run.pid, prefix=NOBODY)
    said = doctor(t, FAILED, run.pid, agent='/no/such')
    has(t, said, r'^no   attach: cannot read /no/such: .*--agent$')
    has(t, doctor(t, FAILED, agent='/no/such'), r'^no   library: cannot read /no/such: ')
    end(t, run)


@test(level='plain', collectors='any')
def a_user_is_told_whose_jvms_are_within_reach(t):
    if os.geteuid() != 0:
        has(t, doctor(t, OK), r'^note user: %d can profile its own JVMs' % os.geteuid())
        t.skip('only root becomes another user')
    has(t, doctor(t, OK), r'^ok   user: root ')
    run = start(t)
    weak = ('setpriv', '--bounding-set=-sys_ptrace,-perfmon,-sys_admin', '--')
    has(t, doctor(t, OK, prefix=weak), r'^note user: root lacks the capability SYS_PTRACE')
    end(t, run)
    # called java, as what cannot be looked into is told apart by its names
    other = subprocess.Popen([*NOBODY, 'sh', '-c', 'printf java >/proc/self/comm; echo ready; read end'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other.stdout.readline()
    done = hprofx(t, 'doctor', other.pid, prefix=weak)
    t.equal((done.returncode, done.stderr), (NOT_PERMITTED, 'hprofx: root lacks the capability SYS_PTRACE here, to look at process %d; '
                                             'become user 65534, or add it\n' % other.pid), 'status, stderr')
    other.communicate()


@test(level='plain', collectors='any')
def the_tmp_of_a_jvm_must_take_a_socket_and_a_copy_of_the_library(t):
    for how, status, says in (('ro', FAILED, 'cannot write to its /tmp, .*: Read-only'), ('noexec', REFUSED, 'sees no library .* noexec')):
        mounts = ('unshare', '--mount', 'sh', '-c', 'mount --bind /tmp /tmp && mount -o remount,bind,%s /tmp || exit 125; exec "$@"' % how, 'sh')
        if subprocess.run([*mounts, 'true'], capture_output=True).returncode != 0:
            t.skip('no mounts can be made here')
        run = start(t, prefix=mounts)
        if os.path.realpath('/proc/%d/root' % run.pid) != '/proc/%d/root' % run.pid and os.readlink('/proc/%d/root' % run.pid) != '/':
            t.skip('this JDK has a tree of its own')
        said = facts(t, run, status)
        has(t, said, 'sees other files')
        has(t, said, r'^no   attach: process %d %s' % (run.pid, says))
        t.equal(same_as_attaching(t, run, said), status, 'status of an attempt')
        end(t, run)
    run = start(t, prefix=('unshare', '--mount'))
    has(t, facts(t, run), r'^ok   attach: possible, .*a copy goes to its /tmp')
    end(t, run)


@test(level='plain', collectors='any')
def limits_and_signals_that_matter_are_told(t):
    run = start(t, prefix=('prlimit', '--sigpending=3'))
    has(t, facts(t, run), r'^note timers: .* \d+ threads, and the user may have [0-3] more; .*ulimit -i')
    end(t, run)
    run = start(t, prefix=BLOCKED)
    has(t, facts(t, run), r'^note signal: threads that block SIGPROF .*: \d+; ')
    end(t, run)
    run = start(t, env=preload(t, 'other_agents', OTHER_AGENTS_HANDLER='1'))
    has(t, facts(t, run), r'^note signal: the program, or another profiler, handles SIGPROF')
    end(t, run)
    (t.work / 'more').write_text('-Dx=y\n')
    run = start(t, jvm=['-XX:Flags=/dev/null'] if t.jdk.version == 8 else ['-XX:VMOptionsFile=more'])
    has(t, facts(t, run), r'^note options: some are in a file')
    end(t, run)


@test(level='plain', collectors='any')
def perf_events_are_tried(t):
    said = doctor(t, OK, prefix=('prlimit', '--nofile=400'))
    if 'ok   perf events' not in said:
        t.skip('perf events are not permitted here')
    has(t, said, r'^ok   perf events: permitted, .*; 100 at most')
    refused = preload(t, 'seccomp', HPX_REFUSE='298:1')
    run = start(t, env=refused)
    # The command is static: nothing can be preloaded into it, but a filter stays when a program becomes another one.
    has(t, doctor(t, OK, prefix=('env',), env=refused), r'^note perf events: Operation not permitted; .*seccomp')
    has(t, facts(t, run), r'^note perf events: permitted here, but a filter ')
    end(t, run)


@test(level='plain', collectors='any')
def what_hides_processes_is_told(t):
    inside = ('unshare', '--pid', '--fork', '--mount-proc')
    hidden = ('unshare', '--mount', 'sh', '-c', 'mount -t proc -o hidepid=2 proc /proc || exit 125; exec "$@"', 'sh', *NOBODY)
    if any(subprocess.run([*prefix, 'true'], capture_output=True).returncode != 0 for prefix in (inside, hidden)):
        t.skip('no namespaces can be made here')
    run = start(t)
    said = doctor(t, OK, prefix=inside)
    has(t, said, r'^note container: only JVMs of this pid namespace')
    has(t, said, r'^note JVM: none runs here')
    has_not(t, said, r'^note /proc')
    has(t, doctor(t, OK, prefix=hidden), r'^note /proc: it is mounted with hidepid=')
    end(t, run)
