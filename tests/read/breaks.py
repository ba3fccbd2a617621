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
        ('frame in line -4', good().before('frame 2', 'new', f.frame(0x99, h.X, h.SIGNATURE, 0, 100001, -4)), 'new', 'line -4'),
        ('trace without frame', good().drop('frame 2'), 'trace 1', 'frame 72'),
        ('trace twice', good().before('trace 2', 'new', f.trace(300001, 0, 0x71)), 'new', 'with other frames'),
        ('frames of a trace', good().put('trace 1', f.trace(300001, 200001, 0x71, count=2)), 'trace 1', '2 entries'),
        ('thread starts twice', good().before('frame 1', 'new', f.start(200001, 1, 300000, 0, 0, 0)), 'new', 'a second time'),
        ('thread without name', good().before('frame 1', 'new', f.start(200002, 1, 300000, 999, 0, 0)), 'new', 'name of a thread'),
        ('thread without group', good().before('frame 1', 'new', f.start(200002, 1, 300000, 0, 0, 999)), 'new', 'name of a thread'),
        ('thread ends twice', good().before('unload', 'new', f.record(0x0b, struct.pack('>I', 200001))), 'new', 'ends a second time'),
        ('control flags', patched(good(), 'control', 9, struct.pack('>I', 8)), 'control', 'flags 0x8'),
    ]


def table_breaks(f):
    def good():
        return h.binary(f.size)

    def site(array=0, serial=100001, trace=300001, live=32):
        return (array, serial, trace, live, 1, live + 8, 2)
    return [
        ('sites flags', good().put('sites', f.sites(site(), flags=8)), 'sites', 'flags 0x8'),
        ('sites too many', good().put('sites', f.sites(site(), count=2)), 'sites', '2 entries of 25 bytes'),
        ('sites array type', good().put('sites', f.sites(site(array=3))), 'sites', 'basic type 3'),
        ('sites class', good().put('sites', f.sites(site(serial=7))), 'sites', 'class serial 7'),
        ('sites trace', good().put('sites', f.sites(site(trace=7))), 'sites', 'trace 7'),
        ('samples too many', good().put('samples', f.samples(10, (6, 300001), count=7)), 'samples', '7 entries of 8 bytes'),
        ('samples trace', good().put('samples', f.samples(10, (6, 7))), 'samples', 'trace 7'),
        ('samples count 0', good().put('samples', f.samples(10, (0, 300001))), 'samples', 'count 0'),
        ('samples order', good().put('samples', f.samples(10, (4, 300001), (6, 300002))), 'samples', 'descending'),
        ('samples sum', good().put('samples', f.samples(9, (6, 300001), (4, 300002))), 'samples', 'more than the total'),
        ('samples twice', good().put('samples', f.samples(10, (5, 300001), (5, 300001))), 'samples', 'two rows'),
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
        ('trace of a class', first('class B', f.class_dump(0x53, 7, 0x52, a, fields=[(h.X, 11)])), 'class B', 'trace 7'),
        ('trace of an object', second('object A', f.instance(0x61, 7, 0x52, bytes(a))), 'object A', 'trace 7'),
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
        ('root in frame -2', first('root frame', b'\x03' + f.id(0x62) + struct.pack('>Ii', 200001, -2)), 'root frame', 'frame -2'),
        ('root of nothing', first('root unknown', b'\xff' + f.id(0x69)), 'root unknown', 'object 69'),
        ('trace of a root', first('root thread', b'\x08' + f.id(0x61) + struct.pack('>II', 200001, 7)), 'root thread', 'trace 7'),
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
        ('second line', line(good(), 'blank', 'x\n'), 'blank', 'not blank'),
        ('no dashes', good().drop('dashes').drop('blank 2'), 'start 1', 'before the line of eight dashes'),
        ('after the dashes', line(good(), 'blank 2', 'x\n'), 'blank 2', 'not blank'),
        ('no record', good().before('end 2', 'new', b'NOTHING\n'), 'new', "no record begins like this: 'NOTHING'"),
        ('blank line', good().before('end 2', 'new', b'\n'), 'new', 'no record'),
        ('no UTF-8', good().before('end 2', 'new', b'WAIT: MONITOR \xff, timeout=0, thread 200001\n'), 'new', 'neither UTF-8'),
        ('start without end', line(good(), 'start 1', 'THREAD START (obj=1, id = 200001, name="main\n'), 'start 1', 'without its end'),
        ('start of a thread twice', good().before('wait', 'new', good().get('start 1')), 'new', 'a second time'),
        ('serial above 32 bits', line(good(), 'start 1', 'THREAD START (obj=1, id = 4294967296, name="", group="")\n'), 'start 1', 'without its end'),
        ('end of a thread twice', good().before('trace 0', 'new', good().get('end 2')), 'new', 'a second time'),
        ('end without number', line(good(), 'end 2', 'THREAD END (id = )\n'), 'end 2', 'no record'),
        ('wait', line(good(), 'wait', 'WAIT: MONITOR LA;, timeout=x, thread 200001\n'), 'wait', 'no record'),
        ('trace without lines', line(good(), 'trace 0', 'TRACE 300000:\n'), 'trace 0', 'neither frames nor <empty>'),
        ('frame after <empty>', line(good(), 'trace 0', b'TRACE 300000:\n\t<empty>\n\tA.x(A.java:1)\n'), ('trace 0', 2), 'no line of the section'),
        ('frame without line', line(good(), 'trace 2', b'TRACE 300002:\n\tB.x(B.java)\n'), ('trace 2', 1), 'no line of the section'),
        ('frame without class', line(good(), 'trace 2', b'TRACE 300002:\n\tx(B.java:1)\n'), ('trace 2', 1), 'no line of the section'),
        ('trace twice', good().before('trace 2', 'new', b'TRACE 300000:\n\tB.x(B.java:8)\n'), 'trace 2', 'with other frames'),
        ('status', line(good(), 'monitor thread', '    THREAD 200001, trace 300001, status: XX\n'), 'monitor thread', 'no line of the section'),
        ('trace of a monitor thread', line(good(), 'monitor thread', '    THREAD 200001, trace 7, status: R\n'), 'monitor thread', 'trace 7'),
        ('monitor without owner', good().drop('owner'), 'enter', 'no line of the section'),
        ('waiters', line(good(), 'enter', '\twaiting to enter: 200002\n'), 'enter', 'list of threads'),
        ('wait with the word of its end', line(good(), 'wait', 'WAIT: MONITOR LA;, time_waited=1, thread 200001\n'), 'wait', 'no record'),
        ('owner of nothing', good().before('monitor note', 'new', b'\towner: thread 200001, entry count: 1\n'), 'new', 'no line of the section'),
        ('deadlocks without number', line(good(), 'deadlocks', 'DEADLOCKS BEGIN\n'), 'deadlocks', 'no record'),
        ('deadlock of another number', line(good(), 'deadlock 2', '    DEADLOCK 3 (2 threads)\n'), 'deadlock 2', 'not the next one'),
        ('deadlock of no thread', line(good(), 'deadlock 2', '    DEADLOCK 2 (0 threads)\n'), 'deadlock 2', 'no line of the section'),
        ('one deadlock too many', line(good(), 'deadlocks', 'DEADLOCKS BEGIN (1)\n'), 'deadlock 2', 'not the next one'),
        ('one deadlock too few', line(good(), 'deadlocks', 'DEADLOCKS BEGIN (3)\n'), 'deadlocks end', 'fewer deadlocks'),
        ('a thread too few', good().drop('dead 2'), 'deadlock 2', 'no line of the section'),
        ('a thread too many', good().before('deadlock 2', 'new', good().get('dead 2')), 'new', 'no line of the section'),
        ('no circle', line(good(), 'dead 1', '    THREAD 200001 "a", trace 300001, waiting for MONITOR LA; owned by thread 200001\n'), 'dead 2', 'not in its circle'),
        ('circle that does not close', line(good(), 'dead 4', '    THREAD 200002 "b", trace 300002, waiting for MONITOR LB; owned by thread 200001\n'), 'dead 4', 'not in its circle'),
        ('neither monitor nor lock', line(good(), 'dead 2', '    THREAD 200002 "b", trace 300000, waiting for RAIN Lp; owned by thread 200001\n'), 'dead 2', 'no line of the section'),
        ('raw quote in a name', line(good(), 'dead 2', '    THREAD 200002 "b"c", trace 300000, waiting for LOCK Lp; owned by thread 200001\n'), 'dead 2', 'no line of the section'),
        ('trace of a deadlock', line(good(), 'dead 2', '    THREAD 200002 "b", trace 7, waiting for LOCK Lp; owned by thread 200001\n'), 'dead 2', 'trace 7'),
        ('trace of an owner', line(good(), 'owners row', '   1 100.00% 100.00%       3 300001 300007 java.lang.Object (Java)\n'), 'owners row', 'trace 300007 of the owner'),
        ('no trace of an owner', line(good(), 'owners row', '   1 100.00% 100.00%       3 300001 java.lang.Object (Java)\n'), 'owners row', 'no line'),
        ('width of an owner', line(good(), 'owners row', '   1 100.00% 100.00%       3 300001  300002 java.lang.Object (Java)\n'), 'owners row', 'columns'),
        ('columns of another table', line(good(), 'lock time', 'LOCK TIME BEGIN (total = 7 ms) %s\nrank   self  accum   count trace monitor\n' % h.DATE), ('lock time', 1), 'neither its line of titles'),
        ('end of another table', line(good(), 'lock time end', 'WAIT TIME END\n'), 'lock time end', 'no line'),
        ('total without ms', line(good(), 'pinned', 'PINNED TIME BEGIN (total = 7) %s\n' % h.DATE), 'pinned', 'no record'),
        ('contention row', line(good(), 'contention row', '   1 100.00% 100.00%       3 300001 java.lang.Object\n'), 'contention row', 'no line'),
        ('heap line', good().before('root class', 'new', b'ROOT 61 (kind=<nothing>)\n'), 'new', 'no line of the section'),
        ('element beyond the array', line(good(), 'element 2', '\t[3]\t\t65\n'), 'element 2', 'element 3 of an array of 3'),
        ('element twice', line(good(), 'element 2', '\t[0]\t\t65\n'), 'element 2', 'element 0'),
        ('field of a primitive array', good().before('heap end', 'new', b'\tx\t\t65\n'), 'new', 'no line'),
        ('object twice', good().before('heap end', 'new', good().get('object A')), 'new', 'a second time'),
        ('object of a class without CLS', good().drop('class As'), 'array As', 'not in the dump'),
        ('root of nothing', line(good(), 'root unknown', 'ROOT 69 (kind=<unknown>)\n'), 'root unknown', 'object 69'),
        ('trace of an object', line(good(), 'object A', 'OBJ 61 (sz=16, trace=7, class=A@52)\n'), 'object A', 'trace 7'),
        ('site titles', good().drop('site titles'), 'site 1', 'titles'),
        ('site layout', line(good(), 'site 1', '    1 66.67% 66.67%       64    1        72     2 300001 A[]\n'), 'site 1', 'columns'),
        ('site trace', line(good(), 'site 1', '    1 66.67% 66.67%        64    1        72     2     7 A[]\n'), 'site 1', 'trace 7'),
        ('site accum', line(good(), 'site 2', '    2 33.33% 99.00%        32    1        40     2 300002 A\n'), 'site 2', 'accum'),
        ('date of a section', line(good(), 'samples', old_date), 'samples', 'no record'),
        ('titles', good().drop('titles'), 'row 1', 'titles'),
        ('rank', line(good(), 'row 2', '   3 40.00% 100.00%       4 300002 B.x\n'), 'row 2', 'rank 3 in row 2'),
        ('self', line(good(), 'row 2', '   2 41.00% 100.00%       4 300002 B.x\n'), 'row 2', 'is not 4 of 10'),
        ('accum', line(good(), 'row 2', '   2 40.00% 99.00%       4 300002 B.x\n'), 'row 2', 'accum'),
        ('layout', line(good(), 'row 2', '   2 40.00% 100.00%      4 300002 B.x\n'), 'row 2', 'columns'),
        ('method', line(good(), 'row 2', '   2 40.00% 100.00%       4 300002 B.y\n'), 'row 2', 'innermost'),
        ('trace of a row', line(good(), 'row 2', '   2 40.00% 100.00%       4 300003 B.x\n'), 'row 2', 'trace 300003'),
        ('two rows of a trace', line(good(), 'row 2', '   2 40.00% 100.00%       4 300001 A.main\n'), 'row 2', 'two rows'),
        ('order', line(line(good(), 'row 1', '   1 40.00% 40.00%       4 300001 A.main\n'), 'row 2', '   2 60.00% 100.00%       6 300002 B.x\n'), 'row 2', 'descending'),
        ('sum', line(good(), 'row 2', '   2 50.00% 110.00%       5 300002 B.x\n'), 'row 2', 'more than the total'),
        ('end of a section', line(good(), 'samples end', 'CPU TIME (ms) END\n'), 'samples end', 'no line of the section'),
        ('wall titles', line(good(), 'wall titles', 'rank   self  accum   count trace method\n'), 'wall titles', 'titles'),
        ('wall end', line(good(), 'wall end', 'WALL CLOCK END\n'), 'wall end', 'no line of the section'),
        ('no state', line(good(), 'wall 1', '   1 50.00% 50.00%        50 300001 A.main\n'), 'wall 1', 'no line of the section'),
        ('state in capitals', line(good(), 'wall 1', '   1 50.00% 50.00%        50 300001 PARKED   A.main\n'), 'wall 1', 'no line of the section'),
        ('width of a state', line(good(), 'wall 1', '   1 50.00% 50.00%        50 300001 parked  A.main\n'), 'wall 1', 'no line of the section'),
        ('wall layout', line(good(), 'wall 1', '   1 50.00% 50.00%      50 300001 parked   A.main\n'), 'wall 1', 'columns'),
        ('wall method', line(good(), 'wall 1', '   1 50.00% 50.00%        50 300001 parked   B.x\n'), 'wall 1', 'innermost'),
        ('wall trace', line(good(), 'wall 1', '   1 50.00% 50.00%        50 300007 parked   A.main\n'), 'wall 1', 'trace 300007'),
        ('wall order', line(good(), 'wall 1', '   1 20.00% 20.00%        50 300001 parked   A.main\n'), 'wall 2', 'descending'),
        ('wall accum', line(good(), 'wall 2', '   2 29.99% 90.00%        30 300001 runnable A.main\n'), 'wall 2', 'accum'),
        ('report without value', line(good(), 'report', 'hprofx: engine\n'), 'report', 'no record'),
        ('another report before a dump', good().before('start 1', 'new', b'hprofx: lost, sockets: 1\n'), 'new', 'before the end of a dump'),
        ('report before a dump', good().move('report', before='start 1'), 'report', 'before the end of a dump'),
        ('time order', line(line(h.times(), 'row 1', '   1 40.00% 40.00%       6 300001 A.main\n'), 'row 2', '   2 60.00% 100.00%   17002 300002 B.x\n'), 'row 2', 'descending'),
        ('time accum', line(h.times(), 'row 2', '   2 40.00% 90.00%   17002 300002 B.x\n'), 'row 2', 'accum'),
        ('old row', line(h.old(), 'row 2', '1 A.main([Ljava/lang/String;)V 0\n'), 'row 2', 'no line'),
        ('old order', line(h.old(), 'row 2', '1973 A.main([Ljava/lang/String;)V <unknown caller> 0\n'), 'row 2', 'descending'),
        ('old count', line(h.old(), 'row 2', '0 A.main([Ljava/lang/String;)V <unknown caller> 0\n'), 'row 2', 'count 0'),
    ]


def binary_breaks():
    found = []
    for size in (4, 8):
        f = h.Format(size)
        for minor in (1, 2):
            found += header_breaks(size, minor)
        found += length_breaks(f) + definition_breaks(f) + table_breaks(f) + heap_breaks(f)
    return found


def lost(f):
    """A heap dump with one reference to 0x69, which it lacks: (what refers, file, where)."""
    a = 4 + f.size
    nine, here = f.id(0x69), struct.pack('>H', 1)

    def klass(**how):
        return heap_with(f, lambda x, y: x.put('class B', f.class_dump(0x53, 300000, 0x52, a + 8, fields=[(h.X, 11)], **how)))

    def subclass_first(x, y):
        x.move('class B', before='class A').move('class A', before='class Object')
        y.put('object B', f.instance(0x62, 300001, 0x53, bytes(12) + nine))

    def third_level(x, y):
        x.put('class ints', f.class_dump(0x54, 300000, 0x53, a + 8))
        y.put('array longs', f.instance(0x66, 300001, 0x54, bytes(12) + nine))
    return [
        ('field', heap_with(f, lambda x, y: y.put('object A', f.instance(0x61, 300001, 0x52, bytes(4) + nine))), 'object A'),
        ('inherited field', heap_with(f, lambda x, y: y.put('object B', f.instance(0x62, 300001, 0x53, bytes(12) + nine))), 'object B'),
        ('inherited field, subclass first', heap_with(f, subclass_first), 'object B'),
        ('field inherited over a class without references', heap_with(f, third_level), 'array longs'),
        ('first element', heap_with(f, lambda x, y: y.put('array As', f.objects(0x64, 300001, 0x55, 0x69, 0, 0x62))), 'array As'),
        ('last element', heap_with(f, lambda x, y: y.put('array As', f.objects(0x64, 300001, 0x55, *[0x62] * 30000 + [0x69]))), 'array As'),
        ('static', klass(statics=here + f.id(h.X) + b'\2' + nine), 'class B'),
        ('constant', klass(constants=here + here + b'\2' + nine), 'class B'),
        ('loader', klass(others=(0x69, 0, 0)), 'class B'), ('signers', klass(others=(0, 0x69, 0)), 'class B'), ('domain', klass(others=(0, 0, 0x69)), 'class B'),
    ]


def text_lost():
    klass = 'CLS 55 (name=A[], trace=300000)\n\tsuper\t\t51\n\t%s69\n'
    return [(what, line(h.text(), name, new), where) for what, name, new, where in [
        ('field', 'object A', 'OBJ 61 (sz=16, trace=300001, class=A@52)\n\tnext\t\t69\n', ('object A', 1)), ('element', 'element 2', '\t[2]\t\t69\n', 'element 2'),
        ('super', 'class As', 'CLS 55 (name=A[], trace=300000)\n\tsuper\t\t69\n', ('class As', 1))] + [
        (word, 'class As', klass % word, ('class As', 2)) for word in ('loader\t\t', 'signers\t\t', 'domain\t\t', 'static x\t', 'constant pool entry 9\t')]]


def heap_notes():
    """Rules of heap dumps that only hprofx keeps: (file, symbol, where). Without its report."""
    found = []
    for size in (4, 8):
        f = h.Format(size)
        a = 4 + size
        first, second = h.heap_pieces(f)
        frame = lambda n, sub=b'\3': sub + f.id(0x62) + struct.pack('>Ii', 200001, n)
        roots = ['root frame', 'root local', 'root native', 'root block']
        found += [
            (h.binary(size, 2, (second, first)), 'CLASSES_LATE', 'class Object'),
            (heap_with(f, lambda x, y: x.put('class B', f.class_dump(0x53, 300000, 0x52, a + 7, fields=[(h.X, 11)]))), 'INSTANCE_SIZE', 'class B'),
            (heap_with(f, lambda x, y: x.put('class ints', f.class_dump(0x54, 300000, 0x51, 1))), 'INSTANCE_SIZE', 'class ints'),
            (h.binary(size).before('segment 2', 'new', f.record(0x1c, b'')), 'SEGMENT_EMPTY', 'new'),
            (heap_with(f, lambda x, y: x.put('class ints', f.class_dump(0x54, 300000, 0x51, 1))).before('segment 2', 'new', f.record(0x1c, b'')), 'INSTANCE_SIZE', 'class ints'),
            (heap_with(f, lambda x, y: x.put('root unknown', b'\xff' + f.id(0))), 'ROOT_NULL', 'root unknown'),
            (h.binary(size).drop('start').drop('end'), 'ROOT_THREAD', 'root thread'),
            (heap_with(f, lambda x, y: x.put('root frame', frame(2))), 'ROOT_FRAME', 'root frame'),
            (heap_with(f, lambda x, y: x.put('root local', frame(2, b'\2'))), 'ROOT_FRAME', 'root local'),
            (heap_with(f, lambda x, y: x.put('root thread', b'\x08' + f.id(0x61) + struct.pack('>II', 200001, 0))), 'TRACE_ZERO', 'root thread'),
            (heap_with(f, lambda x, y: x.put('class As', f.class_dump(0x55, 0, 0x51, 0))), 'TRACE_ZERO', 'class As'),
            (heap_with(f, lambda x, y: y.put('array longs', f.primitives(0x66, 0, 11, bytes(8), 1))), 'TRACE_ZERO', 'array longs'),
        ]
        found += [(heap_with(f, lambda x, y, root=root: x.move(root, before='root thread')), 'ROOT_EARLY', root) for root in roots]
        found += [(pieces, 'REFERENCE_LOST', where) for _, pieces, where in lost(f)]
    g = lambda: h.text().drop('report')
    found += [
        (line(g(), 'heap', 'HEAP DUMP BEGIN (6 objects, 52 bytes) %s\n' % h.DATE), 'HEAP_TOTALS', 'heap'),
        (line(g(), 'heap', 'HEAP DUMP BEGIN (3 objects, 53 bytes) %s\n' % h.DATE), 'HEAP_TOTALS', 'heap'),
        (line(line(g(), 'array ints', 'ARR 65 (sz=16, trace=300001, nelems=3, elem type=int[])\n'), 'heap', 'HEAP DUMP BEGIN (3 objects, 56 bytes) %s\n' % h.DATE), 'ARRAY_SIZE', 'array ints'),
        (line(g(), 'object A', 'OBJ 61 (sz=16, trace=0, class=A@52)\n'), 'TRACE_ZERO', 'object A'),
        (line(g(), 'root global', 'ROOT 61 (kind=<JNI global ref>, id=1, trace=0)\n'), 'TRACE_ZERO', 'root global'),
        (line(g(), 'root unknown', 'ROOT 0 (kind=<unknown>)\n'), 'ROOT_NULL', 'root unknown'),
        (g().drop('start 1').drop('end 1'), 'ROOT_THREAD', 'root thread'),
        (line(g(), 'root frame', 'ROOT 61 (kind=<Java stack>, thread=200001, frame=2)\n'), 'ROOT_FRAME', 'root frame'),
        (g().move('root frame', before='root thread'), 'ROOT_EARLY', 'root frame'),
    ]
    return found + [(pieces.drop('report'), 'REFERENCE_LOST', where) for _, pieces, where in text_lost()]


def notes():
    """What is a note, and with --strict a break: (file, symbol, where)."""
    found = []
    for size in (4, 8):
        f = h.Format(size)
        g = lambda size=size: h.binary(size)
        found += [
            (g().before('unload', 'new', f.record(0x0b, struct.pack('>I', 200077))), 'END_ONLY', 'new'),
            (g().before('start', 'new', f.load(100009, 0x99, 7, h.A)), 'TRACE_NEVER', 'new'),
            (g().before('start', 'new', f.load(100009, 0x99, 300002, h.A)), 'TRACE_LATE', 'new'),
            (g().before('start', 'new', f.load(100009, 0x52, 0, h.A)), 'CLASS_AGAIN', 'new'),
            (g().before('trace 2', 'new', f.trace(300003, 200077)), 'THREAD_UNKNOWN', 'new'),
            (g().before('trace 2', 'new', g().get('trace 1')), 'TRACE_TWICE', 'new'),
            (g().drop('heap end'), 'HEAP_OPEN', 'segment 1'),
            (g().before('unload', 'new', g().get('samples')), 'SEVERAL_DUMPS', 'new'),
            (g().before('name x', 'new', f.string(77, b'nul\xc0\x80 \xed\xa0\xbd\xed\xb8\x80')), 'MODIFIED_UTF8', 'new'),
            (g().put('sites', f.sites((0, 100001, 300001, 32, 1, 40, 2), cutoff=-1.0)), 'CUTOFF', 'sites'),
            (g().put('sites', f.sites((2, 7, 300001, 32, 1, 40, 2))), 'ARRAY_CLASS', 'sites'),
            (g().put('sites', f.sites((0, 100001, 300001, 32, 1, 40, 2), total=31)), 'SITES_MOVED', 'sites'),
            (g().put('sites', f.sites((0, 100001, 300001, 32, 1, 40, 2), (0, 100001, 300002, 64, 1, 72, 2))), 'SITES_MOVED', 'sites'),
            (g().put('sites', f.sites((0, 100001, 300001, 32, 1, 16, 2))), 'WRAPPED', 'sites'),
            (g().put('control', f.record(0x0e, struct.pack('>IH', 3, 4), us=2000)), 'TIME_BACK', 'name java.lang.Object'),
            (g().before('start', 'new', g().get('control')), 'CONTROL_AGAIN', 'new'),
            (g().put('summary', f.record(7, struct.pack('>IIQQ', 96, 30, 1000, 10))), 'SUMMARY_ORDER', 'summary'),
        ]
    g = h.text
    long_name = 'THREAD START (obj=50000183, id = 200003, name="%s' % ('abc' * 400)
    found += [
        (g().move('class As', before='heap end'), 'CLASSES_LATE', 'class As'),
        (h.Pieces(g().pieces[:9]), 'NO_DUMP', 'waited'),
        (g().before('end 1', 'new', b'TRACE 300009:\n\t<empty>\n').drop('end 1'), 'TRACES_AFTER', ('new', 1)),
        (g().before('end 1', 'new', b'THREAD END (id = 200009)\n'), 'END_ONLY', 'new'),
        (g().before('wait', 'new', long_name[:1023].encode()), 'LINE_CUT', 'new'),
        (g().before('wait', 'new', b'THREAD START (obj=50000183, id = 200003, name="a\nb\tc", group="g")\n'), 'RAW_NEWLINE', 'new'),
        (g().before('wait', 'new', b'THREAD START (obj=50000183, id = 200003, name="a\x01b", group="g")\n'), 'RAW_CONTROL', 'new'),
        (g().before('wait', 'new', b'THREAD START (obj=50000183, id = 200003, name="a\xc0\x80b", group="g")\n'), 'MODIFIED_UTF8', 'new'),
        (line(g(), 'dead 4', '    THREAD 200009 "b", trace 300002, waiting for MONITOR LB; owned by <unknown thread>\n').put('dead 3', g().get('dead 3').replace(b'200002', b'200009')), 'THREAD_UNKNOWN', 'dead 3'),
        (g().move('owners', before='contention').move('owners row', before='contention').move('owners end', before='contention'), 'SEVERAL_DUMPS', 'contention'),
        (g().before('sites', 'new', b'WALL CLOCK (ms) BEGIN (total = 0) %s\nWALL CLOCK (ms) END\n' % h.DATE.encode()), 'SEVERAL_DUMPS', 'sites'),
        (line(g(), 'samples', 'CPU SAMPLES BEGIN (total = -10) %s\n' % h.DATE), 'WRAPPED', 'samples'),
        (g().before('heap', 'new', g().get('trace 2')), 'TRACE_TWICE', 'heap'),
        (g().before('end 1', 'new', b'CPU SAMPLES BEGIN (total = 0) %s\nCPU SAMPLES END\n' % h.DATE.encode()), 'SEVERAL_DUMPS', 'new'),
    ]
    return found + heap_notes()
