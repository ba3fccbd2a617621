# SPDX-License-Identifier: BSD-2-Clause
"""What the programs know of themselves (calls made, CPU time used, how they end), and the profile held against it."""
import collections
import re

from hprof_text import CALLS, TIMES

# --- calls: the programs Count*

EXACT = 'cpu=times,cutoff=0'
COUNTS = EXACT + ',times=counts'
COUNT_CASES = ('recursion', 'exceptions', 'lambdas', 'kinds', 'indirect', 'threads', 'storms')


def expected(run):
    return {m: int(n) for m, n in re.findall(r'^expect (\S+) (\d+)$', run.out, re.M)}


def calls(*profiles):
    """By method, of all their tables; lambda bodies under the method that they were written in."""
    sums = collections.Counter()
    for d in (d for p in profiles for d in p.tables if d.title in (TIMES, CALLS)):
        for method, n in d.counts().items():
            sums[re.sub(r'(\.lambda\$\w+)\$\d+$', r'\1', method)] += n
    return sums


def exact(t, run, *profiles):
    """Every call that the program says it made is counted, once."""
    got, want = calls(*profiles), expected(run)
    t.check(want, 'the program expects nothing')
    wrong = {m: (got[m], n) for m, n in want.items() if got[m] != n}
    t.check(not wrong, 'calls counted and made: %s' % wrong)


def no_odd_exits(t, p, *more):
    keys = ('missed exits', 'unmatched exits') + more
    t.equal([p.report[k] for k in keys], ['0'] * len(keys), ', '.join(keys))


# --- shares of CPU time: the program Split

# Of the program's pieces of work, for a busy machine: its kernel takes the CPU from a thread at the end of a system call, here where the program reads its
# clock. There poll, which looks while others run, finds it, and what that costs is in the truth, not in the loop. Between two readings are some 10 ms then.
LONG_PIECES = 400000

SPLIT_LOOPS = ('Split.loopA', 'Split.loopB', 'Split.loopC')
SPLIT_KINDS = {
    'plain': [('Split.plainA', 'Split.loopA'), ('Split.plainB', 'Split.loopB'), ('Split.plainC', 'Split.loopC')],
    'counted': [('Split.countedA', 'Split.countA'), ('Split.countedB', 'Split.countB'), ('Split.countedC', 'Split.countC')],
    'stub': [('Split.stubA',), ('Split.stubB',), ('Split.stubC',)],
    'inlined': [('Split.tinyA',), ('Split.tinyB',), ('Split.tinyC',)],
}


def truth_ms(run):
    """CPU time of the three parts."""
    return [int(x) / 1e6 for x in re.search(r'^truth (\d+) (\d+) (\d+)$', run.out, re.M).groups()]


def shares_of(numbers):
    return [x / sum(numbers) for x in numbers]


def truth(run):
    return shares_of(truth_ms(run))


def distance(a, b):
    """Total variation."""
    return sum(abs(x - y) for x, y in zip(a, b)) / 2


def split_samples(p, kind):
    """Samples in the three parts."""
    counts = p.innermost_of([m for group in SPLIT_KINDS[kind] for m in group])
    return [sum(counts[m] for m in group) for group in SPLIT_KINDS[kind]]


# --- sums of CPU time: the programs Burn and ShortThreads

def burnt_ms(run):
    """CPU time by name of the thread."""
    return {name: int(ns) / 1e6 for name, ns in re.findall(r'^thread (\S+) (\d+)$', run.out, re.M)}


def cpu_ms(run):
    """CPU time of all short threads."""
    return int(re.search(r'^cpu (\d+)$', run.out, re.M).group(1)) / 1e6


def ticks_ms(p):
    return float(re.search(r', ([0-9.]+) ms$', p.report['ticks']).group(1))


def ticks_add_up(t, p):
    """times=sampled: each tick is in the table, outside of what is counted, or in a call that is open."""
    outside = float(p.report['ticks outside counted methods'].split()[0])
    open_ms = float(p.report['open calls'].split(', ')[1].split()[0])
    t.near(p.table(TIMES).total + outside + open_ms, ticks_ms(p), 1, 'table, outside and open calls against the ticks')


def samples_are_those_reported(t, *profiles):
    """Those of all sections, of files in either format, and the report of the first file."""
    total = sum(d.total for p in profiles for d in p.tables)
    t.equal('%d ' % total, profiles[0].report['samples'].partition('(')[0], 'samples of all sections, and of the report')


# --- the program Ends: exit code and stdout by way to end

WAYS_TO_END = {'return': (0, 'ready\n'), 'halt': (5, 'ready\n'), 'exit': (6, 'ready\n'), 'throw': (1, 'ready\n'), 'hook': (7, 'ready\nhook\n'), 'exitinthread': (8, 'ready\n')}

# --- allocation sites: the programs Sites*

# What a method allocates when it is linked, by way of what the VM calls for it, is not what it allocates by itself.
LINKING = ('java.lang.invoke.MethodHandleNatives.', 'java.lang.invoke.InvokerBytecodeGenerator.', 'java.lang.ClassLoader.loadClass')


def known_sites(run):
    """{(method, class): (objects, live, bytes, live bytes)}; a class whose name begins so ends in an asterisk."""
    lines = re.findall(r'^site (\S+) (\S+) (\d+) (\d+) (\d+) (\d+)$', run.out, re.M)
    return {(method, name): tuple(map(int, figures)) for method, name, *figures in lines}


def of_site(rows, method, name):
    """The same of the rows (figures, class, methods of the trace) that have the method on their stack; of ">METHOD": called by it, as the VM itself makes what it
    needs to link a call there."""
    called, method = method.startswith('>'), method.lstrip('>')
    like = name[:-1] if name.endswith('*') else None
    sums = [0] * 4
    for r, klass, methods in rows:
        if (klass.startswith(like) if like else klass == name) and method in methods[called:] and not any(m.startswith(LINKING) for m in methods):
            sums = [a + b for a, b in zip(sums, (r.objects, r.live, r.bytes, r.live_bytes))]
    return tuple(sums)


def site_rows(p):
    """(figures, class, methods of the trace) of the last list of either format."""
    if hasattr(p, 'text'):
        return [(r, r.name, [f.method for f in t.frames]) for r, t in p.sites]
    return [(r, name, [f.method for f in frames]) for r, name, frames in p.sites()]


def sites_are_exact(t, run, p, live=True):
    """Each object that the program says it made is counted, once, where it was made; what it keeps is alive, and nothing else."""
    rows, want = site_rows(p), known_sites(run)
    t.check(want, 'the program knows of no site')
    if not live:
        want = {k: (n, 0, size, 0) for k, (n, _, size, _) in want.items()}
    wrong = {k: (of_site(rows, *k), figures) for k, figures in want.items() if of_site(rows, *k) != figures}
    t.check(not wrong, '(objects, live, bytes, live bytes) counted and made: %s' % wrong)


def made(run, word='made'):
    """{(method, class): objects} of the programs that do not say sizes; word: or what is alive."""
    return {(method, name): int(n) for method, name, n in re.findall(r'^%s (\S+) (\S+) (\d+)$' % word, run.out, re.M)}


def objects_are_exact(t, run, p):
    """Those that the program says it made, and those that it says are alive."""
    rows, want = site_rows(p), made(run)
    t.check(want, 'the program knows of no site')
    wrong = {k: (of_site(rows, *k)[0], n) for k, n in want.items() if of_site(rows, *k)[0] != n}
    t.check(not wrong, 'objects counted and made: %s' % wrong)
    wrong = {k: (of_site(rows, *k)[1], n) for k, n in made(run, 'alive').items() if of_site(rows, *k)[1] != n}
    t.check(not wrong, 'objects counted alive, and alive: %s' % wrong)


# --- blocked time: the programs Contend*, Waiting and Locked

Block = collections.namedtuple('Block', 'word detail method klass thread count ms forced')


def known_blocks(text, word):
    """What the program says of the blocks that it calls so."""
    return [Block(*m.groups()[:5], int(m[6]), int(m[7]) / 1e6, int(m[8]) / 1e6)
            for m in re.finditer(r'^(%s) (\S+) (\S+) (\S+) (\S+) (\d+) (\d+) (\d+)$' % word, text, re.M)]


def _summed(rows):
    sums = {}
    for key, *figures in rows:
        sums[key] = tuple(a + b for a, b in zip(sums.get(key, [0] * len(figures)), figures))
    return sums


def of_blocks(blocks, key):
    """{key(block): (count, ms, forced ms)}"""
    return _summed((key(b), b.count, b.ms, b.forced) for b in blocks)


def blocked_in(p, title, methods, key):
    """{key(row, method, the row's trace): (count, ms)} of the tables of this title; the method is the innermost one of those. And what rounding may hide of the ms."""
    rows, hidden = [], 0
    for d in (d for d in p.block_tables if d.title == title):
        hidden += 1 + 0.0002 * d.total
        for r in d.rows:
            method = next((f.method for f in p.traces[r.trace].frames if f.method in methods), None) if r.trace in p.traces else None
            rows.append((key(r, method, p.traces.get(r.trace)), r.count, d.ms(r)))
    return _summed(rows), hidden


def as_long(t, got, ms, forced, hidden, what):
    """Between what one thread of the program forced and what the blocked one measured around it (Blocked.java), on any machine; `hidden`: by rounding."""
    t.check(forced - hidden <= got <= ms + hidden, '%s: %.2f, the program measured %.2f and forced %.2f' % (what, got, ms, forced))


def same_blocks(t, got, hidden, want, what, counts=True):
    """Each key of `want` was blocked as often as the program says, and for as long."""
    t.check(want, 'the program knows of no block')
    for k, (count, ms, forced) in want.items():
        count_got, ms_got = got.get(k, (0, 0))
        if counts:
            t.equal(count_got, count, '%s: count of %s' % (what, k))
        as_long(t, ms_got, ms, forced, hidden, '%s: ms of %s' % (what, k))


def blocks_are_known(t, p, title, blocks, counts=True):
    """By method and class."""
    got, hidden = blocked_in(p, title, {b.method for b in blocks}, lambda r, method, _: (method, r.name))
    same_blocks(t, got, hidden, of_blocks(blocks, lambda b: (b.method, b.klass)), title, counts)


def profile_without_loss(t, *args, **kw):
    """As t.profile(). A run that lost samples, since the aggregator got no processor for a while, is made again: the last of five at most."""
    for _ in range(5):
        run, prof = t.profile(*args, **kw)
        if 'lost, ring full' not in prof.report:
            break
    return run, prof
