# SPDX-License-Identifier: BSD-2-Clause
"""Golden cases of heap=sites: our rows beside the recorded ones of the original, by the rules of tests/golden/README.md."""
import collections
import re

from golden import Recorded, compared, facts, of_kind
from runner import test
from waiting import recorded_requests

FACT = re.compile(r'SITE live=(\d+)/(\d+) alloc=(\d+)/(\d+) (\S+) @ (.*?)(?: thread="(.*)")?')
# What the original did not see, of Alloc: (class, innermost frame of the program): (objects, live, bytes).
MORE = {('int[]', 'Alloc.multi(Alloc.java:39)'): (3, 3, 96), ('java.lang.String[][]', 'Alloc.multi(Alloc.java:40)'): (2, 2, 64), ('long[][]', 'Alloc.multi(Alloc.java:41)'): (2, 2, 48),
        ('long[]', 'Alloc.multi(Alloc.java:41)'): (4, 4, 128), ('int[]', 'Alloc.indirect(Alloc.java:44)'): (2, 1, 64), ('Alloc$Node[]', 'Alloc.indirect(Alloc.java:45)'): (1, 1, 40),
        ('int[]', 'Alloc.indirect(Alloc.java:46)'): (1, 1, 40)}


def _of(frame, ours):
    """The frame is one of the program."""
    return frame.split('.')[0].partition('$')[0] in ours


def _stripped(klass, frames):
    """Without the constructors above the one who says new."""
    while frames and not klass.endswith(']') and '.<init>(' in frames[0]:
        frames = frames[1:]
    return tuple(frames)


def _recorded(lines, ours):
    """{(class, frames): figures}. Those of the JDK are left out; where only they are left nothing is comparable."""
    sums = collections.defaultdict(collections.Counter)
    for m in filter(None, map(FACT.fullmatch, lines)):
        frames = _stripped(m[5], m[6].split(' < '))
        of_program = tuple(f for f in frames if _of(f, ours))
        if of_program or not frames:
            sums[m[5], of_program, of_program == frames] += collections.Counter(live_bytes=int(m[1]), live=int(m[2]), bytes=int(m[3]), objects=int(m[4]))
    return sums


def _text(f):
    return '%s(%s:%s)' % (f.method, f.source or '<Unknown Source>', f.line if f.line > 0 else 'Unknown line')


def _ours(p, which=-1):
    """[(class, frames, figures)] of either format."""
    if hasattr(p, 'text'):
        return [(r.name, _stripped(r.name, [_text(f) for f in p.traces[r.trace].frames]), r) for r in p.lists[which].rows]
    return [(p.classes[r.klass], _stripped(p.classes[r.klass], [_text(f) for f in p.traces[r.trace][1]]), r) for r in p.lists[which].rows]


def _innermost(frames, ours):
    return next((f for f in frames if _of(f, ours)), '')


def _compare(t, rows, want, ours, live=True):
    sizes = t.jdk.version < 27  # without compact headers; the heap is small, so references are compressed
    figures = ['objects'] + ['live'] * live + ['bytes'] * sizes + ['live_bytes'] * (sizes and live)
    wrong = {}
    for (klass, frames, alone), figure in want.items():  # alone: the innermost ones, no frame of the JDK above them
        own = [r for name, f, r in rows if name == klass and (f if alone else tuple(x for x in f if _of(x, ours)))[:len(frames)] == frames]
        got = [sum(getattr(r, x) for r in own) for x in figures]
        if got != [figure[x] for x in figures]:
            wrong[klass, frames] = (got, [figure[x] for x in figures])
    t.check(not wrong, '%s here and in the original: %s' % (figures, wrong))


def _sections(t, path, recorded, prefix):
    got = facts(path, prefix)
    for kind in ('THREAD', 'SECTIONS'):
        t.equal(of_kind(got, kind), of_kind(recorded.facts, kind), kind + ' facts')


# case: file, prefixes
CASES = {'sites-alloc': 'Alloc', 'sites-alloc-depth0': 'Alloc', 'sites-alloc-depth1': 'Alloc', 'sites-threads': 'Fruits', 'sites-binary': 'Alloc', 'exit-code': 'Ends'}


@test(level='plain', emulated=True, collectors='any', params=compared(CASES), plain_params=('sites-alloc', 'sites-binary'))
def case(t, name):
    recorded = Recorded(name)
    binary = 'format=b' in recorded.options
    run = t.java(recorded.program[0], *recorded.program[1:], opts=recorded.options)
    t.equal((run.code, run.out), (recorded.code, recorded.stdout), 'exit code and stdout')
    for ln in recorded.stderr:
        t.check(ln in run.err.splitlines(), 'stderr has no %r' % ln)
    path = t.work / ('java.hprof' if binary else 'java.hprof.txt')
    p = t.binary(path) if binary else t.parse(path, dumps=None)
    ours = (CASES[name],)
    rows, want = _ours(p), _recorded(recorded.facts, ours)
    t.check(want or name in ('sites-alloc-depth0', 'sites-threads', 'exit-code'), 'no fact to compare')
    _compare(t, rows, want, ours)
    _sections(t, path, recorded, CASES[name])
    if name == 'sites-binary':
        for (klass, frame), figure in MORE.items():
            own = [r for k, f, r in rows if k == klass and _innermost(f, ours) == frame]
            got = (sum(r.objects for r in own), sum(r.live for r in own), sum(r.bytes for r in own))
            known = 3 if t.jdk.version < 27 else 2  # compact headers
            t.equal(got[:known], figure[:known], '%s of %s, which the original did not see' % (klass, frame))
    if name == 'sites-alloc-depth0':
        t.equal({len(p.traces[r.trace].frames) for _, _, r in rows}, {0}, 'depths')
    mirrors = [k for k, _, r in rows if k.startswith(ours) and not k.endswith(']') and r.bytes >= 400 * max(1, r.objects)]
    t.equal(mirrors, [], 'rows that look like mirrors of a class')


def _original_name(text):
    """A name as the facts have it: bytes that are no UTF-8 escaped, modified UTF-8."""
    data = re.sub(rb'\\x([0-9a-f]{2})', lambda m: bytes([int(m[1], 16)]), text.encode()).replace(b'\xc0\x80', b'\0')
    return data.decode('utf-8', 'surrogatepass').encode('utf-16', 'surrogatepass').decode('utf-16')


@test(level='plain', emulated=True, collectors='any', params=('heap=sites,format=b', 'heap=sites,depth=6'))
def names(t, options):
    """Threads, classes, methods of unusual names; the original's text breaks some."""
    recorded = Recorded('names-binary')
    run = t.java('Names', opts=options + ',cutoff=0')
    t.equal((run.code, run.out, recorded.stderr[0] in run.err.splitlines()), (0, recorded.stdout, True), 'exit code, stdout, message')
    text = 'depth' in options
    p = t.output() if text else t.binary(t.work / 'java.hprof')
    want = [_original_name(x) for x in re.findall(r'^THREAD start "(.*?)" group="main"$', '\n'.join(recorded.facts), re.M | re.S)]
    threads = [x.name for x in p.threads.values()] if text else [x[0] for x in p.threads.values()]
    t.equal((len(want), [x for x in threads if x in want]), (7, want), 'names of threads')
    made = sorted((k, f[0].partition('(')[0], r.objects) for k, f, r in _ours(p) if k in ('Names$Ünïcødé', 'Names$$Dollar$'))
    t.equal(made, [('Names$$Dollar$', 'Names$$Dollar$._', 1), ('Names$Ünïcødé', 'Names$Ünïcødé.漢字', 1), ('Names$Ünïcødé', 'Names.main', 1)], 'objects, and where they are made')


compared(['names-binary', 'unload-binary'])


@test(level='plain', emulated=True, collectors='any')
def unload_binary(t):
    """The classes go, as they did not under the original; their sites keep their names."""
    recorded = Recorded('unload-binary')
    run = t.java('Unload', opts=recorded.options + ',cutoff=0')
    t.equal((run.code, run.out), (0, recorded.stdout), 'exit code, stdout')
    p = t.binary(t.work / 'java.hprof')
    # A class that goes at once takes its lines with it.
    unlined = lambda frames: tuple(re.sub(r':[^:]*\)$', ')', f) for f in frames)
    ours = ('Unload', 'Plug')
    rows = [(k, unlined(f), r) for k, f, r in _ours(p)]
    want = {(k, unlined(f), alone): figure for (k, f, alone), figure in _recorded(recorded.facts, ours).items()}
    t.equal([k for k in want], [('byte[]', ('Plug.<clinit>(Plug.java)',), False)], 'recorded sites')
    if 11 <= t.jdk.version < 17:  # a probe's class is resolved by every loader: the VM makes strings of two names
        for figure in want.values():
            figure['objects'] += 2 * 5
            figure['bytes'] += 2 * 5 * 32
    _compare(t, rows, want, ours, live=False)
    t.equal(sum(r.objects for k, f, r in rows if k == 'int[]' and f and f[0].startswith('Plug.work(')), 5, 'arrays of Plug.work')
    t.equal(sum(r.objects for k, _, r in rows if k == 'Plug'), 5, 'Plugs')
    t.equal([p.classes[s] for s in p.unloaded if p.classes[s] == 'Plug'], [], 'unloaded, though rows name them for good')


@test(level='plain', emulated=True, collectors='any', params=compared(('request-binary', 'request-sites')))
def requests(t, name):
    """Totals are not reset by a dump: 100, 200, 300 of the program's objects."""
    recorded = Recorded(name)
    recorded_requests(t, recorded)
    binary = name == 'request-binary'
    p = t.binary(t.work / 'java.hprof') if binary else t.parse(t.work / 'java.hprof.txt', dumps=None)
    t.equal(of_kind(facts(t.work / ('java.hprof' if binary else 'java.hprof.txt'), 'Steps'), 'SECTIONS'), of_kind(recorded.facts, 'SECTIONS'), 'sections')
    items = [ln for ln in recorded.facts if 'Steps$Item' in ln]
    t.equal(len(items), 3, 'recorded lists')
    for i, fact in enumerate(items):
        _compare(t, _ours(p, i), _recorded([fact], ('Steps',)), ('Steps',))
