# SPDX-License-Identifier: BSD-2-Clause
"""Small HPROF files for the tests of the reader, record by record, so that a test can change one and knows where it stands.

A file is a Pieces: named byte strings in order. binary() and text() are files that pass --check --strict."""
import struct

DATE = 'Sat Nov 21 01:52:23 2026'


class Pieces:
    def __init__(self, pieces):
        self.pieces = list(pieces)

    def data(self):
        return b''.join(p for _, p in self.pieces)

    def _index(self, name):
        return next(i for i, (n, _) in enumerate(self.pieces) if n == name)

    def offset(self, name):
        return sum(len(p) for _, p in self.pieces[:self._index(name)])

    def line(self, name):
        return self.data()[:self.offset(name)].count(b'\n') + 1

    def get(self, name):
        return self.pieces[self._index(name)][1]

    def put(self, name, piece):
        self.pieces[self._index(name)] = (name, piece)
        return self

    def before(self, name, new, piece):
        self.pieces.insert(self._index(name), (new, piece))
        return self

    def drop(self, name):
        del self.pieces[self._index(name)]
        return self

    def move(self, name, before):
        piece = self.get(name)
        return self.drop(name).before(before, name, piece)

    def starts(self):
        """Offset of each piece, and of the end."""
        found, at = [], 0
        for _, p in self.pieces:
            found.append(at)
            at += len(p)
        return found + [at]


class Format:
    """Records of a binary file with identifiers of `size` bytes."""

    def __init__(self, size):
        self.size = size

    def id(self, v):
        return struct.pack('>I' if self.size == 4 else '>Q', v)

    @staticmethod
    def record(tag, body, us=0, length=None):
        return struct.pack('>BII', tag, us & 0xffffffff, len(body) if length is None else length) + body

    def string(self, i, text, **how):
        return self.record(1, self.id(i) + (text if isinstance(text, bytes) else text.encode()), **how)

    def load(self, serial, i, trace, name):
        return self.record(2, struct.pack('>I', serial) + self.id(i) + struct.pack('>I', trace) + self.id(name))

    def frame(self, i, method, signature, source, serial, line):
        return self.record(4, self.id(i) + self.id(method) + self.id(signature) + self.id(source) + struct.pack('>Ii', serial, line))

    def trace(self, serial, thread, *frames, count=None):
        return self.record(5, struct.pack('>III', serial, thread, len(frames) if count is None else count) + b''.join(map(self.id, frames)))

    def start(self, serial, i, trace, name, group, parent):
        return self.record(0x0a, struct.pack('>I', serial) + self.id(i) + struct.pack('>I', trace) + self.id(name) + self.id(group) + self.id(parent))

    def sites(self, *rows, flags=0, cutoff=0.0001, total=None, count=None):
        head = struct.pack('>HfIIQQI', flags, cutoff, sum(r[3] for r in rows) if total is None else total, 3, 1000, 10, len(rows) if count is None else count)
        return self.record(6, head + b''.join(struct.pack('>BIIIIII', *r) for r in rows))

    def samples(self, total, *rows, count=None):
        return self.record(0x0d, struct.pack('>II', total, len(rows) if count is None else count) + b''.join(struct.pack('>II', *r) for r in rows))

    def class_dump(self, i, trace, above, size, constants=b'\0\0', statics=b'\0\0', fields=(), others=(0, 0, 0)):
        """others: loader, signers, domain."""
        body = self.id(i) + struct.pack('>I', trace) + self.id(above) + b''.join(map(self.id, others)) + self.id(0) * 2 + struct.pack('>I', size) + constants + statics
        return b'\x20' + body + struct.pack('>H', len(fields)) + b''.join(self.id(name) + bytes([kind]) for name, kind in fields)

    def instance(self, i, trace, of, data, length=None):
        return b'\x21' + self.id(i) + struct.pack('>I', trace) + self.id(of) + struct.pack('>I', len(data) if length is None else length) + data

    def objects(self, i, trace, of, *elements, count=None):
        return b'\x22' + self.id(i) + struct.pack('>II', trace, len(elements) if count is None else count) + self.id(of) + b''.join(map(self.id, elements))

    @staticmethod
    def values(n):
        return b'\x23', n

    def primitives(self, i, trace, kind, data, count):
        return b'\x23' + self.id(i) + struct.pack('>IIB', trace, count, kind) + data


def names(f):
    words = ['java.lang.Object', 'A', 'B', 'int[]', 'A[]', 'main', '()V', 'A.java', 'x', 'next', 'system', 'später']
    return [('name %s' % w, f.string(100 + i, w)) for i, w in enumerate(words)]


OBJECT, A, B, INTS, AS, MAIN, SIGNATURE, SOURCE, X, NEXT, SYSTEM, LATER = range(100, 112)


def heap_pieces(f):
    """Two segments: roots and classes; objects. Object: no field; A: x (int), next; B extends A: x (long)."""
    a, b = 4 + f.size, 12 + f.size
    constant = struct.pack('>HHB', 1, 7, 2) + f.id(0x52)
    static = struct.pack('>H', 2) + f.id(X) + b'\x0a' + struct.pack('>i', 42) + f.id(NEXT) + b'\2' + f.id(0x65)
    first = [('root thread', b'\x08' + f.id(0x61) + struct.pack('>II', 200001, 300001)),
             ('root frame', b'\x03' + f.id(0x62) + struct.pack('>Ii', 200001, 0)),
             ('root local', b'\x02' + f.id(0x63) + struct.pack('>Ii', 200001, -1)),
             ('root global', b'\x01' + f.id(0x61) + f.id(1)),
             ('root native', b'\x04' + f.id(0x61) + struct.pack('>I', 200001)),
             ('root class', b'\x05' + f.id(0x52)), ('root block', b'\x06' + f.id(0x61) + struct.pack('>I', 200001)),
             ('root monitor', b'\x07' + f.id(0x64)), ('root unknown', b'\xff' + f.id(0x65)),
             ('class Object', f.class_dump(0x51, 300000, 0, 0)),
             ('class A', f.class_dump(0x52, 300000, 0x51, a, constant, static, [(X, 10), (NEXT, 2)])),
             ('class B', f.class_dump(0x53, 300000, 0x52, b, fields=[(X, 11)], others=(0x63, 0x64, 0x65))),
             ('class ints', f.class_dump(0x54, 300000, 0x51, 0)), ('class As', f.class_dump(0x55, 300000, 0x51, 0))]
    second = [('object A', f.instance(0x61, 300001, 0x52, b'\0\0\0\7' + f.id(0x62))),
              ('object B', f.instance(0x62, 300001, 0x53, bytes(8) + b'\0\0\0\7' + f.id(0))),
              ('object Object', f.instance(0x63, 300000, 0x51, b'')),
              ('array As', f.objects(0x64, 300001, 0x55, 0x61, 0, 0x62)),
              ('array ints', f.primitives(0x65, 300001, 10, bytes(12), 3)),
              ('array longs', f.primitives(0x66, 300001, 11, bytes(8), 1))]
    return first, second


def segments(f, first, second, minor):
    """The pieces of a heap dump: each record's head is a piece of its own, with the right length."""
    if minor == 1:
        return [('heap', f.record(0x0c, b'', length=sum(len(p) for _, p in first + second)))] + first + second
    head = lambda pieces: f.record(0x1c, b'', length=sum(len(p) for _, p in pieces))
    return [('segment 1', head(first))] + first + [('segment 2', head(second))] + second + [('heap end', f.record(0x2c, b''))]


def binary(size=8, minor=2, heap=None):
    f = Format(size)
    first, second = heap or heap_pieces(f)
    site = lambda array, serial, live: (array, serial, 300001, live, 1, live + 8, 2)
    return Pieces(
        [('header', b'JAVA PROFILE 1.0.%d\0' % minor + struct.pack('>IQ', size, 1795232082000)), ('control', f.record(0x0e, struct.pack('>IH', 3, 4)))]
        + names(f)
        + [('trace empty', f.trace(300000, 0)),
           ('load Object', f.load(100000, 0x51, 300000, OBJECT)), ('load A', f.load(100001, 0x52, 300000, A)), ('load B', f.load(100002, 0x53, 300000, B)),
           ('load ints', f.load(100003, 0x54, 300000, INTS)), ('load As', f.load(100004, 0x55, 300000, AS)),
           ('start', f.start(200001, 0x61, 300000, MAIN, SYSTEM, 0)),
           ('frame 1', f.frame(0x71, MAIN, SIGNATURE, SOURCE, 100001, 12)), ('frame 2', f.frame(0x72, X, SIGNATURE, 0, 100002, -3)),
           ('trace 1', f.trace(300001, 200001, 0x71, 0x72)), ('trace 2', f.trace(300002, 0, 0x72))]
        + segments(f, first, second, minor)
        + [('sites', f.sites(site(2, 100004, 64), site(0, 100001, 32))), ('samples', f.samples(10, (6, 300001), (4, 300002))),
           ('summary', f.record(7, struct.pack('>IIQQ', 96, 3, 1000, 10))), ('end', f.record(0x0b, struct.pack('>I', 200001))),
           ('unload', f.record(3, struct.pack('>I', 100002)))])


def wall(f, first, *states, made=None):
    """Pieces of a WALL CLOCK in a binary file; states: (state, ms of a count, (count, trace)...); first: the id of the first string; made: the heads' text."""
    pieces = []
    for i, (state, ms, *rows) in enumerate(states):
        total = sum(count for count, _ in rows)
        head = made or 'hprofx: WALL CLOCK %s, total %d ms, %d ms per count' % (state, total * ms, ms)
        pieces += [('head ' + state, f.string(first + i, head)), ('wall ' + state, f.samples(total, *rows))]
    return pieces


def text():
    """One dump with every section that a text file may have."""
    lines = [
        ('first', 'JAVA PROFILE 1.0.1, created %s\n' % DATE), ('blank', '\n'), ('prose', 'Some words.\n\n'), ('dashes', '--------\n'), ('blank 2', '\n'),
        ('start 1', 'THREAD START (obj=50000181, id = 200001, name="main", group="main")\n'),
        ('start 2', 'THREAD START (obj=50000182, id = 200002, name="a \\"b\\" \\\\ \\n später", group="")\n'),
        ('wait', 'WAIT: MONITOR LA;, timeout=0, thread 200001\n'), ('waited', 'WAITED: MONITOR LA;, time_waited=12, thread 200001\n'),
        ('end 2', 'THREAD END (id = 200002)\n'),
        ('trace 0', 'TRACE 300000:\n\t<empty>\n'), ('trace 1', 'TRACE 300001: (thread=200001)\n\tA.main(A.java:12)\n\tB.x(<Unknown Source>:Unknown line)\n'),
        ('trace 2', 'TRACE 300002:\n\tB.x(B.java:7)\n'),
        ('monitors', 'MONITOR DUMP BEGIN\n'), ('monitor thread', '    THREAD 200001, trace 300001, status: intr|CW\n'), ('monitor', '    MONITOR LA;\n'),
        ('owner', '\towner: thread 200001, entry count: 1\n'), ('enter', '\twaiting to enter: thread 200002, thread 200001\n'),
        ('notify', '\twaiting to be notified:\n'), ('unowned', '    MONITOR LB; unowned\n\twaiting to enter:\n\twaiting to be notified: <unknown thread>, thread 200002\n'),
        ('of unknown', '    MONITOR LA;\n\towner: <unknown thread>, entry count: 1\n\twaiting to enter:\n\twaiting to be notified:\n'),
        ('monitor note', '    NOTE: Owners are not known.\n'), ('monitors end', 'MONITOR DUMP END\n'),
        ('deadlocks', 'DEADLOCKS BEGIN (2)\n'), ('deadlock 1', '    DEADLOCK 1 (2 threads)\n'),
        ('dead 1', '    THREAD 200001 "a\\", trace 7", trace 300001, waiting for MONITOR LA; owned by thread 200002\n'),
        ('dead 2', '    THREAD 200002 "b", trace 300000, waiting for LOCK Lp/Lock$Sync; owned by thread 200001\n'),
        ('deadlock 2', '    DEADLOCK 2 (2 threads)\n'), ('dead 3', '    THREAD 200000 "", trace 300000, waiting for MONITOR LA; owned by thread 200002\n'),
        ('dead 4', '    THREAD 200002 "b", trace 300002, waiting for MONITOR LB; owned by <unknown thread>\n'), ('deadlocks end', 'DEADLOCKS END\n'),
        ('contention', 'MONITOR TIME BEGIN (total = 1 ms) %s\nrank   self  accum   count trace monitor\n' % DATE),
        ('contention row', '   1 100.00% 100.00%       3 300001 java.lang.Object (Java)\n'), ('contention end', 'MONITOR TIME END\n'),
        ('owners', 'MONITOR OWNERS BEGIN (total = 9 ms) %s\nrank   self  accum   count trace owner monitor\n' % DATE),
        ('owners row', '   1 100.00% 100.00%       3 300001 300002 java.lang.Object (Java)\n'), ('owners end', 'MONITOR OWNERS END\n'),
        ('wait time', 'WAIT TIME BEGIN (total = 0 ms) %s\nWAIT TIME END\n' % DATE),
        ('lock time', 'LOCK TIME BEGIN (total = 7 ms) %s\nrank   self  accum   count trace lock\n' % DATE),
        ('lock row', '   1 100.00% 100.00%       5 300001 p.Lock$Sync (Java)\n'), ('lock time end', 'LOCK TIME END\n'),
        ('pinned', 'PINNED TIME BEGIN (total = 7 ms) %s\nrank   self  accum   count trace monitor\n' % DATE),
        ('pinned row', '   1 100.00% 100.00%       1 300002 p.C (Java)\nPINNED TIME END\n'),
        ('heap', 'HEAP DUMP BEGIN (3 objects, 52 bytes) %s\n' % DATE), ('root thread', 'ROOT 61 (kind=<thread>, id=200001, trace=300001)\n'),
        ('root global', 'ROOT 61 (kind=<JNI global ref>, id=1, trace=300000)\n'), ('root frame', 'ROOT 61 (kind=<Java stack>, thread=200001, frame=0)\n'),
        ('root class', 'ROOT 52 (kind=<system class>, name=A)\n'), ('root block', 'ROOT 61 (kind=<thread block>, thread=200001)\n'),
        ('root monitor', 'ROOT 64 (kind=<busy monitor>)\n'), ('root unknown', 'ROOT 65 (kind=<unknown>)\n'),
        ('class Object', 'CLS 51 (name=java.lang.Object, trace=300000)\n'),
        ('class A', 'CLS 52 (name=A, trace=300000)\n\tsuper\t\t51\n\tloader\t\t61\n\tsigners\t\t64\n\tdomain\t\t61\n\tstatic x\t61\n\tconstant pool entry 7\t51\n'),
        ('class As', 'CLS 55 (name=A[], trace=300000)\n\tsuper\t\t51\n'),
        ('object A', 'OBJ 61 (sz=16, trace=300001, class=A@52)\n\tnext\t\t64\n'), ('array As', 'ARR 64 (sz=24, trace=300001, nelems=3, elem type=A[]@55)\n'),
        ('element', '\t[0]\t\t61\n'), ('element 2', '\t[2]\t\t65\n'), ('array ints', 'ARR 65 (sz=12, trace=300001, nelems=3, elem type=int[])\n'),
        ('heap end', 'HEAP DUMP END\n'),
        ('sites', 'SITES BEGIN (ordered by live bytes) %s\n' % DATE),
        ('site titles', "          percent          live          alloc'ed  stack class\n rank   self  accum     bytes objs     bytes  objs trace name\n"),
        ('site 1', '    1 66.67% 66.67%        64    1        72     2 300001 A[]\n'), ('site 2', '    2 33.33% 100.00%        32    1        40     2 300002 A\n'),
        ('sites end', 'SITES END\n'),
        ('samples', 'CPU SAMPLES BEGIN (total = 10) %s\n' % DATE), ('titles', 'rank   self  accum   count trace method\n'),
        ('row 1', '   1 60.00% 60.00%       6 300001 A.main\n'), ('row 2', '   2 40.00% 100.00%       4 300002 B.x\n'), ('samples end', 'CPU SAMPLES END\n'),
        ('wall', 'WALL CLOCK (ms) BEGIN (total = 100) %s\n' % DATE), ('wall titles', 'rank   self  accum        ms trace state    method\n'),
        ('wall 1', '   1 50.00% 50.00%        50 300001 parked   A.main\n'), ('wall 2', '   2 29.99% 79.99%        30 300001 runnable A.main\n'),
        ('wall 3', '   3 20.00% 99.99%        20 300002 io       B.x\n'), ('wall 4', '   4  0.01% 100.00%         0 300002 running  B.x\n'),
        ('wall end', 'WALL CLOCK (ms) END\n'),
        ('report', 'hprofx: engine: thread timers\n'), ('end 1', 'THREAD END (id = 200001)\n')]
    return Pieces([(name, line.encode()) for name, line in lines])


def timeline(coarse=0):
    """Lines of every kind of place and event, of the traces and threads of text() and binary(): a time with a unit, one with more than a stack has, a wait, a pause."""
    return ('TIMELINE BEGIN (zero = 1767693600000, end = 20000, places = 6, events = 11, coarse = %d)\n' % coarse
            + 'p cpu 300001\np cpu 300002\np wall 300001 parked p.Lock$Sync\np alloc 300001 36 2500 A[]\np block 300002 owners 300001 java.lang.Object\np gc 0\n'
            + 't @1000 ~1000 #200001 0*2 3*2\nt @2000 #200001 0*1 +10 0 1*9 2*1/30000000\nt @3000 #0 5*1/7000000 5*1/18446744073709551615\nt @3010 #200001 2*7/50000000 4*3/9000000\n'
            + 't @9000 #200002 1*18446744073709551615\nTIMELINE END\n').encode()


def timed_text(coarse=2000):
    return text().before('report', 'timeline', timeline(coarse))


def timed_binary(size=8):
    f, lines = Format(size), timeline()
    half = lines.index(b't @3000')
    pieces = binary(size)
    for i, part in enumerate((lines[:half], lines[half:])):
        pieces.before('end', 'timeline %d' % i, f.string(0x10000000 + i, b'hprofx: TIMELINE\n' + part))
    return pieces


def times():
    return Pieces([(n, p.encode()) for n, p in [
        ('header', 'JAVA PROFILE 1.0.1, created %s\n\nSome words.\n\n--------\n\n' % DATE), ('trace 1', 'TRACE 300001:\n\tA.main(A.java:Unknown line)\n'),
        ('trace 2', 'TRACE 300002:\n\tB.x(B.java:Unknown line)\n'), ('times', 'CPU TIME (ms) BEGIN (total = 99) %s\n' % DATE),
        ('titles', 'rank   self  accum   count trace method\n'), ('row 1', '   1 60.00% 60.00%       6 300001 A.main\n'),
        ('row 2', '   2 40.00% 100.00%   17002 300002 B.x\n'), ('times end', 'CPU TIME (ms) END\n'), ('report', 'hprofx: clock: thread CPU time\n')]])


def old():
    """With a report behind it, as hprofx wrote it once; h.old().drop('report') is the table alone."""
    return Pieces([(n, p.encode()) for n, p in [
        ('titles', 'count callee caller time\n'), ('row 1', '1972 A.fib(I)I A.main([Ljava/lang/String;)V 16\n'), ('row 2', '1 A.main([Ljava/lang/String;)V <unknown caller> 0\n'),
        ('report', 'hprofx: clock: thread CPU time\n')]])
