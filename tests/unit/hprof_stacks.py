# SPDX-License-Identifier: BSD-2-Clause
"""Stacks and values of HPROF files, read by the parsers of tests/format instead of the command's, for its tests: of all tables of each kind (of
allocations the last), and of the last heap dump. The original clears its counts at SIGQUIT, not when a peer asks for a table: a table that has all
of the one before stands for both."""
import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'format'))
import hprof_binary  # noqa: E402
import hprof_text  # noqa: E402

NAMES = {kind: name for name, kind in hprof_binary.ARRAYS.items()}
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
        self.open, self.tables = {}, {}
        if data.startswith(b'JAVA PROFILE') and b'\0' in data[:20]:
            self._binary(hprof_binary.Binary(data, original=True))
        else:
            self._text(hprof_text.parse(data, original=True))
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

    def _text(self, p):
        self.traces = {serial: [generated(f.method) for f in t.frames] for serial, t in p.traces.items()}
        for d in p.dumps:
            if d.title == hprof_text.SAMPLES:
                self._begin('samples', total=d.total, rest='[rest]')
                for r in d.rows:
                    self._add(r.trace, None, samples=r.count)
            elif d.title == hprof_text.TIMES:
                self._begin('calls', 'time', total=d.total * 1000000, rest='[rest]')
                for r in d.rows:
                    self._add(r.trace, None, calls=r.count, time=d.total * round(100 * r.self_percent) * 100)
            elif d.title == hprof_text.SITES:
                self._sites((r, r.name) for r in d.rows)
            elif d.title in BLOCKED:
                self._begin(*BLOCKED[d.title], total=d.total * 1000000, rest='[rest];[rest]')
                for r in d.rows:
                    ns = d.total * round(100 * r.self_percent) * 100
                    self._add(r.trace if r.owner is None else r.owner, r.name, **dict(zip(BLOCKED[d.title], (r.count, ns))))
            elif d.title == hprof_text.OLD:
                self._begin('calls', 'time')
                for names, calls, ms in d.rows:
                    if m := re.fullmatch(r'(<unknown callee>|\S+) (<unknown caller>|\S+)', names):
                        stack = '%s;%s' % (spoken(m[2]), spoken(m[1]))
                        self.open['calls'][stack] += calls
                        self.open['time'][stack] += ms * 1000000
        self._heap(p.heaps, lambda o: o.size)

    def _sites(self, rows):
        self._begin('alloc_objects', 'alloc_space', 'inuse_objects', 'inuse_space')
        for r, name in rows:
            self._add(r.trace, name, alloc_objects=r.objects, alloc_space=r.bytes, inuse_objects=r.live, inuse_space=r.live_bytes)

    def _binary(self, p):
        self.traces = {serial: [spoken(f.method) for f in frames] for serial, (_, frames) in p.traces.items()}
        for d in p.lists:
            self._sites((r, p.classes[r.klass]) for r in d.rows)
        for total, rows in p.tables:
            self._begin('samples', total=total, rest='[rest]')
            for count, trace in rows:
                self._add(trace, None, samples=count)
        self._heap(p.heaps, lambda o: len(o.refs) * p.id_size if hasattr(o, 'refs') else len(o.raw))

    def _heap(self, heaps, size):
        self._end()
        self.open = {'heap_objects': collections.Counter(), 'heap_space': collections.Counter()}
        self.total = None
        for o in heaps[-1].objects.values() if heaps else ():
            klass = getattr(o, 'klass', None)
            name = NAMES[o.type] + '[]' if klass is None else heaps[-1].classes[klass].name if klass in heaps[-1].classes else '?'
            self._add(o.trace, name, heap_objects=1, heap_space=size(o))
