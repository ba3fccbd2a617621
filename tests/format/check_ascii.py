#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Is this a text profile (format=a, cpu=samples, cpu=times) as docs/hprof-ascii.md says, to the byte, and do its old readers come to the same figures?

  check_ascii.py FILE [--json] [--cutoff=X] [--depth=N] [--original] [--no-readers]

Exit 0: yes; 1: no, with the line and what is wrong on stderr; 2: usage. --cutoff and --depth: what the run was given (with cutoff 0 the rows must add
up to the total). --original: a file of the original agent: what it does not promise is not asked (object numbers, order of ties, lost THREAD START).
As a module: parse(data) gives a Profile or raises Bad; check(data) also asks the readers (readers.py)."""
import argparse
import datetime
import json
import math
import re
import sys
from dataclasses import asdict, dataclass, field

EMPTY_TRACE = 300000
UNKNOWN_THREAD = 200000
RANK = 'rank   self  accum   count trace method'
DAYS = 'Mon Tue Wed Thu Fri Sat Sun'.split()
MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split()

DATE = r'((?:%s) (?:%s) [ 123]\d \d\d:\d\d:\d\d \d{4})' % ('|'.join(DAYS), '|'.join(MONTHS))
NUMBER = r'(0|[1-9]\d*)'
QUOTED = r'"((?:[^"\\]|\\["\\nrt]|\\u[0-9A-F]{4})*)"'
FIRST_LINE = re.compile(r'JAVA PROFILE 1\.0\.1, created ' + DATE)
THREAD_START = re.compile(r'THREAD START \(obj=([1-9a-f][0-9a-f]*), id = %s, name=%s, group=%s\)' % (NUMBER, QUOTED, QUOTED))
THREAD_END = re.compile(r'THREAD END \(id = %s\)' % NUMBER)
TRACE = re.compile(r'TRACE %s:(?: \(thread=%s\))?' % (NUMBER, NUMBER))
FRAME = re.compile(r'\t(.+?\..+?)\((.+):([1-9]\d*|Unknown line)\)')
SAMPLES, TIMES = 'CPU SAMPLES', 'CPU TIME (ms)'
END = SAMPLES + ' END'
BEGIN = re.compile(r'(CPU SAMPLES|CPU TIME \(ms\)) BEGIN \(total = %s\) ' % NUMBER + DATE)
ROW = re.compile(r' *(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% +(\d+) +(\d+) (.+)')
REPORT = re.compile(r'hprofx: ([^:]+): (.+)')
ESCAPE = re.compile(r'\\(?:u([0-9A-F]{4})|.)')
LOOKS_LIKE_RECORD = re.compile(r'\s*(JAVA PROFILE|THREAD (START|END) \(|TRACE \d|\t|CPU (SAMPLES|TIME \(ms\)) (BEGIN|END)|SITES (BEGIN|END)|'
                               r'HEAP DUMP (BEGIN|END)|MONITOR (DUMP|TIME) (BEGIN|END)|rank |hprofx: |-----)')


class Bad(Exception):
    """What is wrong, with its line (from 1; 0: the file as a whole)."""

    def __init__(self, line, what):
        super().__init__('line %d: %s' % (line, what) if line else what)
        self.line = line
        self.what = what


@dataclass
class Thread:
    serial: int
    obj: int
    name: str  # escapes undone
    group: str
    ended: bool = False


@dataclass
class Frame:
    name: str  # class.method
    source: str
    line: object  # a number, or None: Unknown line


@dataclass
class Trace:
    serial: int
    thread: object
    frames: list
    at: int  # its line in the file


@dataclass
class Row:
    rank: int
    self_percent: float
    accum_percent: float
    count: int
    trace: int
    method: str


@dataclass
class Dump:
    total: int
    date: str
    rows: list = field(default_factory=list)
    report: dict = field(default_factory=dict)
    shown: float = 0  # the sum of the rows
    title: str = SAMPLES  # with TIMES the total is in ms, counts are calls, shown is in percent


@dataclass
class Profile:
    created: str
    threads: dict = field(default_factory=dict)
    traces: dict = field(default_factory=dict)
    dumps: list = field(default_factory=list)

    def share_unknown(self):
        """The share of samples whose stack could not be read, of all dumps."""
        dumps = [d for d in self.dumps if d.title == SAMPLES]
        total = sum(d.total for d in dumps)
        unknown = sum(r.count for d in dumps for r in d.rows if r.method.startswith('hprofx.unknown.'))
        return unknown / total if total else 0.0


def unescape(text):
    """A name without its escapes; lone surrogates come back as such."""
    letters = {'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\'}
    return ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else letters[m[0][1]], text)


class Parser:
    """One pass over the lines; self.at is the line being looked at."""

    def __init__(self, data, cutoff, depth, original, allow_empty):
        self.cutoff, self.depth, self.original, self.allow_empty = cutoff, depth, original, allow_empty
        self.lines = self.decode(data)
        self.at = 0
        self.objects = {}
        self.fresh = []  # traces since the last table

    def bad(self, what):
        raise Bad(self.at + 1, what)

    def decode(self, data):
        try:
            text = data.decode('utf-8')
        except UnicodeDecodeError as e:
            raise Bad(data.count(b'\n', 0, e.start) + 1, 'not UTF-8: %s' % e.reason) from None
        if not text.endswith('\n'):
            raise Bad(text.count('\n') + 1, 'the last line has no end')
        lines = text[:-1].split('\n')
        for i, line in enumerate(lines):
            m = re.search(r'[\x00-\x1f\x7f-\x9f]', line[1:] if line.startswith('\t') else line)
            if m:
                raise Bad(i + 1, 'a raw control U+%04X' % ord(m[0]))
        return lines

    def more(self):
        return self.at < len(self.lines)

    def line(self):
        if not self.more():
            self.bad('the file ends here')
        return self.lines[self.at]

    def match(self, regex, what):
        m = regex.fullmatch(self.line())
        return m or self.bad('no %s: %r' % (what, self.line()[:200]))

    def date(self, text):
        day, month, number, clock, year = text.split()
        try:
            h, m, s = map(int, clock.split(':'))
            when = datetime.datetime(int(year), MONTHS.index(month) + 1, int(number), h, m, 59 if s == 60 else s)
        except ValueError:
            self.bad('no such date: ' + text)
        if DAYS[when.weekday()] != day or text[8:10] != '%2d' % int(number):
            self.bad('no date of ctime: ' + text)
        return text

    def header(self):
        created = self.date(self.match(FIRST_LINE, 'first line').group(1))
        self.at += 1
        if self.line() != '':
            self.bad('the second line is not blank')
        self.at += 1
        first = self.at
        while self.line() != '--------':
            if LOOKS_LIKE_RECORD.match(self.line()) or re.search(r'\b(BEGIN|END) ?\(', self.line()):
                self.bad('a line of the explanation looks like a record: %r' % self.line())
            self.at += 1
        if self.at - first < 2 or self.lines[self.at - 1] != '':
            self.bad('no explanation with a blank line at its end before the dashes')
        self.at += 1
        if self.line() != '':
            self.bad('no blank line after the dashes')
        self.at += 1
        return Profile(created)

    def parse(self):
        self.p = self.header()
        while self.more():
            line = self.line()
            if line.startswith('THREAD START'):
                self.thread_start()
            elif line.startswith('THREAD END'):
                self.thread_end()
            elif line.startswith(('TRACE ', SAMPLES + ' BEGIN', TIMES + ' BEGIN')):
                self.dump()
            else:
                self.bad('no record may stand here: %r' % line[:200])
        return self.p

    def thread_start(self):
        m = self.match(THREAD_START, 'THREAD START')
        t = Thread(int(m[2]), int(m[1], 16), unescape(m[3]), unescape(m[4]))
        for escape in ESCAPE.finditer(m[3] + m[4]):
            if escape[1] and not self.needs_escape(int(escape[1], 16)):
                self.bad('an escape that nothing needs: ' + escape[0])
        if t.serial <= UNKNOWN_THREAD:
            self.bad('thread serials begin above %d' % UNKNOWN_THREAD)
        if t.serial in self.p.threads:
            self.bad('thread %d starts twice' % t.serial)
        if t.obj in self.objects and not self.original:
            self.bad('object %x belongs to thread %d' % (t.obj, self.objects[t.obj]))
        self.objects[t.obj] = t.serial
        self.p.threads[t.serial] = t
        self.at += 1

    @staticmethod
    def needs_escape(value):
        return value < 0x100 and chr(value) not in '\n\r\t' and not 0x20 <= value < 0x7F or 0xD800 <= value < 0xE000

    def thread_end(self):
        serial = int(self.match(THREAD_END, 'THREAD END').group(1))
        t = self.p.threads.get(serial)
        if t is None and not self.original:
            self.bad('thread %d ends and has not started' % serial)
        if t is not None:
            if t.ended:
                self.bad('thread %d ends twice' % serial)
            t.ended = True
        self.at += 1

    def trace(self):
        m = self.match(TRACE, 'TRACE')
        t = Trace(int(m[1]), int(m[2]) if m[2] else None, [], self.at + 1)
        if t.serial in self.p.traces:
            self.bad('trace %d is here a second time' % t.serial)
        if t.serial < EMPTY_TRACE:
            self.bad('trace serials begin at %d' % EMPTY_TRACE)
        if t.thread is not None and t.thread != UNKNOWN_THREAD and t.thread not in self.p.threads and not self.original:
            self.bad('thread %d has not started' % t.thread)
        self.at += 1
        while self.more() and self.line().startswith('\t') and self.line() != '\t<empty>':
            m = self.match(FRAME, 'frame')
            t.frames.append(Frame(m[1], m[2], None if m[3] == 'Unknown line' else int(m[3])))
            if t.frames[-1].line is not None and t.frames[-1].line > 65535:
                self.bad('a line number above 65535')
            self.at += 1
        if not t.frames:
            if self.line() != '\t<empty>' or not self.allow_empty:
                self.bad('trace %d has no frames' % t.serial)
            self.at += 1
        if self.depth is not None and len(t.frames) > self.depth:
            raise Bad(t.at, 'trace %d has %d frames, depth is %d' % (t.serial, len(t.frames), self.depth))
        self.p.traces[t.serial] = t
        self.fresh.append(t.serial)

    def dump(self):
        self.fresh = []
        while self.line().startswith('TRACE '):
            self.trace()
        m = self.match(BEGIN, 'CPU SAMPLES BEGIN or CPU TIME (ms) BEGIN behind the TRACEs')
        d = Dump(int(m[2]), self.date(m[3]), title=m[1])
        end = d.title + ' END'
        fresh = set(self.fresh)
        self.rowed = set()
        self.at += 1
        if self.line() == RANK:
            self.at += 1
            while self.line() != end:
                self.row(d)
            if not d.rows:
                self.bad('a rank line and no row')
        if self.line() != end:
            self.bad('no row without a rank line: %r' % self.line()[:200])
        if [r.trace for r in d.rows if r.trace in fresh] != self.fresh:
            self.bad('the TRACEs before this table are not those of its rows, in their order')
        all_shown = self.cutoff is not None and (self.cutoff == 0 or math.isnan(self.cutoff))
        if d.title == TIMES:
            self.times_add_up(d, all_shown)
        elif d.shown > d.total or (all_shown and d.shown != d.total):
            self.bad('the rows add up to %d, the total is %d' % (d.shown, d.total))
        self.at += 1
        while self.more() and self.line().startswith('hprofx: '):
            m = self.match(REPORT, 'report line')
            if m[1] in d.report:
                self.bad('the report says %r twice' % m[1])
            d.report[m[1]] = m[2]
            self.at += 1
        self.p.dumps.append(d)

    def times_add_up(self, d, all_shown):
        """Of times only the shares are in the file, each rounded."""
        if self.original or not d.rows:
            return
        last = d.rows[-1].accum_percent
        if last > 100 or (all_shown and last not in (0, 100)):
            self.bad('the rows add up to %.2f %%' % last)
        for r in d.rows:
            if any(f.line is not None for f in self.p.traces[r.trace].frames):
                self.bad('trace %d is one of calls and has a line number' % r.trace)

    def time_row(self, d, r):
        if d.rows and d.rows[-1].self_percent < r.self_percent:
            self.bad('the rows are not in order')
        if self.cutoff is not None and r.self_percent + 0.005 < self.cutoff * 100 and r.self_percent > 0:
            self.bad('a row below the cutoff')
        d.rows.append(r)
        d.shown += r.self_percent
        if abs(r.accum_percent - d.shown) > 0.0051 * (len(d.rows) + 1):
            self.bad('accum is %.2f, the rows add up to %.2f' % (r.accum_percent, d.shown))
        if len(d.rows) != r.rank:
            self.bad('rank %d in row %d' % (r.rank, len(d.rows)))
        return r.self_percent, r.accum_percent

    def sample_row(self, d, r):
        if d.rows:
            last = d.rows[-1]
            if last.count < r.count or (last.count == r.count and last.trace > r.trace and not self.original):
                self.bad('the rows are not in order')
        if self.cutoff is not None and r.count / d.total < self.cutoff:
            self.bad('a row below the cutoff')
        d.rows.append(r)
        d.shown += r.count
        # the original adds up the percentages, we the counts: the same but for the last binary digit of a double
        return r.count * 100.0 / max(d.total, 1), d.shown * 100.0 / max(d.total, 1)

    def row(self, d):
        m = self.match(ROW, 'row')
        r = Row(int(m[1]), float(m[2]), float(m[3]), int(m[4]), int(m[5]), m[6])
        t = self.p.traces.get(r.trace)
        if t is None:
            self.bad('trace %d is not defined before the table' % r.trace)
        if r.trace in self.rowed:
            self.bad('trace %d has two rows' % r.trace)
        self.rowed.add(r.trace)
        if r.count <= 0:
            self.bad('a row of no samples or calls')
        top = self.lines[t.at]  # the line behind "TRACE n:"
        if not top.startswith('\t' + r.method + '(') and not (top == '\t<empty>' and r.method == '<empty trace>'):
            self.bad('%r is not the innermost method of trace %d' % (r.method, r.trace))
        shares = self.time_row(d, r) if d.title == TIMES else self.sample_row(d, r)
        layout = '%4u %5.2f%% %5.2f%% %7u %5u %s' % (len(d.rows), *shares, r.count, r.trace, r.method)
        if self.line() != layout:
            self.bad('a row must be %r, it is %r' % (layout, self.line()))
        self.at += 1


def parse(data, cutoff=None, depth=None, original=False, allow_empty=False):
    """The profile in these bytes; Bad if it is none to the byte. allow_empty: traces without frames (depth=0)."""
    return Parser(data, cutoff, depth, original, allow_empty).parse()


def check(data, **how):
    """(profile, {reader: None or why it does not apply}); Bad if the layout is wrong or a reader comes to other figures."""
    import readers  # beside this file
    p = parse(data, **how)
    if any(d.title == TIMES for d in p.dumps):
        return p, {}  # the readers' figures are those of samples
    return p, readers.compare_all(data, p)


def main(argv):
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('file')
    a.add_argument('--json', action='store_true')
    a.add_argument('--cutoff', type=float)
    a.add_argument('--depth', type=int)
    a.add_argument('--original', action='store_true')
    a.add_argument('--no-readers', action='store_true')
    o = a.parse_args(argv)
    with open(o.file, 'rb') as f:
        data = f.read()
    # with depth=0 each call has the empty trace; no sample has
    how = {'cutoff': o.cutoff, 'depth': o.depth, 'original': o.original, 'allow_empty': b'CPU TIME (ms) BEGIN' in data}
    try:
        p, asked = (parse(data, **how), {}) if o.no_readers else check(data, **how)
    except Bad as e:
        print('%s: %s' % (o.file, e), file=sys.stderr)
        return 1
    if o.json:
        print(json.dumps({'profile': asdict(p), 'readers': asked, 'share_unknown': p.share_unknown()}, indent=1))
    else:
        print('%s: %d threads, %d traces, %d dumps, %s' %
              (o.file, len(p.threads), len(p.traces), len(p.dumps),
               ', '.join(' + '.join(str(d.total) for d in p.dumps if d.title == title) + unit for title, unit in
                         ((SAMPLES, ' samples'), (TIMES, ' ms')) if any(d.title == title for d in p.dumps)) or 'no samples'))
        for name, why in asked.items():
            print('  %s: %s' % (name, 'same figures' if why is None else 'does not apply: ' + why))
    return 0


if __name__ == '__main__':
    import check_ascii  # the same module that readers.py has: one class Bad
    sys.exit(check_ascii.main(sys.argv[1:]))
