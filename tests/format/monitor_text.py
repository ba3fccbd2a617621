# SPDX-License-Identifier: BSD-2-Clause
"""What monitor=y writes (docs/formats.md) as Python objects: lines of waits, MONITOR DUMP with DEADLOCKS, tables of blocked time."""
import collections
import re
from dataclasses import dataclass, field

from text_lines import DATE, Dump, EMPTY_TRACE, NUMBER, ONE_CLASS, QUOTED, UNKNOWN_THREAD, sum_by, unescape

MONITOR_DUMP, DEADLOCKS = 'MONITOR DUMP', 'DEADLOCKS'
MONITOR_TIME, MONITOR_OWNERS, WAIT_TIME, LOCK_TIME, PINNED_TIME = 'MONITOR TIME', 'MONITOR OWNERS', 'WAIT TIME', 'LOCK TIME', 'PINNED TIME'
COLUMNS = {MONITOR_TIME: 'monitor', MONITOR_OWNERS: 'owner monitor', WAIT_TIME: 'monitor', LOCK_TIME: 'lock', PINNED_TIME: 'monitor'}

OF_THREAD = r'(?:thread %s|<unknown thread>)' % NUMBER
WAIT_LINE = re.compile(r'(WAIT|WAITED): MONITOR (.+), (timeout|time_waited)=%s, %s' % (NUMBER, OF_THREAD))
STATUS = r'((?:S\|)?(?:intr\|)?(?:native\|)?(?:R|SL|MW|CW|ZO|NS|UN))'
THREAD_LINE = re.compile(r'    THREAD %s, trace %s, status: %s' % (NUMBER, NUMBER, STATUS))
VIRTUAL_LINE = re.compile(r'    VIRTUAL (\d+) threads, trace (\d+), status: (R|SL|MW|CW|UN)')
ONE_VIRTUAL = r'\d+(?: "(?:[^"\\]|\\.)*")?'
VIRTUAL_THREADS = re.compile(r'\tthreads: (%s(?:, %s)*)(, \.\.\.)?' % (ONE_VIRTUAL, ONE_VIRTUAL))
VIRTUAL_CONTAINER = re.compile(r'\tcontainer: "((?:[^"\\]|\\.)*)"')
VIRTUAL_CARRIER = re.compile(r'\tcarrier: (?:thread (\d+)|<unknown thread>)')
VIRTUAL_WAITS = re.compile(r'\twaiting for: (.+?)(?: owned by (?:virtual thread (%s)|thread (\d+)|<unknown thread>))?' % ONE_VIRTUAL)
ONE_OF_VIRTUALS = re.compile(r'(\d+)(?: "((?:[^"\\]|\\.)*)")?')
MONITOR_LINE = re.compile(r'    MONITOR (.+?)( unowned)?')
OWNER = re.compile(r'\towner: %s, entry count: %s' % (OF_THREAD, NUMBER))
IN_LIST = r'(?:thread \d+|<unknown thread>)'
LISTS = [re.compile(r'\twaiting to %s:((?: %s(?:, %s)*)?)' % (what, IN_LIST, IN_LIST)) for what in ('enter', 'be notified')]
ONE_OF_LIST = re.compile(r'thread (\d+)|<unknown thread>')
NOTE = re.compile(r'    NOTE: (.+)')
DEADLOCKS_BEGIN = re.compile(r'DEADLOCKS BEGIN \(%s\)' % NUMBER)
DEADLOCK = re.compile(r'    DEADLOCK %s \(%s threads\)' % (NUMBER, NUMBER))
DEADLOCK_THREAD = re.compile(r'    (THREAD|VIRTUAL) %s %s, trace %s, waiting for (MONITOR|LOCK) (.+) owned by (?:virtual thread (\d+)|%s)' % (NUMBER, QUOTED, NUMBER, OF_THREAD))
BLOCK_BEGIN = re.compile(r'(%s) BEGIN \(total = %s ms\) ' % ('|'.join(COLUMNS), NUMBER) + DATE)
BLOCK_ROW = re.compile(r' *(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% +(\d+) +(\d+)() (.+) \(Java\)')
OWNERS_ROW = re.compile(r' *(\d+) +(\d+\.\d\d)% +(\d+\.\d\d)% +(\d+) +(\d+) +(\d+) (.+) \(Java\)')

# thread: a serial, or None for <unknown thread>
Wait = collections.namedtuple('Wait', 'kind signature ms thread line')  # kind: WAIT, WAITED; line: of the file
MonitorThread = collections.namedtuple('MonitorThread', 'trace status')
VirtualThreads = collections.namedtuple('VirtualThreads', 'count trace status who mounted waits_for owner container')  # who: {id: name or None}; owner: {id: name}, or a serial
Monitor = collections.namedtuple('Monitor', 'signature owned owner entry_count enter notify')  # owner: None also where it is not owned
DeadlockThread = collections.namedtuple('DeadlockThread', 'serial name trace kind signature owner')  # kind: MONITOR, LOCK; serial, owner: of a virtual thread -id
BlockRow = collections.namedtuple('BlockRow', 'rank self_percent accum_percent count trace owner name')  # owner: a trace, of MONITOR OWNERS


@dataclass
class MonitorDump(Dump):
    """Its rows are the monitors."""
    threads: dict = field(default_factory=dict)  # serial: MonitorThread
    virtual: list = field(default_factory=list)  # VirtualThreads
    unknown: list = field(default_factory=list)  # MonitorThread of those that were never announced
    notes: list = field(default_factory=list)
    deadlocks: list = field(default_factory=list)  # lists of DeadlockThread

    @property
    def monitors(self):
        return self.rows

    def of(self, signature):
        return [m for m in self.rows if m.signature == signature]


@dataclass
class BlockTable(Dump):
    """Rows are of BlockRow."""

    @property
    def total_ms(self):
        return self.total

    def ms(self, row):
        return row.self_percent * self.total / 100

    def ms_by(self, key=lambda row: row.name):
        return sum_by((key(r), self.ms(r)) for r in self.rows)

    def counts_by(self, key=lambda row: row.name):
        return sum_by((key(r), r.count) for r in self.rows)


def serial_of(text):
    return None if text is None else int(text)


class MonitorParser:
    """The part of hprof_text.Parser that reads these sections: self.line(), self.match() and the rest are its own."""

    def known(self, serial):
        if serial not in (None, UNKNOWN_THREAD) and serial not in self.p.threads and not self.original:
            self.bad('thread %d has not started' % serial)
        return serial

    def wait(self):
        m = self.match(WAIT_LINE, 'WAIT or WAITED')
        if (m[1] == 'WAITED') != (m[3] == 'time_waited'):
            self.bad('%s with %s' % (m[1], m[3]))
        self.p.waits.append(Wait(m[1], m[2], int(m[4]), self.known(serial_of(m[5])), self.at + 1))
        self.at += 1

    def monitor_dump(self):
        d = MonitorDump(MONITOR_DUMP)
        self.p.dumps.append(d)
        used = []
        self.at += 1
        last = UNKNOWN_THREAD
        while self.line().startswith('    THREAD '):
            last = self.monitor_thread(d, last)
            used.append(int(self.lines[self.at - 1].split()[3].rstrip(',')))
        while self.line().startswith('    VIRTUAL '):
            used.append(self.virtual_threads(d).trace)
        while self.line().startswith('    MONITOR '):
            self.monitor(d)
        while self.line().startswith('    NOTE: '):
            d.notes.append(self.match(NOTE, 'note')[1])
            self.at += 1
        if self.line() != MONITOR_DUMP + ' END':
            self.bad('neither a line of MONITOR DUMP nor its end: %r' % self.line()[:200])
        self.at += 1
        if self.more() and self.line().startswith(DEADLOCKS + ' BEGIN'):
            self.deadlocks(d)
            used += [t.trace for dead in d.deadlocks for t in dead]
        self.fresh_are(used)
        self.report(d)

    def fresh_are(self, used):
        """The TRACEs before a section are those that it is the first to name, in their order."""
        fresh = set(self.fresh)
        if [t for t in dict.fromkeys(used) if t in fresh] != self.fresh and not self.original and not self.recovered:
            self.bad('the TRACEs before this section are not those of its lines, in their order')

    def traced(self, trace):
        if trace not in self.p.traces and trace != EMPTY_TRACE:
            self.bad('trace %d is not defined before the section' % trace)
        return trace

    def monitor_thread(self, d, last):
        m = self.match(THREAD_LINE, 'line of a thread')
        serial, t = self.known(int(m[1])), MonitorThread(self.traced(int(m[2])), m[3])
        if serial < last or serial in d.threads:
            self.bad('thread %d behind thread %d' % (serial, last))
        if serial == UNKNOWN_THREAD:
            d.unknown.append(t)
        else:
            d.threads[serial] = t
        self.at += 1
        return serial

    def virtual_threads(self, d):
        m = self.match(VIRTUAL_LINE, 'line of virtual threads')
        self.at += 1
        listed = self.match(VIRTUAL_THREADS, 'virtual threads')
        who = {int(one[1]): one[2] and unescape(one[2]) for one in ONE_OF_VIRTUALS.finditer(listed[1])}
        if int(m[1]) < len(who) or (int(m[1]) == len(who)) != (listed[2] is None):
            self.bad('%s virtual threads, of which these are named: %r' % (m[1], who))
        self.at += 1
        container = None
        if self.line().startswith('\tcontainer: '):
            container = unescape(self.match(VIRTUAL_CONTAINER, 'container')[1])
            self.at += 1
        mounted = self.line().startswith('\tcarrier: ')
        if mounted:
            self.known(serial_of(self.match(VIRTUAL_CARRIER, 'carrier')[1]))
            self.at += 1
        waits, owner = (None, None, None, None), None
        if self.line().startswith('\twaiting for: '):
            waits = self.match(VIRTUAL_WAITS, 'what virtual threads wait for')
            one = ONE_OF_VIRTUALS.fullmatch(waits[2] or '')
            owner = {int(one[1]): one[2] and unescape(one[2])} if one else self.known(serial_of(waits[3]))
            self.at += 1
        new = VirtualThreads(int(m[1]), self.traced(int(m[2])), m[3], who, mounted, waits[1], owner, container)
        if d.virtual and d.virtual[-1].count < new.count:
            self.bad('more virtual threads than in the line before')
        d.virtual.append(new)
        return new

    def monitor(self, d):
        m = self.match(MONITOR_LINE, 'line of a monitor')
        owner, count, lists = None, 0, []
        self.at += 1
        if not m[2]:
            o = self.match(OWNER, 'owner')
            owner, count = self.known(serial_of(o[1])), int(o[2])
            if count == 0:
                self.bad('an owner that has not entered')
            self.at += 1
        for regex in LISTS:
            threads = self.match(regex, 'list of waiting threads')[1]
            lists.append([self.known(serial_of(one[1])) for one in ONE_OF_LIST.finditer(threads)])
            if lists[-1] != sorted(lists[-1], key=lambda s: s or 0) and not self.original:
                self.bad('the threads are not in order')
            self.at += 1
        new = Monitor(m[1], not m[2], owner, count, *lists)
        if d.rows and len(d.rows[-1].enter + d.rows[-1].notify) < len(new.enter + new.notify) and not self.original:
            self.bad('more threads wait than for the monitor before')
        d.rows.append(new)

    def deadlocks(self, d):
        m = self.match(DEADLOCKS_BEGIN, 'DEADLOCKS BEGIN')
        self.at += 1
        for number in range(1, int(m[1]) + 1):
            n = self.match(DEADLOCK, 'DEADLOCK')
            if int(n[1]) != number or int(n[2]) == 0:
                self.bad('deadlock %d is %r' % (number, self.line()))
            self.at += 1
            dead = [self.deadlock_thread() for _ in range(int(n[2]))]
            if [t.owner for t in dead] != [None if t.serial == UNKNOWN_THREAD else t.serial for t in dead[1:] + dead[:1]]:
                self.bad('deadlock %d is no circle' % number)
            d.deadlocks.append(dead)
        if self.line() != DEADLOCKS + ' END' or not d.deadlocks:
            self.bad('no end of %s deadlocks: %r' % (m[1], self.line()[:200]))
        self.at += 1

    def deadlock_thread(self):
        m = self.match(DEADLOCK_THREAD, 'thread of a deadlock')
        serial = -int(m[2]) if m[1] == 'VIRTUAL' else self.known(int(m[2]))
        owner = -int(m[7]) if m[7] else self.known(serial_of(m[8]))
        t = DeadlockThread(serial, unescape(m[3]), self.traced(int(m[4])), m[5], m[6], owner)
        self.at += 1
        return t

    def block_table(self):
        m = self.match(BLOCK_BEGIN, 'beginning of a table of blocked time')
        d = BlockTable(m[1], int(m[2]), self.date(m[3]))
        self.p.dumps.append(d)
        self.at += 1
        seen = set()
        if self.line() == 'rank   self  accum   count trace ' + COLUMNS[d.title]:
            self.at += 1
            while self.line() != d.title + ' END':
                self.block_row(d, seen)
            if not d.rows:
                self.bad('a rank line and no row')
        if self.line() != d.title + ' END':
            self.bad('no row without a rank line: %r' % self.line()[:200])
        self.fresh_are([t for r in d.rows for t in (r.trace, r.owner) if t is not None])
        self.shares_add_up(d)
        self.at += 1
        self.report(d)

    def block_row(self, d, seen):
        owners = d.title == MONITOR_OWNERS
        m = self.match(OWNERS_ROW if owners else BLOCK_ROW, 'row')
        r = BlockRow(int(m[1]), float(m[2]), float(m[3]), int(m[4]), int(m[5]), int(m[6]) if owners else None, m[7])
        for trace in (r.trace, r.owner):
            if trace is not None and trace not in self.p.traces:
                self.bad('trace %d is not defined before the table' % trace)
        if (r.trace, r.owner, r.name) in seen and ONE_CLASS.match(r.name):
            self.bad('%s has two rows with trace %d' % (r.name, r.trace))
        seen.add((r.trace, r.owner, r.name))
        if r.count <= 0:
            self.bad('a row of nothing')
        self.time_row(d, r)
        layout = '%4u %5.2f%% %5.2f%% %7u %5u ' % (r.rank, r.self_percent, r.accum_percent, r.count, r.trace)
        layout += ('%5u ' % r.owner if owners else '') + r.name + ' (Java)'
        if self.line() != layout:
            self.bad('a row must be %r, it is %r' % (layout, self.line()))
        self.at += 1
