# SPDX-License-Identifier: BSD-2-Clause
"""What the parsers of sections of the text format share: words of a line, errors, a section."""
import collections
import datetime
import re
from dataclasses import dataclass, field

EMPTY_TRACE = 300000
SUMMED_TRACE = EMPTY_TRACE - 1  # of rows that hprofx has summed (maxfile=)
UNKNOWN_THREAD = 200000
DAYS = 'Mon Tue Wed Thu Fri Sat Sun'.split()
MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split()

DATE = r'((?:%s) (?:%s) [ 123]\d \d\d:\d\d:\d\d \d{4})' % ('|'.join(DAYS), '|'.join(MONTHS))
NUMBER = r'(0|[1-9]\d*)'
QUOTED = r'"((?:[^"\\]|\\["\\nrt]|\\u[0-9A-F]{4})*)"'
ESCAPE = re.compile(r'\\(?:u([0-9A-F]{4})|.)')
ONE_CLASS = re.compile(r'java\.|(boolean|byte|char|short|int|long|float|double)\[')  # others may be several of one name


class Malformed(Exception):
    """What is wrong, with its line (from 1; 0: the file as a whole)."""

    def __init__(self, line, what):
        super().__init__('line %d: %s' % (line, what) if line else what)
        self.line = line
        self.what = what


class EndsHere(Malformed):
    """The file ends where more must follow."""


def unescape(text):
    """A name without its escapes; lone surrogates come back as such."""
    letters = {'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\'}
    return ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else letters[m[0][1]], text)


def sum_by(pairs):
    sums = collections.Counter()
    for key, n in pairs:
        sums[key] += n
    return sums


@dataclass
class Dump:
    """One section. With TIMES the total is in ms, counts are calls; with OLD there is neither total nor date, and a row is ('callee caller', calls, ms).
    With SITES there is no total, rows are of Site, and `order` is 'live' or 'allocated'."""
    title: str
    total: int = None
    date: datetime.datetime = None
    rows: list = field(default_factory=list)
    report: dict = field(default_factory=dict)
    shown: float = 0  # the sum of the rows: of samples, or of percent
    order: str = None

    def counts(self):
        """Samples or calls by method."""
        return sum_by((r.method, r.count) for r in self.rows)

    def self_ms(self, key=lambda row: row.method):
        """Of calls: ms by method, or by whatever the key makes of a row."""
        return sum_by((key(r), r.self_percent * self.total / 100) for r in self.rows)
