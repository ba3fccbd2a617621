# SPDX-License-Identifier: BSD-2-Clause
"""hprofx and a JVM of another user, in namespaces, without a folder to write to, and what dead JVMs have left in /tmp."""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

import waiting
from attached import NOT_PERMITTED, OK, REFUSED, Program, command, does, leaves_nothing, library, of_build, own_number, refuses
from hprof_text import TIMES
from runner import test

NOBODY = 65534


def _as(user):
    return ['setpriv', '--reuid=%d' % user, '--regid=%d' % user, '--clear-groups']


def _opens_to_all(t):
    """The test's folder; only root can become another user."""
    if os.geteuid() != 0:
        t.skip('only root becomes another user')
    t.env.tmp.chmod(0o711)
    t.dir.chmod(0o711)
    t.work.chmod(0o777)


def _counts_calls(t, pid, p, calls):
    file = t.work / 'times'
    does(t, 'start', '-e', 'times', '-o', file, pid, 'cutoff=0')
    p.tell('calls %d' % calls)
    does(t, 'stop', pid)
    t.equal(t.parse(file, 1).table(TIMES).counts().get('Attached.leaf'), calls, 'calls')
    return file


# --- users

@test(collectors='any')
def only_its_user_and_root_steer_a_jvm(t):
    _opens_to_all(t)
    if subprocess.run(_as(1000) + t.jdk.java() + ['-version'], capture_output=True).returncode != 0:
        t.skip('another user cannot run this JDK')
    p = Program(t, prefix=_as(1000))
    pid = p.run.pid
    file = _counts_calls(t, pid, p, 70)  # as root
    t.equal((file.stat().st_uid, file.stat().st_mode & 0o777), (1000, 0o600), 'owner and mode of the profile')
    t.check('Attached used ' in does(t, '-d', '200ms', pid, prefix=_as(1000)), 'no profile for its own user')

    does(t, 'start', '-o', t.work / 'x', pid)
    t.check('begun by: process ' in does(t, 'status', pid, prefix=_as(1000)), 'its own user is not told who is there')
    for words in (('status',), ('stop',), ('dump',), ('start', '-o', t.work / 'y'), ('top',), ()):
        refuses(t, NOT_PERMITTED, 'belongs to another user; become user 1000, or root', *words, pid, prefix=_as(NOBODY))
    connect = 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])'
    tried = subprocess.run(_as(NOBODY) + [sys.executable, '-c', connect, '/tmp/.hprofx-%d' % pid], capture_output=True, text=True)
    t.check('PermissionError' in tried.stderr, 'another user reaches the socket: %s' % tried.stderr)
    does(t, 'stop', pid, prefix=_as(1000))
    leaves_nothing(t, pid)
    p.end(t)


@test(collectors='any')
def a_jvm_in_another_group_is_said(t):
    _opens_to_all(t)
    p = Program(t, prefix=_as(1000))
    if os.stat('/proc/%d' % p.run.pid).st_gid != 1000:
        t.skip('what starts this JDK changes the group')
    other = ['setpriv', '--reuid=1000', '--regid=2000', '--clear-groups']
    for words in (('status',), ()):
        refuses(t, NOT_PERMITTED, r"runs in group 1000\b.* and this command in group 2000, .*sg 1000 -c 'hprofx \.\.\.', or become root$", *words, p.run.pid, prefix=other)
    p.end(t)


@test(collectors='any')
def a_jvm_with_a_capability_is_profiled_by_its_user(t):
    """The kernel hides its memory and root; its user may attach to it."""
    _opens_to_all(t)
    p = Program(t, prefix=_as(1000) + ['--inh-caps=+net_bind_service', '--ambient-caps=+net_bind_service'])
    pid = p.run.pid
    hidden = subprocess.run(_as(1000) + ['cat', '/proc/%d/maps' % pid], capture_output=True)
    if hidden.returncode == 0:
        t.skip('what starts this JDK takes the capability away')
    t.check(re.search(r'^ *%d ' % pid, does(t, 'list', prefix=_as(1000)), re.M), 'list says %r' % does(t, 'list', prefix=_as(1000)))
    for _ in range(2):
        t.check('Attached used ' in does(t, '-d', '200ms', pid, prefix=_as(1000)), 'no profile for its own user')
    p.end(t)


# --- namespaces

# The /tmp is new; in it only the folder $0 with what the test has. $1: options of the mount. $2: what to do before the program starts.
OWN_TMP = '''mkdir -p /mnt && mount --bind "$0" /mnt && mount -t tmpfs -o "mode=1777,$1" none /tmp && mkdir -p "$0" && mount --move /mnt "$0" || exit 120
eval "$2" || exit 121
shift 2; exec "$@"'''


class Apart(Program):
    """In a mount and a process namespace of its own. pid: as the test sees it."""

    def __init__(self, t, mount='rw', before='true'):
        if subprocess.run(['unshare', '-m', '-p', '-f', '--mount-proc', 'mount', '-t', 'tmpfs', 'none', str(t.work)], capture_output=True).returncode != 0:
            t.skip('nothing can be mounted here (root in a user namespace of its own, or no root)')
        super().__init__(t, prefix=['unshare', '-m', '-p', '-f', '--mount-proc', '--kill-child', 'sh', '-c', OWN_TMP, str(t.env.tmp), mount, before])
        self.pid = int(pathlib.Path('/proc/{0}/task/{0}/children'.format(self.run.pid)).read_text())
        t.check(own_number(self.pid) != self.pid, 'the JVM has no namespace of its own')


def _works(t, p):
    _counts_calls(t, p.pid, p, 55)
    t.check('Attached used ' in does(t, '-d', '200ms', p.pid), 'no profile')
    t.check('session: none' in does(t, 'status', p.pid), 'a session')
    leaves_nothing(t, p.pid)
    left = sorted(f.name for f in pathlib.Path('/proc/%d/root/tmp' % p.pid).iterdir())
    t.equal(left, ['.java_pid%d' % own_number(p.pid), t.env.tmp.name, 'hsperfdata_root'], 'what is in its /tmp')
    p.end(t)


@test(collectors='any')
def a_jvm_with_namespaces_and_a_tmp_of_its_own(t):
    _works(t, Apart(t))


@test(collectors='any')
def a_jvm_whose_root_is_read_only(t):
    p = Apart(t, before='mount -o remount,bind,ro / && cd /')
    t.check(subprocess.run(['touch', '/proc/%d/cwd/x' % p.pid], capture_output=True).returncode != 0, 'its root can be written to')
    _works(t, p)


@test(collectors='any')
def a_tmp_from_which_nothing_can_be_loaded_is_said(t):
    p = Apart(t, mount='noexec')
    refuses(t, REFUSED, 'sees no library of hprofx, and its /tmp is mounted noexec', '-d', '200ms', p.pid)
    leaves_nothing(t, p.pid)
    p.tell('calls 5')
    p.end(t)


# --- what lies in /tmp

def _dead_socket(name):
    """As a process that was killed leaves it."""
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
        s.bind(name)
    return pathlib.Path(name)


@test(collectors='any')
def sockets_of_a_dead_jvm_of_the_same_number_do_not_matter(t):
    p = Program(t)
    for name in ('/tmp/.hprofx-%d', '/tmp/.java_pid%d'):
        _dead_socket(name % p.run.pid)
    _counts_calls(t, p.run.pid, p, 33)
    leaves_nothing(t, p.run.pid)
    _dead_socket('/tmp/.hprofx-%d' % p.run.pid)  # now the JVM has the library
    _counts_calls(t, p.run.pid, p, 44)
    leaves_nothing(t, p.run.pid)
    t.check('Full thread dump' not in p.run.out, 'a thread dump was asked for')
    p.end(t)


@test(collectors='any')
def a_socket_of_somebody_else_in_its_place_is_not_used(t):
    p = Program(t)
    name = pathlib.Path('/tmp/.hprofx-%d' % p.run.pid)
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
        s.bind(str(name))
        s.listen(8)
        refuses(t, REFUSED, 'the library refused', '-d', '50ms', p.run.pid)
        t.check('cannot listen for commands at %s' % name in p.run.err, 'stderr of the JVM: %s' % p.run.err)
        t.check(name.is_socket(), 'it was removed')
    t.check('session: none' in does(t, 'status', p.run.pid), 'when it is dead')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(collectors='any')
def the_next_command_removes_what_a_killed_jvm_has_left(t):
    dead, p = Program(t), Program(t)
    does(t, 'start', '-o', t.work / 'x', dead.run.pid)
    dead.run.kill()
    left = pathlib.Path('/tmp/.hprofx-%d' % dead.run.pid)
    t.check(left.is_socket(), 'there is no socket of the killed JVM')
    others = {n: pathlib.Path('/tmp/.hprofx-%d' % n) for n in (4194310, 4194311, 4194312, 4194313)}  # no process has such a number
    file, young, of_other, alive = others.values()
    try:
        file.write_text('kept')
        for f in (young, of_other):
            _dead_socket(str(f))
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as s:
            s.bind(str(alive))
            s.listen(8)
            for f in (left, file, of_other, alive):
                os.utime(f, (0, 0))  # long ago
            if os.geteuid() == 0:
                os.chown(of_other, NOBODY, NOBODY)
            does(t, '-d', '50ms', p.run.pid)
            kept = [f.name for f in (left, *others.values()) if os.path.lexists(f)]
    finally:
        for f in others.values():
            f.unlink(missing_ok=True)
    t.equal(kept, [f.name for f in others.values() if f != of_other or os.geteuid() == 0], 'files that are kept')
    p.end(t)


@test(collectors='any')
def sockets_that_another_user_left_are_said(t):
    _opens_to_all(t)
    p = Program(t, prefix=_as(1000))
    for name, says in (('.java_pid%d', '/tmp/%s of process %d belongs to user %d: a JVM that had this number and was killed left it'), ('.hprofx-%d', 'the library refused')):
        name = name % p.run.pid
        left = _dead_socket('/tmp/' + name)
        try:
            os.chown(left, NOBODY, NOBODY)
            left.chmod(0o600)
            for prefix in ((), _as(1000)):
                refuses(t, REFUSED, says % (name, p.run.pid, NOBODY) if '%' in says else says, '-d', '50ms', p.run.pid, prefix=prefix)
            t.check(left.is_socket(), 'it was removed')
        finally:
            left.unlink()
    t.check('cannot listen for commands: /tmp/.hprofx-%d belongs to user %d' % (p.run.pid, NOBODY) in p.run.err, 'stderr of the JVM: %s' % p.run.err)
    _counts_calls(t, p.run.pid, p, 33)
    p.end(t)


@test(level='plain', collectors='any')
def a_socket_that_was_swept_away_is_made_again(t):
    p = Program(t, jvm=['-XX:+DisableAttachMechanism'], opts='start=n')
    name = pathlib.Path('/tmp/.hprofx-%d' % p.run.pid)
    for session in (False, True):
        if session:
            does(t, 'start', '-e', 'times', '-o', t.work / 'times', p.run.pid, 'cutoff=0')
        name.unlink()
        while not name.is_socket():
            t.within_time(p.run)
            time.sleep(0.05)
        t.equal(name.stat().st_mode & 0o777, 0o600, 'its mode')
        t.check('session: %s' % ('running' if session else 'none') in does(t, 'status', p.run.pid), 'it is not heard')
    p.tell('calls 44')
    does(t, 'stop', p.run.pid)
    t.equal(t.parse(t.work / 'times', 1).table(TIMES).counts().get('Attached.leaf'), 44, 'calls')
    p.end(t)
    t.check(not os.path.lexists(name), 'the socket is there after the end')


@test(level='plain', collectors='any')
def the_library_for_agents_of_jvmpi_is_not_the_agent(t):
    p = Program(t, env={'LD_PRELOAD': of_build(t, 'agent/libhprofx-jvmpi.so')})
    t.check('libhprofx-jvmpi' in pathlib.Path('/proc/%d/maps' % p.run.pid).read_text(), 'the JVM has not got it')
    t.check('possible, with %s' % library(t) in does(t, 'doctor', p.run.pid), 'the doctor takes it for the agent')
    _counts_calls(t, p.run.pid, p, 22)
    p.end(t)


@test(level='plain', collectors='any', params=('new', 'listening'))
def a_jvm_that_does_not_answer_is_said_at_once(t, state):
    p = Program(t, opts='start=n' if state == 'listening' else None)
    waiting.stopped(p.run)
    waits = subprocess.Popen([*command(t), '-d', '100ms', str(p.run.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = waits.stderr.readline()
    p.run.signal(signal.SIGCONT)
    out, err = waits.communicate(timeout=60)
    t.check(re.fullmatch(r'hprofx: process %d does not answer yet: it is stopped, and goes on with SIGCONT; waiting up to \d\d s\n' % p.run.pid, said), 'it says %r' % said)
    t.equal(waits.returncode, OK, 'status (%s)' % err)
    t.check('Attached used ' in out, 'no profile')
    p.end(t)
