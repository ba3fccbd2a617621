# SPDX-License-Identifier: BSD-2-Clause
"""Our text output as Python objects. Refuses any line that the layout does not have; tests/format/check_ascii.py, where present, checks the bytes too."""
import collections
import dataclasses
import datetime
import pathlib
import re
import subprocess
import sys

CHECKER = pathlib.Path(__file__).resolve().parents[1] / 'format' / 'check_ascii.py'
FRAME = re.compile(r'\t([^(]+)\((.+):([1-9][0-9]*|Unknown line)\)')
START = re.compile(r'THREAD START \(obj=([0-9a-f]+), id = (\d+), name="((?:[^"\\]|\\.)*)", group="((?:[^"\\]|\\.)*)"\)')
END = re.compile(r'THREAD END \(id = (\d+)\)')
TRACE = re.compile(r'TRACE (\d+):(?: \(thread=(\d+)\))?')
BEGIN = re.compile(r'(CPU SAMPLES|CPU TIME \(ms\)) BEGIN \(total = (\d+)\) (.{24})')
ROW = re.compile(r' *(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% +(\d+) +(\d+) (.+)')
OLD = re.compile(r'(\d+) (\S.*) (\d+)')
REPORT = re.compile(r'hprofx: ([^:]+): (.*)')
UNKNOWN = 'hprofx.unknown.'


class Malformed(Exception):
    pass


@dataclasses.dataclass
class Frame:
    method: str
    source: str
    line: int  # 0: Unknown line


@dataclasses.dataclass
class Trace:
    serial: int
    thread: int
    frames: list


@dataclasses.dataclass
class Row:
    rank: int
    self_: float
    accum: float
    count: int
    trace: int
    method: str


class Profile:
    def __init__(self, text):
        self.text = text
        self.threads = []  # (start|end, serial, name, group) in the order of the file
        self.names, self.groups, self.ended = {}, {}, set()
        self.traces, self.rows, self.report = {}, [], collections.OrderedDict()
        self.sums = (0, 0.0)  # of the rows so far: counts, shares
        self.total, self.sections = None, []  # total and rows: of the last section
        self.tables = {}  # (total, rows) of each, the last of its kind
        self.every = []  # (section, total, rows) of all, in the order of the file
        self.old = []  # of cpu=old: ('callee caller', calls, ms)
        self.created, self.dumped = None, []  # datetimes: of the first line, of each section

    def serial(self, name):
        found = [s for s, n in self.names.items() if n == name]
        if len(found) != 1:
            raise Malformed('%d threads named %r' % (len(found), name))
        return found[0]

    def stacks(self):
        """(count, trace) of each row."""
        return [(r.count, self.traces[r.trace]) for r in self.rows]

    def by_thread(self):
        c = collections.Counter()
        for n, t in self.stacks():
            c[t.thread] += n
        return c

    def innermost_of(self, methods):
        """Counts by the innermost frame that is one of the methods; '' for the rest."""
        c = collections.Counter()
        for n, t in self.stacks():
            c[next((f.method for f in t.frames if f.method in methods), '')] += n
        return c

    def leaves(self):
        c = collections.Counter()
        for n, t in self.stacks():
            c[t.frames[0].method if t.frames else ''] += n
        return c

    def share(self, method):
        """Share of the total whose stack has the method anywhere."""
        return sum(n for n, t in self.stacks() if any(f.method == method for f in t.frames)) / max(1, self.total)

    def methods(self):
        return {f.method for t in self.traces.values() for f in t.frames}

    def unknown(self):
        return sum(n for n, t in self.stacks() if t.frames and t.frames[0].method.startswith(UNKNOWN))

    def starts(self):
        return [(s, n, g) for k, s, n, g in self.threads if k == 'start']


def unescape(name):
    """The text that a quoted field stands for; lone surrogates stay lone."""
    def one(m):
        x = m.group(1)
        return {'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\'}[x] if len(x) == 1 else chr(int(x[1:], 16))
    return re.sub(r'\\(u[0-9a-fA-F]{4}|["\\nrt])', one, name)


def parse(text, complete=True):
    """complete: a finished file; else a part, whose last line may be cut and which may have no section."""
    head, dashes, body = text.partition('\n--------\n\n')
    if not dashes:
        raise Malformed('no line of eight dashes and blank line')
    m = re.match(r'JAVA PROFILE 1\.0\.1, created ([A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d \d{4})\n\n', head)
    if not m:
        raise Malformed('first line')
    lines = body.split('\n')
    if lines.pop() != '' and complete:
        raise Malformed('the last line has no end')
    p, state, trace = Profile(text), 'records', None
    p.created = _date(m.group(1))
    for ln in lines:
        m = FRAME.fullmatch(ln)
        if trace is not None and m:
            trace.frames.append(Frame(m.group(1), m.group(2), 0 if m.group(3) == 'Unknown line' else int(m.group(3))))
            continue
        if trace is not None and ln == '\t<empty>' and not trace.frames:
            continue
        trace = None
        state, trace = _line(p, state, ln)
    if complete and state != 'records' and state != 'report':
        raise Malformed('the file ends in a section')
    return p


def _date(text):
    try:
        return datetime.datetime.strptime(text, '%a %b %d %H:%M:%S %Y')
    except ValueError as e:
        raise Malformed('date %r' % text) from e


def _line(p, state, ln):
    if state == 'table head':
        if ln == 'rank   self  accum   count trace method':
            return 'table', None
        if ln == p.sections[-1] + ' END':
            return 'report', None
        raise Malformed('table head: %r' % ln)
    if state == 'table':
        if ln == p.sections[-1] + ' END':
            return 'report', None
        m = ROW.fullmatch(ln)
        if not m:
            raise Malformed('row: %r' % ln)
        p.rows.append(Row(int(m.group(1)), float(m.group(2)), float(m.group(3)), int(m.group(4)), int(m.group(5)), m.group(6)))
        p.sums = (p.sums[0] + p.rows[-1].count, p.sums[1] + p.rows[-1].self_)
        _row(p, p.rows[-1])
        return 'table', None
    if ln == 'count callee caller time' and state in ('records', 'report'):
        p.sections.append('CPU OLD')
        return 'old', None
    m = OLD.fullmatch(ln) if state == 'old' else None
    if m:
        p.old.append((m.group(2), int(m.group(1)), int(m.group(3))))
        return 'old', None
    m = REPORT.fullmatch(ln)
    if m:
        if state not in ('report', 'old'):
            raise Malformed('a report line before the end of the dump: %r' % ln)
        p.report[m.group(1)] = m.group(2)
        return 'report', None
    return _record(p, state, ln)


def _record(p, state, ln):
    m = START.fullmatch(ln)
    if m:
        serial = int(m.group(2))
        if serial in p.names:
            raise Malformed('THREAD START twice for %d' % serial)
        p.names[serial], p.groups[serial] = unescape(m.group(3)), unescape(m.group(4))
        p.threads.append(('start', serial, p.names[serial], p.groups[serial]))
        return state, None
    m = END.fullmatch(ln)
    if m:
        serial = int(m.group(1))
        if serial not in p.names or serial in p.ended:
            raise Malformed('THREAD END of %d without its START, or twice' % serial)
        p.ended.add(serial)
        p.threads.append(('end', serial, p.names[serial], p.groups[serial]))
        return state, None
    m = TRACE.fullmatch(ln)
    if m:
        t = Trace(int(m.group(1)), int(m.group(2) or 0), [])
        if t.serial in p.traces:
            raise Malformed('TRACE %d twice' % t.serial)
        if t.thread and t.thread not in p.names and t.thread != 200000:
            raise Malformed('TRACE of thread %d before its START' % t.thread)
        p.traces[t.serial] = t
        return 'records', t
    m = BEGIN.fullmatch(ln)
    if m:
        p.total = int(m.group(2))
        p.dumped.append(_date(m.group(3)))
        p.rows, p.sums = [], (0, 0.0)
        p.tables[m.group(1)] = (p.total, p.rows)
        p.every.append((m.group(1), p.total, p.rows))
        p.sections.append(m.group(1))
        return 'table head', None
    raise Malformed('not a line of the format: %r' % ln[:200])


def _row(p, r):
    if r.rank != len(p.rows):
        raise Malformed('rank %d in row %d' % (r.rank, len(p.rows)))
    if r.trace not in p.traces:
        raise Malformed('row of trace %d, which is not defined' % r.trace)
    frames = p.traces[r.trace].frames
    if r.method != (frames[0].method if frames else '<empty trace>'):
        raise Malformed('row %d says %s, its trace %s' % (r.rank, r.method, frames[:1]))
    if p.sections[-1] == 'CPU TIME (ms)':
        _time_row(p, r)
        return
    if len(p.rows) > 1 and r.count > p.rows[-2].count:
        raise Malformed('rows are not in order')
    if abs(r.self_ - 100.0 * r.count / p.total) > 0.00501:
        raise Malformed('self of row %d' % r.rank)
    if abs(r.accum - 100.0 * p.sums[0] / p.total) > 0.00501:
        raise Malformed('accum of row %d' % r.rank)


def _time_row(p, r):
    """Rows are in the order of self time, which the file has as a share alone; count is calls."""
    if len(p.rows) > 1 and r.self_ > p.rows[-2].self_:
        raise Malformed('rows are not in order')
    if abs(r.accum - p.sums[1]) > 0.00501 * len(p.rows) + 0.005:
        raise Malformed('accum of row %d' % r.rank)


def read(path, dumps=1):
    raw = pathlib.Path(path).read_bytes()
    try:
        text = raw.decode('utf-8', 'strict')
    except UnicodeDecodeError as e:
        raise Malformed('not UTF-8: %s' % e) from e
    p = parse(text)
    if len(p.sections) != dumps:
        raise Malformed('%d sections, expected %d' % (len(p.sections), dumps))
    if CHECKER.exists() and 'CPU OLD' not in p.sections:
        r = subprocess.run([sys.executable, str(CHECKER), str(path)], capture_output=True, text=True)
        if r.returncode != 0:
            raise Malformed('check_ascii.py: %s' % (r.stdout + r.stderr)[-600:])
    return p
