# SPDX-License-Identifier: BSD-2-Clause
"""What arrived at an engine, and what should: every count by kind and stack, whichever format it came in.

A stack is a tuple of names, outermost first; one without frames is (NO_STACK,). A part is what a profile has of one kind. Whoever sends at least once sends
some parts twice; their id tells."""
import collections
import io
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests' / 'formats'))
import files  # noqa: E402

NO_STACK = '[no stack]'
COLUMNS = ('ts', 'duration_ms', 'service', 'version', 'host', 'container', 'pid', 'profile', 'kind', 'row', 'stack', 'value')
NUMBERS = {'ts': '<I', 'duration_ms': '<I', 'pid': '<I', 'row': '<I', 'value': '<Q'}
Labels = collections.namedtuple('Labels', 'service version host container pid')
UNKNOWN = 'unknown_service:java' # what OTLP and Pyroscope show of a service without a name


class Arrived:
    """Parts by (id, kind)."""

    def __init__(self):
        self.parts, self.labels = {}, {}
        self.repeated = 0
        self.differing = [] # ids under which two things came: a false duplicate, which would be lost

    def add(self, key, labels, stacks):
        if key in self.parts:
            self.repeated += 1
            if self.parts[key] != stacks:
                self.differing.append(key)
        self.parts[key], self.labels[key] = stacks, labels

    def join(self, other):
        for key, stacks in other.parts.items():
            self.add(key, other.labels[key], stacks)
        self.differing += other.differing
        self.repeated += other.repeated

    def sums(self, only=None):
        """{(kind, stack): value} without what came again; only: of these labels."""
        out = collections.Counter()
        for (part, kind), stacks in self.parts.items():
            if only is None or only(self.labels[part, kind]):
                for stack, value in stacks.items():
                    out[kind, stack] += value
        return out


class Folded(Arrived):
    """For very many parts: keeps sums by group(labels), and of each part whether it came before."""

    def __init__(self, group):
        super().__init__()
        self.group, self.of = group, collections.defaultdict(collections.Counter)

    def add(self, key, labels, stacks):
        what = hash(frozenset(stacks.items()))
        if key in self.parts:
            self.repeated += 1
            if self.parts[key] != what:
                self.differing.append(key)
            return
        self.parts[key] = what
        into = self.of[self.group(labels)]
        for stack, value in stacks.items():
            into[key[1], stack] += value


def totals(sums):
    out = collections.Counter()
    for (kind, _), value in sums.items():
        out[kind] += value
    return out


# ---- ClickHouse ----

def rowbinary(data):
    """The rows of a body, each a dictionary of COLUMNS."""
    source = io.BytesIO(data)

    def take(n):
        got = source.read(n)
        assert len(got) == n, 'the body ends inside a row'
        return got

    def varint():
        n = shift = 0
        while True:
            b = take(1)[0]
            n |= (b & 127) << shift
            shift += 7
            if b < 128:
                return n
    rows = []
    while source.tell() < len(data):
        row = {}
        for name in COLUMNS:
            if name in NUMBERS:
                row[name] = struct.unpack(NUMBERS[name], take(struct.calcsize(NUMBERS[name])))[0]
            elif name == 'stack':
                row[name] = [take(varint()).decode() for _ in range(varint())]
            else:
                row[name] = take(varint()).decode()
        rows.append(row)
    return rows


def encode(rows):
    """The other way round."""
    def varint(n):
        out = b''
        while n >= 128:
            out += bytes([n & 127 | 128])
            n >>= 7
        return out + bytes([n])

    def text(s):
        return varint(len(s.encode())) + s.encode()
    out = []
    for row in rows:
        for name in COLUMNS:
            if name in NUMBERS:
                out.append(struct.pack(NUMBERS[name], row[name]))
            elif name == 'stack':
                out.append(varint(len(row[name])) + b''.join(map(text, row[name])))
            else:
                out.append(text(row[name]))
    return b''.join(out)


def of_rows(rows):
    """Rows of a table or of a body; a row that is there twice, by profile and number, counts once."""
    arrived, by_part, seen = Arrived(), collections.defaultdict(collections.Counter), {}
    for row in rows:
        stack, value = tuple(row['stack']) or (NO_STACK,), int(row['value'])
        key, what = (row['profile'], int(row['row'])), (row['kind'], stack, value)
        if seen.setdefault(key, what) != what:
            arrived.differing.append(key)
        elif by_part[row['profile'], row['kind']].get(stack) is None:
            by_part[row['profile'], row['kind']][stack] = value
            arrived.labels[row['profile'], row['kind']] = Labels(row['service'], row['version'], row['host'], row['container'], int(row['pid']))
        else:
            arrived.repeated += 1
    arrived.parts = dict(by_part)
    return arrived


# ---- OTLP ----

def otlp(data):
    arrived, m = Arrived(), files.message(data)
    tables = files.message(files.one(m, 2))
    strings = [s.decode() for s in tables[5]]
    functions = [strings[files.one(f, 1)] for f in map(files.message, tables[3])]
    locations = [[functions[files.one(files.message(line), 1)] for line in where[3]] for where in map(files.message, tables[2])]
    stacks = [tuple(name for i in reversed(files.varints(files.one(s, 1, b''))) for name in locations[i]) or (NO_STACK,) for s in map(files.message, tables[7])]
    assert strings[0] == '' and stacks[0] == (NO_STACK,)
    for resource in map(files.message, m[1]):
        of = {}
        for attribute in map(files.message, files.message(files.one(resource, 1, b''))[1]):
            value = files.message(files.one(attribute, 2)) # the Collector moves texts of resources into the table of strings
            key = files.one(attribute, 1).decode() if attribute[1] else strings[files.one(attribute, 3)]
            of[key] = files.one(value, 1).decode() if value[1] else strings[files.one(value, 8)] if value[8] else files.one(value, 3)
        labels = Labels(of.get('service.name', ''), of.get('service.version', ''), of.get('host.name', ''), of.get('container.id', ''), of.get('process.pid', 0))
        for profile in (files.message(p) for scope in resource[2] for p in files.message(scope)[2]):
            values = collections.Counter()
            for sample in map(files.message, profile[2]):
                values[stacks[files.one(sample, 1)]] += sum(files.varints(files.one(sample, 4, b'')))
            arrived.add((files.one(profile, 7).hex(), strings[files.one(files.message(files.one(profile, 1)), 1)]), labels, values)
    return arrived


# ---- pprof, and Pyroscope's push ----

def of_pprof(data):
    """{kind: {stack: value}}."""
    out = {}
    for kind, (_, values) in files.pprof(data).items():
        out[kind] = collections.Counter()
        for (_, frames), value in values.items():
            out[kind][tuple(name for name, _, _ in frames)] += value
    return out


def push(data):
    arrived = Arrived()
    for series in map(files.message, files.message(data)[1]):
        of = {files.one(l, 1).decode(): files.one(l, 2, b'').decode() for l in map(files.message, series[1])}
        assert 'thread' not in of and of['__name__'], of
        labels = Labels(of['service_name'], of.get('version', ''), of.get('hostname', ''), of.get('container_id', ''), int(of.get('pid', 0)))
        for sample in map(files.message, series[2]):
            for kind, stacks in of_pprof(files.one(sample, 1)).items():
                if stacks:
                    arrived.add((files.one(sample, 2).decode(), kind), labels, stacks)
    return arrived
