# SPDX-License-Identifier: BSD-2-Clause
"""Each rule of the format, broken once: (rule, file, where the break must be reported, what it must say).

`where` is the name of a piece, or (name, bytes further on)."""
import struct

import hprof_files as h


def patched(pieces, name, at, new):
    p = pieces.get(name)
    return pieces.put(name, p[:at] + new + p[at + len(new):])


def heap_with(f, change):
    """The file with a heap dump that `change(first, second)` edited."""
    first, second = map(h.Pieces, h.heap_pieces(f))
    change(first, second)
    return h.binary(f.size, 2, (first.pieces, second.pieces))


def header_breaks(size, minor):
    def good():
        return h.binary(size, minor)
    return [
        ('version', patched(good(), 'header', 17, b'3'), ('header', 17), '1.0.3'),
        ('identifiers of 2 bytes', patched(good(), 'header', 19, struct.pack('>I', 2)), ('header', 19), 'identifiers of 2 bytes'),
        ('identifiers of 0 bytes', patched(good(), 'header', 19, struct.pack('>I', 0)), ('header', 19), 'identifiers of 0 bytes'),
        ('unknown tag', patched(good(), 'control', 0, b'\x0f'), 'control', 'unknown tag 0x0f'),
        ('length of a table beyond the file', patched(good(), 'samples', 5, struct.pack('>I', 100000)), 'samples', '2 entries of 8 bytes, 99992'),
        ('length of a record beyond the file', patched(good(), 'unload', 5, b'\xff\xff\xff\xff'), 'unload', 'behind its fields'),
        ('length of a name beyond the file', patched(good(), 'name x', 5, b'\xff\xff\xff\xff'), 'name x', 'the file ends inside this UTF8'),
    ]


def length_breaks(f):
    """Each record one byte too short and one too long for its fields."""
    found = []
    for name in ('control', 'load A', 'frame 1', 'trace 1', 'start', 'sites', 'samples', 'summary', 'end', 'unload', 'heap end'):
        record = h.binary(f.size).get(name)
        n = struct.unpack('>I', record[5:9])[0]
        longer = record[:5] + struct.pack('>I', n + 1) + record[9:] + b'\0'
        found.append((name + ' one byte longer', h.binary(f.size).put(name, longer), name, 'behind its fields|entries of|heap dump'))
        if n > 0:
            shorter = record[:5] + struct.pack('>I', n - 1) + record[9:-1]
            found.append((name + ' one byte shorter', h.binary(f.size).put(name, shorter), name, 'too short for its fields|entries of'))
    return found


def definition_breaks(f):
    def good():
        return h.binary(f.size)
    return [
        ('UTF8 of id 0', good().before('name x', 'new', f.string(0, 'zero')), 'new', 'id 0'),
        ('UTF8 twice', good().before('trace empty', 'new', f.string(h.X, 'again')), 'new', 'a second time'),
        ('no UTF-8', good().before('name x', 'new', f.string(77, b'a\xff')), 'new', 'neither UTF-8'),
        ('UTF-8 cut', good().before('name x', 'new', f.string(77, b'a\xc3')), 'new', 'neither UTF-8'),
        ('overlong UTF-8', good().before('name x', 'new', f.string(77, b'\xe0\x80\xaf')), 'new', 'neither UTF-8'),
        ('class serial 0', good().before('load A', 'new', f.load(0, 0x99, 0, h.A)), 'new', 'serial 0'),
        ('class serial twice', good().before('start', 'new', f.load(100001, 0x99, 0, h.A)), 'new', 'a second time'),
        ('class without name', good().before('start', 'new', f.load(100009, 0x99, 0, 999)), 'new', 'name of a class: no UTF8 3e7'),
        ('name after its class', good().move('name A', before='load B'), 'load A', 'name of a class'),
        ('unload of an unknown class', good().before('unload', 'new', f.record(3, struct.pack('>I', 5))), 'new', 'never loaded'),
        ('unload twice', good().before('unload', 'new', f.record(3, struct.pack('>I', 100002))), 'unload', 'twice'),
        ('frame id 0', good().before('frame 2', 'new', f.frame(0, h.X, h.SIGNATURE, 0, 100001, 1)), 'new', 'id 0'),
        ('frame twice', good().before('trace 1', 'new', f.frame(0x71, h.X, h.SIGNATURE, 0, 100001, 1)), 'new', 'a second time'),
        ('frame without method', good().before('frame 2', 'new', f.frame(0x99, 0, h.SIGNATURE, 0, 100001, 1)), 'new', 'method of a frame'),
        ('frame without signature', good().before('frame 2', 'new', f.frame(0x99, h.X, 999, 0, 100001, 1)), 'new', 'signature of a frame'),
        ('frame without source', good().before('frame 2', 'new', f.frame(0x99, h.X, h.SIGNATURE, 999, 100001, 1)), 'new', 'source of a frame'),
        ('frame without class', good().before('frame 2', 'new', f.frame(0x99, h.X, h.SIGNATURE, 0, 5, 1)), 'new', 'class serial 5'),
        ('trace without frame', good().drop('frame 2'), 'trace 1', 'frame 72'),
        ('trace twice', good().before('trace 2', 'new', f.trace(300001, 0, 0x71)), 'new', 'with other frames'),
        ('frames of a trace', good().put('trace 1', f.trace(300001, 200001, 0x71, count=2)), 'trace 1', '2 entries'),
        ('thread starts twice', good().before('frame 1', 'new', f.start(200001, 1, 300000, 0, 0, 0)), 'new', 'a second time'),
        ('thread without name', good().before('frame 1', 'new', f.start(200002, 1, 300000, 999, 0, 0)), 'new', 'name of a thread'),
        ('thread without group', good().before('frame 1', 'new', f.start(200002, 1, 300000, 0, 0, 999)), 'new', 'name of a thread'),
        ('thread ends twice', good().before('unload', 'new', f.record(0x0b, struct.pack('>I', 200001))), 'new', 'ends a second time'),
    ]


def table_breaks(f):
    def good():
        return h.binary(f.size)

    def site(array=0, serial=100001, trace=300001, live=32):
        return (array, serial, trace, live, 1, live + 8, 2)
    return [
        ('sites too many', good().put('sites', f.sites(site(), count=2)), 'sites', '2 entries of 25 bytes'),
        ('sites class', good().put('sites', f.sites(site(serial=7))), 'sites', 'class serial 7'),
        ('sites trace', good().put('sites', f.sites(site(trace=7))), 'sites', 'trace 7'),
        ('samples too many', good().put('samples', f.samples(10, (6, 300001), count=7)), 'samples', '7 entries of 8 bytes'),
        ('samples trace', good().put('samples', f.samples(10, (6, 7))), 'samples', 'trace 7'),
        ('samples sum', good().put('samples', f.samples(9, (6, 300001), (4, 300002))), 'samples', 'more than the total'),
    ]


def heap_breaks(f):
    def first(name, new):
        return heap_with(f, lambda a, b: a.put(name, new))

    def second(name, new):
        return heap_with(f, lambda a, b: b.put(name, new))
    a = 4 + f.size
    return [
        ('segment that holds the next record', patched(h.binary(f.size), 'segment 2', 5, b'\xff\xff\xff\xff'), 'heap end', 'tag 0x2c inside a heap dump'),
        ('unknown tag in a heap dump', second('array ints', b'\x24' + bytes(9)), 'array ints', 'tag 0x24 inside a heap dump'),
        ('segment in 1.0.1', patched(h.binary(f.size), 'header', 17, b'1'), 'segment 1', 'in a file that says 1.0.1'),
        ('end without segment', h.binary(f.size).move('heap end', before='segment 1'), 'heap end', 'without a HEAP DUMP SEGMENT'),
        ('heap dump between segments', h.binary(f.size).before('segment 2', 'new', f.record(0x0c, b'')), 'new', 'between'),
        ('object id 0', second('object A', f.instance(0, 300001, 0x52, bytes(a))), 'object A', 'id 0'),
        ('object twice', second('object B', f.instance(0x61, 300001, 0x53, bytes(a + 8))), 'object B', 'a second time'),
        ('class dump twice', first('class B', f.class_dump(0x52, 300000, 0x51, a)), 'class B', 'a second time'),
        ('class not loaded', first('class B', f.class_dump(0x59, 300000, 0x51, a)), 'class B', 'class 59 was not loaded'),
        ('superclass not loaded', first('class B', f.class_dump(0x53, 300000, 0x59, a)), 'class B', 'superclass 59'),
        ('superclass of itself', first('class B', f.class_dump(0x53, 300000, 0x53, a, fields=[(h.X, 11)])), 'class B', 'superclass of itself'),
        ('field name', first('class B', f.class_dump(0x53, 300000, 0x52, a, fields=[(999, 11)])), 'class B', 'name of a field'),
        ('static name', first('class B', f.class_dump(0x53, 300000, 0x52, a, statics=struct.pack('>H', 1) + f.id(999) + b'\4\1')), 'class B', 'name of a field'),
        ('field type', first('class B', f.class_dump(0x53, 300000, 0x52, a, fields=[(h.X, 12)])), 'class B', 'basic type 12'),
        ('constant type', first('class B', f.class_dump(0x53, 300000, 0x52, a, struct.pack('>HHB', 1, 1, 0))), 'class B', 'basic type 0'),
        ('object of an unknown class', second('object A', f.instance(0x61, 300001, 0x59, bytes(a))), 'object A', '59 was not loaded'),
        ('object of a class without dump', heap_with(f, lambda x, y: x.drop('class B')), 'object B', 'not in the dump'),
        ('superclass without dump', heap_with(f, lambda x, y: (x.drop('class Object'), y.drop('object Object'), x.drop('root local'))), 'class A', 'superclass 51'),
        ('instance too long', second('object A', f.instance(0x61, 300001, 0x52, bytes(a + 1))), 'object A', 'fields of its class have %d' % a),
        ('instance beyond its record', second('array longs', f.instance(0x66, 300001, 0x52, bytes(a), length=a + 1)), 'array longs', 'its record %d more' % a),
        ('two lengths of one class', second('array longs', f.instance(0x66, 300001, 0x52, bytes(a + 1))), 'array longs', 'others of its class have %d' % a),
        ('array of an unknown class', second('array As', f.objects(0x64, 300001, 0x59)), 'array As', '59 was not loaded'),
        ('elements beyond the record', second('array longs', f.objects(0x66, 300001, 0x55, count=3)), 'array longs', 'bytes of contents'),
        ('primitive array of objects', second('array ints', f.primitives(0x65, 300001, 2, bytes(f.size), 1)), 'array ints', 'objects in it'),
        ('primitive array of nothing', second('array ints', f.primitives(0x65, 300001, 3, b'', 0)), 'array ints', 'basic type 3'),
        ('values beyond the record', second('array longs', f.primitives(0x66, 300001, 11, bytes(8), 0xffffffff)), 'array longs', 'bytes of contents'),
        ('half a record in a segment', second('array longs', b'\x22' + bytes(6)), 'array longs', 'too short'),
    ]


def line(pieces, name, new):
    return pieces.put(name, new.encode() if isinstance(new, str) else new)


def text_breaks():
    good = h.text
    old_date = good().get('samples').replace(b'Sat', b'Sad')
    return [
        ('first line', line(good(), 'first', 'JAVA PROFILE 1.0.1 created\n'), 'first', 'first line'),
        ('version', line(good(), 'first', 'JAVA PROFILE 1.0.4, created %s\n' % h.DATE), 'first', 'first line'),
        ('date', line(good(), 'first', 'JAVA PROFILE 1.0.1, created %s\n' % h.DATE.replace('01:52', '25:52')), 'first', 'first line'),
        ('no profile', line(good(), 'first', 'old\n'), 'first', 'no HPROF file'),
        ('no header', good().drop('first').drop('blank').drop('prose').drop('dashes').drop('blank 2'), 'start 1', 'not the output of cpu=old'),
        ('no dashes', good().drop('dashes').drop('blank 2'), 'first', 'inside the header'),
        ('no record', good().before('end 2', 'new', b'NOTHING\n'), 'new', "no record begins like this: 'NOTHING'"),
        ('blank line', good().before('end 2', 'new', b'\n'), 'new', 'no record'),
        ('no UTF-8', good().before('end 2', 'new', b'WAIT: MONITOR \xff, timeout=0, thread 200001\n'), 'new', 'neither UTF-8'),
        ('start without end', line(good(), 'start 1', 'THREAD START (obj=1, id = 200001, name="main\n'), 'start 1', 'without its end'),
        ('start of a thread twice', good().before('wait', 'new', good().get('start 1')), 'new', 'a second time'),
        ('serial above 32 bits', line(good(), 'start 1', 'THREAD START (obj=1, id = 4294967296, name="", group="")\n'), 'start 1', 'without its end'),
        ('end of a thread twice', good().before('trace 0', 'new', good().get('end 2')), 'new', 'a second time'),
        ('end without number', line(good(), 'end 2', 'THREAD END (id = )\n'), 'end 2', 'no record'),
        ('trace without lines', line(good(), 'trace 0', 'TRACE 300000:\n'), 'trace 0', 'neither frames nor <empty>'),
        ('frame after <empty>', line(good(), 'trace 0', b'TRACE 300000:\n\t<empty>\n\tA.x(A.java:1)\n'), ('trace 0', 2), 'no line of the section'),
        ('frame without line', line(good(), 'trace 2', b'TRACE 300002:\n\tB.x(B.java)\n'), ('trace 2', 1), 'no line of the section'),
        ('frame without class', line(good(), 'trace 2', b'TRACE 300002:\n\tx(B.java:1)\n'), ('trace 2', 1), 'no line of the section'),
        ('trace twice', good().before('trace 2', 'new', b'TRACE 300000:\n\tB.x(B.java:8)\n'), 'trace 2', 'with other frames'),
        ('trace of a monitor thread', line(good(), 'monitor thread', '    THREAD 200001, trace 7, status: R\n'), 'monitor thread', 'trace 7'),
        ('waiters', line(good(), 'enter', '\twaiting to enter: 200002\n'), 'enter', 'list of threads'),
        ('deadlocks without number', line(good(), 'deadlocks', 'DEADLOCKS BEGIN\n'), 'deadlocks', 'no record'),
        ('trace of an owner', line(good(), 'owners row', '   1 100.00% 100.00%       3 300001 300007 java.lang.Object (Java)\n'), 'owners row', 'trace 300007'),
        ('no trace of an owner', line(good(), 'owners row', '   1 100.00% 100.00%       3 300001 java.lang.Object (Java)\n'), 'owners row', 'no line'),
        ('end of another table', line(good(), 'lock time end', 'WAIT TIME END\n'), 'lock time end', 'no line'),
        ('total without ms', line(good(), 'pinned', 'PINNED TIME BEGIN (total = 7) %s\n' % h.DATE), 'pinned', 'no record'),
        ('contention row', line(good(), 'contention row', '   1 100.00% 100.00%       3 300001 java.lang.Object\n'), 'contention row', 'no line'),
        ('heap line', good().before('root class', 'new', b'ROOT 61 (kind=<nothing>)\n'), 'new', 'no line of the section'),
        ('site trace', line(good(), 'site 1', '    1 66.67% 66.67%        64    1        72     2     7 A[]\n'), 'site 1', 'trace 7'),
        ('date of a section', line(good(), 'samples', old_date), 'samples', 'no record'),
        ('trace of a row', line(good(), 'row 2', '   2 40.00% 100.00%       4 300003 B.x\n'), 'row 2', 'trace 300003'),
        ('sum', line(good(), 'row 2', '   2 50.00% 110.00%       5 300002 B.x\n'), 'row 2', 'more than the total'),
        ('end of a section', line(good(), 'samples end', 'CPU TIME (ms) END\n'), 'samples end', 'no line of the section'),
        ('wall end', line(good(), 'wall end', 'WALL CLOCK END\n'), 'wall end', 'no line of the section'),
        ('no state', line(good(), 'wall 1', '   1 50.00% 50.00%        50 300001 A.main\n'), 'wall 1', 'no line of the section'),
        ('state in capitals', line(good(), 'wall 1', '   1 50.00% 50.00%        50 300001 PARKED   A.main\n'), 'wall 1', 'no line of the section'),
        ('wall trace', line(good(), 'wall 1', '   1 50.00% 50.00%        50 300007 parked   A.main\n'), 'wall 1', 'trace 300007'),
        ('report without value', line(good(), 'report', 'hprofx: engine\n'), 'report', 'no record'),
        ('old row', line(h.old(), 'row 2', '1 A.main([Ljava/lang/String;)V 0\n'), 'row 2', 'no line'),
    ]


def binary_breaks():
    found = []
    for size in (4, 8):
        f = h.Format(size)
        for minor in (1, 2):
            found += header_breaks(size, minor)
        found += length_breaks(f) + definition_breaks(f) + table_breaks(f) + heap_breaks(f)
    return found


def notes():
    """What is a note, and with --strict a break: (file, symbol, where)."""
    found = []
    for size in (4, 8):
        f = h.Format(size)
        g = lambda size=size: h.binary(size)
        found += [
            (g().before('unload', 'new', f.record(0x0b, struct.pack('>I', 200077))), 'END_ONLY', 'new'),
            (g().before('trace 2', 'new', g().get('trace 1')), 'TRACE_TWICE', 'new'),
            (g().drop('heap end'), 'HEAP_OPEN', 'segment 1'),
            (g().before('unload', 'new', g().get('samples')), 'SEVERAL_DUMPS', 'new'),
            (g().before('name x', 'new', f.string(77, b'nul\xc0\x80 \xed\xa0\xbd\xed\xb8\x80')), 'MODIFIED_UTF8', 'new'),
            (g().put('sites', f.sites((2, 7, 300001, 32, 1, 40, 2))), 'ARRAY_CLASS', 'sites'),
            (heap_with(f, lambda x, y, f=f, size=size: x.put('class B', f.class_dump(0x53, 300000, 0x52, 4 + size + 7, fields=[(h.X, 11)]))), 'INSTANCE_SIZE', 'class B'),
            (heap_with(f, lambda x, y, f=f: x.put('class ints', f.class_dump(0x54, 300000, 0x51, 1))), 'INSTANCE_SIZE', 'class ints'),
            (g().put('control', f.record(0x0e, struct.pack('>IH', 3, 4), us=2000)), 'TIME_BACK', 'name java.lang.Object'),
        ]
    g = h.text
    long_name = 'THREAD START (obj=50000183, id = 200003, name="%s' % ('abc' * 400)
    found += [
        (h.Pieces(g().pieces[:9]), 'NO_DUMP', 'waited'),
        (g().before('end 1', 'new', b'TRACE 300009:\n\t<empty>\n').drop('end 1'), 'TRACES_AFTER', ('new', 1)),
        (g().before('end 1', 'new', b'THREAD END (id = 200009)\n'), 'END_ONLY', 'new'),
        (g().before('wait', 'new', long_name[:1023].encode()), 'LINE_CUT', 'new'),
        (g().before('wait', 'new', b'THREAD START (obj=50000183, id = 200003, name="a\nb\tc", group="g")\n'), 'RAW_NEWLINE', 'new'),
        (g().before('wait', 'new', b'THREAD START (obj=50000183, id = 200003, name="a\x01b", group="g")\n'), 'RAW_CONTROL', 'new'),
        (g().before('wait', 'new', b'THREAD START (obj=50000183, id = 200003, name="a\xc0\x80b", group="g")\n'), 'MODIFIED_UTF8', 'new'),
        (g().move('owners', before='contention').move('owners row', before='contention').move('owners end', before='contention'), 'SEVERAL_DUMPS', 'contention'),
        (g().before('sites', 'new', b'WALL CLOCK (ms) BEGIN (total = 0) %s\nWALL CLOCK (ms) END\n' % h.DATE.encode()), 'SEVERAL_DUMPS', 'sites'),
        (line(g(), 'samples', 'CPU SAMPLES BEGIN (total = -10) %s\n' % h.DATE), 'WRAPPED', 'samples'),
        (g().before('heap', 'new', g().get('trace 2')), 'TRACE_TWICE', 'heap'),
        (g().before('end 1', 'new', b'CPU SAMPLES BEGIN (total = 0) %s\nCPU SAMPLES END\n' % h.DATE.encode()), 'SEVERAL_DUMPS', 'new'),
    ]
    return found
