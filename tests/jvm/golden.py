# SPDX-License-Identifier: BSD-2-Clause
"""Recorded runs of the original, and files of either agent reduced to facts (tests/golden/README.md)."""
import collections
import functools
import gzip
import pathlib
import re
import struct

import build
import hprof_binary
import hprof_text

FILES = build.ROOT / 'tests' / 'read' / 'golden'  # what the original wrote
_compared = set()


def compared(names):
    """The same in order. What tests/golden has and no test declares here is a failure of golden.every_case_has_a_test."""
    _compared.update(names)
    return sorted(names)


def not_compared():
    return sorted({f.parent.name for f in FILES.glob('*/*.gz')} - _compared)


class Recorded:
    """One case: options, program and its arguments; stdout, lines of stderr, exit code, facts."""

    def __init__(self, name):
        folder = build.GOLDEN / name
        self.name = name
        words = (folder / 'cmd.txt').read_text().split()
        self.options = next(w for w in words if w.startswith('-agentlib:')).partition('=')[2]  # none: empty
        self.program = words[words.index('-cp') + 2:]
        self.stdout, self.stderr = (folder / 'stdout.txt').read_text(), (folder / 'stderr.txt').read_text().splitlines()
        self.code = int((folder / 'exit.txt').read_text())

    @functools.cached_property
    def facts(self):
        # Beside the profile force-n has the file that was there before.
        file = max((FILES / self.name).glob('java.hprof*'), key=lambda f: ('.PID' in f.name, '.TMP' not in f.name))
        return facts(file, self.program[0] + ',Plug' * (self.program[0] == 'Unload'), original=True)


# --- facts

AGENT = re.compile(r'HPROF |hprofx|DestroyJavaVM|Signal Dispatcher|Finalizer|Reference Handler|Common-Cleaner|Notification Thread|main$')
OLD = re.compile(r'(<unknown callee>|\S+) (<unknown caller>|\S+)')
BASIC = {4: 'boolean', 5: 'char', 6: 'float', 7: 'double', 8: 'byte', 9: 'short', 10: 'int', 11: 'long'}
VALUES = {4: 'B', 5: 'H', 6: 'f', 7: 'd', 8: 'b', 9: 'h', 10: 'i', 11: 'q'}
MIRROR = 544  # bytes of a class mirror in the original


class Common:
    """A file of either format as facts() wants it: traces: {serial: (thread, [frame])}, sites, samples: [(method, count, trace)]; old: [(callee caller, calls, ms)]."""

    def __init__(self, path, original):
        data = gzip.decompress(path.read_bytes()) if path.suffix == '.gz' else path.read_bytes()
        self.binary = data[18:19] == b'\0'
        p = self.p = hprof_binary.Binary(data, original) if self.binary else hprof_text.parse(data, original=original)
        self.times, self.old, self.waits, self.monitors = [], [], [], []
        if self.binary:
            dotted = lambda name: name.replace('/', '.')
            frame = lambda f: '%s(%s:%s)' % (dotted(f.method), f.source or '<Unknown Source>', f.line if f.line > 0 else 'Unknown line')
            self.names = {s: t[0] for s, t in p.threads.items()}
            self.groups = {s: t[1] for s, t in p.threads.items()}
            self.traces = {s: (thread, [frame(f) for f in frames]) for s, (thread, frames) in p.traces.items()}
            self.sites = [(dotted(p.classes[r.klass]), r.trace, (r.live_bytes, r.live, r.bytes, r.objects)) for d in p.lists for r in d.rows]
            self.samples = [(self.frames(t)[0].partition('(')[0] if self.frames(t) else '<empty trace>', n, t) for d in p.tables for n, t in d.rows]
            self.sections = p.sections
        else:
            self.names, self.groups = p.names, {s: t.group for s, t in p.threads.items()}
            self.traces = {s: (t.thread, ['%s(%s:%s)' % (f.method, f.source, f.line or 'Unknown line') for f in t.frames]) for s, t in p.traces.items()}
            self.sites = [(r.name, r.trace, (r.live_bytes, r.live, r.bytes, r.objects)) for d in p.lists for r in d.rows]
            self.samples = [(r.method, r.count, r.trace) for d in p.dumps if d.title == hprof_text.SAMPLES for r in d.rows]
            self.times = [r for d in p.dumps if d.title == hprof_text.TIMES for r in d.rows]
            self.old, self.waits, self.monitors = p.old, p.waits, p.monitor_dumps
            known = (hprof_text.SITES, hprof_text.SAMPLES, hprof_text.TIMES, hprof_text.HEAP, hprof_text.MONITOR_DUMP, hprof_text.MONITOR_TIME, hprof_text.OLD)
            self.sections = [title.replace('CPU OLD', 'OLD') for title in p.sections if title in known]

    def frames(self, trace):
        return self.traces[trace][1] if trace in self.traces else []

    def stack(self, trace):
        return ' < '.join(self.frames(trace) if trace in self.traces else ['?'])

    def thread(self, trace):
        serial = self.traces[trace][0] if trace in self.traces else 0
        return ' thread="%s"' % self.names.get(serial, serial) if serial else ''


class Objects:
    """The objects of the last heap dump of a file. value(): what HEAP says of a field: an id, or, of binary alone, a type and a value."""

    def __init__(self, common):
        self.common, self.heap = common, common.p.heaps[-1]
        self.classes, self.objects = self.heap.classes, self.heap.objects

    def name(self, klass):
        return self.classes[klass].name.replace('/', '.') if klass in self.classes else '?'

    @staticmethod
    def value(kind, bits):
        if kind == 2:
            return bits
        v, = struct.unpack('>' + VALUES[kind], bits.to_bytes(hprof_binary.SIZES[kind], 'big'))
        return BASIC[kind] + ' ' + ('u%04x' % v if kind == 5 else repr(v))

    def statics(self, c):
        return {name: self.value(kind, bits) for name, kind, bits in c.statics if kind != 2 or bits}

    def fields(self, i):
        o = self.objects[i]
        if hasattr(o, 'refs'):
            return {n: ref for n, ref in enumerate(o.refs) if ref}
        found = {}
        for declared, name, kind, bits in self.heap.values(o) if hasattr(o, 'klass') else ():
            if self.common.binary and name in found:
                name += '@' + declared.replace('/', '.')
            found[name] = self.value(kind, bits)
        return {name: v for name, v in found.items() if v != 0}

    def said(self, i):
        if i in self.classes:
            return 'class ' + self.name(i)
        if i not in self.objects:
            return '?'
        o = self.objects[i]
        size = ' sz=%d' % o.size if getattr(o, 'size', 0) else ''
        if hasattr(o, 'refs'):
            return '%s last=%d%s' % (self.name(o.klass), max(self.fields(i), default=-1), size)
        if hasattr(o, 'klass'):
            return self.name(o.klass) + size
        raw = bytes(getattr(o, 'raw', b''))
        return '%s[] n=%d%s' % (BASIC[o.type], o.length, ' ' + raw.hex()[:64] if self.common.binary and len(raw) <= 128 else '')


def _heap(common, app):
    if not common.p.heaps:
        return []
    heap, lines, seen = Objects(common), [], set()

    def walk(path, i, depth):
        lines.append('HEAP %s -> %s' % (path, heap.said(i)))
        if i in seen or depth == 0 or i not in heap.objects:
            return
        seen.add(i)
        o = heap.objects[i]
        if hasattr(o, 'klass') and not hasattr(o, 'refs') and not app(heap.name(o.klass)):
            return
        fields = heap.fields(i)
        for name in sorted(fields):
            if isinstance(fields[name], str):
                lines.append('HEAP %s.%s = %s' % (path, name, fields[name]))
            elif not (isinstance(name, int) and len(fields) > 64 and name >= 3):
                walk(path + ('[%d]' if isinstance(name, int) else '.%s') % name, fields[name], depth - 1)
    for i, c in sorted(heap.classes.items(), key=lambda kv: kv[1].name):
        if app(heap.name(i)):
            if common.binary:
                lines.append('HEAP class %s instsize=%d super=%s' % (heap.name(i), c.size, heap.name(c.super) if c.super in heap.classes else None))
            for name, value in sorted(heap.statics(c).items()):
                if isinstance(value, str):
                    lines.append('HEAP %s.%s = %s' % (heap.name(i), name, value))
                else:
                    walk(heap.name(i) + '.' + name, value, 3)
    instances = collections.Counter((heap.name(o.klass), getattr(o, 'size', 0), common.stack(o.trace)) for o in heap.objects.values()
                                    if hasattr(o, 'klass') and not hasattr(o, 'refs') and app(heap.name(o.klass)))
    return lines + sorted('INST %d x %s%s @ %s' % (n, name, ' sz=%d' % size if size else '', stack) for (name, size, stack), n in instances.items())


def _sites(common, app, original):
    """The site that made an array class also got its mirror in the original."""
    first, lines = {}, []
    for name, trace, (_, _, _, objects) in common.sites:
        if original and objects and name.endswith(']') and (app(name) or name.endswith('[][]')):
            first[name] = min(trace, first.get(name, trace))
    for name, trace, figures in common.sites:
        if common.frames(trace) and app(common.frames(trace)[0].partition('(')[0]) and (app(name) or name.endswith(']')):
            if first.get(name) == trace and figures[3] > 1:
                figures = (figures[0] - MIRROR, figures[1] - 1, figures[2] - MIRROR, figures[3] - 1)
            lines.append('SITE live=%d/%d alloc=%d/%d %s @ %s%s' % (*figures, name, common.stack(trace), common.thread(trace)))
    return sorted(lines)


def _monitors(common):
    name = lambda serial: common.names.get(serial, '#%s' % serial)
    some = lambda serials: sorted(name(s) for s in serials if s is not None)
    of_app = lambda serial: serial in common.names and not AGENT.match(common.names[serial])
    return (['MON %s owner=%s entry=%d enter=%s notify=%s' % (m.signature, name(m.owner) if m.owner else None, m.entry_count, some(m.enter), some(m.notify))
             for d in common.monitors for m in d.monitors]
            + ['MON thread "%s" %s' % (name(s), th.status) for d in common.monitors for s, th in d.threads.items() if of_app(s)]
            + ['WAIT %s %s %d "%s"' % (w.kind, w.signature, w.ms, name(w.thread)) for w in common.waits if w.thread is not None])


def facts(path, prefix, original=False):
    """Lines about the classes whose names begin so (commas between prefixes), which do not depend on ids, serial numbers, classes of the JDK or the order of ties."""
    app = lambda name: any(name == p or name.startswith((p + '.', p + '$', p + '[')) for p in prefix.split(','))
    common = Common(pathlib.Path(path), original)
    lines = ['THREAD %s "%s"%s' % (what, common.names[s], ' group="%s"' % common.groups[s] if what == 'start' else '')
             for what, s in common.p.events if s in common.names and not AGENT.match(common.names[s])]
    lines += _sites(common, app, original)
    calls = [(n, *OLD.fullmatch(names).groups()) for names, n, _ in common.old if OLD.fullmatch(names)]
    lines += sorted('COUNT %d %s < %s' % c for c in calls if app(c[1].partition('(')[0]) and (c[2].startswith('<') or app(c[2].partition('(')[0])))
    lines += ['TIME count=%d %s self=%.1f%% @ %s%s' % (r.count, r.method, r.self_percent, common.stack(r.trace), common.thread(r.trace)) for r in common.times if app(r.method)]
    samples = collections.Counter()
    for method, n, trace in common.samples:
        if app(method):
            samples[method + common.thread(trace)] += n
    lines += ['SAMPLE %5.1f%% %s' % (100 * n / samples.total(), name) for name, n in samples.most_common()]
    return lines + _heap(common, app) + _monitors(common) + ['SECTIONS ' + ' '.join(common.sections)] * bool(common.sections)


def of_kind(lines, kind):
    return [ln for ln in lines if ln.startswith(kind + ' ')]


# --- monitor=y

def threads(lines):
    """THREAD facts; the order in which threads end at one moment is chance."""
    found, ends = [], []
    for ln in of_kind(lines, 'THREAD'):
        if ln.startswith('THREAD end '):
            ends.append(ln)
        else:
            found += sorted(ends) + [ln]
            ends = []
    return found + sorted(ends)


ENDED = re.compile(r'MON thread ".*" ZO')
WAITERS_ALONE = re.compile(r'MON \S+ owner=None entry=0 enter=\[\] notify=\[.+\]')
WAIT = re.compile(r'WAIT (WAIT|WAITED) (\S+) (-?\d+) "(.*)"')


def sections(lines):
    """Ours has MONITOR TIME whenever something contended, the JDK's own threads too; the original never but for monitor-crowd."""
    return [ln.replace(' MONITOR TIME', '') for ln in of_kind(lines, 'SECTIONS')]


def _waits(lines, signatures):
    """{thread: its lines, in order}; how long it waited is left out. Thread.join is not among them: see _joins()."""
    found = {}
    for m in filter(None, map(WAIT.fullmatch, lines)):
        if m[2] in signatures and m[2] != 'Ljava/lang/Thread;':
            found.setdefault(m[4], []).append((m[1], m[2], m[3] if m[1] == 'WAIT' else ''))
    return found


def _joins(lines, names):
    """{thread: (it waited in Thread.join, and still does)}"""
    kinds = {}
    for m in filter(None, map(WAIT.fullmatch, lines)):
        if m[2] == 'Ljava/lang/Thread;' and m[4] in names:
            kinds.setdefault(m[4], []).append(m[1])
    return {name: (True, k.count('WAIT') - k.count('WAITED')) for name, k in kinds.items()}


def monitors_as_recorded(t, got, recorded, prefix):
    """MON and WAIT facts. In addition ours has monitors that only have waiters; an ended thread that was collected is missing."""
    want = recorded.facts
    blocks = lambda lines: [ln for ln in of_kind(lines, 'MON') if not ln.startswith('MON thread ')]
    threads = lambda lines: {ln for ln in of_kind(lines, 'MON') if ln.startswith('MON thread ')}
    own = [ln for ln in blocks(got) if ln.startswith('MON L' + prefix)]
    missing = [ln for ln in blocks(want) if own.count(ln) != blocks(want).count(ln)]
    more = [ln for ln in own if ln not in blocks(want) and not WAITERS_ALONE.fullmatch(ln)]
    t.check(not missing and not more, 'monitors not as recorded: %s, monitors that were not recorded: %s' % (missing, more))
    names = {ln.split('"')[1] for ln in threads(want)}
    odd = {ln for ln in threads(want) - threads(got) if not ENDED.fullmatch(ln)} | {ln for ln in threads(got) - threads(want) if ln.split('"')[1] in names}
    t.check(not odd, 'states of threads not as recorded: %s' % sorted(odd))
    signatures = {m[2] for m in filter(None, map(WAIT.fullmatch, want))} | {m[2] for m in filter(None, map(WAIT.fullmatch, got)) if m[2].startswith('L' + prefix)}
    ours, theirs = _waits(got, signatures), _waits(want, signatures)
    ours = {name: lines for name, lines in ours.items() if name in theirs or name in names}
    t.equal(ours, theirs, 'WAIT lines by thread')
    # whether a join waits for a thread that just ends is chance
    t.equal(_joins(got, names | {'main'}), _joins(want, names | {'main'}), 'threads in Thread.join')
