# SPDX-License-Identifier: BSD-2-Clause
"""A matrix of 200 option strings on one program: it behaves as without the agent, and the file has what was asked for, in order (matrix.py)."""
import functools
import gzip
import re
import shutil

import hprof_binary
import matrix
from harness import DUMPING
from runner import test

PARTS = 4  # tests that share the strings, so that workers do
A_RUN = 6  # strings of a part that a run takes; --long takes all


@functools.cache
def _strings():
    return matrix.strings()


def _old_here(t):
    for path in t.work.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def _refused(t, m):
    run = t.java('Matrix', opts=m.text)
    t.equal((run.code, run.out, t.files()), (1, '', []), '%s: exit code, stdout, files' % m.text)
    t.equal(run.err.splitlines()[:1], [matrix.HPROF % (m.error(), m.text)], '%s: stderr' % m.text)


def _impossible(t, m):
    """What this VM cannot do is refused, too."""
    return t.jdk.version < 11 and m.samples_objects


def _files(t, m, run):
    """Finished files with a dump each, of the exit last; the old file of the name is replaced, or stays as it is."""
    name = m.name()
    if m.on('force', 'y'):
        new = name
    else:
        t.equal((t.work / name).read_text(), 'old', '%s: the old file' % m.text)
        new = m.name_beside(run.pid)
    names = [x for x in t.files() if x != name or new == name]
    numbered = sorted((x for x in names if re.fullmatch(re.escape(new) + r'\.\d+', x)), key=lambda x: int(x.rpartition('.')[2]))
    odd = sorted(set(names) - {new, *numbered})
    t.check(not odd and (not numbered or m.on('split')), '%s: files %s, expected %s' % (m.text, names, new))
    return [t.work / x for x in numbered] + [t.work / new] * (new in names)


def _readable(t, m, path):
    if not m.on('gz'):
        return path
    plain = t.dir / 'plain'
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    return plain


def _pattern(m, odd):
    """Of the titles of a dump. odd: one of dump=100ms that is due when the VM has gone, and cannot be asked."""
    parts = []
    for title in m.sections():
        parts.append(re.escape(title) + ';')
        if odd and title in ('MONITOR DUMP', 'HEAP DUMP'):
            parts[-1] = '(?:%s)?' % parts[-1]
        if title == 'MONITOR DUMP':
            parts += ['(?:%s;)?' % re.escape(x) for x in m.tables()]
    return ''.join(parts)


def _text(t, m, path, last):
    """How many dumps it has, each with its sections in order."""
    deep = 'dump' in m.heap or {m.sites, *m.cpu} >= {'counts', 'old'}  # stacks of threads in a heap dump; the two methods of cpu=old serve sites=counts, too
    depth = max(int(m.values['depth'] or 4), m.sites == 'counts')  # which has the place of an allocation at any depth
    p = t.parse(path, dumps=None, cutoff=float(m.values['cutoff'] or 0.0001), depth=None if deep else depth)
    whole, odd = _pattern(m, False), _pattern(m, True)
    of_all = '(?:%s)*' % whole + '(?:%s)?' % odd * (m.values['dump'] == '100ms' and not (last and m.on('doe', 'y')))
    t.check(re.fullmatch(of_all, ''.join(title + ';' for title in p.sections)), '%s: sections %s' % (m.text, p.sections))
    if m.values['lineno'] == 'n':
        t.check(not any(f.line for trace in p.traces.values() for f in trace.frames), '%s: a line number' % m.text)
    if m.values['thread'] != 'y':
        t.check(not any(trace.thread for trace in p.traces.values()), '%s: a thread in a TRACE' % m.text)
    if m.monitor and not m.on('split'):
        logged = int(m.values['waitlog'] or 10000)
        t.check((p.waits or logged == 0) and (len(p.waits) <= logged or logged == -1), '%s: %d WAIT lines, and Thread.join waits' % (m.text, len(p.waits)))
        tables = {d.title for d in p.block_tables}
        t.check('MONITOR TIME' in tables or not m.on('doe', 'y') or m.values['cutoff'] == '2', '%s: no MONITOR TIME, and the program contends' % m.text)
    return p.sections.count(m.sections()[-1])


def _binary(t, m, path, last):
    if m.values['cutoff'] in ('2', 'nan'):  # which is in the file, and a note of hprofx check
        b = hprof_binary.read(path)
        t.read('check', path)
    else:
        b = t.binary(path)
    t.equal(b.id_size, int(m.values['idsize'] or 8), '%s: bytes of an identifier' % m.text)
    # a table for every state, behind a word that names it; all dumps have one of threads that wait
    of_wall = re.findall(rb'hprofx: WALL CLOCK ([^,]+), total \d+ ms', path.read_bytes())
    walls = max(map(of_wall.count, of_wall), default=0)
    found = {'HEAP DUMP': len(b.heaps), 'SITES': len(b.lists), 'CPU SAMPLES': len(b.tables) - len(of_wall), 'WALL CLOCK (ms)': walls}
    dumps = max(found.values())
    if m.values['cutoff'] in ('2', 'nan'):  # no state has a row
        dumps = max(dumps, 1) if m.wall else dumps
        del found['WALL CLOCK (ms)']
    if m.values['dump'] == '100ms' and not (last and m.on('doe', 'y')) and found['HEAP DUMP'] == dumps - 1:
        found['HEAP DUMP'] = dumps * ('HEAP DUMP' in m.sections())
    t.equal(found, {title: dumps * (title in m.sections()) for title in found}, '%s: sections' % m.text)
    return dumps


def _dumps(t, m, path, last):
    if m.cpu == {'old'} and len(m.sections()) == 1 and path.stat().st_size == 0:
        return 0  # the table of cpu=old stands alone, without a header
    return (_binary if m.binary else _text)(t, m, path, last)


def _runs(t, m, plain):
    (t.work / m.name()).write_text('old')
    run = t.java('Matrix', opts=m.text)
    if _impossible(t, m):
        t.equal((run.code, run.out, 'sites=sampled is not possible' in run.err), (1, '', True), '%s: exit code, stdout, stderr' % m.text)
        return
    t.equal((run.code, run.out), (plain.code, plain.out), '%s: exit code and stdout' % m.text)
    lines = [ln for ln in run.err.splitlines() if ln not in plain.err.splitlines()]
    odd = [ln for ln in lines if not ln.startswith(('hprofx: ', 'Dumping '))]
    t.equal(odd, [], '%s: stderr' % m.text)
    files = _files(t, m, run)
    counts = [_dumps(t, m, _readable(t, m, path), path == files[-1]) for path in files]
    done = 'Dumping%s done.' % ''.join(DUMPING[x] for x in m.messages())
    told, some = lines.count(done), sum(counts)
    if m.values['dump'] == '100ms' and m.sections() == ['HEAP DUMP'] and told > some:
        told = some  # a dump of which nothing is in the file
    t.equal(told, some if m.on('verbose', 'y') else 0, '%s: lines %r' % (m.text, done))
    t.equal(sum(ln.startswith('Dumping ') for ln in lines), lines.count(done), '%s: lines of other dumps' % m.text)
    t.check(sum(counts) >= m.on('doe', 'y') and (sum(counts) <= 1 or m.values['dump'] == '100ms'), '%s: %s dumps' % (m.text, counts))
    t.check(not m.on('split') or max(counts, default=0) <= 1, '%s: dumps by file %s' % (m.text, counts))


@test(level='plain', collectors='any', one_jdk=True)
def every_pair_of_values_is_in_the_matrix(t):
    runs, refused, missing = _strings()
    t.equal((len(runs) + len(refused), sorted(missing)), (matrix.COUNT, []), 'strings, pairs that are missing')


@test(collectors='any', params=tuple(range(PARTS)), timeout=240)
def strings(t, part):
    plain = t.java('Matrix', opts=None)
    t.equal((plain.code, len(plain.out.splitlines())), (3, 1), 'exit code and lines without the agent')
    runs, refused, _ = _strings()
    for m in t.in_turn(runs[part::PARTS], A_RUN):
        _old_here(t)
        _runs(t, m, plain)
    for m in t.in_turn(refused[part::PARTS], 2):
        _old_here(t)
        _refused(t, m)
