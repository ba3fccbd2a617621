# SPDX-License-Identifier: BSD-2-Clause
"""Heap dumps of both formats behind one view: what a program knows of its objects, compared with the dump."""
import struct
import zlib

import hprof_binary
import hprof_text

TYPES = {'boolean': 4, 'char': 5, 'float': 6, 'double': 7, 'byte': 8, 'short': 9, 'int': 10, 'long': 11, 'ref': 2}
EMPTY = hprof_text.EMPTY_TRACE


class View:
    """heap: Heap of hprof_binary or hprof_text, which have the same members; the text has no primitive values and no nulls. p: its file."""

    def __init__(self, p, heap=-1):
        self.p, self.heap = p, p.heaps[heap]
        self.text = isinstance(p, hprof_text.Profile)
        self.classes, self.objects, self.roots = self.heap.classes, self.heap.objects, self.heap.roots
        self.of_class = {}
        for i, o in self.objects.items():
            if getattr(o, 'klass', None):
                self.of_class.setdefault(self.classes[o.klass].name, []).append(i)

    def class_ids(self, name):
        return [i for i, c in self.classes.items() if c.name == name]

    def class_id(self, name):
        found = self.class_ids(name)
        if len(found) != 1:
            raise AssertionError('%d classes %s' % (len(found), name))
        return found[0]

    def instances(self, name):
        return self.of_class.get(name, [])

    def values(self, i):
        """[(class that declares it, field, type, bits or id)] of an instance, of the class first."""
        return self.heap.values(self.objects[i])

    def field(self, i, name):
        """The one of the class nearest to the object's."""
        return next(v for _, n, _, v in self.values(i) if n == name)

    def static(self, klass, name):
        return dict((n, v) for n, _, v in self.classes[klass].statics)[name]

    def string(self, i):
        o = self.objects[i]
        if self.classes[o.klass].name != 'java.lang.String':
            return None
        value = self.objects[self.field(i, 'value')]
        if value.type == 5:
            return bytes(value.raw).decode('utf-16-be', 'surrogatepass')
        if self.field(i, 'coder') == 0:
            return bytes(value.raw).decode('latin-1')
        return bytes(value.raw).decode('utf-16-le', 'surrogatepass')

    def trace(self, serial):
        """[Frame] of a trace."""
        t = self.p.traces[serial]
        return t.frames if self.text else t[1]

    def thread(self, name):
        """(serial, object)"""
        if self.text:
            found = [(t.serial, t.obj) for t in self.p.threads.values() if t.name == name]
        else:
            found = [(s, self.p.thread_objects[s]) for s, (n, _, _) in self.p.threads.items() if n == name]
        if len(found) != 1:
            raise AssertionError('%d threads %s' % (len(found), name))
        return found[0]

    def stack(self, thread):
        """[Frame]: the current stack of a thread, of its root."""
        return self.trace(next(r.more for r in self.roots if r.kind == 'thread' and r.thread == thread))

    def roots_of(self, i, kind=None):
        return [r for r in self.roots if r.object == i and kind in (None, r.kind)]

    def counts(self):
        """{class, in Java source form: objects}, arrays too; instances of java.lang.Class without the classes of the dump."""
        counts = {name: len(ids) for name, ids in self.of_class.items()}
        primitive = {v: k for k, v in TYPES.items()}
        for o in self.objects.values():
            if not getattr(o, 'klass', None):
                counts[primitive[o.type] + '[]'] = counts.get(primitive[o.type] + '[]', 0) + 1
        return counts


def java_name(name):
    """Of Class.getName(): arrays in source form."""
    depth = len(name) - len(name.lstrip('['))
    short = {'Z': 'boolean', 'C': 'char', 'F': 'float', 'D': 'double', 'B': 'byte', 'S': 'short', 'I': 'int', 'J': 'long'}
    base = name[depth:]
    return (short.get(base) or base[1:-1] if depth else base) + '[]' * depth


def same_name(got, told):
    """Class.getName() has a slash before the number of a hidden class, the agent a dot; on JDK 11 JVMTI tells another number."""
    name = java_name(told)
    return got == name or '/' in name and got.startswith(name.partition('/')[0] + '.')


class Told:
    """What HeapTell wrote, and what of it a dump says otherwise."""

    def __init__(self, path):
        self.objects, self.classes, self.fields, self.statics, self.arrays = {}, {}, {}, {}, {}
        for line in path.read_text('utf-8').splitlines():
            kind, n, *rest = line.split(' ')
            n = int(n)
            if kind == 'object':
                self.objects[n] = rest[0]
            elif kind == 'class':
                self.classes[n] = rest
            elif kind == 'array':
                self.arrays[n] = (rest[0], int(rest[1]), int(rest[2]))
            else:
                (self.fields if kind == 'field' else self.statics).setdefault(n, []).append(tuple(rest))

    def find(self, v):
        """[id] by number."""
        tell = v.class_id('HeapTell')
        ids = v.objects[v.static(tell, 'all')].refs
        if len(ids) != len(self.objects):
            raise AssertionError('%d objects in `all`, %d are told' % (len(ids), len(self.objects)))
        return list(ids)

    def _same(self, v, ids, kind, want, got):
        """kind, want: as told; got: bits or id."""
        if kind != 'ref':
            return v.text or got == int(want, 16)
        if want == '?':
            return got != 0
        if want.startswith('s'):
            return got != 0 and (v.text or v.string(got) == bytes.fromhex(want[1:]).decode('utf-16-be', 'surrogatepass'))
        return got == (ids[int(want)] if int(want) >= 0 else 0)

    def wrong(self, v, values=True, lengths=True):
        """[what differs]. values: contents of primitives too; lengths: those of their arrays."""
        ids, wrong = self.find(v), []
        numbers = {i: n for n, i in enumerate(ids)}
        for n, name in self.objects.items():
            i = ids[n]
            where = 'object %d (%x, %s): ' % (n, i, name)
            if name == 'java.lang.Class':
                wrong += [where + w for w in self._class(v, ids, n, values)]
            elif i not in v.objects:
                wrong.append(where + 'is not there')
            elif n in self.arrays:
                wrong += [where + w for w in self._array(v, numbers, n, values, lengths)]
            else:
                wrong += [where + w for w in self._instance(v, ids, n, values)]
        for name in {x.partition('/')[0] for x in self.objects.values() if not x.startswith(('java.', '[')) and '$$Lambda' not in x}:  # the program has more lambdas
            want = sorted(ids[n] for n, x in self.objects.items() if x.partition('/')[0] == name)
            got = sorted(i for x, of in v.of_class.items() if x == name or same_name(x, name + '/') for i in of)
            if got != want:
                wrong.append('%d objects of %s instead of %d' % (len(got), name, len(want)))
        return wrong

    def _class(self, v, ids, n, values):
        name, above, loader = self.classes[n]
        c = v.classes.get(ids[n])
        if c is None:
            return ['no such class']
        if not same_name(c.name, name):
            return ['the class is %s' % c.name]
        wrong = []
        if not self._same(v, ids, 'ref', above, c.super) or not self._same(v, ids, 'ref', loader, c.loader):
            wrong.append('superclass %x, loader %x' % (c.super, c.loader))
        if name == 'HeapTell':
            return wrong
        told = [(f, kind, value) for _, f, kind, value in self.statics.get(n, [])]
        if v.text:
            told = [(f, kind, value) for f, kind, value in told if kind == 'ref' and value != '-1']
        statics = c.statics
        if v.text:  # in the order of the VM
            told, statics = sorted(told), sorted(statics)
        if [(f, TYPES[kind]) for f, kind, _ in told] != [(f, kind) for f, kind, _ in statics]:
            return wrong + ['statics %s, not %s' % ([(f, k) for f, k, _ in statics], [(f, k) for f, k, _ in told])]
        for (f, kind, want), (_, _, got) in zip(told, statics):
            if (values or kind == 'ref' and not want.startswith('s')) and not self._same(v, ids, kind, want, got):
                wrong.append('static %s is %x, not %s' % (f, got, want))
        return wrong

    def _instance(self, v, ids, n, values):
        own = [(c, f, kind, value) for c, f, kind, value in self.fields.get(n, [])]
        got = v.values(ids[n])
        c = v.classes[v.objects[ids[n]].klass]
        if not same_name(c.name, self.objects[n]):
            return ['is one of %s' % c.name]
        if v.text:  # superclasses first
            order = list(dict.fromkeys(c for c, *_ in own))[::-1]
            own = [x for c in order for x in own if x[0] == c and x[2] == 'ref' and x[3] != '-1']
            names, got_names = [f for _, f, _, _ in own], [f for _, f, _, _ in got]
            if got_names[-len(own):] != names and own or not own and got and self.plain(v, ids[n]):
                return ['fields %s, not %s' % (got_names, names)]
            got = got[len(got) - len(own):]
        else:
            got = [x for x in got if not x[0].startswith('java.')]
            if [(f, TYPES[kind]) for _, f, kind, _ in own] != [x[1:3] for x in got] or not all(same_name(x[0], y[0]) for x, y in zip(got, own)):
                return ['fields %s, not %s' % (got, own)]
        return ['%s.%s is %x, not %s' % (x[0], x[1], y[3], x[3]) for x, y in zip(own, got)
                if (values or x[2] == 'ref' and not x[3].startswith('s')) and not self._same(v, ids, x[2], x[3], y[3])]

    def plain(self, v, i):
        """Whether no class of the JDK but java.lang.Object declares its fields."""
        k = v.objects[i].klass
        while k:
            if v.classes[k].name.startswith('java.') and v.classes[k].name != 'java.lang.Object':
                return False
            k = v.classes[k].super
        return True

    def _array(self, v, numbers, n, values, lengths):
        kind, length, crc = self.arrays[n]
        o = v.objects[next(i for i, k in numbers.items() if k == n)]
        if kind == 'ref':
            if v.classes[o.klass].name != java_name(self.objects[n]):
                return ['is a %s' % v.classes[o.klass].name]
            if len(o.refs) != length:
                return ['length %d, not %d' % (len(o.refs), length)]
            got = zlib.crc32(struct.pack('>%di' % length, *(numbers.get(r, -2) if r else -1 for r in o.refs)))
            return [] if got == crc else ['the elements are others: %s' % [numbers.get(r, r) if r else None for r in o.refs[:20]]]
        if o.type != TYPES[kind] or lengths and o.length != length:
            return ['type %d, length %d' % (o.type, o.length)]
        return [] if not values or v.text or zlib.crc32(o.raw) == crc else ['the elements are others']


def read(path):
    """View of the one heap dump of a binary file."""
    return View(hprof_binary.read(path))
