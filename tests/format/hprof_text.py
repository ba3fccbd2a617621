# SPDX-License-Identifier: BSD-2-Clause
"""The text format (docs/formats.md) as Python objects, strict to the byte: what the layout does not have is Malformed, with its line.

Its parts hold no state outside their objects: two threads may parse at once."""
import collections
import datetime
import functools
import math
import pathlib
import re
from dataclasses import dataclass, field

import timeline_text
from monitor_text import LOCK_TIME, MONITOR_DUMP, MONITOR_OWNERS, MONITOR_TIME, PINNED_TIME, WAIT_TIME, BlockTable, MonitorDump, MonitorParser
from text_lines import DATE, DAYS, EMPTY_TRACE, ESCAPE, MONTHS, NUMBER, ONE_CLASS, QUOTED, SUMMED_TRACE, UNKNOWN_THREAD, Dump, EndsHere, Malformed, sum_by, unescape

RANK = 'rank   self  accum   count trace method'
WALL_RANK = 'rank   self  accum        ms trace state    method'
OLD_HEAD = 'count callee caller time'
SITES_HEAD = ["          percent          live          alloc'ed  stack class", ' rank   self  accum     bytes objs     bytes  objs trace name']
UNKNOWN = 'hprofx.unknown.'
FIRST_LINE = re.compile(r'JAVA PROFILE 1\.0\.1, created ' + DATE)
THREAD_START = re.compile(r'THREAD START \(obj=([1-9a-f][0-9a-f]*), id = %s, name=%s, group=%s\)' % (NUMBER, QUOTED, QUOTED))
THREAD_END = re.compile(r'THREAD END \(id = %s\)' % NUMBER)
THREAD_NAME = re.compile(r'hprofx: thread %s: %s' % (NUMBER, QUOTED))
TRACE = re.compile(r'TRACE %s:(?: \(thread=%s\))?' % (NUMBER, NUMBER))
FRAME = re.compile(r'\t(.+?\..+?)\((.+):([1-9]\d*|Unknown line)\)')
SAMPLES, TIMES, OLD, SITES, HEAP, WALL = 'CPU SAMPLES', 'CPU TIME (ms)', 'CPU OLD', 'SITES', 'HEAP DUMP', 'WALL CLOCK (ms)'
CALLS = 'METHOD CALLS'
END = SAMPLES + ' END'
BEGIN = re.compile(r'(CPU SAMPLES|CPU TIME \(ms\)|METHOD CALLS|WALL CLOCK \(ms\)) BEGIN \(total = %s\) ' % NUMBER + DATE)
ROW = re.compile(r' *(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% +(\d+) +(\d+) (.+)')
WALL_ROW = re.compile(r' *(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% +(\d+) +(\d+) (running|runnable|blocked|waiting|parked|sleeping|io|native)(?: ([^ ;][^;]*);)? +(.+)')
SITES_BEGIN = re.compile(r'SITES BEGIN \(ordered by (live|allocated) bytes\) ' + DATE)
UNSIZED = 'objects of unknown size'  # sites=counts, of the report
SITE_ROW = re.compile(r' *(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% +(\d+) +(\d+) +(\d+) +(\d+) +(\d+) (.+)')
BLOCKS = tuple(title + ' BEGIN' for title in (MONITOR_DUMP, MONITOR_TIME, MONITOR_OWNERS, WAIT_TIME, LOCK_TIME, PINNED_TIME))
HEAP_BEGIN = re.compile(r'HEAP DUMP BEGIN \(%s objects, %s bytes\) ' % (NUMBER, NUMBER) + DATE)
HEX = '([1-9a-f][0-9a-f]*)'
ROOT_KINDS = {k: (kind, re.compile(r'ROOT ([0-9a-f]+) \(kind=<%s>%s\)' % (k, rest))) for k, kind, rest in (
    ('thread', 'thread', ', id=(\\d+), trace=(\\d+)'), ('thread block', 'thread block', ', thread=(\\d+)'), ('JNI global ref', 'JNI global', ', id=[0-9a-f]+, trace=\\d+'),
    ('JNI local ref', 'JNI local', ', thread=(\\d+), frame=(-1|\\d+)'), ('Java stack', 'Java frame', ', thread=(\\d+), frame=(-1|\\d+)'), ('native stack', 'native stack', ', thread=(\\d+)'),
    ('system class', 'system class', ', name=.+'), ('busy monitor', 'monitor', ''), ('unknown', 'unknown', ''))}
OBJECT = re.compile(r'OBJ %s \(sz=%s, trace=%s, class=(.+)@%s\)' % (HEX, NUMBER, NUMBER, HEX))
OBJECTS = re.compile(r'ARR %s \(sz=%s, trace=%s, nelems=%s, elem type=(.+)@%s\)' % (HEX, NUMBER, NUMBER, NUMBER, HEX))
PRIMITIVES = re.compile(r'ARR %s \(sz=%s, trace=%s, nelems=%s, elem type=(boolean|char|float|double|byte|short|int|long)\[\]\)' % (HEX, NUMBER, NUMBER, NUMBER))
BASIC = {'boolean': (4, 1), 'char': (5, 2), 'float': (6, 4), 'double': (7, 8), 'byte': (8, 1), 'short': (9, 2), 'int': (10, 4), 'long': (11, 8)}  # type, bytes
FIELD = re.compile(r'\t([^\t]+)(\t\t?)%s' % HEX)
ELEMENT = re.compile(r'\t\[%s\]\t\t%s' % (NUMBER, HEX))
CLASS = re.compile(r'CLS %s \(name=(.+), trace=%s\)' % (HEX, NUMBER))
OF_CLASS = re.compile(r'\t(super|loader|signers|domain)\t\t%s' % HEX)
STATIC = re.compile(r'\tstatic (.+)\t%s' % HEX)
CONSTANT = re.compile(r'\tconstant pool entry %s\t%s' % (NUMBER, HEX))
# A name may hold blanks: where the callee ends is not always to be seen.
OLD_ROW = re.compile(r'([1-9]\d*) ((?:<unknown callee>|.+\..+) (?:<unknown caller>|.+\..+)) %s' % NUMBER)
REPORT = re.compile(r'hprofx: ([^:]+): (.+)')
CONTROL = re.compile(r'[\x00-\x08\x0b-\x1f\x7f-\x9f]|(?<!\n)\t(?!\t?[1-9a-f][0-9a-f]*\n)')  # a tab begins a line, or precedes the id that ends one
LOOKS_LIKE_RECORD = re.compile(r'\s*(JAVA PROFILE|THREAD (START|END) \(|TRACE \d|\t|(CPU (SAMPLES|TIME \(ms\))|METHOD CALLS|WALL CLOCK \(ms\)) (BEGIN|END)|SITES (BEGIN|END)|'
                               r'HEAP DUMP (BEGIN|END)|(MONITOR (DUMP|TIME|OWNERS)|DEADLOCKS|(WAIT|LOCK|PINNED) TIME) (BEGIN|END)|WAIT(ED)?: |rank |count callee |hprofx: |-----)')


@dataclass
class Thread:
    serial: int
    obj: int
    name: str  # escapes undone
    group: str
    ended: bool = False
    newest: str = None  # the name that it has given itself since


@dataclass
class Frame:
    method: str  # with its class
    source: str
    line: int  # 0: Unknown line


@dataclass
class Trace:
    serial: int
    thread: int  # 0: none is named
    frames: list
    at: int  # its line in the file


@dataclass
class Row:
    rank: int
    self_percent: float
    accum_percent: float
    count: int  # WALL CLOCK: ms
    trace: int
    method: str
    state: str = ''  # of WALL CLOCK
    klass: str = ''  # of WALL CLOCK: of what the thread waits for


@dataclass
class Site:
    rank: int
    self_percent: float
    accum_percent: float
    live_bytes: int
    live: int  # objects
    bytes: int
    objects: int
    trace: int
    name: str


Root = collections.namedtuple('Root', 'kind object thread more')  # as of hprof_binary
Klass = collections.namedtuple('Klass', 'name trace super loader signers domain constants statics')
Instance = collections.namedtuple('Instance', 'klass trace size fields')  # fields: [(name, id)], those that are not null, of java.lang.Object first
Objects = collections.namedtuple('Objects', 'klass trace size refs')
Primitives = collections.namedtuple('Primitives', 'type trace size length')


class Heap:
    """One heap dump, as of hprof_binary as far as the text has it."""

    def __init__(self):
        self.roots, self.classes, self.objects = [], {}, {}

    def values(self, instance):
        return [(None, name, 2, i) for name, i in instance.fields]

    def check(self):
        """(id, what names it) of what is not there, or None."""
        def referred():
            yield from ((r.object, 'a root') for r in self.roots)
            for c in self.classes.values():
                yield from ((i, c.name) for i in (c.super, c.loader, c.signers, c.domain, *c.constants.values(), *(v for _, _, v in c.statics)))
            for o in self.objects.values():
                if isinstance(o, Instance):
                    yield from ((i, 'an object') for i in (o.klass, *(i for _, i in o.fields)))
                elif isinstance(o, Objects):
                    yield from ((i, 'an array') for i in {o.klass, *o.refs})
        return next(((i, who) for i, who in referred() if i and i not in self.objects and i not in self.classes), None)


@dataclass
class Profile:
    """What a file says. total, rows and all that is counted from them are of its last table."""
    text: str
    created: datetime.datetime = None
    threads: dict = field(default_factory=dict)
    traces: dict = field(default_factory=dict)
    dumps: list = field(default_factory=list)
    heaps: list = field(default_factory=list)
    waits: list = field(default_factory=list)
    events: list = field(default_factory=list)  # (start or end, serial) of threads, in order

    @property
    def sections(self):
        return [d.title for d in self.dumps]

    @property
    def tables(self):
        """Those of samples and calls."""
        return [d for d in self.dumps if d.title in (SAMPLES, TIMES, CALLS)]

    @property
    def wall(self):
        """The last WALL CLOCK."""
        return [d for d in self.dumps if d.title == WALL][-1]

    @property
    def timelines(self):
        return [d for d in self.dumps if isinstance(d, timeline_text.Timeline)]

    @property
    def lists(self):
        """Those of allocation sites."""
        return [d for d in self.dumps if d.title == SITES]

    @property
    def monitor_dumps(self):
        return [d for d in self.dumps if isinstance(d, MonitorDump)]

    @property
    def block_tables(self):
        """Those of blocked time."""
        return [d for d in self.dumps if isinstance(d, BlockTable)]

    def block_sum(self, title):
        """(ms, count) of all tables with the title."""
        tables = [d for d in self.block_tables if d.title == title]
        return sum(d.total for d in tables), sum(r.count for d in tables for r in d.rows)

    @property
    def sites(self):
        """(site, trace) of each row of the last list."""
        return [(r, self.traces[r.trace]) for r in self.lists[-1].rows]

    def table(self, title):
        """The last one of the kind."""
        return [d for d in self.dumps if d.title == title][-1]

    @property
    def total(self):
        return self.tables[-1].total if self.tables else None

    @property
    def rows(self):
        return self.tables[-1].rows if self.tables else []

    @property
    def old(self):
        """The rows of all sections of cpu=old."""
        return [row for d in self.dumps if d.title == OLD for row in d.rows]

    @property
    def report(self):
        """Of all dumps: the later line with a key stands for the earlier one."""
        return {k: v for d in self.dumps for k, v in d.report.items()}

    @functools.cached_property
    def names(self):
        return {t.serial: t.name for t in self.threads.values()}

    @functools.cached_property
    def ended(self):
        return {t.serial for t in self.threads.values() if t.ended}

    def serial(self, name):
        found = [s for s, n in self.names.items() if n == name]
        if len(found) != 1:
            raise Malformed(0, '%d threads named %r' % (len(found), name))
        return found[0]

    def stacks(self):
        """(count, trace) of each row."""
        return [(r.count, self.traces[r.trace]) for r in self.rows]

    def by_thread(self, method=None):
        """Counts by thread; method: of the rows of this one alone."""
        return sum_by((self.traces[r.trace].thread, r.count) for r in self.rows if method in (None, r.method))

    def innermost_of(self, methods):
        """Counts by the innermost frame that is one of the methods; '' for the rest."""
        return sum_by((next((f.method for f in t.frames if f.method in methods), ''), n) for n, t in self.stacks())

    def leaves(self):
        return sum_by((t.frames[0].method if t.frames else '', n) for n, t in self.stacks())

    def having(self, *methods):
        """Counts of the stacks that have one of the methods anywhere."""
        return sum(n for n, t in self.stacks() if any(f.method in methods for f in t.frames))

    def share(self, method):
        """Share of the total whose stack has the method anywhere."""
        return self.having(method) / max(1, self.total)

    def methods(self):
        return {f.method for t in self.traces.values() for f in t.frames}

    def unknown(self):
        """Samples whose stack could not be read."""
        return sum(n for method, n in self.leaves().items() if method.startswith(UNKNOWN))


def decode(data):
    try:
        text = data if isinstance(data, str) else data.decode('utf-8')
    except UnicodeDecodeError as e:
        raise Malformed(data.count(b'\n', 0, e.start) + 1, 'not UTF-8: %s' % e.reason) from None
    if not text.endswith('\n'):
        raise EndsHere(text.count('\n') + 1, 'the last line has no end')
    return text


def split(text):
    m = CONTROL.search(text)
    if m:
        raise Malformed(text.count('\n', 0, m.start()) + 1, 'a raw control U+%04X' % ord(m[0]))
    return text[:-1].split('\n')


class Parser(MonitorParser):
    """One pass over the lines; self.at is the line being looked at."""

    def __init__(self, text, cutoff, depth, original, recovered):
        self.cutoff, self.depth, self.original, self.recovered = cutoff, depth, original, recovered
        self.lines = split(text)
        self.at = 0
        self.objects = {}
        self.fresh = []  # traces since the last table
        self.unsized = False
        self.p = Profile(text)

    def bad(self, what):
        raise Malformed(self.at + 1, what)

    def more(self):
        return self.at < len(self.lines)

    def line(self):
        if not self.more():
            raise EndsHere(self.at + 1, 'the file ends here')
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
        return when

    def header(self):
        if self.more() and self.line() == OLD_HEAD:
            return  # the table of cpu=old alone
        self.p.created = self.date(self.match(FIRST_LINE, 'first line').group(1))
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

    def records(self):
        while self.more():
            line = self.line()
            if line.startswith('THREAD START'):
                self.thread_start()
            elif line.startswith('THREAD END'):
                self.thread_end()
            elif THREAD_NAME.match(line):
                self.thread_name()
            elif line.startswith(('WAIT: ', 'WAITED: ')):
                self.wait()
            elif line.startswith(('TRACE ', *BLOCKS, SAMPLES + ' BEGIN', TIMES + ' BEGIN', CALLS + ' BEGIN', WALL + ' BEGIN', SITES + ' BEGIN', HEAP + ' BEGIN', timeline_text.BEGIN_WORDS)):
                self.dump()
            elif line == OLD_HEAD:
                self.old()
            else:
                self.bad('no record may stand here: %r' % line[:200])
        if self.unsized and not any(UNSIZED in d.report for d in self.p.dumps):
            self.bad('objects without bytes, and no report says why')

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
        self.p.events.append(('start', t.serial))
        self.at += 1
        return t.serial

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
        self.p.events.append(('end', serial))
        self.at += 1

    def thread_name(self):
        m = self.match(THREAD_NAME, 'newest name of a thread')
        if int(m[1]) not in self.p.threads:
            self.bad('thread %s has another name and has not started' % m[1])
        self.p.threads[int(m[1])].newest = unescape(m[2])
        self.at += 1

    def trace(self):
        m = self.match(TRACE, 'TRACE')
        t = Trace(int(m[1]), int(m[2] or 0), [], self.at + 1)
        if t.serial in self.p.traces:
            self.bad('trace %d is here a second time' % t.serial)
        if t.serial < EMPTY_TRACE and (t.serial, self.original) != (SUMMED_TRACE, False):
            self.bad('trace serials begin at %d' % EMPTY_TRACE)
        if m[2] and t.thread != UNKNOWN_THREAD and t.thread not in self.p.threads and not self.original:
            self.bad('thread %d has not started' % t.thread)
        self.at += 1
        while self.more() and self.line().startswith('\t') and self.line() != '\t<empty>':
            m = self.match(FRAME, 'frame')
            t.frames.append(Frame(m[1], m[2], 0 if m[3] == 'Unknown line' else int(m[3])))
            if t.frames[-1].line > 65535:
                self.bad('a line number above 65535')
            self.at += 1
        if not t.frames:
            if self.line() != '\t<empty>':
                self.bad('trace %d has no frames' % t.serial)
            self.at += 1
        cause = len(t.frames) == 1 and t.frames[0].method.startswith(UNKNOWN)  # no method: why there is no stack
        if self.depth is not None and len(t.frames) > self.depth and not cause:
            raise Malformed(t.at, 'trace %d has %d frames, depth is %d' % (t.serial, len(t.frames), self.depth))
        self.p.traces[t.serial] = t
        self.fresh.append(t.serial)

    def dump(self):
        self.fresh = []
        strangers = set()  # threads that start here, and no TRACE names them
        while self.line().startswith(('TRACE ', 'THREAD START')):
            if self.line().startswith('TRACE '):
                self.trace()
                strangers.discard(self.p.traces[self.fresh[-1]].thread)
            else:
                strangers.add(self.thread_start())
        if self.line().startswith(HEAP + ' BEGIN'):
            self.heap()
            return
        if self.line() == MONITOR_DUMP + ' BEGIN':
            self.monitor_dump()
            return
        if strangers and not self.recovered:
            self.bad('a thread starts among the TRACEs of a table, and none of them names it')
        if self.line().startswith(timeline_text.BEGIN_WORDS):
            self.timeline()
            return
        if self.line().startswith(SITES + ' BEGIN'):
            self.sites()
            return
        if self.line().startswith(BLOCKS):
            self.block_table()
            return
        if self.recovered and not BEGIN.match(self.line()):
            return
        m = self.match(BEGIN, 'CPU SAMPLES BEGIN or CPU TIME (ms) BEGIN behind the TRACEs')
        d = Dump(m[1], int(m[2]), self.date(m[3]))
        self.p.dumps.append(d)
        end = d.title + ' END'
        fresh = set(self.fresh)
        self.rowed = set()
        self.at += 1
        if self.line() == (WALL_RANK if d.title == WALL else RANK):
            self.at += 1
            while self.line() != end:
                self.row(d)
            if not d.rows:
                self.bad('a rank line and no row')
        if self.line() != end:
            self.bad('no row without a rank line: %r' % self.line()[:200])
        if list(dict.fromkeys(r.trace for r in d.rows if r.trace in fresh)) != self.in_order(d) and not self.recovered and not self.original:
            self.bad('the TRACEs before this table are not those of its rows, in their order')
        all_shown = self.cutoff is not None and (self.cutoff == 0 or math.isnan(self.cutoff))
        if d.title == TIMES:
            self.times_add_up(d)
        elif d.title == WALL:
            self.shares_add_up(d)
        elif d.shown > d.total or (all_shown and d.shown != d.total):
            self.bad('the rows add up to %d, the total is %d' % (d.shown, d.total))
        self.at += 1
        self.report(d)

    def timeline(self):
        d = timeline_text.begin(self.line()) or self.bad('no TIMELINE BEGIN: %r' % self.line()[:200])
        self.p.dumps.append(d)
        self.at += 1
        while self.line() != timeline_text.END_WORDS:
            wrong = timeline_text.take(d, self.line())
            if wrong:
                self.bad(wrong)
            self.at += 1
        wrong = timeline_text.ended(d)
        traces = {s for p in d.places for s in (p.trace, p.owner) if s}
        if wrong or traces - set(self.p.traces) - {EMPTY_TRACE}:
            self.bad(wrong or 'a place names a trace that is not there')
        self.at += 1
        self.report(d)

    def heap(self):
        m = self.match(HEAP_BEGIN, 'HEAP DUMP BEGIN')
        d, h, sizes, names = Dump(HEAP, date=self.date(m[3])), Heap(), 0, {}
        self.p.dumps.append(d)
        self.at += 1
        while self.line().startswith('ROOT '):
            kind, regex = ROOT_KINDS.get(self.line().partition('<')[2].partition('>')[0]) or self.bad('a root of no kind')
            i, thread, more = [*self.match(regex, 'root').groups(), 0, 0][:3]
            if (i.startswith('0') or kind == 'JNI global' and not self.line().endswith(' trace=300000)')) and not self.original:
                self.bad('a root that is no object, or has a trace')
            if thread and int(thread) not in self.p.threads and not self.original:
                self.bad('thread %s has not started' % thread)
            if kind == 'thread' and int(more) not in self.p.traces:
                self.bad('trace %s is not defined before' % more)
            h.roots.append(Root(kind, int(i, 16), int(thread), int(more)))
            self.at += 1
        while self.line().startswith(('OBJ ', 'ARR ', 'CLS ')):
            if self.line().startswith('CLS '):
                self.heap_class(h, names)
            elif h.classes and not self.original:
                self.bad('an object behind a class')
            else:
                sizes += self.heap_object(h, names)
        if self.line() != HEAP + ' END':
            self.bad('neither a record of the heap nor its end: %r' % self.line()[:200])
        if [int(m[1]), int(m[2])] != [len(h.objects), sizes] and not self.original:
            self.bad('the totals are %s and %s, there are %d objects of %d bytes' % (m[1], m[2], len(h.objects), sizes))
        lost = h.check()
        if lost is not None and not self.original:
            self.bad('%s refers to %x, which is not in the dump' % (lost[1], lost[0]))
        if any(i not in h.classes or h.classes[i].name != name for i, name in names.items()) and not self.original:
            self.bad('an object of a class that has another name, or none')
        self.p.heaps.append(h)
        self.at += 1
        self.report(d)

    def heap_object(self, h, names):
        line = self.line()
        m = OBJECT.fullmatch(line) or PRIMITIVES.fullmatch(line) or self.match(OBJECTS, 'OBJ or ARR')
        i, size, trace = int(m[1], 16), int(m[2]), int(m[3])
        if i in h.objects:
            self.bad('%x is here a second time' % i)
        if trace not in self.p.traces and trace != EMPTY_TRACE:
            self.bad('trace %d is not defined before' % trace)
        self.at += 1
        if m.re is PRIMITIVES:
            kind, n = BASIC[m[5]], int(m[4])
            if size != n * kind[1] and not self.original:
                self.bad('%d bytes of %d %s' % (size, n, m[5]))
            h.objects[i] = Primitives(kind[0], trace, size, n)
            return size
        klass, name = int(m[m.re.groups], 16), m[m.re.groups - 1]
        if names.setdefault(klass, name) != name:
            self.bad('class %x has two names' % klass)
        if m.re is OBJECT:
            fields = []
            while self.line().startswith('\t'):
                f = self.match(FIELD, 'field')
                if (len(f[2]) == 2) != (len(f[1].encode()) < 8):
                    self.bad('tabs of a field')
                fields.append((f[1], int(f[3], 16)))
                self.at += 1
            h.objects[i] = Instance(klass, trace, size, fields)
            return size
        refs, last = [0] * int(m[4]), -1
        while self.line().startswith('\t'):
            e = self.match(ELEMENT, 'element')
            if not last < int(e[1]) < len(refs):
                self.bad('element %s of %d, behind %d' % (e[1], len(refs), last))
            last = int(e[1])
            refs[last] = int(e[2], 16)
            self.at += 1
        h.objects[i] = Objects(klass, trace, size, refs)
        return size

    def heap_class(self, h, names):
        m = self.match(CLASS, 'CLS')
        i, of, statics, constants = int(m[1], 16), {}, [], {}
        if (i in h.objects or i in h.classes or int(m[3]) != EMPTY_TRACE) and not self.original:
            self.bad('%x is here a second time, or has a trace' % i)
        self.at += 1
        while self.line().startswith('\t'):
            one = OF_CLASS.fullmatch(self.line())
            static = STATIC.fullmatch(self.line())
            if one and not statics and not constants:
                of[one[1]] = int(one[2], 16)
            elif static and not constants:
                statics.append((static[1], 2, int(static[2], 16)))
            else:
                c = self.match(CONSTANT, 'constant')
                if constants and int(c[1]) >= min(constants):
                    self.bad('the constants do not descend')
                constants[int(c[1])] = int(c[2], 16)
            self.at += 1
        if of.get('super') and of['super'] not in h.classes and not self.original:
            self.bad('a class before its superclass')
        h.classes[i] = Klass(m[2], EMPTY_TRACE, *(of.get(k, 0) for k in ('super', 'loader', 'signers', 'domain')), constants, statics)

    def sites(self):
        m = self.match(SITES_BEGIN, 'SITES BEGIN behind the TRACEs')
        d = Dump(SITES, date=self.date(m[2]), order=m[1])
        self.p.dumps.append(d)
        self.at += 1
        for head in SITES_HEAD:
            if self.line() != head:
                self.bad('no line of titles: %r' % self.line()[:200])
            self.at += 1
        seen = set()
        while self.line() != 'SITES END':
            self.site_row(d, seen)
        used = dict.fromkeys(r.trace for r in d.rows)
        fresh = set(self.fresh)
        if [t for t in used if t in fresh] != self.in_order(d) and not self.original and not self.recovered:
            self.bad('the TRACEs before this list are not those of its rows, in their order')
        self.shares(d)
        self.at += 1
        self.report(d)

    def site_row(self, d, seen):
        m = self.match(SITE_ROW, 'row')
        r = Site(int(m[1]), float(m[2]), float(m[3]), *(int(x) for x in m.groups()[3:8]), m[9])
        if r.trace not in self.p.traces:
            self.bad('trace %d is not defined before the list' % r.trace)
        if (r.trace, r.name) in seen and ONE_CLASS.match(r.name) and not self.original:
            self.bad('%s has two rows with trace %d' % (r.name, r.trace))
        seen.add((r.trace, r.name))
        if d.rows:
            last, key = d.rows[-1], (lambda x: x.live_bytes) if d.order == 'live' else (lambda x: x.bytes)
            if key(last) < key(r):
                self.bad('the rows are not in order')
        if r.live > r.objects or r.live_bytes > r.bytes:
            self.bad('more is alive than was allocated')
        if r.objects == 0 and r.bytes or r.live == 0 and r.live_bytes:
            self.bad('bytes without objects')
        self.unsized = self.unsized or r.objects and r.bytes == 0 or r.live and r.live_bytes == 0
        d.rows.append(r)
        layout = '%5u %5.2f%% %5.2f%% %9u %4u %9u %5u %5u %s' % (len(d.rows), r.self_percent, r.accum_percent, r.live_bytes, r.live, r.bytes, r.objects, r.trace, r.name)
        if self.line() != layout:
            self.bad('a row must be %r, it is %r' % (layout, self.line()))
        self.at += 1

    def shares(self, d):
        """The list does not say what its shares are of: there must be one total, of live or of allocated bytes, that gives all of them."""
        if self.original or not d.rows:
            return
        all_shown = self.cutoff is not None and (self.cutoff == 0 or math.isnan(self.cutoff))
        why = []
        for key in ['live_bytes'] + ['bytes'] * (d.order == 'allocated'):
            least, most, sum_ = 0.0, math.inf, 0
            for r in d.rows:
                sum_ += getattr(r, key)
                for part, percent in ((getattr(r, key), r.self_percent), (sum_, r.accum_percent)):
                    if part == 0 and percent != 0:
                        least = math.inf
                    elif part > 0:
                        least = max(least, 100 * part / (percent + 0.005000001))
                        most = min(most, 100 * part / max(percent - 0.005000001, 1e-9))
            exact = sum_ if all_shown else max(least, sum_)
            if sum_ == 0 and least == 0 or least <= exact <= most and least < math.inf:
                return
            why.append('%s: %.0f to %.0f, the rows add up to %d' % (key, least, most, sum_))
        self.bad('no total gives these shares (%s)' % '; '.join(why))

    def old(self):
        """The section has no end: it is as long as its rows."""
        d = Dump(OLD)
        self.p.dumps.append(d)
        self.at += 1
        while self.more() and OLD_ROW.fullmatch(self.line()):
            m = self.match(OLD_ROW, 'row')
            d.rows.append((m[2], int(m[1]), int(m[3])))
            if len(d.rows) > 1 and d.rows[-2][1] < d.rows[-1][1] and not self.original:
                self.bad('the rows are not in order')
            self.at += 1
        self.report(d)

    def report(self, d):
        exact = []
        while self.more() and self.line().startswith('hprofx: '):
            m = self.match(REPORT, 'report line')
            if m[1] in ('total in ns', 'rows in ns'):
                exact.append(m)
                self.at += 1
                continue
            if m[1] in d.report:
                self.bad('the report says %r twice' % m[1])
            d.report[m[1]] = m[2]
            self.at += 1
        if exact:
            self.exact_times(d, int(exact[0][2]), [int(ns) for m in exact[1:] for ns in m[2].split(' ')])

    def exact_times(self, d, total, rows):
        """What the shares of the rows are made of."""
        shown = getattr(d, 'rows', [])
        if len(rows) != len(shown) or sum(rows) > total:
            self.bad('%d exact times of %d rows, %d of %d ns' % (len(rows), len(shown), sum(rows), total))
        if rows != sorted(rows, reverse=True):
            self.bad('the exact times are not in order')
        for ns, row in zip(rows, shown):
            if hasattr(row, 'self_percent') and abs(100 * ns / max(total, 1) - row.self_percent) > 0.00501:
                self.bad('%d of %d ns is not %.2f %%' % (ns, total, row.self_percent))

    def shares_add_up(self, d):
        """Of times only the shares are in the file, each rounded."""
        all_shown = self.cutoff is not None and (self.cutoff == 0 or math.isnan(self.cutoff))
        last = d.rows[-1].accum_percent if d.rows else 0
        if not self.original and (last > 100 or (all_shown and last not in (0, 100))):
            self.bad('the rows add up to %.2f %%' % last)

    def times_add_up(self, d):
        self.shares_add_up(d)
        for r in d.rows:
            if any(f.line for f in self.p.traces[r.trace].frames) and not self.original:
                self.bad('trace %d is one of calls and has a line number' % r.trace)

    def time_row(self, d, r):
        if d.rows and d.rows[-1].self_percent < r.self_percent:
            self.bad('the rows are not in order')
        if self.cutoff is not None and r.self_percent + 0.005 < self.cutoff * 100 and r.self_percent > 0:
            self.bad('a row below the cutoff')
        d.rows.append(r)
        d.shown += r.self_percent
        # each of them is rounded to a hundredth, in halves at most
        if 2 * abs(round(100 * r.accum_percent) - round(100 * d.shown)) > len(d.rows) + 1:
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

    def in_order(self, d):
        """The new traces in the order that rows have: the one of summed rows is the last in the file, and its row stands where its sum is."""
        order = {r.trace: i for i, r in reversed(list(enumerate(d.rows)))}
        return sorted(self.fresh, key=lambda t: order.get(t, -1)) if SUMMED_TRACE in self.fresh[-1:] else self.fresh

    def row(self, d):
        wall = d.title == WALL
        m = self.match(WALL_ROW if wall else ROW, 'row')
        r = Row(int(m[1]), float(m[2]), float(m[3]), int(m[4]), int(m[5]), m[m.lastindex], m[6] if wall else '', (m[7] or '') if wall else '')
        t = self.p.traces.get(r.trace)
        if t is None:
            self.bad('trace %d is not defined before the table' % r.trace)
        if (r.trace, r.state, r.klass) in self.rowed:
            self.bad('trace %d has two rows' % r.trace)
        self.rowed.add((r.trace, r.state, r.klass))
        if r.count <= 0 and not wall:
            self.bad('a row of no samples or calls')
        top = self.lines[t.at]  # the line behind "TRACE n:"
        if not top.startswith('\t' + r.method + '(') and not (top == '\t<empty>' and r.method == '<empty trace>'):
            self.bad('%r is not the innermost method of trace %d' % (r.method, r.trace))
        if not t.frames and d.title == SAMPLES and not self.original:
            self.bad('with depth=0 each call has the empty trace; no sample has')
        shares = self.time_row(d, r) if d.title in (TIMES, WALL) else self.sample_row(d, r)
        layout = '%4u %5.2f%% %5.2f%% %7u %5u %s' % (len(d.rows), *shares, r.count, r.trace, r.method)
        if wall:
            layout = '%4u %5.2f%% %5.2f%% %9u %5u %s %s' % (len(d.rows), *shares, r.count, r.trace, '%s %s;' % (r.state, r.klass) if r.klass else '%-8s' % r.state, r.method)
        if self.line() != layout:
            self.bad('a row must be %r, it is %r' % (layout, self.line()))
        self.at += 1


def parse(data, complete=True, cutoff=None, depth=None, original=False, recovered=False):
    """The profile in these bytes, or in this text. complete: a finished file; else a part, which may end anywhere behind the header. cutoff, depth: what the
    run was given (with cutoff 0 the rows must add up to the total). original: a file of the original agent: what it does not promise is not asked
    (object numbers, order of ties, lost THREAD START, samples without frames, an end). recovered: hprofx recover may have made it of a journal, whose TRACEs
    stand where the journal had them."""
    if not complete:
        newline = '\n' if isinstance(data, str) else b'\n'
        data = data[:data.rfind(newline) + 1]
    parser = Parser(decode(data), cutoff, depth, original, recovered)
    parser.header()
    try:
        parser.records()
    except EndsHere:
        if complete and not original:
            raise
    return parser.p


def read(path, **how):
    return parse(pathlib.Path(path).read_bytes(), **how)
