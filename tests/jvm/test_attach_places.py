# SPDX-License-Identifier: BSD-2-Clause
"""hprofx and a JVM of another user, in namespaces, without a folder to write to, and what dead JVMs have left in /tmp."""
import contextlib
import os
import pathlib
import socket
import subprocess
import sys

from attached import NOT_PERMITTED, REFUSED, Program, does, leaves_nothing, own_number, refuses
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
