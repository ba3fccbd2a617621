# SPDX-License-Identifier: BSD-2-Clause
"""heap=dump, heap=all: the objects, values, roots, threads and traces of a dump are those that the program knows of itself."""
import gzip
import pathlib
import re
import struct
import subprocess
import threading
import time

import heap_readers
from build import NOTHING_READ
from expect import of_site, site_rows
from harness import DUMPING
from heap_view import EMPTY, Told, View
from runner import test
from waiting import ask, step, stop_steps

HEAP = 'Dumping%s done.' % DUMPING['dump']
ALL = 'Dumping%s%s done.' % (DUMPING['dump'], DUMPING['sites'])
HERE = pathlib.Path(__file__).resolve().parent


def _view(t, name, text=False):
    """The one heap dump of a file."""
    path = t.work / name
    p = t.parse(path, None) if text else t.binary(path)
    t.equal(len(p.heaps), 1, 'heap dumps of %s' % name)
    return View(p)


def _start(t, program, *args, opts, **kw):
    run = t.start(program, *args, opts=opts + ',maxpause=off', **kw)  # a slow machine; collectors that are walked
    run.wait_line('ready')
    return run


def _request(t, run, done=HEAP):
    t.check(ask(run, done), 'the program has ended')


def _stop(t, run):
    stop_steps(run)
    t.equal((run.code, run.out.splitlines()[-1].split()[0]), (0, 'done'), 'exit code, last line')
    t.check(not re.search('^HPROF|hprofx: heap dump: ', run.err, re.M), 'stderr %s' % run.err)


def _engine(t, v, want, traces=False):
    """ZGC has no fork, and a build without the VM's internals has none on any VM."""
    walk, traced = v.p.report['heap walk'].split(', ')[:2]
    t.equal(traced == 'traced', traces and walk == 'fork', 'traced: %s' % v.p.report)
    t.equal(walk, 'walk' if t.case.collector == 'ZGC' or not t.jdk.has('hotspot') else want, 'engine')
    t.check(not any('loaded meanwhile' in k for k in v.p.report), 'objects of unknown classes: %s' % v.p.report)


def _as_told(t, v, **how):
    wrong = Told(t.work / 'told').wrong(v, **how)
    t.check(not wrong, '%d differences: %s' % (len(wrong), '\n'.join(wrong[:10])))


# ---- 1. the graph

def _said(run):
    """Words of its lines; the VM's thread dump comes later."""
    return [line.split() for line in run.out.split('ready\n')[0].splitlines()]


def _frame_root(t, v, roots, thread, method, what):
    """One of the roots is of this frame of the thread's stack."""
    serial, _ = v.thread(thread)
    stack = v.stack(serial)
    found = [stack[r.more].method if 0 <= r.more < len(stack) else r.more for r in roots if r.thread == serial]
    t.check(method in found, '%s: no root of %s in %s, but of %s; the roots: %s' % (what, thread, method, found, roots))


def _roots(t, run, v):
    told, seen = Told(t.work / 'told').find(v), set()
    for kind, *rest in _said(run):
        if kind == 'thread':
            name, i = rest[0], told[int(rest[1])]
            t.equal(v.thread(name)[1], i, 'object of thread %s' % name)
            t.equal([r.thread for r in v.roots_of(i, 'thread')], [v.thread(name)[0]], 'thread root of %s' % name)
            methods = [f.method for f in v.stack(v.thread(name)[0])]
            t.check(methods[-1] == 'java.lang.Thread.run', 'stack of %s: %s' % (name, methods))
            seen.add(name)
        elif kind == 'local':
            _frame_root(t, v, v.roots_of(told[int(rest[2])], 'Java frame'), rest[0], rest[1], 'local')
        elif kind == 'jnilocal':
            _frame_root(t, v, v.roots_of(told[int(rest[2])], 'JNI local'), rest[0], rest[1], 'JNI local')
        elif kind == 'monitor':
            t.check(v.roots_of(told[int(rest[0])], 'monitor') or v.roots_of(told[int(rest[0])], 'Java frame'), 'no root of the monitor: %s' % v.roots_of(told[int(rest[0])]))
    methods = [f.method for f in v.stack(v.thread('holder')[0])]
    t.equal([m for m in methods if m.startswith('HeapGraph.')][:6], ['HeapGraph.await'] + ['HeapGraph.deeper'] * 4 + ['HeapGraph.holds'], 'stack of the holder')
    t.equal(seen, {'holder', 'locals', 'native', 'owner', 'blocked'}, 'threads')


def _lasting(t, run, v):
    """What holds also when the threads have ended."""
    told = Told(t.work / 'told')
    ids = told.find(v)
    number = lambda word: [w[1:] for w in _said(run) if w[0] == word]
    t.check(v.roots_of(ids[int(number('global')[0][0])], 'JNI global'), 'no root of the global reference')
    t.check(v.roots_of(v.class_id('java.lang.Object'), 'system class'), 'no root of java.lang.Object')
    for klass, domain in number('domain'):
        t.equal(v.classes[ids[int(klass)]].domain, ids[int(domain)], 'protection domain')
    signers = [w[0] for w in number('signers')]
    for n, (name, _, _) in told.classes.items():
        if name == 'HeapTwin':
            signed = v.classes[ids[n]].signers
            names = [v.string(v.field(i, 'name')) for i in v.objects[signed].refs] if signed and not v.text else bool(signed)
            t.equal(names, (['signer'] if not v.text else True) if str(n) in signers else False, 'signers of HeapTwin %d' % n)
    twins = 3 if ['true'] in number('unloaded') else 4
    t.equal(len(v.class_ids('HeapTwin')), twins, 'classes HeapTwin')
    graph = v.class_id('HeapGraph')
    literal = dict((n, i) for n, _, i in v.classes[graph].statics)
    t.check(literal['literal'] == literal['interned'] == literal['FT'] != literal['fresh'], 'interned strings')
    t.check(literal['literal'] in v.classes[graph].constants.values(), 'the literal is not in the constant pool')
    if not v.text:
        t.equal((v.string(literal['literal']), v.string(literal['fresh'])), ('graph-literal',) * 2, 'strings')
        sizes = {c.name: c.size for c in v.classes.values()}
        t.equal(sizes['HeapGraph$Kinds'], 30 + v.p.id_size, 'size of an instance of Kinds')


def _thread_local(t, run, v):
    i = Told(t.work / 'told').find(v)[int(re.search(r'^threadlocal \S+ (\d+)$', run.out, re.M)[1])]
    thread = v.thread('locals')[1]
    table = v.objects[v.field(v.field(thread, 'threadLocals'), 'table')].refs
    values = [dict((n, x) for _, n, _, x in v.values(e)).get('value') for e in table if e]
    t.check(i in values, 'the value of the ThreadLocal is not in the table of its thread')


FORMS = {'b8': 'format=b', 'b4': 'format=b,idsize=4', 'a': 'format=a', 'tags': 'format=b,vmstructs=n', 'traced b8': 'format=b,sites=none', 'traced b4': 'format=b,idsize=4,sites=none',
         'traced a': 'format=a,sites=none', 'traced, compared': 'format=b,sites=none'}


@test(level='plain', collectors='all', params=tuple(FORMS), plain_params=('b8', 'a', 'traced b8', 'traced, compared'))
def the_graph_of_a_program(t, form):
    """A dump on request (fork) and one at the exit (walk)."""
    text, name, traces = form.endswith('a'), 'java.hprof.txt' if form.endswith('a') else 'java.hprof', form.startswith('traced')
    why = NOTHING_READ if not t.jdk.has('hotspot') else 'vmstructs=n' if form == 'tags' else ''
    run = _start(t, 'HeapGraph', *(['HeapModern'] if t.jdk.version >= 17 else []), opts='heap=dump,split=y,' + FORMS[form], native=True, env={'HPROFX_VERIFY': '1'} if form.endswith('compared') else {})
    _request(t, run)
    _stop(t, run)
    for file, engine in ((name + '.1', 'fork'), (name, 'walk')):
        v = _view(t, file, text)
        _engine(t, v, engine, traces)
        t.equal(v.p.report.get('heap walk by tags', '').split(' (')[0], why, 'reason of a walk by tags')
        _as_told(t, v)
        _lasting(t, run, v)
        ours = [v.classes[r.object].name for r in v.roots if r.kind == 'JNI local' and r.object in v.classes]
        t.equal(set(ours) - {'HeapGraph'}, set(), 'classes that references of hprofx name; the program has one in a native method')
        if engine == 'fork':
            _roots(t, run, v)
            _thread_local(t, run, v)


VIRTUALS = {'few': (20, 5), 'few, wide references': (20, 5), 'few, aligned to 16': (20, 5), 'many': (10000, 5), 'nested too deeply': (20, 1100)}


def _held(v):
    """What only stacks of virtual threads hold, and how many roots name one."""
    held = v.instances('HeapVirtual$Held')
    ids = set(held)
    return sorted(v.field(i, 'value') for i in held), sum(r.object in ids and r.kind == 'Java frame' for r in v.roots)


@test(level='plain', since=21, collectors='all', params=tuple(VIRTUALS), plain_params=('few',), needs=('hotspot',))
def stacks_of_virtual_threads_are_read(t, which):
    """A trace asks the VM for the stacks without a carrier; if each is held by the one before, too many in a row, a second copy is the VM's."""
    args, jvm = VIRTUALS[which], ['-Djdk.trackAllThreads=false'] + LAYOUTS.get(which.partition(', ')[2], [])
    traces = which != 'nested too deeply'
    run = _start(t, 'HeapVirtual', *args, opts='heap=dump,format=b,split=y,sites=none,doe=n', jvm=jvm)
    _request(t, run)
    _request(t, run)
    _stop(t, run)
    found = []
    for name in ('java.hprof.1', 'java.hprof.2'):
        v = _view(t, name)
        _engine(t, v, 'fork', traces)
        t.equal('heap walk not traced' in v.p.report, not traces and t.case.collector != 'ZGC', 'report: %s' % v.p.report)
        found.append(_held(v))
    (t.work / 'stop').unlink()
    walk = _start(t, 'HeapVirtual', *args, opts='heap=dump,format=b,sites=none,heapdump=walk,doe=n', jvm=jvm)
    _request(t, walk)
    _stop(t, walk)
    want = _held(_view(t, 'java.hprof'))
    t.equal(want[0], list(range(sum(args) + 1)), 'objects that a walk by the VM reads')
    t.equal(found, [want] * 2, 'objects that only such stacks hold, and roots that name them')


@test(level='plain', since=11, collectors='any', needs=('hotspot',))
def a_heap_in_a_file_is_not_read_by_a_copy(t):
    """The memory is shared with the copy, which would write to the program's objects; as small as it is no size tells it."""
    run = _start(t, 'HeapThreads', 5, 5, opts='heap=dump,format=b,sites=none,doe=n', jvm=['-Xmx48m', '-XX:AllocateHeapAt=%s' % t.work])
    _request(t, run)
    _stop(t, run)
    v = _view(t, 'java.hprof')
    _engine(t, v, 'walk')
    t.check('the heap is or may be a shared mapping' in v.p.report.get('heap walk not forked', ''), 'report: %s' % v.p.report)


REFLECT = {'by addresses': 'format=b', 'by tags': 'format=b,vmstructs=n', 'text': 'format=a'}


@test(collectors='any', params=sorted(REFLECT))
def a_field_that_the_vm_hides_moves_no_value(t, form):
    """HotSpot numbers the fields of a subclass of UnsafeStaticFieldAccessorImpl without that class's field `base`, but lists it."""
    old = ['-Djdk.reflect.useDirectMethodHandle=false'] if 18 <= t.jdk.version <= 21 else []
    run = _start(t, 'HeapReflect', opts='heap=dump,sites=none,' + REFLECT[form], jvm=old)
    _stop(t, run)
    v = _view(t, 'java.hprof.txt' if form == 'text' else 'java.hprof', form == 'text')  # a reference to nothing fails here
    found = [i for n in v.of_class for i in v.instances(n) if 'UnsafeQualifiedStatic' in n]
    t.equal(len(found), 1 if t.jdk.version <= 21 else 0, 'objects that read a constant')
    if form != 'text':
        t.equal([v.field(i, 'isReadOnly') for i in found], [1] * len(found), 'values of isReadOnly')


# ---- value classes

FLAT, BUFFERED = ['--enable-preview'], ['--enable-preview', '-XX:+UnlockDiagnosticVMOptions', '-XX:-UseArrayFlattening', '-XX:-UseFieldFlattening']
@test(since=28, collectors='any', params=('flattened', 'not flattened'), needs=('hotspot',))
def values_that_cannot_be_told_apart_are_refused(t, how):
    """By tags: no heap, one line, and the rest of the profile."""
    why = 'cannot be told apart by tags'
    run = t.start('Values', 100, opts='heap=all,format=b,split=y,maxpause=off,vmstructs=n', jvm=FLAT if how == 'flattened' else BUFFERED)
    run.wait_line('ready')
    _request(t, run, 'Dumping%s done.' % DUMPING['sites'])
    stop_steps(run)
    t.equal(run.code, 0, 'exit code')
    t.equal(len(re.findall('^hprofx: heap dump: .*%s.*; this dump has no heap; run without --enable-preview' % why, run.err, re.M)), 2, 'lines that say why')
    for name in ('java.hprof.1', 'java.hprof'):
        p = t.binary(t.work / name)
        t.equal((len(p.heaps), len(p.lists)), (0, 1), 'heap dumps and sites of ' + name)
        t.check(why in p.report.get('heap', ''), 'the report tells why: %s' % p.report)


FLAT_HOW = {'fork': 'heap=dump,heapdump=fork,sites=none', 'walk': 'heap=dump,heapdump=walk', 'sites': 'heap=all'}


@test(since=28, collectors='any', params=sorted(FLAT_HOW), needs=('hotspot',))
def values_that_are_flattened_have_records_as_in_the_dump_of_the_vm(t, how):
    """A record for each place where one lies, also of those that are equal, and of one in the first field of another; the VM's dump has as many."""
    n = 100
    run = _start(t, 'Values', n, opts='format=b,doe=n,' + FLAT_HOW[how], jvm=FLAT)
    _request(t, run, ALL if how == 'sites' else HEAP)
    whole = t.work / 'vm.hprof'
    subprocess.run([*t.jdk.tool('jcmd'), str(run.pid), 'GC.heap_dump', str(whole)], capture_output=True, check=True, timeout=100)
    _stop(t, run)
    v = _view(t, 'java.hprof')
    _engine(t, v, 'walk' if how == 'walk' else 'fork')
    t.check('heap walk by tags' not in v.p.report, 'by addresses: %s' % v.p.report)
    why = {'fork': 'flattens objects', 'sites': 'allocation sites'}[how] if v.p.report['heap walk'].startswith('fork') else ''
    t.check(why in v.p.report.get('heap walk not traced', ''), 'why it is not traced: %s' % v.p.report)
    counts = [{name: row[0] for name, row in t.heap(file)[1].items() if name.startswith('Values')} for file in (whole, t.work / 'java.hprof')]
    unset = {'Values$' + name: 1 for name in ('Point', 'Wide', 'Inner', 'Name')}  # a static field of value classes that the VM hides
    t.equal({name: objects + unset.get(name, 0) for name, objects in counts[1].items()}, counts[0], 'objects of classes, and those of the dump of the VM')
    values = v.class_id('Values')

    def elements(name):
        return v.objects[v.static(values, name)].refs
    shorts = lambda point: tuple((v.field(point, f) + 2**15) % 2**16 - 2**15 for f in 'xy')
    t.equal([shorts(i) for i in elements('points')], [(3, 4)] * n, 'points')
    t.equal(len(set(elements('points'))), n, 'records of equal points')
    for i, (holder, name) in enumerate(zip(elements('holders'), elements('names'))):
        inner = v.field(holder, 'inner')
        t.equal((shorts(v.field(holder, 'point')), v.field(holder, 'none'), v.field(holder, 'tail')), ((i, -i), 0, 2 * i), 'holder %d' % i)
        t.equal((v.field(v.field(inner, 'b'), 'value'), v.string(v.field(v.field(holder, 'name'), 'name'))), (i, 'name %d' % i), 'values in it')
        t.equal(v.field(name, 'name'), holder, 'what a flattened element refers to')
    t.equal([v.field(v.field(i, 'b'), 'value') if i else None for i in elements('inners')], [None, *range(n), None], 'elements, and null')


def _of_values(t, engine):
    """{class: (objects, bytes, references)} of a program with flattened objects, as this engine finds it, and how many references name a record."""
    run = _start(t, 'Values', 100, opts='heap=dump,format=b,sites=none,doe=n,heapdump=' + engine, jvm=FLAT)
    _request(t, run)
    _stop(t, run)
    v, found = _view(t, 'java.hprof'), {}
    _engine(t, v, engine)
    for name, row in t.heap(t.work / 'java.hprof')[1].items():
        if name.startswith('Values'):
            objects = [v.objects[i] for i in v.instances(name)]
            refs = [x for i, o in zip(v.instances(name), objects) for x in (o.refs if hasattr(o, 'refs') else [x for _, _, kind, x in v.values(i) if kind == 2])]
            found[name] = (*row, sum(x != 0 for x in refs), sum(x in v.objects for x in refs))
    for name in ('java.hprof', 'stop'):
        (t.work / name).unlink()
    return found


@test(since=28, collectors='any', needs=('hotspot',))
def a_copy_finds_of_flattened_values_what_a_walk_in_the_program_does(t):
    """Objects, bytes and references, with null markers and arrays; and every reference names a record."""
    copy, walk = _of_values(t, 'fork'), _of_values(t, 'walk')
    t.equal(copy, walk, 'classes')
    t.equal({n: f[2] for n, f in copy.items()}, {n: f[3] for n, f in copy.items()}, 'references that name a record')
    t.check({'Values$Point', 'Values$Inner', 'Values$Point[]', 'Values$Inner[]'} <= set(copy), 'classes: %s' % copy)


@test(since=28, collectors='any', needs=('hotspot',))
def values_that_are_objects_of_the_heap_are_read(t):
    """Without flattening every object of a value class has its record, also those that are equal; and a trace reads what the VM tells."""
    run = _start(t, 'Values', 100, opts='heap=dump,format=b,sites=none,heapdump=fork,doe=n', jvm=BUFFERED, env={'HPROFX_VERIFY': '1'})
    _request(t, run)
    _stop(t, run)
    v = _view(t, 'java.hprof')
    _engine(t, v, 'fork', traces=True)
    points = v.objects[v.static(v.class_id('Values'), 'points')].refs
    t.equal({tuple(v.field(i, f) for f in 'xy') for i in points}, {(3, 4)}, 'points')
    t.equal((len(set(points)), len(v.instances('Values$Point'))), (100, 200), 'records of equal points, with those of fields')
    t.equal(sorted(v.field(i, 'a') for i in v.instances('Values$Wide')), [i // 2 for i in range(100)], 'wides')


LAYOUTS = {'wide references': ['-XX:-UseCompressedOops'], 'aligned to 16': ['-XX:ObjectAlignmentInBytes=16'], 'wide classes': ['-XX:-UseCompressedClassPointers'],
           'compact headers': ['-XX:+UnlockExperimentalVMOptions', '-XX:+UseCompactObjectHeaders']}


@test(level='plain', collectors='any', params=[x + y for x in sorted(LAYOUTS) for y in ('', ', traced')], plain_params=('wide references', 'wide references, traced', 'aligned to 16, traced'),
      needs=('hotspot',))
def every_layout_of_objects_is_walked_by_addresses(t, layout):
    layout, _, traced = layout.partition(', ')
    if layout == 'compact headers' and t.jdk.version < 24 or layout == 'wide classes' and t.jdk.version > 26:
        t.skip('JDK %d has no such layout' % t.jdk.version)
    run = _start(t, 'HeapGraph', opts='heap=dump,format=b,doe=n' + (',sites=none' if traced else ''), native=True, jvm=LAYOUTS[layout], env={'HPROFX_VERIFY': '1'})
    _request(t, run)
    _stop(t, run)
    v = _view(t, 'java.hprof')
    _engine(t, v, 'fork', bool(traced))
    t.check('heap walk by tags' not in v.p.report, 'the walk tagged objects: %s' % v.p.report)
    _as_told(t, v)
    _lasting(t, run, v)
    _roots(t, run, v)


MOVES = {'aggressive': [], 'wide references': LAYOUTS['wide references'], 'compact headers': LAYOUTS['compact headers'], 'generational': ['-XX:ShenandoahGCMode=generational']}


@test(level='plain', since=11, collectors=('Shenandoah',), params=tuple(MOVES), plain_params=('aggressive',), needs=('hotspot',), timeout=300)
def objects_that_the_collector_moves_are_read_once(t, how):
    """While Shenandoah copies objects a reference may name the old copy. By the VM's own reading, which HPROFX_VERIFY asks for, JDK 17 and later mend references."""
    if how in ('compact headers', 'generational') and t.jdk.version < 24:
        t.skip('JDK %d has no such heap' % t.jdk.version)
    n, dumps = 2000, 10 if t.level == 'plain' else 20
    jvm = ['-Xmx256m', '-XX:+UnlockDiagnosticVMOptions', '-XX:+UnlockExperimentalVMOptions'] + MOVES[how] + (['-XX:ShenandoahGCHeuristics=aggressive'] if how != 'generational' else [])
    run = _start(t, 'HeapMoves', n, opts='heap=dump,format=b,doe=n,split=y,sites=none', jvm=jvm)
    traced = 0
    for k in range(1, dumps + 1):
        _request(t, run)
        path = t.work / ('java.hprof.%d' % k)
        v = _view(t, path.name)
        ring = [v.static(v.class_id('HeapMoves'), 'first')]
        while len(ring) < n:
            ring.append(v.field(ring[-1], 'next'))
        t.equal(([v.field(i, 'number') for i in ring], [v.field(i, 'back') for i in ring]), (list(range(n)), ring[-1:] + ring[:-1]), 'the ring in both directions')
        t.equal(sum(v.field(i, 'number') < n for i in v.instances('HeapMoves$Node')), n, 'nodes of the ring')
        traced += v.p.report['heap walk'].startswith('fork, traced')
        t.check('heap walk by tags' not in v.p.report, 'report: %s' % v.p.report)
        path.unlink()
    (t.work / 'stop').touch()
    run.finish()
    t.check(traced >= dumps // 2 or t.case.collector == 'ZGC', '%d of %d dumps were traced' % (traced, dumps))


# ---- 2. other readers

def _becomes_the_output(v):
    """The spool did: a note of zeros stands in front of the objects."""
    return any(set(s) == {'\0'} for s in v.p.strings.values())


@test(one_jdk=True, params=('', ',cpu=samples,timeline=y', ',heap=dump,sites=none,doe=n'))
def other_readers_open_it(t, more):
    """All of heap_readers.py: no complaint, and the same number of objects of every class."""
    run = _start(t, 'HeapSecrets', opts='heap=all,format=b' + more)
    if 'doe=n' in more:
        _request(t, run)
    _stop(t, run)
    v = _view(t, 'java.hprof')
    t.equal(_becomes_the_output(v), 'doe=n' in more, 'a note of zeros')
    counts = {n: c for n, c in v.counts().items() if n.startswith('HeapSecrets')}
    t.equal(b'hprofx: TIMELINE' in (t.work / 'java.hprof').read_bytes(), 'timeline' in more, 'a timeline')
    missing = []
    for reader in heap_readers.READERS:
        try:
            found = heap_readers.read(reader, t.work / 'java.hprof')
        except heap_readers.NotAvailable as e:
            missing.append(str(e))
            continue
        t.equal((found.complaints, found.unresolved or 0), ([], 0), 'complaints of %s, unresolved references' % reader)
        t.equal({n: found.classes.get(n) for n in counts}, counts, 'objects by class, in %s' % reader)
    if missing:
        t.skip('; '.join(missing))


# ---- 3. consistency

SHAPES = 20000


@test(level='plain', collectors='any', params=('1', '4', '4, gz'), plain_params=('4, gz',), needs=('hotspot',), timeout=300)
def workers_read_each_object_once(t, how):
    """However many processors there are to read the heap with, and to compress it, every object has one record with its values; the report says by how many threads."""
    processors, _, gz = how.partition(', ')
    run = _start(t, 'HeapShapes', SHAPES, opts='heap=dump,format=b,doe=n,split=y,sites=none,heapdump=fork' + (',gz=y' if gz else ''), jvm=['-XX:ActiveProcessorCount=' + processors])
    _request(t, run)
    if gz:
        data = (t.work / 'java.hprof.gz.1').read_bytes()
        t.check(data.count(b'\x1f\x8b\x08') > 4, 'members')
        (t.work / 'java.hprof.1').write_bytes(gzip.decompress(data))
    v = _view(t, 'java.hprof.1')
    _engine(t, v, 'fork', True)
    t.equal(_becomes_the_output(v), not gz, 'a note of zeros')
    t.equal([x for x in v.p.report['heap walk'].split(', ') if 'workers' in x], ['3 workers'] if processors == '4' and t.case.collector != 'ZGC' else [], 'workers')
    t.equal(sorted(v.field(i, 'number') for i in v.instances('HeapShapes$Node')), list(range(4 * SHAPES)), 'numbers of nodes')
    t.equal(int(v.p.report['heap'].split()[0]), len(v.objects), 'records, of the report')
    _stop(t, run)


CELLS = 100000


def _one_time(t, v):
    longs = v.objects[v.field(v.static(v.class_id('HeapCells'), 'longs'), 'array')]
    t.equal(longs.length, CELLS, 'cells')
    values = sorted(set(struct.unpack('>%dQ' % CELLS, longs.raw)))
    boxes = v.objects[v.field(v.static(v.class_id('HeapCells'), 'boxes'), 'array')].refs
    held = sorted(v.field(b, 'v') for b in set(boxes))
    t.check(len(values) <= 2 and values[-1] - values[0] <= 1, 'values at one time: %s' % values[:10])
    t.check(len(held) <= 2 and held[-1] - held[0] <= 1, 'objects at one time: %s' % held[:10])
    t.check(0 <= values[-1] - held[-1] <= 1, 'longs up to %d, objects up to %d' % (values[-1], held[-1]))
    return values[-1]


@test(level='plain', collectors='all', params=('fork', 'fork, traced', 'walk'), plain_params=('fork, traced', 'walk'), timeout=300)
def a_dump_shows_one_moment(t, engine):
    """While a thread writes through all cells in order, a dump has two neighbouring values at most."""
    engine, _, traced = engine.partition(', ')
    dumps = 50 if t.level == 'long' and engine == 'fork' else 2
    run = _start(t, 'HeapCells', CELLS, opts='heap=dump,format=b,doe=n,split=y,' + ('sites=none,' if traced else '') + 'heapdump=' + ('auto' if t.case.collector == 'ZGC' else engine))
    last = 0
    for n in range(1, dumps + 1):
        _request(t, run)
        path = t.work / ('java.hprof.%d' % n)
        v = _view(t, path.name)
        _engine(t, v, engine, bool(traced))
        now = _one_time(t, v)
        t.check(now > last, 'the writer stood still: %d' % now)
        last = now
        path.unlink()
    _stop(t, run)


# ---- 4. allocation sites of objects

SOURCE = (HERE / 'programs' / 'HeapSites.java').read_text().splitlines()
LINE = {'m%d' % k: next(n for n, line in enumerate(SOURCE, 1) if 'static Item m%d()' % k in line) for k in range(20)}


def _of_sites(t, v, must=True):
    """Each item and its array carries the trace of the method that made it. Returns how many carry one. must: all of them."""
    found = 0
    for i in v.instances('HeapSites$Item'):
        item = dict((n, x) for _, n, _, x in v.values(i))
        method = 'HeapSites.m%d' % item['site']
        for o in (v.objects[i], v.objects[item['data']]):
            frames = [f for f in v.trace(o.trace) if f.method.startswith('HeapSites.')] if o.trace != EMPTY else []
            if frames or must:
                got = [(f.method, f.line) for f in frames]
                t.check(got[:1] == [(method, LINE[method.split('.')[1]])] and [m for m, _ in got[1:]] == ['HeapSites.make', 'HeapSites.work', 'HeapSites.main'],
                        'an object of %s has the stack %s' % (method, got))
                found += 1
    return found


@test(level='plain', collectors='all', params=('fork', 'walk'), needs=('hotspot',))
def objects_carry_their_allocation_site(t, engine):
    """Two dumps on request and one at the exit, and the numbers of SITES are right behind every dump: its tags are back."""
    n = 250
    run = _start(t, 'HeapSites', n, opts='heap=all,format=b,split=y,cutoff=0,depth=8,heapdump=' + ('auto' if t.case.collector == 'ZGC' else engine))
    live = {1: n, 2: n - n // 5 + n, 3: 0}
    live[3] = live[2] - len([i for i in range(2 * n) if i % 5 == 0 and i >= n]) + n
    for k in (1, 2, 3):
        step(run, k)
        if k < 3:
            _request(t, run, ALL)
    _stop(t, run)
    for k, name in ((1, 'java.hprof.1'), (2, 'java.hprof.2'), (3, 'java.hprof')):
        v = _view(t, name)
        _engine(t, v, engine if k < 3 or engine == 'fork' and t.case.collector != 'ZGC' else 'walk')
        t.equal(len(v.instances('HeapSites$Item')), 20 * live[k], 'items of dump %d' % k)
        t.equal(_of_sites(t, v), 40 * live[k], 'objects with a site')
        rows = site_rows(v.p)
        got = {m: (of_site(rows, 'HeapSites.' + m, 'HeapSites$Item')[:2], of_site(rows, 'HeapSites.' + m, 'int[]')[:2]) for m in LINE}
        got = {m: x for m, x in got.items() if tuple(a[1] for a in x) != (live[k],) * 2 or {live[k], k * n} != set(x[0]) | set(x[1])}
        t.check(not got, '(objects, live) of items and arrays in SITES of dump %d, not %s: %s' % (k, (k * n, live[k]), got))


@test(params=('exact', 'sampled', 'counts', 'none'), level='plain', plain_params=('sampled', 'none'))
def without_exact_sites(t, sites):
    if sites == 'sampled' and t.jdk.version < 11:
        t.skip('nothing samples on JDK 8')
    if sites in ('exact', 'sampled'):
        t.needs('hotspot')  # a walk by tags tells no site
    run = _start(t, 'HeapSites', 250, opts='heap=dump,format=b,depth=8,sites=%s' % sites + (',sample=1k' if sites == 'sampled' else ''))
    step(run, 1)
    _stop(t, run)
    v = _view(t, 'java.hprof')
    t.equal(len(v.instances('HeapSites$Item')), 5000, 'items')
    found = _of_sites(t, v, must=sites == 'exact')
    if sites in ('counts', 'none'):
        t.equal({o.trace for o in v.objects.values()}, {EMPTY}, 'traces of objects')
    elif sites == 'sampled':
        t.check(50 < found < 5000, '%d objects have a site' % found)


# ---- 5. redaction

def _marker(n):
    return struct.pack('>Q', 0x5ec7a91e00000000 | 0xd1b54a33 * n & 0xffffffff)


def _word(kind):
    return ''.join(chr(ord(c) ^ 1) for c in kind) + '!'


FIELDS = {'long': _marker(1), 'double': _marker(3), 'boxed': _marker(7), 'static': _marker(11)}
ARRAYS = {'longs': _marker(4), 'doubles': _marker(5)}
STRINGS = {'plain' + k: _word('plain' + k) for k in ('bytes', 'latin', 'wide')}
STRINGS['plainchars'] = _word('plainchars')
KEPT = {'fields': {'long': _marker(21), 'static': _marker(31)}, 'arrays': {'longs': _marker(24)}, 'strings': {k: _word(k) for k in ('keptbytes', 'keptlatin')}}


def _has(data, what):
    """In any form that an array of bytes or chars may have."""
    return what in data if isinstance(what, bytes) else any(what.encode(form) in data for form in ('latin-1', 'utf-16-be', 'utf-16-le'))


class Spy(threading.Thread):
    """Looks at the parts of a file while they are written."""

    def __init__(self, work, pid):
        super().__init__()
        self.work, self.pid, self.ended, self.seen, self.looks = work, pid, False, b'', 0

    def run(self):
        while not self.ended:
            for path in list(self.work.glob('*.part')) + list(pathlib.Path('/proc/%d/fd' % self.pid).glob('*')):
                try:
                    if path.suffix == '.part' or '(deleted)' in str(path.readlink()) and '.so' not in str(path.readlink()) and str(self.work) in str(path.readlink()):
                        data = path.read_bytes()
                        self.seen = data if len(data) > len(self.seen) else self.seen
                        self.looks += 1
                except OSError:
                    pass
            time.sleep(0.001)


WAYS = ('', 'arrays', 'fields', 'strings', 'arrays+fields', 'fields+strings', 'arrays+strings', 'arrays+fields+strings', 'keep', 'primfields', 'primarrays')


@test(level='plain', params=WAYS, plain_params=('', 'arrays', 'fields', 'strings', 'keep', 'primfields', 'primarrays'), collectors=('G1', 'Serial'))
def nothing_secret_is_written(t, way):
    """Of contents that redact= names nothing is in the file, nor in its parts while it is written; lengths and references stay."""
    redact = {'keep': 'arrays+fields+strings', 'primfields': '', 'primarrays': ''}.get(way, way)
    opts = 'heap=dump,format=b,split=y,sites=none' + (',redact=' + redact if redact else '') + (',keep=HeapSecrets$Kept' if way == 'keep' else ',%s=n' % way if way.startswith('prim') else '')
    run = _start(t, 'HeapSecrets', opts=opts)
    spy = Spy(t.work, run.pid)
    spy.start()
    try:
        _request(t, run)
    finally:
        spy.ended = True
        spy.join()
    _stop(t, run)
    hidden = set(redact.split('+')) | {'primfields': {'fields'}, 'primarrays': {'arrays'}}.get(way, set())
    texts = bool(hidden & {'arrays', 'strings'})
    secrets = {**{k: (x, 'fields' in hidden) for k, x in FIELDS.items()}, **{k: (x, 'arrays' in hidden) for k, x in ARRAYS.items()}, **{k: (x, texts) for k, x in STRINGS.items()}}
    for kind, all_of in KEPT.items():
        secrets.update({'kept ' + k: (x, way != 'keep' and (texts if kind == 'strings' else kind in hidden)) for k, x in all_of.items()})
    t.check(spy.looks, 'no part was seen')
    for name in ('java.hprof.1', 'java.hprof', 'what was seen meanwhile'):
        data = spy.seen if name.startswith('what') else (t.work / name).read_bytes()
        got = {k for k, (x, _) in secrets.items() if _has(data, x)}
        want = {k for k, (_, gone) in secrets.items() if not gone}
        t.check(got <= want if name.startswith('what') else got == want, '%s has %s, not %s' % (name, sorted(got - want), sorted(want - got)))
    for name in ('java.hprof.1', 'java.hprof'):
        v = _view(t, name)
        _as_told(t, v, values=not hidden - {''}, lengths=way != 'primarrays')
        secret = v.static(v.class_id('HeapSecrets'), 'plain')
        values = {n: (kind, x) for _, n, kind, x in v.values(secret)}
        if 'fields' in hidden:
            t.equal({n: x for n, (kind, x) in values.items() if kind != 2 and x}, {}, 'primitive fields')
        else:
            t.equal((values['s'][1], values['c'][1], values['z'][1]), (77, ord('S'), 1), 'fields')
        for n, kind, length in (('bytes', 8, 11), ('chars', 5, 11), ('longs', 11, 2), ('doubles', 7, 1), ('ints', 10, 2)):
            o = v.objects[values[n][1]]
            gone = 'arrays' in hidden or 'strings' in hidden and kind in (5, 8)
            t.equal((o.type, o.length, any(o.raw)), (kind, 0 if way == 'primarrays' else length, not gone), 'type, length, contents of %s' % n)
        if way == 'keep':
            kept = v.static(v.class_id('HeapSecrets'), 'kept')
            t.equal((v.field(kept, 'j'), v.static(v.class_id('HeapSecrets$Kept'), 'statik')), tuple(struct.unpack('>QQ', _marker(21) + _marker(31))), 'kept fields')
