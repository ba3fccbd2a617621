# SPDX-License-Identifier: BSD-2-Clause
"""TIMELINE, the lines that text and binary files share (base/hprof_format.h), as Python objects; strict."""
import re
from collections import namedtuple
from dataclasses import dataclass, field

BEGIN_WORDS = 'TIMELINE BEGIN ('
END_WORDS = 'TIMELINE END'
NOTE = 'hprofx: TIMELINE\n'
STEP = 10
N = r'(0|[1-9]\d*)'
BEGIN = re.compile(r'TIMELINE BEGIN \(zero = %s, end = %s, places = %s, events = %s, coarse = %s\)' % (N, N, N, N, N))
PLACES = {'cpu': re.compile(r'p cpu %s' % N), 'wall': re.compile(r'p wall %s ([a-z]+)(?: ([^ ].*))?' % N), 'alloc': re.compile(r'p alloc %s %s %s(?: ([^ ].*))?' % (N, N, N)),
          'block': re.compile(r'p block %s (enter|owners|wait|park|pinned) %s(?: ([^ ].*))?' % (N, N)), 'gc': re.compile(r'p gc 0')}
EVENT = re.compile(r'%s(?:\*%s)?(?:/%s)?' % (N, N, N))
LONGEST = 1000

Place = namedtuple('Place', 'kind trace state name bytes shares owner')
Event = namedtuple('Event', 'ms unit thread place count ns')


@dataclass
class Timeline:
    """One section. Times are ms since `zero`, which is in ms since 1970."""
    zero: int
    end: int
    expected: int  # places
    coarse: int
    places: list = field(default_factory=list)
    events: list = field(default_factory=list)
    title: str = 'TIMELINE'
    date: object = None
    report: dict = field(default_factory=dict)

    def of(self, kind):
        """(event, place) of a kind."""
        return [(e, p) for e in self.events for p in [self.places[e.place]] if p.kind == kind]

    def counts(self, kind='cpu'):
        """Counts by trace."""
        sums = {}
        for e, p in self.of(kind):
            sums[p.trace] = sums.get(p.trace, 0) + e.count
        return sums


def begin(line):
    m = BEGIN.fullmatch(line)
    return m and Timeline(int(m[1]), int(m[2]), int(m[3]), int(m[5]))


def place(line):
    kind = line.split(' ')[1] if line.count(' ') else ''
    m = PLACES[kind].fullmatch(line) if kind in PLACES else None
    if not m:
        return None
    if kind == 'cpu':
        return Place(kind, int(m[1]), None, None, None, None, None)
    if kind == 'wall':
        return Place(kind, int(m[1]), m[2], m[3], None, None, None)
    if kind == 'alloc':
        return Place(kind, int(m[1]), None, m[4], int(m[2]), int(m[3]), None)
    if kind == 'block':
        return Place(kind, int(m[1]), m[2], m[4], None, None, int(m[3]))
    return Place(kind, 0, None, None, None, None, None)


def take(t, line):
    """Adds a line; what is wrong with it, or None."""
    if line.startswith('p '):
        p = place(line)
        if not p or t.events:
            return 'no place, or behind events: %r' % line[:200]
        t.places.append(p)
        return None
    if not line.startswith('t @') or len(line) > LONGEST:
        return 'no line of TIMELINE: %r' % line[:200]
    ms = unit = thread = None
    for i, item in enumerate(line.split(' ')[1:]):
        rest = item[1:]
        if item[:1] in '@+~#' and not re.fullmatch(N, rest):
            return 'no item: %r' % item
        if item[:1] == '@':
            ms, unit = int(rest), unit or 1
        elif item[:1] == '+':
            ms += int(rest)
        elif item[:1] == '~' and i == 1:
            unit = int(rest)
        elif item[:1] == '#':
            thread = int(rest)
        else:
            m = EVENT.fullmatch(item)
            if not m or thread is None or int(m[1]) >= len(t.places) or ms % STEP:
                return 'no event: %r' % item
            t.events.append(Event(ms, unit, thread, int(m[1]), 1 if m[2] is None else int(m[2]), int(m[3] or 0)))
    return None


def ended(t):
    """What is wrong with a section that is complete, or None."""
    if len(t.places) != t.expected:
        return '%d places, not %d' % (len(t.places), t.expected)
    if t.places and not t.events:
        return 'places without an event'
    return None
