# SPDX-License-Identifier: BSD-2-Clause
"""Profiles whose every count is known, as files that hprofx reads. Expected values come from what a file is made of here, not from what hprofx says.

A profile's columns: {name of the measure: {(thread, (frame, ...)): value}}, frames outermost first, each (name, source, line). What the file does not state
is '' (thread, source) or 0 (line)."""
import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests' / 'format'))
import hprof_text  # noqa: E402

DATE = 'Sat Nov 21 01:52:23 2026'
INTERVAL_MS = 10
LONG = 'p.Long.' + 'x' * 3000
CUT = 'p.TooLong.' + 'y' * 5000
# In the file, and as people read it.
NAMES = [(n, n) for n in ('p.Main.main', 'p.A.run', 'p.A.<init>', 'p.A.<clinit>', 'p.B.a;b', 'p.B."quoted"', 'p.B.back\\slash', "p.B.it's", 'p.B.two words',
                          'p.B.ends in 42', '#p.Hash.tag', '# p.Hash.blank', 'p.\u00e9t\u00e9.\u540d', 'p.Emoji.\U0001f600', 'p.C.m(int[], java.lang.String)', 'p.C.<a>(b)[c]::d',
                          'p.C.%s%n', 'p.C.&amp;', 'p.C.{"a":[1]}', 'p.C.a,b', 'p.C.$x', 'p.C.(idle)', LONG)]
NAMES += [(CUT, CUT[:4096]), ('p.</script>.m', 'p.<.script>.m'), ('p/q/D.m', 'p.q.D.m'), ('p.C$$Lambda$12/0x0000000800c03000.run', 'p.C$$Lambda.run'),
          ('p.C.m([IJ)V', 'p.C.m(int[], long)'), ('com.sun.proxy.$Proxy7.m', 'com.sun.proxy.$Proxy.m'),
          ('jdk.internal.reflect.GeneratedMethodAccessor12.invoke', 'jdk.internal.reflect.GeneratedMethodAccessor.invoke')]
# What the text file has between the quotes, and the name.
THREADS = [('main', 'main'), ('worker-1', 'worker-1'), ('a \\"b\\" \\\\ </script>;', 'a "b" \\ </script>;'), ('\U0001f600 \u0442', '\U0001f600 \u0442')]


class Profile:
    def __init__(self):
        self.data = b''
        self.columns = collections.defaultdict(collections.Counter)

    def column(self, measure, thread=True, source=True, line=True):
        """The column without what a format does not have."""
        out = collections.Counter()
        for (who, frames), value in self.columns[measure].items():
            key = tuple((n, s if source else '', i if line else 0) for n, s, i in frames)
            out[who if thread else '', key] += value
        return out

    def stacks(self, measure):
        """The same by names alone."""
        out = collections.Counter()
        for (_, frames), value in self.columns[measure].items():
            out[tuple(n for n, _, _ in frames)] += value
        return out


    def rooted(self, measure):
        """The same where a format knows no threads: they are roots."""
        out = collections.Counter()
        for (who, frames), value in self.columns[measure].items():
            out[(('[%s]' % who,) if who else ()) + tuple(n for n, _, _ in frames)] += value
        return out


def share(part, total):
    return '%.2f%%' % (100 * part / total)


def frame_line(name, source, line):
    return '\t%s(%s:%s)\n' % (name, source or '<Unknown Source>', line or 'Unknown line')


class Text:
    """An HPROF text file, made row by row."""

    def __init__(self):
        self.profile = Profile()
        self.head = ['JAVA PROFILE 1.0.1, created %s\n\nWords.\n\n--------\n\n' % DATE]
        for i, (raw, _) in enumerate(THREADS):
            self.head.append('THREAD START (obj=5000%d, id = %d, name="%s", group="main")\n' % (i, 200001 + i, raw))
        self.traces, self.tables = [], []
        self.serials = {}

    def trace(self, thread, frames):
        """frames: (index of NAMES, line), innermost first."""
        key = (thread, tuple(frames))
        if key not in self.serials:
            self.serials[key] = 300001 + len(self.serials)
            lines = ''.join(frame_line(NAMES[n][0], 'S%d.java' % (n % 7) if n % 7 else '', line) for n, line in frames) or '\t<empty>\n'
            self.traces.append('TRACE %d: (thread=%d)\n%s' % (self.serials[key], 200001 + thread, lines))
        stack = tuple((NAMES[n][1], 'S%d.java' % (n % 7) if n % 7 else '', line) for n, line in reversed(frames))
        return self.serials[key], (THREADS[thread][1], stack)

    def table(self, title, end, columns, rows, factor=1, unit=''):
        """rows: (count, thread, frames, what is behind). columns: (measure, values of rows)."""
        total = sum(r[0] for r in rows)
        out = ['%s BEGIN (total = %d%s) %s\nrank   self  accum   count trace %s\n' % (title, total * factor, unit, DATE, columns)]
        done = 0
        for rank, (count, thread, frames, name) in enumerate(rows, 1):
            done += count
            serial, _ = self.trace(thread, frames)
            name = name or (NAMES[frames[0][0]][0] if frames else '<empty trace>')
            out.append('%4d %5s%% %5s%% %7d %5d %s\n' % (rank, share(count, total)[:-1], share(done, total)[:-1], count, serial, name))
        self.tables.append(''.join(out) + end + ' END\n')

    def finish(self):
        report = 'hprofx: samples: 1 (one per %d ms of CPU time of a Java thread)\nhprofx: lost: 3 samples\nhprofx: own CPU time: 5 ms </script>\n' % INTERVAL_MS
        self.profile.data = ''.join(self.head + self.traces + self.tables + [report]).encode()
        return self.profile


def samples(text):
    """CPU: each name innermost, with others above it; two lines of a method; one stack in two threads; recursion; no frames."""
    rows, n = [], len(NAMES)
    for i in range(n):
        rows.append((7 * i + 1, i % len(THREADS), [(i, i + 1), ((i * 5 + 2) % n, 4), (1, 9), (0, 5)], ''))
    rows += [(3, 0, [(2, 12), (0, 5)], ''), (4, 0, [(2, 13), (0, 5)], ''), (5, 1, [(2, 12), (0, 5)], ''), (11, 2, [(1, 9)] * 30 + [(0, 5)], ''), (2, 0, [(0, 0)], ''),
             (6, 3, [], ''), (2 ** 33, 1, [(10, 1)], ''), (13, 1, [(2, 1), (11, 2)], '')]
    text.table('CPU SAMPLES', 'CPU SAMPLES', 'method', rows)
    for count, thread, frames, _ in rows:
        key = text.trace(thread, frames)[1]
        text.profile.columns['samples'][key] += count
        text.profile.columns['cpu'][key] += count * INTERVAL_MS * 1000000


def sites(text):
    """Allocations: classes innermost, one of a name that is normalised, one that nothing is left of."""
    total, rows = 0, []
    for rank, (thread, frames, raw, name, live, objects, all_bytes, all_objects) in enumerate((
            (0, [(2, 3), (0, 5)], 'byte[]', 'byte[]', 4096, 2, 1 << 40, 77), (1, [(2, 3), (0, 5)], 'byte[]', 'byte[]', 512, 1, 512, 1),
            (0, [(2, 4), (0, 5)], '[Ljava/lang/String;', 'java.lang.String[]', 64, 1, 640, 10), (2, [(5, 0)], 'p.C$$Lambda$3/0x0000000800c03000', 'p.C$$Lambda', 0, 0, 32, 2)), 1):
        serial, (who, stack) = text.trace(thread, frames)
        total += live
        rows.append('%5d %5s%% %5s%% %9d %4d %9d %5d %5d %s\n' % (rank, share(live, 4672)[:-1], share(total, 4672)[:-1], live, objects, all_bytes, all_objects, serial, raw))
        key = (who, stack + ((name, '', 0),))
        for measure, value in (('inuse_space', live), ('inuse_objects', objects), ('alloc_space', all_bytes), ('alloc_objects', all_objects)):
            if value:
                text.profile.columns[measure][key] += value
    text.tables.append('SITES BEGIN (ordered by live bytes) %s\n'
                       "          percent          live          alloc'ed  stack class\n rank   self  accum     bytes objs     bytes  objs trace name\n" % DATE + ''.join(rows) + 'SITES END\n')


def locks(text):
    """Blocked time: shares of 1000 ms in hundredths of a percent, so that each is a whole number of them."""
    rows = [(6000, 9, 0, [(3, 1), (0, 5)], 'p.Lock'), (3999, 1, 1, [(3, 2), (0, 5)], 'p.Lock'), (1, 30, 1, [(4, 2)], 'p.O"ther')]
    out, done = ['MONITOR TIME BEGIN (total = 1000 ms) %s\nrank   self  accum   count trace monitor\n' % DATE], 0
    for rank, (part, count, thread, frames, name) in enumerate(rows, 1):
        done += part
        serial, (who, stack) = text.trace(thread, frames)
        out.append('%4d %5s%% %5s%% %7d %5d %s (Java)\n' % (rank, '%.2f' % (part / 100), '%.2f' % (done / 100), count, serial, name))
        key = (who, stack + ((name, '', 0),))
        text.profile.columns['contentions'][key] += count
        text.profile.columns['delay'][key] += part * 100000
    text.tables.append(''.join(out) + 'MONITOR TIME END\n')


def wall(text):
    """Wall-clock time: one trace in two states, two threads, no frames. Whole ms of 1000."""
    rows = [(600, 0, [(3, 1), (0, 5)], 'parked'), (250, 1, [(3, 2), (0, 5)], 'runnable'), (100, 0, [(3, 1), (0, 5)], 'running'), (50, 2, [], 'io')]
    out, done = ['WALL CLOCK (ms) BEGIN (total = 1000) %s\nrank   self  accum        ms trace state    method\n' % DATE], 0
    for rank, (ms, thread, frames, state) in enumerate(rows, 1):
        done += ms
        serial, (who, stack) = text.trace(thread, frames)
        method = NAMES[frames[0][0]][0] if frames else '<empty trace>'
        out.append('%4d %5s%% %5s%% %9d %5d %-8s %s\n' % (rank, share(ms, 1000)[:-1], share(done, 1000)[:-1], ms, serial, state, method))
        text.profile.columns['wall'][who, stack + ((state, '', 0),)] += ms * 1000000
    text.tables.append(''.join(out) + 'WALL CLOCK (ms) END\n')


def everything():
    text = Text()
    samples(text)
    wall(text)
    sites(text)
    locks(text)
    return text.finish()


def folded():
    """Collapsed stacks: names as they are, </script> too."""
    profile, lines = Profile(), []
    for names, value in ((('</script>', '<script>alert(1)</script>'), 5), (('a', 'b c', 'd'), 7), (('#x', 'y\\'), 1), (('a',), 2 ** 52), (('\U0001f600',), 3)):
        lines.append(';'.join(names) + ' %d\n' % value)
        profile.columns['samples']['', tuple((n, '', 0) for n in names)] += value
    profile.data = ''.join(['# a comment 7\n'] + lines).encode()
    return profile


def spoken(name):
    """What docs/formats.md says of names, for those that real programs have."""
    name = re.sub(r'/(?!\d)', '.', name)
    name = re.sub(r'[./](?:0x[0-9a-fA-F]{4,}|(?<=/)\d{4,})(?=[./\[(]|$)', '', name)
    name = re.sub(r'(\$\$Lambda)\$\d+(?=[./$(]|$)', r'\1', name)
    return re.sub(r'(Generated\w*Accessor|\$Proxy)\d+(?=[./$(]|$)', r'\1', name)


def real(data, interval_ms):
    """A file that hprofx wrote with cpu=samples, by the strict parser of tests/format."""
    profile, p = Profile(), hprof_text.parse(data)
    profile.data = data
    names = dict(re.findall(r'THREAD START \(obj=\w+, id = (\d+), name="((?:[^"\\]|\\.)*)"', data.decode()))
    for row in p.dumps[-1].rows:
        trace = p.traces[row.trace]
        stack = tuple((spoken(f.method), '' if f.source == '<Unknown Source>' else f.source, f.line or 0) for f in reversed(trace.frames))
        key = names.get(str(trace.thread), ''), stack
        profile.columns['samples'][key] += row.count
        profile.columns['cpu'][key] += row.count * interval_ms * 1000000
    return profile
