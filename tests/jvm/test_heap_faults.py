# SPDX-License-Identifier: BSD-2-Clause
"""heap=dump when something goes wrong: the child dies or hangs, the disk is full, memory is short, the program ends meanwhile. The program is as it was, a
dump is whole or a line says why there is none. native/heapchild.c holds and refuses what the dump writes."""
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess

import peer as p
from preload import agent, preload
from runner import test
from waiting import ask, step, stop_steps, until

DONE = 'Dumping Java heap ... done.'
ITEMS = 30000
NAME = 'java.hprof'
ENDS = {'return': 0, 'exit': 6, 'halt': 5, 'throw': 1}
HOWS = ('fork', 'walk')


def _needs_of(t, how):
    if how == 'fork':
        t.needs('hotspot')


def _children(pid):
    """Those of all threads. A process may end meanwhile."""
    found = []
    for stat_file in pathlib.Path('/proc').glob('[0-9]*/stat'):
        with contextlib.suppress(OSError):
            if int(stat_file.read_text().rpartition(')')[2].split()[1]) == pid:
                found.append(int(stat_file.parent.name))
    return found


def _open_files(pid):
    """What the process holds open but for the JVM's own."""
    found = []
    for fd in pathlib.Path('/proc/%d/fd' % pid).iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(re.sub(r'\[\d+\]$|\.part$', '', os.readlink(fd)))  # a socket opened anew has another number
    return sorted(found)


class Program:
    """HeapFaults with the agent and the library that holds and refuses."""

    def __init__(self, t, more='', items=ITEMS, args=(), opts='heap=dump,format=b,doe=n,maxpause=off', before=None, **kw):
        self.t, self.steps = t, 0
        self.folder = t.dir / 'heap'
        self.folder.mkdir(exist_ok=True)
        if before:
            before(self)
        self.run = t.start('HeapFaults', items, *args, opts=opts and opts + more, env=preload(t, 'heapchild', HPX_HEAP=str(self.folder)), **kw)
        self.run.wait_line('ready')

    def put(self, what, text=''):
        path = self.folder / what
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def take(self, what):
        (self.folder / what).unlink()

    def held(self):
        """The process that waits in a write: the program's own or the child of a fork."""
        until(self.run, lambda: list(self.folder.glob('held.*')) or self.run.process.poll() is not None)
        path, = self.folder.glob('held.*')
        path.unlink()
        return int(path.name.partition('.')[2])

    def held_child(self):
        """A request, and its child, which waits in the middle of its walk."""
        self.put('hold.spool')
        self.ask()
        pid = self.held()
        self.t.check(pid != self.run.pid and _children(self.run.pid) == [pid], 'children of the program: %s, %d waits' % (_children(self.run.pid), pid))
        return pid

    def ask(self):
        self.run.signal(signal.SIGQUIT)

    def dumps(self):
        return self.run.err.splitlines().count(DONE)

    def wait_dumps(self, n):
        until(self.run, lambda: self.dumps() >= n or self.run.process.poll() is not None)
        self.t.equal(self.dumps(), n, 'dumps (%s)' % self.run.err)

    def wait_said(self, text):
        until(self.run, lambda: text in self.run.err or self.run.process.poll() is not None)
        self.t.equal(len(self.said(text)), 1, 'lines with %r (%s)' % (text, self.run.err))

    def said(self, text):
        return [ln for ln in self.run.err.splitlines() if text in ln]

    def step(self):
        """The program works, its port is free for itself, its processes are its own."""
        self.steps += 1
        step(self.run, self.steps)

    def ends(self, how='return'):
        """Without waiting for the end."""
        (self.t.work / 'ending').write_text(how)
        (self.t.work / 'ending').rename(self.t.work / 'end')

    def finish(self, code=0):
        self.run.finish()
        out = [ln for ln in self.run.out.splitlines() if not ln.startswith('children ')]
        self.t.equal((self.run.code, out.count('ready')), (code, 1), 'exit code (%s), first lines' % self.run.err)
        self.t.check(not re.search(r'^(HPROF|hprofx:|Dumping )', self.run.out, re.M), 'a line of ours in stdout')
        for name in self.t.files():
            if re.fullmatch(r'(step|ack)\d+|end', name):
                (self.t.work / name).unlink()
        self.t.equal([f for f in self.t.files() if f.startswith('.')], [], 'files left behind')
        return self.run

    def end(self, how='return'):
        self.ends(how)
        self.finish(ENDS[how])
        self.t.equal(self.run.out.splitlines().count('ending'), 1, 'lines of the end')


def _whole(t, path, dumps=1, items=ITEMS, klass='HeapFaults$Item'):
    """Both readers take a binary file, and every dump has the program's objects."""
    told = len(t.binary(path).heaps) if path.read_bytes()[18:19] == b'\0' else 'text or gzip'
    found, classes = t.heap(path)
    t.equal(found, dumps, 'heap dumps of %s (%s)' % (path, told))
    count = classes.get(klass, (0,))[0]
    t.check(count in (items, items * dumps), '%s objects of %s in %s, expected %d' % (count, klass, path, items))
    return path.read_bytes()


def _engine(t, data, how, reason=None):
    """What the report in the file says."""
    said = re.findall(rb'hprofx: heap walk: (\w+), ', data)
    t.equal(set(said), {how.encode()}, 'engines of the report')
    why = re.findall(rb'hprofx: heap walk not forked: ([^\n\0]*)', data)
    t.check(bool(why) == (reason is not None) and all(reason.encode() in x for x in why), 'reasons of the report: %s, expected %r' % (why, reason))


# --- the child

LEFT_OUT = 'this dump has no heap; '
ROOM = 'free memory, raise the limit, or use heapdump=walk, which stops the program'


@test(collectors='any', level='plain', needs=('hotspot',))
def a_killed_child_costs_its_dump(t):
    """Memory ran out, most often: no walk follows in the same place, and the next dump is whole."""
    q = Program(t)
    child = q.held_child()
    q.step()  # the program goes on beside it
    os.kill(child, signal.SIGKILL)
    q.take('hold.spool')
    q.wait_said('heap dump:')
    t.equal(q.said('heap dump:'), ['hprofx: heap dump: the child was killed by signal 9, most often because memory ran out; ' + LEFT_OUT + ROOM], 'lines')
    q.step()
    q.ask()
    q.wait_dumps(1)
    q.end()
    data = _whole(t, t.work / NAME)
    t.equal(re.findall(rb'hprofx: heap walk: (\w+), ', data), [b'fork'], 'engines')
    t.equal(re.findall(rb'hprofx: heap: not in this dump: ([^\n\0]*)', data), [b'the child was killed by signal 9, most often because memory ran out'], 'reasons')
    t.equal(t.files(), [NAME], 'files')


@test(collectors='any', level='plain', needs=('hotspot',))
def a_crash_of_the_child_is_not_repeated_in_the_program(t):
    q = Program(t)
    os.kill(q.held_child(), signal.SIGSEGV)
    q.take('hold.spool')
    q.wait_said('heap dump:')
    line, = q.said('heap dump:')
    t.check(re.fullmatch(r'hprofx: heap dump: the child crashed \(signal 11 at address 0x[0-9a-f]+\); %sask again; vmstructs=n reads the heap in another way' % LEFT_OUT, line), line)
    q.step()
    q.ask()
    q.wait_dumps(1)
    q.end()
    _engine(t, _whole(t, t.work / NAME), 'fork')


@test(collectors='any', params=('return', 'request'), needs=('hotspot',))
def a_stopped_child_is_found(t, then):
    """After 20 s, which the agent's clock jumps over. The disk of the spool may stand still: no walk follows."""
    q = Program(t)
    child = q.held_child()
    os.kill(child, signal.SIGSTOP)
    q.take('hold.spool')
    until(q.run, lambda: ' T ' in pathlib.Path('/proc/%d/stat' % child).read_text())
    if then == 'return':
        q.ends()
        q.run.wait_line('ending')
    else:
        q.step()  # meanwhile the agent has seen the child's last CPU time; else the test lasts 20 s longer
    q.put('later')
    if then == 'request':
        q.wait_said('heap dump:')
        q.ask()
        q.wait_dumps(1)
        q.ends()
    q.finish()
    lines = ['hprofx: heap dump: the child made no progress and was killed; ' + LEFT_OUT + 'free memory or disk space and ask again']
    if then == 'return' and 'waited 30 s' in q.run.err:  # the clock jumps over that bound too, and who sees it first is chance
        lines = ['hprofx: heap dump: the program ended, and waited 30 s for the copy of the process that read the heap; ' + LEFT_OUT + 'let the program run longer after a request']
    t.equal(q.said('heap dump:'), lines, 'lines')
    if then == 'request':
        _whole(t, t.work / NAME)
    t.check('check the reader' not in q.run.err, 'the output is blamed: %s' % q.run.err)
    until(q.run, lambda: _gone(child))


@test(collectors=('Shenandoah',), since=11, params=('once', 'twice'), needs=('hotspot',))
def a_stopped_trace_of_a_moving_heap_is_tried_again_once(t, stops):
    """A copy may wait for a thread of the collector, which it does not have; or for the disk, as one that is stopped twice."""
    q = Program(t, more=',sites=none')
    first = q.held_child()
    _stop_for_long(q, first)
    second = q.held()
    t.check(second not in (first, q.run.pid), 'what waits is no second copy of the process')
    if stops == 'twice':
        _stop_for_long(q, second)
        q.wait_said('heap dump:')
        t.equal(q.said('heap dump:'), ['hprofx: heap dump: the child made no progress and was killed; ' + LEFT_OUT + 'free memory or disk space and ask again'], 'lines')
        q.ask()
        q.held()
    q.take('hold.spool')
    q.wait_dumps(1)
    q.end()
    data = _whole(t, t.work / NAME)
    t.equal(re.findall(rb'hprofx: heap walk: (\w+, \w+), ', data), [b'fork, traced'], 'engines of the report')
    t.check(b'not traced' not in data, 'a reason against a trace')


@test(collectors=('Serial', 'G1', 'Parallel'), level='plain', needs=('hotspot',))
def a_vm_that_visits_in_another_order_is_left_to_visit_all(t):
    """A class that has not told of its superclass before the trace meets it: the next copy has the VM visit all objects, and so have later dumps."""
    q = Program(t, opts=None, jvm=[t.agent('heap=dump,format=b,doe=n,maxpause=off,sites=none,split=y')], agent=agent(t, 'mislead'))
    q.ask()
    q.wait_dumps(1)
    q.step()
    q.ask()
    q.wait_dumps(2)
    q.end()
    t.equal(q.said('hprofx: heap dump:'), [], 'lines')
    for name in (NAME + '.1', NAME + '.2'):
        data = _whole(t, t.work / name)
        t.equal(re.findall(rb'hprofx: heap walk: (\w+), ([^\n]{7})', data), [(b'fork', b'program')], 'engines of ' + name)
        t.equal(re.findall(rb'hprofx: heap walk not traced: ([^\n\0]*)', data), [b'a trace cannot read this heap, or has no memory for it (slower)'], 'reasons of ' + name)


def _stop_for_long(q, child):
    """Until the agent, whose clock jumps over 20 s, has killed it."""
    os.kill(child, signal.SIGSTOP)
    until(q.run, lambda: ' T ' in pathlib.Path('/proc/%d/stat' % child).read_text())
    q.step()  # meanwhile the agent has seen the child's last CPU time; else the test lasts 20 s longer
    q.put('later')
    until(q.run, lambda: _gone(child))
    q.take('later')


def _gone(pid):
    try:
        return ') Z ' in pathlib.Path('/proc/%d/stat' % pid).read_text()
    except OSError:
        return True


@test(collectors='any', level='plain', needs=('hotspot',))
def the_program_sees_nothing_of_the_child(t):
    """It opens its port anew, wait() knows no child, no SIGCHLD arrives; the child holds the spool alone, which has no name and mode 0600."""
    q = Program(t, args=('natives',), native=True)
    q.step()
    before = _open_files(q.run.pid)
    child = q.held_child()
    q.step()
    mine = [fd for fd in pathlib.Path('/proc/%d/fd' % q.run.pid).iterdir() if re.search(re.escape(str(t.work)) + r'/.*\(deleted\)$', os.path.realpath(fd))]
    t.equal(len(mine), 1, 'files without a name')
    status = mine[0].stat()
    t.equal((stat.S_IMODE(status.st_mode), status.st_nlink), (0o600, 0), 'mode and links of the spool')
    try:
        files = _open_files(child)
        t.equal([f for f in files if f != 'pipe:'], [os.readlink(mine[0])], 'files of the child')
        t.equal(len(files), 2, 'and the pipe that tells its end: %s' % files)
    except PermissionError:
        pass  # another user's
    q.take('hold.spool')
    q.wait_dumps(1)
    q.step()
    t.equal(_children(q.run.pid), [], 'children after the dump')
    t.equal(_open_files(q.run.pid), before, 'open files after and before the dump')
    q.end()
    t.equal([ln for ln in q.run.out.splitlines() if ln.startswith('children ')], ['children 0'] * 3, 'what wait() and SIGCHLD told')
    _engine(t, _whole(t, t.work / NAME), 'fork')
    t.equal(t.files(), [NAME], 'files')


@test(collectors='any', needs=('hotspot',))
def the_program_is_killed_and_its_reader_gets_the_end(t):
    """The child, in the middle of its walk, goes with it and holds no pipe open."""
    folder = t.dir / 'heap'
    folder.mkdir()
    (folder / 'hold.spool').touch()
    java = t.command('HeapFaults', ITEMS, opts='heap=dump,format=b,doe=n')
    run = t.start_command(['sh', '-c', '"$@" | cat', 'sh'] + java, env={'HPX_HEAP': str(folder)} | preload(t, 'heapchild'))
    run.wait_line('ready')
    program, = [c for c in _children(run.pid) if 'java' in os.readlink('/proc/%d/exe' % c)]
    os.kill(program, signal.SIGQUIT)
    until(run, lambda: list(folder.glob('held.*')))
    child = int(next(folder.glob('held.*')).name.partition('.')[2])
    t.check(child != program, 'no child walks')
    os.kill(program, signal.SIGKILL)
    run.finish()  # which needs the end of the program's stdout
    until(run, lambda: _gone(child))
    t.equal([f for f in t.files() if not f.endswith('.part')], [], 'files')


@test(collectors='any', needs=('hotspot',))
def check_jni_has_nothing_to_say(t):
    for how in HOWS:
        q = Program(t, ',heapdump=%s' % how, jvm=['-Xcheck:jni'])
        q.step()
        begin = len(q.run.out)
        q.ask()
        q.wait_dumps(1)
        q.step()
        q.end()
        t.check('WARNING' not in q.run.out[begin:] and 'FATAL' not in q.run.out, q.run.out)
        t.check('FATAL' not in q.run.err, q.run.err)
        _engine(t, _whole(t, t.work / NAME), how)


# --- fork or walk

def _limit(version, line):
    """A group of 300 MiB, of which 299 are in use."""
    def put(q):
        base = 'root/sys/fs/cgroup' + ('/mine' if version == 2 else '/memory/mine')
        q.put('root/proc/self/cgroup', line)
        for name, number in (('memory.max', 300), ('memory.current', 299)) if version == 2 else (('memory.limit_in_bytes', 300), ('memory.usage_in_bytes', 299)):
            q.put(base + '/' + name, '%d\n' % (number << 20))
    return put


SHORT = {
    'cgroup2': (_limit(2, '0::/mine\n'), 'the cgroup limit memory.max leaves 1 MiB; a copy of the process needs about '),
    'cgroup1': (_limit(1, '5:cpu:/\n4:memory:/mine\n'), 'the cgroup limit memory.limit_in_bytes leaves 1 MiB; a copy of the process needs about '),
    'meminfo': (lambda q: q.put('root/proc/meminfo', 'MemAvailable: 1000 kB\n'), 'the machine leaves 0 MiB; a copy of the process needs about '),
}


@test(collectors='any', level='plain', params=sorted(SHORT), plain_params=('cgroup2',), needs=('hotspot',))
def without_memory_the_dump_is_left_out(t, what):
    """No walk follows in the same full group; with memory the next one is whole, and so is the one at the exit, which stops nobody."""
    before, reason = SHORT[what]
    q = Program(t, items=100000, opts='heap=dump,format=b,split=y', before=before)
    q.ask()
    q.wait_said('heap dump:')
    line, = q.said('heap dump:')
    t.check(line.startswith('hprofx: heap dump: ' + reason) and line.endswith(' MiB must stay free; ' + LEFT_OUT + ROOM), line)
    shutil.rmtree(q.folder / 'root')
    q.ask()
    q.wait_dumps(1)
    q.end()
    t.equal(len(q.said('heap dump')), 1, 'lines')
    _engine(t, _whole(t, t.work / (NAME + '.2'), items=100000), 'fork')
    _engine(t, _whole(t, t.work / NAME, items=100000), 'walk')


def _overcommit(q):
    q.put('root/proc/sys/vm/overcommit_memory', '2\n')


OVERCOMMIT = 'vm.overcommit_memory=2, so the program itself could be refused memory while the child lives'


@test(collectors='any', level='plain', needs=('hotspot',))
def a_fork_that_is_refused_becomes_a_walk(t):
    q = Program(t, before=_overcommit)
    q.ask()
    q.wait_dumps(1)
    q.end()
    t.equal(q.said('heap dump') + q.said('heapdump'), [], 'lines of auto, which may choose')
    _engine(t, _whole(t, t.work / NAME), 'walk', OVERCOMMIT)


@test(collectors='any', level='plain', params=HOWS)
def no_stop_is_longer_than_maxpause(t, how):
    """A dump on request that would stop the program longer is refused with the figure and the option; the one at the exit is not."""
    _needs_of(t, how)
    q = Program(t, items=100000, opts='heap=dump,format=b,split=y,maxpause=1ms,heapdump=' + how)
    q.ask()
    q.wait_said('heap dump:')
    q.step()
    q.end()
    what = {'fork': 'to copy the process', 'walk': 'to read the heap in the JVM'}[how]
    line, = q.said('heap dump:')
    t.check(re.fullmatch(r'hprofx: heap dump: %s would stop the program for about \d+ ms, and maxpause=1ms allows less; %smaxpause=\d+ms would allow it' % (what, LEFT_OUT), line), line)
    _engine(t, _whole(t, t.work / NAME, items=100000), how)
    allowed = Program(t, items=100000, opts='heap=dump,format=b,doe=n,file=again,heapdump=%s,%s' % (how, re.search(r'maxpause=\d+ms(?= would)', line)[0].replace('=', '=1')))
    allowed.ask()
    allowed.wait_dumps(1)
    allowed.end()
    _engine(t, _whole(t, t.work / 'again', items=100000), how)


@test(collectors='any', level='plain', needs=('hotspot',))
def heapdump_fork_says_that_it_walks(t):
    q = Program(t, ',heapdump=fork', before=_overcommit)
    q.ask()
    q.wait_dumps(1)
    q.end()
    t.equal(q.said('heapdump=fork'), ['hprofx: heapdump=fork: %s; the program stops while the heap is read' % OVERCOMMIT], 'lines')
    _engine(t, _whole(t, t.work / NAME), 'walk', OVERCOMMIT)


@test(collectors=('ZGC',), since=17, params=('auto', 'fork'), needs=('hotspot',))
def zgc_is_walked(t, how):
    if t.case.collector != 'ZGC':
        t.skip('of ZGC alone')
    q = Program(t, ',heapdump=' + how)
    q.ask()
    q.wait_dumps(1)
    q.end()
    t.equal(len(q.said('heapdump=fork: the heap is a shared mapping (ZGC); the program stops while the heap is read')), how == 'fork', 'lines (%s)' % q.run.err)
    _engine(t, _whole(t, t.work / NAME), 'walk', 'the heap is a shared mapping (ZGC)')


# --- the disk

@test(collectors='any', level='plain', params=HOWS)
def no_room_for_the_objects(t, how):
    """The dump is left out with a line; the next one is there."""
    _needs_of(t, how)
    q = Program(t, ',heapdump=' + how)
    q.put('full.spool')
    q.ask()
    q.wait_said('heap dump:')
    t.equal(q.said('heap dump:'), ['hprofx: heap dump: the disk is full, or cannot be written; this dump has no heap; free memory or disk space and ask again'], 'lines')
    q.step()
    q.take('full.spool')
    before = q.dumps()
    q.ask()
    q.wait_dumps(before + 1)
    q.end()
    t.equal(before, 0, '"done." of a dump without a heap')
    _engine(t, _whole(t, t.work / NAME), how)


@test(collectors='any', level='plain', params=('first', 'later', 'later, none copied', 'gz'))
def no_room_for_the_copy(t, which):
    """One line; NAME has whole dumps only, or is no file."""
    q = Program(t, {'gz': ',gz=y', 'later, none copied': ',sites=none'}.get(which, ''))
    n = 0
    if which != 'first':
        q.ask()
        q.wait_dumps(1)
        n = 1
        size = next(t.work.glob(NAME + '*')).stat().st_size
    q.put('full.output', '.' if which == 'gz' else '....')  # in the middle of the dump, which with gz=y is in few writes
    q.ask()
    q.wait_said('No space left on device')
    name = (NAME if n else NAME + '.part') + ('.gz' if which == 'gz' else '')
    t.equal(q.said('space'), ['hprofx: file=%s: No space left on device: the output ends after its last complete section; free some space or choose another file=' % name], 'lines')
    q.take('full.output')
    q.step()
    q.end()
    t.equal(q.dumps(), n, 'dumps')
    if n:
        t.equal(t.files(), [name], 'files')
        t.equal((t.work / name).stat().st_size, size, 'bytes of the file')
        t.read('check', '--strict', t.work / name)
    else:
        t.check(NAME not in t.files(), 'a file under its final name: %s' % t.files())


@test(collectors='any')
def with_split_the_next_file_has_room(t):
    q = Program(t, ',split=y')
    q.put('full.output')
    q.ask()
    until(q.run, lambda: q.said('file=%s.1.part: No space left on device: ' % NAME))  # the common file, which has threads, may have a line of its own
    q.step()
    q.take('full.output')
    q.ask()
    q.wait_dumps(1)
    q.end()
    t.check(NAME + '.1' not in t.files(), 'files: %s' % t.files())
    _whole(t, t.work / (NAME + '.2'))


@test(collectors='any', level='plain', params=HOWS)
def a_limit_of_the_file_size(t, how):
    _needs_of(t, how)
    q = Program(t, ',heapdump=' + how)
    limits = resource.prlimit(q.run.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(q.run.pid, resource.RLIMIT_FSIZE, (300000, limits[1]))
    q.ask()
    q.wait_said('the disk is full, or cannot be written')
    resource.prlimit(q.run.pid, resource.RLIMIT_FSIZE, limits)
    q.step()
    q.ask()
    q.wait_dumps(1)
    q.end()
    _engine(t, _whole(t, t.work / NAME), how)


@test(collectors='any')
def a_small_disk(t):
    """Room for the objects, not for the copy; then for neither."""
    if subprocess.run(['unshare', '-m', 'mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', str(t.work)], capture_output=True).returncode != 0:
        t.skip('no small file system can be mounted here')
    java = t.command('HeapFaults', 100000, opts='heap=dump,format=b')
    for size, line in (('14m', 'No space left on device'), ('1m', 'the disk is full, or cannot be written')):
        script = 'mount -t tmpfs -o size=%s none "$0" && cd "$0" && printf exit > end && "$@"; code=$?; ls "$0" >&2; exit $code' % size
        run = t.start_command(['unshare', '-m', 'sh', '-c', script, str(t.work)] + java).finish()
        t.equal((run.code, run.out), (6, 'ready\nending\n'), 'exit code, stdout')
        t.equal((run.err.count(line), run.err.count('done.')), (1, 0), 'lines (%s)' % run.err)
        t.check('java.hprof' not in run.err.splitlines() or 'cannot be written' in line, 'half a dump under its final name: %s' % run.err)


@test(collectors='any')
def a_symbolic_link_is_not_followed(t):
    (t.work / 'target').write_text('precious')
    for name in ('link', NAME + '.1', NAME + '.1.part'):
        (t.work / name).symlink_to('target')
    run = t.java('Hello', opts='heap=dump,format=b,file=link')
    t.equal((run.code, run.out, run.err), (1, '', "HPROF ERROR: can't create profile file: link\n"), 'a start with it')
    q = Program(t, ',split=y')
    for n in (1, 2):
        q.ask()
        q.wait_dumps(n)
    q.end()
    t.equal((t.work / 'target').read_text(), 'precious', 'target')
    t.equal(q.said('split=y'), ["hprofx: split=y: can't create profile file: %s.1; this dump goes to %s" % (NAME, NAME)], 'lines')
    _whole(t, t.work / NAME)
    _whole(t, t.work / (NAME + '.2'))


# --- requests

@test(collectors='any', level='plain', params=('one file', 'split', 'gz', 'split gz'), needs=('hotspot',))
def a_request_during_a_dump_has_its_own(t, files):
    split, gz = 'split' in files, 'gz' in files
    q = Program(t, (',split=y' if split else '') + (',gz=y' if gz else ''))
    q.held_child()
    q.ask()
    until(q.run, lambda: q.run.out.count('Full thread dump') == 2)  # the second has reached the VM
    q.take('hold.spool')
    q.wait_dumps(2)
    q.ask()
    q.wait_dumps(3)
    q.end()
    suffix = '.gz' if gz else ''
    said = q.said('second heap dump')
    if split:
        for n in (1, 2, 3):
            _whole(t, t.work / ('%s%s.%d' % (NAME, suffix, n)), 1)
        t.equal(said, [], 'lines about a second dump')
    else:
        _whole(t, t.work / (NAME + suffix), 3)
        t.equal(said, ['hprofx: the file has a second heap dump; many readers show only the first; use split=y for one file per dump'], 'lines')


@test(collectors='any', level='plain', params=('a', 'b'), needs=('hotspot',))
def a_peer_gets_every_dump(t, form):
    """By command, by SIGQUIT during it, and at the end."""
    peer = p.Peer(t)
    q = Program(t, opts='heap=dump,maxpause=off,format=%s,net=127.0.0.1:%d' % (form, peer.port))
    q.put('hold.spool')
    peer.send(p.command(p.HEAP))
    q.held()
    q.ask()
    until(q.run, lambda: q.run.out.count('Full thread dump') == 1)
    q.take('hold.spool')
    peer.wait_for(b'hprofx: version', 2)
    q.step()
    q.end()
    peer.wait_end()
    path = t.work / 'stream'
    path.write_bytes(peer.streams[0])
    _whole(t, path, dumps=3)
    t.equal((len(peer.streams), q.dumps(), 'not sent' in q.run.err), (1, 2, False), 'streams, dumps told of, a loss')


@test(collectors='any', params=('a', 'b'), needs=('hotspot',))
def a_peer_that_stops_reading(t, form):
    """The program goes on and ends in time; what is missing is counted; what came is sound up to there."""
    over = []

    def stall(peer, c, n):
        peer.add(n, c.recv(100))
        with peer.changed:
            peer.changed.wait_for(lambda: over, t.case.timeout)
        while data := c.recv(1 << 20):
            peer.add(n, data)
    peer = p.Peer(t, stall, buffer=4096)
    q = Program(t, items=200000, opts='heap=dump,maxpause=off,doe=n,format=%s,net=127.0.0.1:%d' % (form, peer.port))
    peer.wait_streams(1)
    q.ask()
    until(q.run, lambda: 'incomplete: net=' in q.run.err)
    q.step()
    q.end()
    with peer.changed:
        over.append(True)
        peer.changed.notify_all()
    peer.wait_end()
    path = t.work / 'stream'
    path.write_bytes(peer.streams[0])
    t.read('check', '--part', path)
    t.check('bytes not sent: ' in q.run.err or 'bytes) dropped: ' in q.run.err, q.run.err)


# --- the end

@test(collectors='any', level='plain', params=[(end, how) for end in sorted(ENDS) + ['SIGTERM'] for how in HOWS], plain_params=[('exit', 'fork'), ('SIGTERM', 'walk')])
def an_end_during_a_dump(t, what):
    """The dump that was asked for, and the one at exit, are whole."""
    end, how = what
    _needs_of(t, how)
    for doe in 'ny':
        q = Program(t, ',heapdump=' + how, opts='heap=dump,format=b,maxpause=off,doe=' + doe)
        place = 'hold.spool' if how == 'fork' else 'hold.output'
        q.put(place)
        q.ask()
        q.held()
        if end == 'SIGTERM':
            q.run.signal(signal.SIGTERM)
        else:
            q.ends(end)
            q.run.wait_line('ending')
        q.take(place)
        q.finish(ENDS.get(end, 143))
        t.equal(q.dumps(), 1 + (doe == 'y'), 'dumps (%s)' % q.run.err)
        _engine_of_first(t, _whole(t, t.work / NAME, dumps=1 + (doe == 'y')), how)
        t.equal(t.files(), [NAME], 'files')
        (t.work / NAME).unlink()


@test(collectors='any', level='plain', params=('dump', 'dump,monitor=y'), needs=('hotspot',))
def requests_that_wait_at_the_end_have_their_rows(t, modes):
    """Behind the dump during which the program ends; none at exit."""
    q = Program(t, opts='heap=%s,format=%s,maxpause=off,doe=n' % (modes, 'a' if 'monitor' in modes else 'b'))
    q.held_child()
    for n in (2, 3, 4):
        q.ask()
        until(q.run, lambda: q.run.out.count('Full thread dump') == n)
    q.ends()
    q.wait_said('the program ends after the heap dump that was asked for')
    q.take('hold.spool')
    q.finish()
    dumps = len(re.findall('^Dumping .*Java heap ... done.$', q.run.err, re.M))
    t.check(dumps in (3, 4), '%d dumps' % dumps)  # the VM has asked for the third before it printed the fourth; for that one it may be too late
    t.equal(q.said('heap dump: '), [], 'lines about a dump')
    if 'monitor' in modes:
        path = t.work / (NAME + '.txt')
        text = path.read_text()
        t.equal((t.heap(path)[0], text.count('MONITOR DUMP END'), text.count('the JVM was not asked in time')), (dumps, dumps, 0), 'heap dumps, monitor dumps, those without rows')
    else:
        _whole(t, t.work / NAME, dumps=dumps)


def _engine_of_first(t, data, how):
    t.equal(re.findall(rb'hprofx: heap walk: (\w+), ', data)[:1], [how.encode()], 'engine of the first dump')


@test(collectors='any', needs=('hotspot',))
def as_process_1(t):
    if subprocess.run(['unshare', '--pid', '--fork', '--mount-proc', 'true'], capture_output=True).returncode != 0:
        t.skip('no PID namespace can be made here')
    run = t.start_command(['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'] + t.command('HeapFaults', ITEMS, opts='heap=dump,format=b,doe=n'))
    run.wait_line('ready')
    program, = _children(run.pid)
    os.kill(program, signal.SIGQUIT)
    until(run, lambda: DONE in run.err)
    (t.work / 'end').write_text('exit')
    run.finish()
    t.equal(run.code, 6, 'exit code')
    _engine(t, _whole(t, t.work / NAME), 'fork')


# --- OutOfMemoryError

@test(collectors='any', level='plain', params=[(how, doe) for how in HOWS for doe in 'ny'], plain_params=[('fork', 'n')])
def the_first_out_of_memory_error_has_a_dump(t, what):
    """With the objects that filled the heap; the program catches it and goes on; a second one has none."""
    how, doe = what
    _needs_of(t, how)
    run = t.java('HeapOom', 2, opts='heap=dump,format=b,heapdump=%s+oom,split=y,doe=%s' % (how, doe), jvm=['-Xmx64m'])
    t.equal((run.code, run.out.splitlines()[-1]), (0, 'done'), 'exit code (%s), last line' % run.err)
    t.equal((run.err.splitlines().count('OutOfMemoryError: dumping the Java heap ...'), run.err.splitlines().count(DONE)), (1, 1 + (doe == 'y')), 'lines: %s' % run.err)
    first = int(re.findall(r'^blocks (\d+)$', run.out, re.M)[0])
    path = t.work / (NAME + '.1')
    _engine(t, path.read_bytes(), how)
    t.read('check', '--strict', path)
    count = t.heap(path)[1]['HeapOom$Block'][0]
    t.check(count in (first, first + 1), '%d blocks in the dump, %d filled the heap' % (count, first))  # the last one may have no data


@test(collectors='any', level='plain', params=HOWS, plain_params=('fork',))
def an_error_that_ends_the_program_has_its_dump(t, how):
    """Without memory the VM ends without VMDeath: the thread that has the error waits for the dump."""
    _needs_of(t, how)
    run = t.java('HeapOom', 0, opts='heap=dump,format=b,heapdump=%s+oom,split=y,doe=n' % how, jvm=['-Xmx64m'])
    t.equal((run.code, run.err.splitlines().count(DONE)), (1, 1), 'exit code, dumps (%s)' % run.err)
    _engine(t, (t.work / (NAME + '.1')).read_bytes(), how)
    t.read('check', '--strict', t.work / (NAME + '.1'))


# --- much

BIG = {'much': (640, 1 << 20, 0), 'long': (1, 600000000, 1)}  # arrays, their elements, how many of them are cut


@test(level='long', params=sorted(BIG), collectors=('Parallel',), timeout=900, needs=('hotspot',))
def five_gigabytes(t, what):
    """In many arrays, or in one that no record can hold, which is cut."""
    number, length, cut = BIG[what]
    memory = int(re.search(r'^MemAvailable: +(\d+)', pathlib.Path('/proc/meminfo').read_text(), re.M).group(1)) >> 20
    room = shutil.disk_usage(t.work).free >> 30
    if memory < 9 or room < 16:
        t.skip('needs 9 GiB of memory and 16 GiB of disk, here are %d and %d' % (memory, room))
    run = t.java('HeapBig', number, length, opts='heap=dump,format=b', jvm=['-Xms7g', '-Xmx7g', '-Xmn256m'])
    t.equal((run.code, run.out), (0, 'kept\n'), 'exit code (%s), stdout' % run.err)
    t.equal(run.err.count('hprofx: heap dump: 1 arrays of 4 GiB or more are cut: a record of the format cannot hold them'), cut, 'lines (%s)' % run.err)
    path = t.work / NAME
    t.read('check', '--strict', path)
    size = t.heap(path)[1]['long[]'][1]
    t.check(size >= (4 << 30) - 100 if cut else size >= number * length * 8, '%d bytes of long[] in the dump' % size)
    t.check(path.stat().st_size > size, 'bytes of the file')
    path.unlink()


@test(level='plain', collectors='any', since=9, needs=('hotspot',))
def the_log_of_the_vm_is_no_wait(t):
    """It takes a semaphore for every line, also at the end of the safepoint, which a child takes for the end of the walk."""
    run = t.start('Steps', opts='heap=dump,format=b,doe=n,sites=none,heapdump=fork', jvm=['-Xlog:safepoint:file=log'])
    run.wait_line('ready')
    t.check(ask(run, DONE), 'the program has ended')
    stop_steps(run)
    t.equal((run.code, [ln for ln in run.err.splitlines() if 'heap dump:' in ln]), (0, []), 'exit code, lines about the dump')
    t.read('check', t.work / NAME)
