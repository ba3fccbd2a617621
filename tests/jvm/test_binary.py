# SPDX-License-Identifier: BSD-2-Clause
"""format=b: the file of each run is sound (hprof_binary.py) and says what the text says."""
import re
import time

import hprof_binary
from expect import samples_are_those_reported
from harness import DONE
from runner import test

FAST = 'cpu=samples,format=b,interval=1,cutoff=0'
NATIVE, UNKNOWN = -3, -1


def _profile(t, program, *args, opts=FAST, stdout=None, **kw):
    run = t.java(program, *args, opts=opts, **kw)
    t.complete(run, stdout=stdout, done=DONE)
    path = t.work / 'java.hprof'
    t.check(path.exists() and not (t.work / 'java.hprof.part').exists() and not (t.work / 'java.hprof.txt').exists(), 'files: %s' % sorted(x.name for x in t.work.iterdir()))
    t.equal(oct(path.stat().st_mode & 0o777), '0o600', 'mode of the output')
    return t.binary(path)


def _unloads_classes(t):
    if (t.jdk.version, t.case.collector) == (11, 'ZGC'):
        t.skip('ZGC of JDK 11 unloads no class')


@test(level='plain', params=(4, 8))
def a_profile(t, id_size):
    before = time.time()
    p = _profile(t, 'HotSplit', 150, opts='cpu=samples,format=b,interval=1,cutoff=0,idsize=%d' % id_size, stdout='done true\n')
    t.equal((p.id_size, p.settings, len(p.tables)), (id_size, (2 | 4, 4), 1), 'id size, settings (sampling; tables count since the one before), tables')
    t.check(before - 1 < p.created_ms / 1000 < time.time() and p.time < (time.time() - before) * 1e6, 'times %d ms, %d us' % (p.created_ms, p.time))
    total, rows = p.tables[0]
    t.equal(sum(c for c, _ in rows), total, 'sum of all rows')
    samples_are_those_reported(t, p)
    for method, share in (('HotSplit.hotA', 0.6), ('HotSplit.hotB', 0.3), ('HotSplit.hotC', 0.1)):
        t.near(p.share(method), share, 0.15, 'share of %s' % method)
    lines = {(f.source, f.line, f.signature) for _, frames in p.stacks() for f in frames if f.method == 'HotSplit.hotA' and f.line > 0}
    t.equal(lines, {('HotSplit.java', 5, '()V')}, 'source, line, signature of HotSplit.hotA')
    names = list(p.threads.values())
    t.check(('main', 'main', 'system') in names and ('Reference Handler', 'system', None) in names, 'threads %s' % names)
    loaded = set(p.classes.values())
    t.check({'HotSplit', 'java.lang.Object', 'java.lang.Runnable'} <= loaded and not any('/' in n for n in loaded), '%d classes' % len(loaded))


@test(level='plain', params=('y', 'n'))
def native_methods_have_their_own_line(t, lineno):
    p = _profile(t, 'Natives', 300, opts=FAST + ',depth=20,lineno=' + lineno, native=True, stdout='done\n')
    lines = {}
    for _, frames in p.stacks():
        for f in frames:
            lines.setdefault(f.method, set()).add(f.line)
    t.equal(lines.get('Natives.burn'), {NATIVE}, 'line of the native method')
    known = lines.get('Natives.target', set()) - {UNKNOWN}
    t.check(known and NATIVE not in known if lineno == 'y' else not known, 'lines of a Java method %s' % lines.get('Natives.target'))


@test(level='plain')
def traces_name_their_threads(t):
    p = _profile(t, 'Fruits', 300, opts=FAST + ',thread=y')
    leaves = {}
    for count, trace in p.tables[0][1]:
        thread, frames = p.traces[trace]
        if frames and frames[0].method == 'Fruits.slice':
            leaves[p.threads[thread][0]] = leaves.get(p.threads[thread][0], 0) + count
    t.check({'apples', 'oranges'} <= set(leaves) <= {'apples', 'oranges', '', 'pips daemon'}, 'threads that slice: %s' % leaves)


@test(level='plain', collectors=('Serial', 'G1'))
def few_classes_that_were_unloaded(t):
    """Fewer than a sweep waits for: the dump looks."""
    _unloads_classes(t)
    p = _profile(t, 'UnloadMany', 100, 1000, opts=FAST + ',depth=12', stdout='unloaded MANY\n')
    gone = [p.classes[s] for s in p.unloaded]
    t.check(sum(n.startswith('gen.C') for n in gone) >= 90, 'unloaded: %s' % gone)
    t.check('UnloadMany' not in gone and 'java.lang.Object' not in gone, 'a class that lives is unloaded')
    seen = {f.klass for _, frames in p.stacks() for f in frames if f.method.startswith('gen.C')}
    t.check(len(seen) > 10 and seen & set(p.unloaded), 'sampled classes of those: %d' % len(seen))
    last = max(i for i, (tag, _) in enumerate(p.records) if tag == hprof_binary.SAMPLES)
    t.check(any(tag == hprof_binary.UNLOAD for tag, _ in p.records[last:]), 'a sampled class is unloaded behind the dump')


@test()
def many_classes_that_were_unloaded(t):
    _unloads_classes(t)
    p = _profile(t, 'UnloadMany', 5000, 100, opts=FAST + ',depth=12', stdout='unloaded MANY\n')
    gone = [p.classes[s] for s in p.unloaded]
    t.check(sum(bool(re.fullmatch(r'gen\.C\d+', n)) for n in gone) >= 4500, '%d classes unloaded' % len(gone))
    last = max(i for i, (tag, _) in enumerate(p.records) if tag == hprof_binary.SAMPLES)
    t.check(any(tag == hprof_binary.UNLOAD for tag, _ in p.records[:last]), 'none is told of while the program runs')


@test()
def a_class_that_comes_again_is_loaded_again(t):
    """Each class of a name has a serial and an object of its own, and its frames are of it."""
    _unloads_classes(t)
    p = _profile(t, 'UnloadMany', 3000, 200, 500, opts=FAST + ',depth=12', stdout='unloaded MANY\n')
    serials, gone, again = {}, set(), 0
    for tag, serial in p.order:
        name = p.classes[serial]
        if name.startswith('gen.C') and tag == hprof_binary.UNLOAD:
            gone.add(name)
        elif name.startswith('gen.C'):
            serials.setdefault(name, []).append(serial)
            again += name in gone
    t.check(len(serials) == 500 and all(len(s) == 6 for s in serials.values()), 'classes: %s' % {n: len(s) for n, s in serials.items() if len(s) != 6})
    t.check(again >= 500, '%d classes were loaded after one of their name was unloaded' % again)
    runs = {f.method: f.klass for f in p.frames.values() if f.method.startswith('gen.C')}
    t.check(len(runs) > 100 and len(set(runs.values())) == len(runs), '%d methods of %d classes' % (len(runs), len(set(runs.values()))))


@test(level='plain')
def names_are_utf8(t):
    p = _profile(t, 'Strange', 60, opts=FAST + ',depth=20')
    t.check(any('\U0001F600' in s or ord(max(s, default=' ')) > 0x7F for s in p.strings.values()), 'no name beyond ASCII')
