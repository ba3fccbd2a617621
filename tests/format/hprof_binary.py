# SPDX-License-Identifier: BSD-2-Clause
"""Our binary output as Python objects. Refuses what the format does not have: a wrong length, an id before its definition or defined twice, TIME that goes back, a string
that is no UTF-8."""
import collections
import pathlib
import re
import struct

import timeline_text

LOAD, UNLOAD, FRAME, TRACE, SITES, SUMMARY, START, END, SAMPLES, CONTROL, STRING = 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0A, 0x0B, 0x0D, 0x0E, 0x01
HEAP, SEGMENT, HEAP_END = 0x0C, 0x1C, 0x2C


Table = collections.namedtuple('Table', 'total rows')
# ALLOC SITES, and HEAP SUMMARY, which is its first figures alone. A site's array is 0 or the basic type of the elements (2: objects).
Sites = collections.namedtuple('Sites', 'flags cutoff live_bytes live bytes objects rows')
Site = collections.namedtuple('Site', 'array klass trace live_bytes live bytes objects')
Summary = collections.namedtuple('Summary', 'live_bytes live bytes objects')
ARRAYS = {'boolean': 4, 'char': 5, 'float': 6, 'double': 7, 'byte': 8, 'short': 9, 'int': 10, 'long': 11}
SIZES = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}  # of the basic types but 2, an id
CODES = {4: 'B', 5: 'H', 6: 'I', 7: 'Q', 8: 'B', 9: 'H', 10: 'I', 11: 'Q'}  # bits: two values are the same if their bits are
ROOTS = {0x01: ('JNI global', 'X'), 0x02: ('JNI local', 'Ii'), 0x03: ('Java frame', 'Ii'), 0x04: ('native stack', 'I'), 0x05: ('system class', ''), 0x06: ('thread block', 'I'),
         0x07: ('monitor', ''), 0x08: ('thread', 'II'), 0xFF: ('unknown', '')}
# thread: serial or 0; more: the frame (-1: none); of a thread its trace
Root = collections.namedtuple('Root', 'kind object thread more')
# statics: [(name, type, bits)]; fields: [(name, type)]; constants: {index: object}
Klass = collections.namedtuple('Klass', 'name trace super loader signers domain size constants statics fields')
# An instance has `raw`, its fields; an array of objects `refs`; of primitives `type`, `length` and `raw`.
Instance = collections.namedtuple('Instance', 'klass trace raw')
Objects = collections.namedtuple('Objects', 'klass trace refs')
Primitives = collections.namedtuple('Primitives', 'type trace length raw')


class Malformed(Exception):
    pass


class Known(dict):
    """Of the original agent: what is not defined is the default."""

    def __init__(self, default):
        super().__init__()
        self.default = default

    def __missing__(self, key):
        return self.default


class Heap:
    """One heap dump. roots: [Root]; classes: {id: Klass}; objects: {id: Instance, Objects or Primitives}."""

    def __init__(self, id_size):
        self.id_size, self.roots, self.classes, self.objects = id_size, [], {}, {}

    def chain(self, klass):
        """The class and its superclasses."""
        while klass:
            yield klass
            klass = self.classes[klass].super

    def size_of(self, kind):
        return SIZES.get(kind) or self.id_size

    def values(self, instance):
        """[(class that declares it, field, type, bits or id)], of the class first."""
        at, found = 0, []
        for k in self.chain(instance.klass):
            c = self.classes[k]
            for name, kind in c.fields:
                size = self.size_of(kind)
                found.append((c.name, name, kind, int.from_bytes(instance.raw[at:at + size], 'big')))
                at += size
        return found

    def referred(self):
        """(what names it, id) of everything that is named."""
        plans = {}
        for r in self.roots:
            yield 'a root', r.object
        for c in self.classes.values():
            for i in (c.super, c.loader, c.signers, c.domain, *c.constants.values(), *(v for _, kind, v in c.statics if kind == 2)):
                yield c.name, i
        for o in self.objects.values():
            if isinstance(o, Objects):
                yield 'an array', o.klass
                for i in set(o.refs):
                    yield 'an array', i
            elif isinstance(o, Instance):
                if o.klass not in plans:
                    at = 0
                    for k in self.chain(o.klass):
                        for _, kind in self.classes[k].fields:
                            if kind == 2:
                                plans.setdefault(o.klass, []).append(at)
                            at += self.size_of(kind)
                for at in plans.get(o.klass, ()):
                    yield self.classes[o.klass].name, int.from_bytes(o.raw[at:at + self.id_size], 'big')

    def check(self, traces):
        """What holds for a whole dump of ours."""
        for who, i in self.referred():
            if i and i not in self.objects and i not in self.classes:
                raise Malformed('%s refers to %x, which is not in the dump' % (who, i))
        sizes = {}
        for k, c in self.classes.items():
            sizes[k] = sum(self.size_of(kind) for a in self.chain(k) for _, kind in self.classes[a].fields)
            if c.size != sizes[k]:
                raise Malformed('size %d of %s' % (c.size, c.name))
        for i, o in self.objects.items():
            if isinstance(o, Instance) and len(o.raw) != sizes[o.klass]:
                raise Malformed('%x has %d bytes of fields, its class %d' % (i, len(o.raw), sizes[o.klass]))
        threads = {}
        for r in self.roots:
            if r.kind == 'thread':
                threads[r.thread] = r.more
            elif r.thread and r.thread not in threads:
                raise Malformed('a root of thread %d, which has none itself before' % r.thread)
            elif r.kind in ('JNI local', 'Java frame') and r.more >= len(traces[threads[r.thread]][1]):
                raise Malformed('a root in frame %d of thread %d, whose trace has fewer' % (r.more, r.thread))


NAMES_FIRST, NAMES_LAST = 0x10000000, 0x1fffffff  # ids of strings that are newest names of threads


class Frame:
    def __init__(self, method, signature, source, klass, line):
        self.method, self.signature, self.source, self.klass, self.line = method, signature, source, klass, line


class Binary:
    """records: (tag, microseconds). classes: {serial: name}; unloaded: serials, in order; order: (LOAD or UNLOAD, serial); threads: {serial: (name, group, parent)}; ended: serials;
    traces: {serial: (thread, [Frame])}; tables: [Table(total, [(count, trace)])]; lists: [Sites]; summaries: [Summary]; heaps: [Heap];
    thread_objects: {serial: id}; report: the last text of ours; events: (start or end, serial) of threads, in order; sections: titles of tables and heap dumps, in order.
    original: a file of the original agent, of which only the layout is asked."""

    def __init__(self, data, original=False):
        self.original = original
        head, _, rest = data.partition(b'\0')
        if head not in (b'JAVA PROFILE 1.0.2', b'JAVA PROFILE 1.0.1')[:1 + original] or len(rest) < 12:
            raise Malformed('head %r' % head)
        self.id_size, self.created_ms = struct.unpack('>IQ', rest[:12])
        self.strings, self.classes, self.unloaded, self.threads, self.ended = {}, {}, [], {}, []
        self.order, self.objects, self.lists, self.summaries = [], {}, [], []
        self.heaps, self.heap, self.thread_objects, self.newest, self.timelines = [], None, {}, {}, []
        self.frames, self.traces, self.tables, self.records, self.settings, self.report = {}, {}, [], [], None, {}
        self.events, self.sections = [], []
        if original:
            self.strings, self.classes, self.threads, self.traces = Known('?'), Known('?'), Known(('?', '', None)), Known((0, []))
            self.objects = Known(0)
        at, self.time = len(head) + 13, 0
        while at < len(data):
            if at + 9 > len(data):
                raise Malformed('half a head at %d' % at)
            tag, time, length = struct.unpack('>BII', data[at:at + 9])
            body = data[at + 9:at + 9 + length] if tag not in (HEAP, SEGMENT) else memoryview(data)[at + 9:at + 9 + length]
            if len(body) != length or time < self.time and not original:
                raise Malformed('at %d: TIME %d after %d, %d of %d bytes' % (at, time, self.time, len(body), length))
            self.time = time
            self.records.append((tag, time))
            try:
                self._record(tag, body)
            except (KeyError, struct.error, UnicodeDecodeError) as e:
                raise Malformed('record 0x%02x at %d: %r' % (tag, at, e)) from e
            at += 9 + length
        if self.heap is not None:
            raise Malformed('a heap dump without its end')

    def _refuse(self, what):
        if not self.original:
            raise Malformed(what)

    def _take(self, body, layout):
        """I: u4, i: signed, X: id; the whole body."""
        return struct.unpack('>' + layout.replace('X', 'Q' if self.id_size == 8 else 'I'), body)

    def _new(self, where, key, value):
        if key in where or key == 0:
            self._refuse('%x is defined twice' % key)
        where[key] = value

    def _name(self, key):
        return self.strings[key] if key else None

    def _timeline(self, lines):
        if not lines.endswith('\n'):
            self._refuse('a line of TIMELINE that goes on in another record')
        for line in lines[:-1].split('\n'):
            begun = timeline_text.begin(line)
            if begun:
                self.timelines.append(begun)
                continue
            wrong = timeline_text.ended(self.timelines[-1]) if line == timeline_text.END_WORDS else timeline_text.take(self.timelines[-1], line)
            if wrong:
                self._refuse(wrong)
            if line == timeline_text.END_WORDS:
                for p in self.timelines[-1].places:
                    _ = [self.traces[s] for s in (p.trace, p.owner) if s]

    def _record(self, tag, body):
        if tag == STRING:
            key, = self._take(body[:self.id_size], 'X')
            text = body[self.id_size:].decode(errors='backslashreplace' if self.original else 'strict')
            self._new(self.strings, key, text)
            if NAMES_FIRST <= key <= NAMES_LAST and text.startswith(timeline_text.NOTE) and not self.original:
                self._timeline(text[len(timeline_text.NOTE):])
            elif NAMES_FIRST <= key <= NAMES_LAST and not self.original:
                serial, name = re.fullmatch(r'hprofx: thread (\d+): (.*)', text, re.DOTALL).groups()
                self.newest[int(serial)] = name
                _ = self.threads[int(serial)]
            elif text.startswith('hprofx: ') and not text.startswith('hprofx: WALL CLOCK '):  # which names the state of the table behind it
                self.report = dict(ln[8:].split(': ', 1) for ln in text.splitlines())
        elif tag == LOAD:
            serial, thing, trace, name = self._take(body, 'IXIX')
            self._new(self.classes, serial, self.strings[name])
            self._new(self.objects, thing, serial)
            self.order.append((tag, serial))
            _ = self.traces[trace]
        elif tag == UNLOAD:
            serial, = self._take(body, 'I')
            if self.classes[serial] is None or serial in self.unloaded:
                self._refuse('class %d is unloaded twice' % serial)
            self.unloaded.append(serial)
            self.order.append((tag, serial))
        elif tag == START:
            serial, thing, trace, name, group, parent = self._take(body, 'IXIXXX')
            self._new(self.threads, serial, (self.strings[name], self.strings[group], self._name(parent)))
            self.thread_objects[serial] = thing
            self.events.append(('start', serial))
            _ = self.traces[trace]
        elif tag == END:
            serial, = self._take(body, 'I')
            if serial in self.ended or serial not in self.threads:
                self._refuse('thread %d ends' % serial)
            self.ended.append(serial)
            self.events.append(('end', serial))
        elif tag == FRAME:
            key, method, signature, source, klass, line = self._take(body, 'XXXXIi')
            if klass in self.unloaded or line == 0 or line < -3:
                self._refuse('frame of class %d, line %d' % (klass, line))
            self._new(self.frames, key, Frame('%s.%s' % (self.classes[klass], self.strings[method]), self.strings[signature], self._name(source), klass, line))
        elif tag == TRACE:
            serial, thread, n = self._take(body[:12], 'III')
            _ = self.threads[thread] if thread else None
            self._new(self.traces, serial, (thread, [self.frames[f] for f in self._take(body[12:], '%dX' % n)]))
        elif tag == SAMPLES:
            total, n = self._take(body[:8], 'II')
            words = self._take(body[8:], '%dI' % (2 * n))
            rows = list(zip(words[::2], words[1::2]))
            for count, trace in rows:
                _ = self.traces[trace]
            counts = [c for c, _ in rows]
            if counts != sorted(counts, reverse=True) or 0 in counts or sum(counts) > total or len({trace for _, trace in rows}) != len(rows):
                self._refuse('rows of %d: %s' % (total, rows))
            self.sections.append('CPU SAMPLES')
            self.tables.append(Table(total, rows))
        elif tag == SITES:
            self.sections.append('SITES')
            self._sites(body)
        elif tag == SEGMENT or tag == HEAP and self.original:
            if self.heap is None:
                self.heap = Heap(self.id_size)
                self.sections.append('HEAP DUMP')
            at = 0
            while at < len(body):
                at = self._sub(body, at)
            if at == 0 or at != len(body):
                raise Malformed('an empty segment, or one that ends inside a sub-record')
            if tag == HEAP:
                self._record(HEAP_END, b'')
        elif tag == HEAP_END:
            if self.heap is None or body:
                raise Malformed('the end of no heap dump')
            if not self.original:
                self.heap.check(self.traces)
            self.heaps.append(self.heap)
            self.heap = None
        elif tag == SUMMARY:
            self.summaries.append(Summary(*self._take(body, 'IIQQ')))
        elif tag == CONTROL:
            self.settings = struct.unpack('>IH', body)
            if self.settings[0] > 7:
                self._refuse('flags %d' % self.settings[0])
        else:
            raise Malformed('tag 0x%02x' % tag)

    def _at(self, body, at, layout):
        layout = '>' + layout.replace('X', 'Q' if self.id_size == 8 else 'I')
        return struct.unpack_from(layout, body, at) + (at + struct.calcsize(layout),)

    def _sub(self, body, at):
        """One sub-record; where the next begins."""
        h, sub = self.heap, body[at]
        if sub in ROOTS:
            kind, layout = ROOTS[sub]
            *what, at = self._at(body, at + 1, 'X' + layout)
            thread, more = (what[1:] + [0, 0])[:2] if 'I' in layout else (0, 0)
            if thread:
                _ = self.threads[thread]
            if kind == 'thread':
                _ = self.traces[more]
            h.roots.append(Root(kind, what[0], thread, more))
        elif sub == 0x20:
            at = self._class(body, at + 1)
        elif sub == 0x21:
            key, trace, klass, n, at = self._at(body, at + 1, 'XIXI')
            if klass not in h.classes:
                self._refuse('an object of class %x' % klass)
            self._object(key, Instance(klass, trace, body[at:at + n]))
            at += n
        elif sub == 0x22:
            key, trace, n, klass, at = self._at(body, at + 1, 'XIIX')
            if klass not in h.classes:
                self._refuse('an object of class %x' % klass)
            *refs, at = self._at(body, at, '%dX' % n)
            self._object(key, Objects(klass, trace, refs))
        elif sub == 0x23:
            key, trace, n, kind, at = self._at(body, at + 1, 'XIIB')
            raw = body[at:at + n * SIZES[kind]]
            self._object(key, Primitives(kind, trace, n, raw))
            at += n * SIZES[kind]
        else:
            raise Malformed('sub-record 0x%02x' % sub)
        return at

    def _object(self, key, o):
        if key in self.heap.classes:
            self._refuse('%x is a class and an object' % key)
        _ = self.traces[o.trace]
        self._new(self.heap.objects, key, o)

    def _class(self, body, at):
        key, trace, above, loader, signers, domain, zero1, zero2, size, n, at = self._at(body, at, 'XIXXXXXXIH')
        constants, statics, fields = {}, [], []
        value = lambda kind: 'X' if kind == 2 else CODES[kind]
        for _ in range(n):
            index, kind, at = self._at(body, at, 'HB')
            v, at = self._at(body, at, value(kind))
            self._new(constants, index, v)
        n, at = self._at(body, at, 'H')
        for _ in range(n):
            name, kind, at = self._at(body, at, 'XB')
            v, at = self._at(body, at, value(kind))
            statics.append((self.strings[name], kind, v))
        n, at = self._at(body, at, 'H')
        for _ in range(n):
            name, kind, at = self._at(body, at, 'XB')
            fields.append((self.strings[name], kind))
            _ = value(kind)
        _ = self.traces[trace]
        if zero1 or zero2:
            self._refuse('reserved ids of a class')
        self._new(self.heap.classes, key, Klass(self.classes[self.objects[key]], trace, above, loader, signers, domain, size, constants, statics, fields))
        return at

    def _sites(self, body):
        head, n = self._take(body[:30], 'HfIIQQ'), self._take(body[30:34], 'I')[0]
        rows = [Site(*self._take(body[at:at + 25], 'BIIIIII')) for at in range(34, len(body), 25)]
        if len(rows) != n or head[0] > 7:
            raise Malformed('%d rows of %d, flags %d' % (len(rows), n, head[0]))
        for r in rows:
            _ = self.traces[r.trace]
            if self.classes[r.klass] is None or r.klass in self.unloaded:
                self._refuse('a site of class %d, which is gone' % r.klass)
            name = self.classes[r.klass]
            element = ARRAYS.get(name[:-2], 2) if name.endswith('[]') else 0
            if r.array != element:
                self._refuse('array type %d of %s' % (r.array, name))
            if r.live > r.objects or r.live_bytes > r.bytes:
                self._refuse('more is alive than was allocated: %s' % (r,))
        key = (lambda r: r.bytes) if head[0] & 2 or not head[2] else (lambda r: r.live_bytes)
        if [key(r) for r in rows] != sorted(map(key, rows), reverse=True) or len({(r.klass, r.trace) for r in rows}) != n:
            self._refuse('the rows are not in order, or one is there twice')
        if sum(r.live_bytes for r in rows) > head[2] or sum(r.bytes for r in rows) > head[4]:
            self._refuse('the rows are more than the total')
        self.lists.append(Sites(*head, rows))

    def sites(self):
        """(site, name of its class, frames) of each row of the last list."""
        return [(r, self.classes[r.klass], self.traces[r.trace][1]) for r in self.lists[-1].rows]

    def stacks(self):
        """(count, frames) of each row of the last table."""
        return [(count, self.traces[trace][1]) for count, trace in self.tables[-1][1]]

    def share(self, method):
        return sum(count for count, frames in self.stacks() if frames and frames[0].method == method) / max(1, self.tables[-1][0])


def read(path, **how):
    return Binary(pathlib.Path(path).read_bytes(), **how)
