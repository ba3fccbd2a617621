# SPDX-License-Identifier: BSD-2-Clause
"""net=: what a peer gets and what it may do. Each stream must pass hprofx check; no peer blocks or ends the program."""
import random
import re
import signal
import socket
import struct

import hprof_binary
import peer as p
from golden import compared
from harness import DONE
from peer import Peer
from runner import test
from waiting import step, stop_steps, until

BOTH = ('a', 'b')
OPTIONS = 'cpu=samples,interval=1,cutoff=0,net=127.0.0.1:%d'
HEAD = 31  # bytes of the binary header
END = {'a': b'CPU SAMPLES END\n', 'b': b'hprofx: version'}  # behind each table


def _check(t, stream, form, name='stream', part=True):
    """The notes that --check has. part: a stream that may end early is sound up to there."""
    path = t.work / ('%s.%s' % (name, {'a': 'txt', 'b': 'hprof'}[form]))
    path.write_bytes(bytes(stream))
    return t.read('check', *(['--part'] if part else []), path)


def _check_all(t, peer, form):
    for i, s in enumerate(peer.streams):
        if b'\n--------\n\n' in s if form == 'a' else len(s) >= HEAD:
            _check(t, s, form, 'stream%d' % i)


class Steps:
    """The program that works in steps, under a peer."""

    def __init__(self, t, form='a', more='', **kw):
        self.t, self.form, self.n = t, form, 0
        self.peer = kw.pop('peer', None) or Peer(t)
        program = kw.pop('program', ('Steps',))
        self.run = t.start(*program, opts=OPTIONS % self.peer.port + ',format=' + form + more, **kw)
        self.run.wait_line('ready')

    def step(self):
        self.n += 1
        step(self.run, self.n)

    def stop(self, code=0):
        stop_steps(self.run)
        self.t.equal((self.run.code, self.run.out.splitlines()), (code, ['ready', 'done %d' % (100 * self.n)]), 'exit code, stdout')
        self.peer.wait_end()
        _check_all(self.t, self.peer, self.form)
        return self.peer.streams


def _totals(stream):
    return [int(x) for x in re.findall(rb'CPU SAMPLES BEGIN \(total = (\d+)\)', stream)]


@test(level='plain', params=BOTH)
def a_stream_is_a_file(t, form):
    """All that the file would have, over the socket."""
    peer = Peer(t)
    run = t.java('HotSplit', 150, opts=OPTIONS % peer.port + ',format=' + form)
    t.complete(run, stdout='done true\n')
    peer.wait_end()
    t.equal((len(peer.streams), t.files()), (1, []), 'streams, files')
    notes = _check(t, peer.streams[0], form, part=False)
    t.check('note' not in notes, 'notes: %s' % notes)
    if form == 'a':
        path = t.work / 'stream.txt'
        path.chmod(0o600)
        t.check(t.parse(path).share('HotSplit.hotA') > 0.4, 'share of hotA')


@test(level='plain', params=BOTH)
def every_command(t, form):
    s = Steps(t, form, more=',allow-exit=n')
    s.step()
    s.peer.send(p.samples(serial=1))
    s.peer.wait_for(END[form], 1)
    s.peer.send(p.samples(serial=2))  # costs are not reset
    s.peer.wait_for(END[form], 2)
    s.peer.send(p.command(p.TRACES) + p.command(p.GC) + p.samples(serial=3))
    s.peer.wait_for(END[form], 3)
    # what this version or mode lacks: one line each
    s.peer.send(p.command(p.HEAP, serial=11) + p.command(p.SITES, struct.pack('>Hf', 0, 0), serial=12) + p.command(p.SUMMARY, serial=13) +
                p.command(p.EXIT, serial=14) + p.control(1, serial=15) + p.control(2, serial=16) + p.control(6, serial=17))
    s.peer.send(p.control(5) + p.samples(serial=4))
    s.peer.wait_for(END[form], 4)
    s.peer.send(p.control(4, struct.pack('>I', 0)) + p.control(5))  # nothing is sampled
    s.peer.send(p.samples(serial=5))
    s.peer.wait_for(END[form], 5)
    s.step()
    s.peer.send(p.samples(serial=6))
    s.peer.wait_for(END[form], 6)
    s.peer.send(p.control(3, struct.pack('>I', 0)) + p.control(6, struct.pack('>H', 3)) + p.control(3, struct.pack('>I', 0x5fffffff), serial=18) + p.samples(serial=7))
    s.peer.wait_for(END[form], 7)
    s.step()
    stream, = s.stop()
    t.equal(s.run.err.splitlines().count(DONE), 1, 'lines of a dump')
    for serial in range(11, 19):
        t.equal(len(re.findall(r'^hprofx: net=.*serial %d:' % serial, s.run.err, re.M)), 1, 'lines about command %d: %s' % (serial, s.run.err))
    if form == 'a':
        one, two, three, cleared, off, still, on, end = _totals(stream)
        t.check(0 < one <= two <= three and cleared < one / 2 and off <= 2 and still <= off + 2 and end > on, 'totals %s' % _totals(stream))
        text = stream.decode()
        depths = [len(x.split('\n')) - 1 for x in re.findall(r'TRACE \d+:\n((?:\t.*\n)+)', text[text.rindex('CPU SAMPLES END'):])]
        t.check(not depths or max(depths) <= 3, 'depth of traces behind CONTROL 6: %s' % depths)


def _every_total(t, stream, form):
    """Behind _check_all()."""
    return _totals(stream) if form == 'a' else [d.total for d in hprof_binary.read(t.work / 'stream0.hprof').tables]


@test(level='plain', params=BOTH)
def one_thread_by_its_identifier(t, form):
    """CONTROL 4 and 3 with the big-endian number of main, in each size."""
    s = Steps(t, form)
    s.peer.wait_for(b'main')
    main = struct.pack('>I' if form == 'a' else '>Q', 0x50000001)
    s.step()
    s.peer.send(p.samples())
    s.peer.wait_for(END[form], 1)
    for n, sub in ((2, 4), (3, 3)):
        s.peer.send(p.control(sub, main) + p.control(5) + p.samples())
        s.peer.wait_for(END[form], 2 * n - 2)
        s.step()
        s.peer.send(p.samples())
        s.peer.wait_for(END[form], 2 * n - 1)
    stream, = s.stop()
    on, _, off, _, again, _ = _every_total(t, stream, form)
    t.check(on > 20 and off < on / 4 and again > 20, 'samples of a step: %d, %d without main, %d again' % (on, off, again))


@test(level='plain', params=BOTH)
def sigquit_goes_to_the_peer(t, form):
    """As to a file: told of, and the counts begin at 0 again."""
    s = Steps(t, form)
    s.step()
    s.run.signal(signal.SIGQUIT)
    s.peer.wait_for(END[form], 1)
    s.peer.send(p.samples())
    s.peer.wait_for(END[form], 2)
    stop_steps(s.run)
    t.equal((s.run.code, s.run.out.splitlines()[-1], s.run.out.count('Full thread dump')), (0, 'done 100', 1), 'exit code, last line, thread dumps of the VM')
    s.peer.wait_end()
    _check_all(t, s.peer, form)
    asked, behind, _ = _every_total(t, s.peer.streams[0], form)
    t.check(asked > 20 and behind < asked / 4, 'samples: %d at the request, %d behind it' % (asked, behind))
    t.equal(s.run.err.splitlines().count(DONE), 2, 'lines of a dump')


@test(level='plain', params=BOTH)
def exit_the_vm(t, form):
    s = Steps(t, form, more=',allow-exit=y')
    s.step()
    s.peer.send(p.command(p.EXIT))
    s.run.finish()
    t.equal((s.run.code, s.run.out), (0, 'ready\n'), 'exit code, stdout')
    s.peer.wait_end()
    _check_all(t, s.peer, form)
    t.check('HPROF: received exit event, exiting ...' in s.run.err.splitlines() and DONE in s.run.err.splitlines(), 'stderr %r' % s.run.err)
    t.check(END[form] in s.peer.streams[0], 'the last dump')


@test(level='plain', params=BOTH)
def malformed_commands(t, form):
    """Each is skipped whole; the next good one is carried out."""
    s = Steps(t, form)
    s.step()
    s.peer.send(p.command(0x55, b'x' * 40) + p.command(0) + p.command(p.SAMPLES, b'\0') + p.control(99) + p.command(p.CONTROL) + p.control(7, b'\1') +
                p.command(p.TRACES, p.command(p.EXIT)) + p.control(7, struct.pack('>H', 60000)) + p.control(7, struct.pack('>H', 50000)))
    for byte in p.samples():  # in pieces
        s.peer.send(bytes([byte]))
    s.peer.wait_for(END[form], 1)
    s.peer.send(p.command(p.EOF)[:1] + p.samples())
    s.step()
    s.stop()
    t.equal(s.run.err.count('ignored:'), 6, 'lines: %s' % s.run.err)
    t.equal(s.run.err.count('a peer asks for a depth above 2048; using 2048'), 1, 'lines about the depth')
    t.equal(s.run.err.count('depth 0 stops sampling'), 0, 'lines about a depth of 0')
    t.equal(bytes(s.peer.streams[0]).count(END[form]), 2, 'dumps: what is behind EOF is not read')


@test(level='plain')
def a_depth_of_0_ends_sampling_until_it_is_set(t):
    s = Steps(t)
    s.peer.send(p.control(7, struct.pack('>H', 0), serial=21) + p.control(5) + p.samples())
    s.peer.wait_for(END['a'], 1)
    s.step()
    s.peer.send(p.samples() + p.control(6, struct.pack('>H', 5)))
    s.peer.wait_for(END['a'], 2)
    s.step()
    stream, = s.stop()
    begun, none, some = _totals(stream)
    t.check(none <= begun + 2 and some > 20, 'samples: %s' % _totals(stream))
    t.equal(s.run.err.count('serial 21: depth 0 stops sampling until a command sets another depth'), 1, 'lines: %s' % s.run.err)


@test(level='plain', params=[(f, how) for f in BOTH for how in ('length', 'garbage')], plain_params=[('a', 'garbage'), ('b', 'length')])
def a_broken_command_ends_the_commands_and_not_the_output(t, param):
    form, how = param
    s = Steps(t, form)
    s.step()
    s.peer.send(p.samples())
    s.peer.wait_for(END[form], 1)
    s.peer.send((p.command(p.SAMPLES, length=65537) if how == 'length' else b'\x07' + b'\xff' * 8 + random.Random(6).randbytes(300)) + p.samples() * 20)
    s.step()
    stream, = s.stop()
    t.equal(len(_every_total(t, stream, form)), 2, 'tables: the one asked for before, and that of the end')
    t.equal(len(re.findall(r'^hprofx: net=.*: tag 7, .*; no further command is read from this connection; the output continues$', s.run.err, re.M)), 1, 'lines: %s' % s.run.err)
    t.check('connection lost' not in s.run.err, s.run.err)


@test(params=[(f, n) for f in BOTH for n in ('close', 'reset')], timeout=120)
def a_peer_that_comes_and_goes(t, param):
    form, how = param
    total = 1000 if t.level == 'long' else 12
    dice = random.Random(total)

    def rude(peer, c, n):
        left = dice.randrange(1, 8000 if total > 100 else 30000) if n < total else 1 << 60
        # Half a command may have ended the reading of commands: then nothing more comes, and what is sent stays in the kernel.
        c.settimeout(0.5 if n < total else None)
        while left > 0:
            try:
                data = c.recv(min(left, 65536))
            except TimeoutError:
                break
            if not data:
                break
            peer.add(n, data)
            left -= len(data)
            if n < total and left > 0 and n % 3 == 0:
                c.sendall(p.samples() + p.command(p.TRACES)[:dice.randrange(9)])
        if how == 'reset' and n < total:
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        c.close()
    if t.level == 'long':
        t.allow(600)
    s = Steps(t, form, more=',thread=y', peer=Peer(t, rude), program=('LongSteps', 600))
    s.step()
    while len(s.peer.streams) <= total:
        try:
            s.peer.send(p.samples() * 50)  # half a command before them says that up to 64 KiB follow
        except OSError:
            pass
        with s.peer.changed:
            s.peer.changed.wait(0.01)
        t.within_time(s.run)
        t.check(s.run.process.poll() is None, 'the program ended')
    s.peer.wait(lambda: b'JAVA PROFILE' in s.peer.streams[-1], 'header')
    s.step()
    s.peer.send(p.samples())
    s.peer.wait_for(END[form], 1)
    s.stop()
    t.equal(s.run.err.count('connection lost'), 1, 'lines about it')


@test(params=BOTH, timeout=120)
def a_peer_that_stalls(t, form):
    """It sends and never reads: the program goes on and ends in time; what was dropped is said."""
    def stall(peer, c, n):
        peer.add(n, c.recv(100))
        with peer.changed:
            peer.changed.wait_for(lambda: peer.test.over, t.case.timeout)
        while True:
            data = c.recv(1 << 20)
            if not data:
                return
            peer.add(n, data)
    t.over = False
    peer = Peer(t, stall, buffer=4096)
    run = t.start('ShortThreads', 6000, 0, 'n' * 2000, opts=OPTIONS % peer.port + ',format=' + form)  # more than the queue holds
    peer.wait_streams(1)
    for _ in range(200):
        peer.send(p.samples() + p.command(p.TRACES))
        if run.process.poll() is not None:
            break
    run.finish()
    with peer.changed:
        t.over = True
        peer.changed.notify_all()
    t.equal((run.code, run.out.startswith('cpu ')), (0, True), 'exit code, stdout')
    peer.wait_end()
    _check_all(t, peer, form)
    t.check('bytes not sent: ' in run.err or 'bytes) dropped: ' in run.err, run.err)


@test(params=('samples', 'exit'), timeout=120)
def a_table_larger_than_the_queue(t, how):
    """100,000 rows to a peer that reads: all of them, by a command and at the end."""
    peer = Peer(t)
    opts = 'cpu=times,include=TreeNode*,depth=8,cutoff=0,doe=%s,net=127.0.0.1:%d' % ('y' if how == 'exit' else 'n', peer.port)
    run = t.start('Tree', 5, opts=opts)
    run.wait_line('ready')
    if how == 'samples':
        peer.send(p.samples())
        peer.wait_for(b'hprofx: version', 1)
    stop_steps(run)
    peer.wait_end()
    t.equal((run.code, run.out), (0, 'leaves 100000\nready\n'), 'exit code, stdout')
    stream = bytes(peer.streams[0])
    notes = _check(t, stream, 'a', part=False)
    table = stream[stream.index(b'CPU TIME (ms) BEGIN'):]
    t.equal((stream.count(b'\nTRACE '), len(re.findall(rb'^ *\d+ +\S+% +\S+% +\d+ +\d+ TreeNode\w+\.[a-j]$', table, re.M)), 'note' in notes), (111110, 111110, False),
            'traces, rows, notes: %s' % notes)
    t.check(len(table) > 8 << 20, 'the table has only %d bytes' % len(table))
    done = 'Dumping CPU usage by timing methods ... done.'
    t.equal((run.err.splitlines().count(done), 'dropped' in run.err), (how == 'exit', False), 'lines of a dump, and of losses: %s' % run.err)


@test(params=('thread=n', 'thread=y'))
def a_second_stream_announces_its_classes(t, more):
    """What its traces use was defined in the first stream, and is again."""
    s = Steps(t, 'b', more=',doe=n,' + more)
    s.step()
    s.peer.send(p.samples())
    s.peer.wait_for(END['b'], 1)
    s.peer.connections[0].shutdown(socket.SHUT_RDWR)
    s.peer.wait_streams(2)
    s.peer.send(p.samples())
    s.peer.wait_for(END['b'], 1, stream=1)
    s.stop()
    first, second = (t.binary(t.work / ('stream%d.hprof' % n)) for n in (0, 1))  # with --strict
    t.equal([len(x.tables) for x in (first, second)], [1, 1], 'tables')
    t.equal(second.tables[0][1][0], first.tables[0][1][0], 'the first row')
    t.equal([[f.method for f in x.traces[x.tables[0][1][0][1]][1][:2]] for x in (first, second)], [['Steps.work', 'Steps.step']] * 2, 'its stack')


@test(level='plain')
def nobody_listens(t):
    free = socket.socket()
    free.bind(('127.0.0.1', 0))
    port = free.getsockname()[1]
    run = t.java('Hello', opts=OPTIONS % port)
    t.equal((run.code, run.out, run.err.splitlines()[-1]), (1, '', "HPROF ERROR: can't connect to 127.0.0.1:%d" % port), 'end')
    run = t.start('Steps', opts=OPTIONS % port + ',net-wait=y')
    run.wait_line('ready')
    free.close()
    peer = Peer(t, port=port)
    peer.wait_for(b'JAVA PROFILE')
    stop_steps(run)
    t.equal((run.code, run.out), (0, 'ready\ndone 0\n'), 'end')
    peer.wait_end()
    _check_all(t, peer, 'a')
    t.equal(run.err.count('cannot connect yet'), 1, 'lines')


@test(level='plain')
def nobody_ever_listens(t):
    free = socket.socket()
    free.bind(('127.0.0.1', 0))
    run = t.java('HotSplit', 20, opts=OPTIONS % free.getsockname()[1] + ',net-wait=y')
    t.equal((run.code, run.out), (0, 'done true\n'), 'end')
    t.check('dropped while disconnected' in run.err, run.err)
    told = re.findall(r'^Dumping CPU usage by sampling running threads \.\.\. (.*)$', run.err, re.M)
    t.check(len(told) == 1 and re.fullmatch(r'incomplete: net=127\.0\.0\.1:\d+: [1-9]\d* of its records were not sent\.', told[0]), 'lines of a dump: %s' % told)


@test(level='plain', params=('times', 'old'))
def exact_calls(t, mode):
    """07 over exact calls: CPU TIME, not reset."""
    peer = Peer(t)
    run = t.start('Steps', opts='cpu=%s,cutoff=0,net=127.0.0.1:%d' % (mode, peer.port))
    run.wait_line('ready')
    for n in (1, 2):
        step(run, n)
        peer.send(p.samples())
        peer.wait_for(b'hprofx: version', n)
    stop_steps(run)
    t.equal(run.code, 0, 'exit code')
    peer.wait_end()
    text = bytes(peer.streams[0]).decode()
    if mode == 'times':
        _check_all(t, peer, 'a')
        counts = [int(x) for x in re.findall(r'^ *\d+ +\S+% +\S+% +(\d+) +\d+ Steps\.step$', text, re.M)]
        t.equal(counts, [1, 2, 2], 'calls of Steps.step by table')


@test(level='plain')
def a_child_of_fork_keeps_nothing(t):
    """Nor does it write into the stream."""
    peer = Peer(t)
    run = t.java('Forks', 5, 0, opts=OPTIONS % peer.port, native=True)
    t.equal((run.code, run.out), (0, 'forked 5\n'), 'end')
    t.check('socket:' not in (t.work / 'child.txt').read_text(), 'the child holds a socket')
    peer.wait_end()
    _check_all(t, peer, 'a')


# case: what is sent, lines that ours has on stderr, tables in all
GOLDEN = {
    'net-eof': ([p.samples(0.5), b'\xff' + p.samples(0.5)], [], 2),
    'net-exit': ([p.command(p.EXIT)], ['it needs the option allow-exit=y'], 1),
    'net-unknown': ([p.command(0x55)], ['unknown tag'], 1),
    'net-surplus': ([p.command(p.TRACES, p.command(p.GC)) + p.samples(0.5)], [], 2),
    'net-manual-depth': ([p.control(6, struct.pack('>H', 3)) + p.samples(0.5)], [], 2),
}


@test(level='plain', params=compared(GOLDEN))
def golden(t, name):
    """What the original was sent, of which the file is in tests/read/golden, and ours: one dump told of, the lines above, exit code 0, a table for each command that asks for one."""
    sent, lines, tables = GOLDEN[name]
    peer = Peer(t)
    run = t.start('Steps', opts='cpu=samples,net=127.0.0.1:%d' % peer.port)
    run.wait_line('ready')
    step(run, 1)
    for data in sent:
        peer.send(data)
        if data is sent[0] and tables == 2:
            peer.wait_for(END['a'], 1)
    for line in lines:
        until(run, lambda line=line: line in run.err)
    stop_steps(run)
    t.equal((run.code, run.out), (0, 'ready\ndone 100\n'), 'exit code, stdout')
    t.equal(run.err.splitlines().count(DONE), 1, 'dumps that are told of')
    peer.wait_end()
    _check_all(t, peer, 'a')
    text = bytes(peer.streams[0]).decode()
    found = [m.group(1) for m in re.finditer(r'^ +1 +\S+% +\S+% +\d+ +\d+ (\S+)$', text, re.M)]
    t.equal(found, ['Steps.work'] * tables, 'first rows')
    totals = _totals(text.encode())
    t.check(totals == sorted(totals), 'totals %s: a command does not reset' % totals)
