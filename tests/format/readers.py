# SPDX-License-Identifier: BSD-2-Clause
"""How the programs that read HPROF text read it, each as far as its demands on the file go, written anew from those demands.

A reader takes the bytes alone and gives its figures, or raises Unreadable where the program would fail, loop or lose a sample. compare_all() holds them
against the strict parser; check() is both. A reader that by its own rules cannot take a kind of file (two dumps, thread=y) has a reason in `cannot`."""
import re
from collections import Counter

from hprof_text import END, Malformed, RANK, SAMPLES, parse


class Unreadable(Exception):
    pass


def need(ok, what):
    if not ok:
        raise Unreadable(what)


class Lines:
    """Lines as a program that asks for the next one sees them; asking at the end is where it would loop or fail."""

    def __init__(self, text):
        self.lines = re.split(r'\r\n|\n|\r', text)
        if self.lines[-1] == '':
            self.lines.pop()
        self.i = 0

    def peek(self):
        need(self.i < len(self.lines), 'reads past the end')
        return self.lines[self.i]

    def next(self):
        line = self.peek()
        self.i += 1
        return line

    def skip_to(self, start):
        while not self.peek().startswith(start):
            self.i += 1
        return self.peek()


def utf8(data):
    try:
        return data.decode('utf-8')
    except UnicodeDecodeError as e:
        raise Unreadable(str(e)) from None


def number(text, limit=2 ** 31):
    need(re.fullmatch(r'\d+', text) and int(text) < limit, 'no int: %r' % text)
    return int(text)


def gprof2dot(data):
    """Samples by trace, and by function: its own ones and those of what it called. The first dump only."""
    f = Lines(utf8(data))
    f.next()
    f.skip_to('------')
    f.skip_to('TRACE ')
    traces = {}
    while f.peek().startswith('TRACE '):
        m = re.fullmatch(r'TRACE (\d+):', f.next())
        need(m, 'a TRACE line with more than a number')
        frames = []
        while f.peek().startswith('\t'):
            frame = re.match(r'\t(.*)\((.*):(.*)\)', f.next())
            need(frame, 'no frame')
            frames.append(frame[1])
        traces[int(m[1])] = frames
    f.skip_to('CPU')
    f.next()
    f.next()
    samples = {}
    while not f.peek().startswith('CPU'):
        fields = f.next().split()
        need(len(fields) == 6, 'a row of %d fields' % len(fields))
        samples[int(fields[4])] = int(fields[3])
    own = Counter()
    for trace, count in samples.items():
        need(traces.get(trace), 'a row without its trace')
        own[traces[trace][0]] += count
    return samples, dict(own)


def hprof2flamegraph(data):
    """Samples by stack, root first."""
    text = utf8(data)
    need(re.match(r'JAVA PROFILE \d.\d.\d, created \w+ \w+ +\d+ \d\d:\d\d:\d\d \d{4}', text), 'no date in the first line')
    need(not re.search(r'CPU TIME \(ms\) BEGIN', text), 'takes it for cpu=times')
    stacks = {}
    for m in re.finditer(r'TRACE (\d+):( \(thread=(\d+)\))?\n((?:\t.+\n)+)', text):
        if '<empty>' in m[4]:
            continue
        names = []
        for line in m[4][:-1].split('\n'):
            frame = re.match(r'(.+)\((.+):(.+)\)', line.strip())
            need(frame, 'no frame')
            names.append(frame[1] if frame[3] == 'Unknown line' else frame[1] + ':' + frame[3])
        stacks[m[1]] = tuple(reversed(names + (['Thread ' + m[3]] if m[3] else [])))
    table = re.search(r'CPU SAMPLES BEGIN \(total = \d+\).+\nrank[^\n]+\n((?:[^\n]+\n)+)CPU SAMPLES END', text)
    need(table and stacks, 'no samples')
    counts = Counter()
    for line in table[1][:-1].split('\n'):
        fields = line.split()
        need(len(fields) > 4 and fields[4] in stacks, 'a row without its trace')
        counts[stacks[fields[4]]] += int(fields[3])
    return dict(counts)


def hprof_scrubber(data):
    """Samples by trace over all dumps, and the frames it can show for each."""
    f = Lines(utf8(data))
    traces, counts = {}, Counter()
    line = f.next()
    while True:
        if line.startswith('TRACE ') and line.endswith(':'):
            serial, frames = number(line[6:-1]), []
            line = f.next()
            while line.startswith('\t'):
                frames.append(line[1:])
                line = f.next()
            traces[serial] = frames
            continue
        need(not line.startswith('SITES BEGIN'), 'a SITES record')
        if line.startswith('CPU SAMPLES BEGIN'):
            need(f.next().startswith('rank'), 'the line behind BEGIN is lost: not the rank line')
            while not f.peek().startswith('CPU SAMPLES END'):
                fields = f.next().split()
                need(len(fields) >= 6, 'a short row')
                counts[number(fields[4])] += number(fields[3])
        if f.i == len(f.lines):
            return dict(counts), traces
        line = f.next()


def gin(data):
    """Samples by (method, line), the traces being of one frame."""
    lines = Lines(utf8(data)).lines
    frames = {}
    for i, line in enumerate(lines):
        if line.startswith('TRACE '):
            m = re.fullmatch(r'TRACE (\d+):', line)
            need(m and i + 1 < len(lines), 'TRACE n: is not alone on its line')
            frame = re.fullmatch(r'\t(.+)\(.*:(\d+|Unknown line)\)', lines[i + 1])
            need(frame, 'a line that is neither a number nor Unknown line')
            frames[m[1]] = (frame[1], frame[2])
    need(RANK in lines and END in lines, 'no table')
    counts = Counter()
    for line in lines[lines.index(RANK) + 1:lines.index(END)]:
        fields = line.split()
        need(fields[4] in frames, 'a row without its trace')
        counts[frames[fields[4]]] += int(fields[3])
    return dict(counts)


def orbit(data):
    """Samples by stack, source lines taken off, leaf first. The first dump only."""
    f = Lines(utf8(data))
    need(f.next().startswith('JAVA PROFILE'), 'no first line')
    f.skip_to('THREAD START (')
    f.skip_to('TRACE')
    stacks = {}
    while not f.peek().startswith('CPU SAMPLES BEGIN'):
        words = [w for w in re.split(r'[( =:)]', f.next()) if w]
        need(len(words) >= 2 and words[0] == 'TRACE', 'something else than TRACEs before the table')
        serial, stack = number(words[1]), []
        while f.peek().strip() and not f.peek().startswith(('TRACE', 'CPU SAMPLES BEGIN', 'CPU TIME (ms) BEGIN')):
            frame = f.next().strip()
            colon = frame.rfind(':')
            need(colon >= 0, 'no frame: %r' % frame)
            stack.append(frame[:colon] + frame[frame.rfind(')'):])
        stacks[serial] = tuple(stack)
    f.skip_to('rank')
    f.next()
    counts = Counter()
    while not f.peek().startswith(END):
        fields = [w for w in f.next().split(' ') if w]
        need(len(fields) >= 6, 'a short row')
        need(number(fields[4]) in stacks, 'a row without its trace')
        counts[stacks[int(fields[4])]] += number(fields[3])
    return dict(counts)


def orbeon(data):
    """(count, trace, method) of the rows of the one table, fields taken apart by spaces."""
    text = utf8(data)
    parts = text.split('CPU SAMPLES BEGIN')
    need(len(parts) == 2, '%d CPU records' % (len(parts) - 1))
    rows = []
    for line in parts[1].split('\n')[2:]:
        if line.startswith(END):
            return rows
        fields = [w for w in line.split(' ') if w]
        need(len(fields) >= 6 and fields[1].endswith('%') and fields[2].endswith('%'), 'no row: %r' % line)
        rows.append((int(fields[3]), int(fields[4]), fields[5]))
    raise Unreadable('no end')


def penchy(data):
    """For each dump the total and (self percent, count, method) of its rows."""
    text = utf8(data)
    dumps = []
    for m in re.finditer(r'^CPU SAMPLES BEGIN \(total = (\d+)\)[^\n]*\n(.*?)^CPU SAMPLES END$', text, re.M | re.S):
        rows = []
        for line in m[2][:-1].split('\n')[1:]:
            row = re.fullmatch(r'\s*\d+\s+(\d+\.\d{2})%\s+(\d+\.\d{2})%\s+(\d+)\s+(\d+)\s+(.*)', line)
            need(row, 'no row: %r' % line)
            rows.append((float(row[1]), int(row[3]), row[5]))
        dumps.append((int(m[1]), rows))
    need(dumps, 'no table')
    return dumps


def scripts(data):
    """Samples by function anywhere on the stack, once a stack: what people write in an afternoon. All dumps."""
    lines = utf8(data).split('\n')
    need('--------' in lines, 'no line of eight dashes')
    stacks, inclusive, current, table = {}, Counter(), None, False
    for line in lines[lines.index('--------') + 1:]:
        words = line.split()
        if line.startswith('TRACE '):
            current = stacks.setdefault(words[1].rstrip(':'), [])
        elif line.startswith('\t') and current is not None:
            current.append(line.strip().split('(')[0])
        elif line.startswith('CPU SAMPLES'):
            table = 'BEGIN' in words
        elif table and words and words[0].isdigit():
            need(words[4] in stacks, 'a row without its trace')
            for name in set(stacks[words[4]]):
                inclusive[name] += int(words[3])
    return dict(inclusive)


# --- the same figures, from the strict parser -----------------------------------------------------------------------------------------------------

def sum_by(p, dumps, key):
    counts = Counter()
    for d in dumps:
        for r in d.rows:
            counts[key(p.traces[r.trace])] += r.count
    return dict(counts)


def flame_names(t):
    names = ['%s:%d' % (f.method, f.line) if f.line else f.method for f in t.frames]
    return tuple(reversed(names + (['Thread %d' % t.thread] if t.thread else [])))


def expect_scrubber(p):
    frames = {t.serial: ['%s(%s:%s)' % (f.method, f.source, f.line or 'Unknown line') for f in t.frames] for t in p.traces.values() if not t.thread}
    return sum_by(p, p.dumps, lambda t: t.serial), frames


def expect_scripts(p):
    counts = Counter()
    for d in p.dumps:
        for r in d.rows:
            for name in {f.method for f in p.traces[r.trace].frames}:
                counts[name] += r.count
    return dict(counts)


EXPECT = {
    'gprof2dot': lambda p: (sum_by(p, p.dumps[:1], lambda t: t.serial), sum_by(p, p.dumps[:1], lambda t: t.frames[0].method)),
    'hprof2flamegraph': lambda p: sum_by(p, p.dumps, flame_names),
    'hprof_scrubber': expect_scrubber,
    'gin': lambda p: sum_by(p, p.dumps[:1], lambda t: (t.frames[0].method, str(t.frames[0].line or 'Unknown line'))),
    'orbit': lambda p: sum_by(p, p.dumps[:1], lambda t: tuple('%s(%s)' % (f.method, f.source) for f in t.frames)),
    'orbeon': lambda p: [(r.count, r.trace, r.method) for r in p.dumps[0].rows],
    'penchy': lambda p: [(d.total, [(r.self_percent, r.count, r.method) for r in d.rows]) for d in p.dumps],
    'scripts': expect_scripts,
}
READERS = {f.__name__: f for f in (gprof2dot, hprof2flamegraph, hprof_scrubber, gin, orbit, orbeon, penchy, scripts)}


def cannot(name, p):
    """Why this reader, by its own rules, cannot take this kind of file, whoever wrote it; None: it can."""
    if not p.dumps or not p.dumps[0].rows:
        return 'no CPU record with rows at the beginning'
    if any(not t.frames for t in p.traces.values()):
        return 'traces without frames (depth=0)'
    threads = any(t.thread for t in p.traces.values())
    if threads and name in ('gprof2dot', 'gin'):
        return 'thread=y'
    if len(p.dumps) > 1 and name in ('hprof2flamegraph', 'orbeon'):
        return 'several CPU records'
    if any(not d.rows for d in p.dumps) and name == 'hprof_scrubber':
        return 'a CPU record without rows'
    if name == 'gin' and any(len(t.frames) != 1 for t in p.traces.values()):
        return 'depth is not 1'
    if name in ('hprof_scrubber', 'orbit') and any(r.count >= 2 ** 31 for d in p.dumps for r in d.rows):
        return 'counts of more than 32 bits'
    if name in ('gprof2dot', 'orbeon') and any(' ' in r.method for d in p.dumps for r in d.rows):
        return 'a blank in a method name'
    if any('(' in f.method + f.source or ')' in f.source or ':' in f.source for t in p.traces.values() for f in t.frames):
        return 'a bracket in a method name, or a bracket or colon in a file name'
    return None


def compare_all(data, p):
    """{reader: None, or why it does not apply}. Malformed where a reader fails or comes to other figures."""
    results = {}
    for name, read in READERS.items():
        results[name] = cannot(name, p)
        if results[name] is None:
            try:
                got = read(data)
            except Unreadable as e:
                raise Malformed(0, '%s cannot read it: %s' % (name, e)) from None
            want = EXPECT[name](p)
            if got != want:
                raise Malformed(0, '%s reads %.300r, it should read %.300r' % (name, got, want))
    return results


def check(data, **how):
    """(profile, {reader: None, or why it does not apply}). Malformed if the layout is wrong or a reader comes to other figures."""
    p = parse(data, **how)
    if any(title != SAMPLES for title in p.sections):
        return p, {}  # the readers' figures are those of samples
    return p, compare_all(data, p)
