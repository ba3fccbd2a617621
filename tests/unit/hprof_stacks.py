# SPDX-License-Identifier: BSD-2-Clause
"""Stacks and values of HPROF files, read again by other means than the command's, for its tests: of all tables of each kind (of allocations the
last), and of the last heap dump. No checks: files of the original agent are taken as they are. It clears its counts at SIGQUIT, not when a
peer asks for a table: a table that has all of the one before stands for both."""
import collections
import re
import struct

PRIMITIVES = {4: ('boolean', 1), 5: ('char', 2), 6: ('float', 4), 7: ('double', 8), 8: ('byte', 1), 9: ('short', 2), 10: ('int', 4), 11: ('long', 8)}
LETTERS = {'Z': 'boolean', 'C': 'char', 'F': 'float', 'D': 'double', 'B': 'byte', 'S': 'short', 'I': 'int', 'J': 'long'}
LAST = {'alloc_objects', 'heap_objects'}
BLOCKED = {'MONITOR TIME': ('contentions', 'delay'), 'MONITOR OWNERS': ('owner_contentions', 'owner_delay'), 'WAIT TIME': ('waits', 'wait_delay'),
           'LOCK TIME': ('parks', 'park_delay'), 'PINNED TIME': ('pins', 'pinned_delay')}


def generated(name):
    """Without the numbers of classes that are made while the program runs."""
    name = re.sub(r'[./]0x[0-9a-f]+|/\d{4,}', '', name)
    return re.sub(r'(\$\$Lambda)\$\d+|(Generated\w*Accessor|\$Proxy|\bjdk\.proxy)\d+', r'\1\2', name)


def type_at(s, at):
    """(the type of a descriptor as people write it, where it ends)"""
    n = len(re.match(r'\[*', s[at:]).group())
    at += n
    if s[at] == 'L':
        end = s.index(';', at)
        return s[at + 1:end].replace('/', '.') + n * '[]', end + 1
    return LETTERS[s[at]] + n * '[]', at + 1


def spoken(name):
    """A class or method as people write it."""
    try:
        if name.startswith('[') or (name.startswith('L') and name.endswith(';')):
            return generated(type_at(name, 0)[0])
        if '(' in name and not name.startswith('<'):
            method, arguments = name.split('(', 1)
            found, at = [], 0
            while arguments[at] != ')':
                one, at = type_at(arguments, at)
                found.append(one)
            return generated('%s(%s)' % (method.replace('/', '.'), ', '.join(found)))
    except (KeyError, ValueError, IndexError):
        pass
    return generated(re.sub(r'/(?!\d)', '.', name))


class Stacks:
    """found: {measure: Counter of 'outer;inner'}."""

    def __init__(self, data):
        self.found = collections.defaultdict(collections.Counter)
        self.traces, self.open, self.tables = {}, {}, {}
        if data.startswith(b'JAVA PROFILE') and b'\0' in data[:20]:
            self._binary(data)
        else:
            self._text(data.decode('utf-8', 'surrogateescape').split('\n'))
        self._end()

    def _begin(self, *measures, total=None, rest=''):
        """A table. total: of the last of its measures; rest: the stack of what no row has."""
        self._end()
        self.open = {m: collections.Counter() for m in measures}
        self.total, self.rest = total, rest

    def _end(self):
        if not self.open:
            return
        counts, main = list(self.open.values())[0], list(self.open.values())[-1]
        rest = (self.total or 0) - sum(main.values())
        if self.total and rest * (1000 if len(self.open) > 1 else self.total) >= self.total:
            main[self.rest] += rest
        before = self.tables.setdefault(tuple(self.open), [])
        if before and (next(iter(self.open)) in LAST or all(counts[k] >= v or v < 2e-4 * counts.total() for k, v in before[-1][0].items() if '[rest]' not in k)
                       and counts.total() >= before[-1][0].total()):
            before.pop()
        before.append(list(self.open.values()))
        for i, m in enumerate(self.open):
            self.found[m] = sum((table[i] for table in before), collections.Counter())
        self.open = {}

    def _add(self, trace, leaf, **values):
        frames = [*reversed(self.traces.get(trace, [])), *([spoken(leaf)] if leaf else [])]
        for measure, v in values.items():
            if v:
                self.open[measure][';'.join(frames) or '[no stack]'] += v

    def _text(self, lines):
        title, total, trace, objects = None, 0, None, []
        if lines[0].startswith('count callee caller'):
            title = 'OLD'
            self._begin('calls', 'time')
            lines = lines[1:]
        for line in lines:
            if m := re.match(r'TRACE (\d+):', line):
                trace = int(m[1])
                self.traces[trace] = []
            elif trace is not None and line.startswith('\t'):
                if m := re.match(r'\t(.*)\((.*)\)$', line):
                    self.traces[trace].append(generated(m[1]))
            elif m := re.match(r'(CPU SAMPLES|CPU TIME \(ms\)|SITES|HEAP DUMP|MONITOR DUMP|[A-Z]+ (?:TIME|OWNERS)) BEGIN(?: \(total = (\d+))?', line):
                title, total, trace = m[1], int(m[2] or 0), None
                self._begin(*BLOCKED.get(title, {'CPU SAMPLES': ['samples'], 'CPU TIME (ms)': ['calls', 'time'], 'HEAP DUMP': ['heap_objects', 'heap_space'],
                                                 'SITES': ['alloc_objects', 'alloc_space', 'inuse_objects', 'inuse_space']}.get(title, [])),
                            total=total if title == 'CPU SAMPLES' else total * 1000000, rest='[rest];[rest]' if title in BLOCKED else '[rest]')
                objects = [] if title == 'HEAP DUMP' else objects
            elif line.startswith('count callee caller'):
                title = 'OLD'
                self._begin('calls', 'time')
            elif re.match(r'.* END$', line):
                title = None
            elif title:
                self._row(title, total, line, objects)
        self._end()
        self.open = {'heap_objects': collections.Counter(), 'heap_space': collections.Counter()}
        self.total = None
        for trace, name, size in objects:  # traces may stand behind the dump
            self._add(trace, name, heap_objects=1, heap_space=size)

    def _row(self, title, total, line, objects):
        words = line.split()
        if title == 'CPU SAMPLES' and len(words) >= 6 and words[0].isdigit():
            self._add(int(words[4]), None, samples=int(words[3]))
        elif title == 'CPU TIME (ms)' and len(words) >= 6 and words[0].isdigit():
            self._add(int(words[4]), None, calls=int(words[3]), time=total * int(words[1].replace('.', '').rstrip('%')) * 100)
        elif title == 'SITES' and len(words) >= 9 and words[0].isdigit():
            live, n, size, objs, trace = map(int, words[3:8])
            self._add(trace, ' '.join(words[8:]), alloc_objects=objs, alloc_space=size, inuse_objects=n, inuse_space=live)
        elif title in BLOCKED and words and words[0].isdigit():
            count, ns = int(words[3]), total * int(words[1].replace('.', '').rstrip('%')) * 100
            name = re.sub(r' \(Java\)$', '', ' '.join(words[6 if title == 'MONITOR OWNERS' else 5:]))
            self._add(int(words[5 if title == 'MONITOR OWNERS' else 4]), name, **dict(zip(BLOCKED[title], (count, ns))))
        elif title == 'OLD' and (m := re.match(r'(\d+) (<unknown callee>|\S+) (<unknown caller>|\S+) (\d+)$', line)):
            frames = '%s;%s' % (spoken(m[3]), spoken(m[2]))
            self.open['calls'][frames] += int(m[1])
            self.open['time'][frames] += int(m[4]) * 1000000
        elif title == 'HEAP DUMP' and (m := re.match(r'(OBJ|ARR) \S+ \(sz=(\d+), trace=(\d+), (?:class|nelems=\d+, elem type)=(.*?)(@\w+)?\)$', line)):
            name = m[4] if m[1] == 'OBJ' or m[4].endswith(']') else m[4] + '[]'
            objects.append((int(m[3]), name, int(m[2])))

    def _binary(self, data):
        head, _, rest = data.partition(b'\0')
        size = struct.unpack('>I', rest[:4])[0]
        at, ident = len(head) + 13, 'Q' if size == 8 else 'I'
        strings, classes, by_object, frames, heap = {}, {}, {}, {}, []
        inside = False
        while at + 9 <= len(data):
            tag, _, n = struct.unpack('>BII', data[at:at + 9])
            body = data[at + 9:at + 9 + n]
            take = lambda layout, start=0: struct.unpack_from('>' + layout.replace('X', ident), body, start)
            if tag == 1:
                strings[take('X')[0]] = body[size:].decode('utf-8', 'surrogateescape')
            elif tag == 2:
                serial, thing, _, name = take('IXIX')
                classes[serial] = by_object[thing] = strings[name]
            elif tag == 4:
                key, method, _, _, serial, _ = take('XXXXIi')
                frames[key] = spoken('%s.%s' % (classes.get(serial, '?'), strings[method]))
            elif tag == 5:
                serial, _, count = take('III')
                self.traces[serial] = [frames[f] for f in take('%dX' % count, 12)]
            elif tag == 6:
                self._begin('alloc_objects', 'alloc_space', 'inuse_objects', 'inuse_space')
                for row in range(34, n, 25):
                    _, serial, trace, live, objs, made, all_objs = take('BIIIIII', row)
                    self._add(trace, classes.get(serial, '?'), alloc_objects=all_objs, alloc_space=made, inuse_objects=objs, inuse_space=live)
            elif tag == 0x0d:
                self._begin('samples', total=take('I')[0], rest='[rest]')
                for row in range(8, n, 8):
                    count, trace = take('II', row)
                    self._add(trace, None, samples=count)
            elif tag in (0x0c, 0x1c):
                heap = heap if inside else []
                inside = tag == 0x1c
                heap += self._heap(body, size, ident)
            elif tag == 0x2c:
                inside = False
            at += 9 + n
        self._end()
        self.open = {'heap_objects': collections.Counter(), 'heap_space': collections.Counter()}
        self.total = None
        for trace, of, bytes_of in heap:
            name = of if isinstance(of, str) else by_object.get(of, '?')
            self._add(trace, name, heap_objects=1, heap_space=bytes_of)

    @staticmethod
    def _heap(body, size, ident):
        """(trace, class id or the name of an array, bytes) of each object."""
        roots = {1: 'XX', 2: 'XII', 3: 'XII', 4: 'XI', 5: 'X', 6: 'XI', 7: 'X', 8: 'XII', 0xff: 'X'}
        take = lambda layout, at: struct.unpack_from('>' + layout.replace('X', ident), body, at)
        width = lambda layout: struct.calcsize('>' + layout.replace('X', ident))
        of_type = lambda kind: size if kind == 2 else PRIMITIVES[kind][1]
        at, found = 0, []
        while at < len(body):
            sub, at = body[at], at + 1
            if sub in roots:
                at += width(roots[sub])
            elif sub == 0x20:
                at += width('XIXXXXXXI')
                for kinds in ('HB', 'XB', None):
                    n, = take('H', at)
                    at += 2
                    for _ in range(n):
                        kind = take(kinds or 'XB', at)[1]
                        at += width(kinds or 'XB') + (of_type(kind) if kinds else 0)
            elif sub == 0x21:
                _, trace, klass, n = take('XIXI', at)
                at += width('XIXI') + n
                found.append((trace, klass, n))
            elif sub == 0x22:
                _, trace, n, klass = take('XIIX', at)
                at += width('XIIX') + n * size
                found.append((trace, klass, n * size))
            else:
                _, trace, n, kind = take('XIIB', at)
                at += width('XIIB') + n * of_type(kind)
                found.append((trace, PRIMITIVES[kind][0] + '[]', n * of_type(kind)))
        return found
