# SPDX-License-Identifier: BSD-2-Clause
"""sites=counts: what probes count is exact, as sites=exact says it of the same code; what lives is estimated; with cpu=times under the call that allocates."""
import collections
import math
import re
import struct

import hprof_binary
import hprof_text
import peer as p
from expect import known_sites, no_odd_exits, made, profile_without_loss
from harness import DUMPING
from peer import Peer
from preload import preload
from runner import test
from waiting import ask, step, stop_steps

COUNTS = 'heap=sites,sites=counts,cutoff=0'
EXACT = 'heap=sites,sites=exact,cutoff=0,depth=6'
CALLS = 'heap=sites,sites=counts,cpu=times,cutoff=0,depth=8'
DONE = 'Dumping%s done.' % DUMPING['sites']
DONE_CALLS = 'Dumping%s%s done.' % (DUMPING['sites'], DUMPING['times'])


def _frames(name, frames):
    """Those above the constructors of an object that sites=exact may begin with, lambdas under the method that they were written in."""
    while len(frames) > 1 and not name.endswith(']') and frames[0].method.endswith('.<init>'):
        frames = frames[1:]
    return [(re.sub(r'(\.lambda\$\w+)\$\d+$', r'\1', f.method), f.line) for f in frames]


def _rows(prof):
    """(site, class, [(method, line)]) of the last list of either format."""
    if hasattr(prof, 'text'):
        return [(r, r.name, _frames(r.name, trace.frames)) for r, trace in prof.sites]
    return [(r, name, _frames(name, frames)) for r, name, frames in prof.sites()]


def _places(prof, program, lines=True):
    """{(method, class, line): (objects, bytes)} of what the program's own methods allocate themselves."""
    sums = collections.Counter(), collections.Counter()
    for r, name, frames in _rows(prof):
        if frames and frames[0][0].startswith((program + '.', program + '$')):
            key = (frames[0][0], name, frames[0][1] if lines else 0)
            sums[0][key] += r.objects
            sums[1][key] += r.bytes
    return {key: (n, sums[1][key]) for key, n in sums[0].items()}


def _as_said(t, run, prof, program='SitesCounts'):
    """Each object that the program says a method makes is counted, once, and so are its bytes."""
    got = collections.defaultdict(lambda: [0, 0])
    for (method, name, _), (n, size) in _places(prof, program).items():
        got[method, name][0] += n
        got[method, name][1] += size
    want = {key: [n, size] for key, (n, _, size, _) in known_sites(run).items()}
    t.check(len(want) > 20, 'the program knows of %d sites' % len(want))
    wrong = {key: (got.get(key), figures) for key, figures in want.items() if (got.get(key) or [0, 0]) != figures}
    t.check(not wrong, '(objects, bytes) counted and made: %s' % wrong)
    t.equal(prof.report['sites'], 'probes that count', 'engine')


def _sites_rounds(t):
    return 200 if t.jdk.has('jit') else 60


def _equal_places(t, run, counts, told, lines=True):
    """Objects and bytes of counts and of exact. Not of methods whose calls the VM links: it makes strings there."""
    known = known_sites(run)
    own, told = ({key: figures for key, figures in _places(prof, 'SitesCounts', lines).items() if key[:2] in known} for prof in (counts, told))
    wrong = {key: (own.get(key), told.get(key)) for key in own.keys() | told.keys() if own.get(key) != told.get(key)}
    t.check(len(own) > 45 and not wrong, '%d places, (objects, bytes) of counts and of exact: %s' % (len(own), wrong))


@test(level='plain', emulated=True, collectors='all', params=('a', 'b'), plain_params=('a',))
def each_way_of_the_language_is_counted(t, form):
    run = t.java('SitesCounts', 3000 if t.jdk.has('jit') else 200, opts=COUNTS + ',format=' + form, native=True)
    t.complete(run, done=DONE)
    if form == 'a':
        return _as_said(t, run, t.output())
    prof = t.binary(t.work / 'java.hprof')
    want = {key: (n, size) for key, (n, _, size, _) in known_sites(run).items() if n}
    got = collections.defaultdict(lambda: [0, 0])
    for (method, name, _), (n, size) in _places(prof, 'SitesCounts').items():
        got[method, name][0] += n
        got[method, name][1] += size
    wrong = {key: (got.get(key), figures) for key, figures in want.items() if tuple(got.get(key) or ()) != figures}
    t.check(not wrong, '(objects, bytes) counted and made: %s' % wrong)


# NO_DOWNCALLS: the property names the linker that the JDK has; whoever sets it gets no other from us.
NO_DOWNCALLS = '-Djdk.internal.foreign.CABI=SYS_V'
HOW = {'interpreter': '-Xint', 'c1': '-XX:TieredStopAtLevel=1', 'c2': '-XX:-TieredCompilation', 'large pointers': '-XX:-UseCompressedOops', 'aligned by 16': '-XX:ObjectAlignmentInBytes=16',
       'no TLAB': '-XX:-UseTLAB', 'natives': NO_DOWNCALLS, 'checked': '-Xcheck:jni'}


@test(level='plain', collectors='any', params=sorted(HOW), plain_params=('interpreter', 'natives'))
def each_way_is_counted_by_any_compiler_layout_and_probe(t, how):
    run, prof = t.profile('SitesCounts', 200, opts=COUNTS, native=True, jvm=[HOW[how]])
    _as_said(t, run, prof)
    why = 'this JDK has none' if t.jdk.version < 22 else 'jdk.internal.foreign.CABI is set' if how == 'natives' else None
    t.check(prof.report['probes'] == ('JNI natives: ' + why if why else 'critical downcalls') or not t.jdk.has('jit') or how == 'interpreter', 'probes: %s' % prof.report['probes'])


@test(level='plain', collectors='all')
def places_and_sizes_are_those_of_exact(t):
    """Objects and bytes of every class, method and line of the program."""
    n = _sites_rounds(t)
    run, prof = t.profile('SitesCounts', n, opts=COUNTS, native=True)
    (t.work / 'java.hprof.txt').unlink()
    _equal_places(t, run, prof, t.profile('SitesCounts', n, opts=EXACT, native=True)[1])


@test(level='plain', collectors='any')
def lines_and_methods_only(t):
    """A stack is one frame; with lineno=n without a line; depth=0: as any other."""
    for opts, known in (('', True), (',lineno=n', False)):
        _, prof = t.profile('SitesCounts', 50, opts=COUNTS + opts, native=True)
        t.equal({len(frames) for _, _, frames in _rows(prof)}, {1}, 'depths')
        t.equal({frames[0][1] > 0 for _, _, frames in _rows(prof) if frames[0][0].startswith('SitesCounts.')}, {known}, 'lines are known')
        (t.work / 'java.hprof.txt').unlink()


# What a method of the JDK makes that has no instruction for it, by group of the program Sites.
MADE = {'copies': ('cloneOfInts', 'cloneOfNodes', 'cloneOfObject', 'values'), 'indirect': ('newInts', 'newNodes', 'newMulti')}


@test(level='plain', collectors='any', params=('copies', 'indirect', 'copies -Xint', 'indirect -Xint', 'copies -Xcomp'), plain_params=('copies', 'indirect'))
def what_a_call_returns_is_counted(t, how):
    group, *jvm = how.split()
    run, prof = t.profile('Sites', group, 100, opts=COUNTS, native=True, jvm=jvm)
    got, want = _places(prof, 'Sites', lines=False), known_sites(run)
    made = [(method, name) for method, name in want if method in ['Sites.' + m for m in MADE[group]]]
    t.equal(sorted({method for method, _ in made} | {'Sites.cloneOfObject'}), sorted({'Sites.' + m for m in MADE[group]} | {'Sites.cloneOfObject'}), 'methods known')
    for method, name in made:
        at = 'Sites$Copied.copy' if method == 'Sites.cloneOfObject' else 'Sites$Colour.values' if method == 'Sites.values' else method
        n, size = want[method, name][0:3:2]
        more = method == 'Sites.values' # the program has asked once itself
        t.equal(got.get((at, name, 0)), (n + more, size + more * size // n), '%s by %s' % (name, method))


# What neither instructions nor such methods make.
UNSEEN = {'indirect': ('byConstructor', 'byHandle', 'deserialised'),
          'native': ('byUnsafe', 'jniObject', 'jniAllocated', 'jniInts', 'jniObjects', 'jniString'), 'exceptions': ('ofTheVm', 'index')}


@test(level='plain', collectors='any', params=sorted(UNSEEN))
def what_no_instruction_makes_is_not_counted(t, group):
    run, prof = t.profile('Sites', group, 100, opts=COUNTS, native=True)
    got, want = _places(prof, 'Sites', lines=False), known_sites(run)
    unseen = [(method, name, 0) for method, name in want if method in ['Sites.' + m for m in UNSEEN[group]]]
    t.equal(sorted({method for method, _, _ in unseen}), sorted('Sites.' + m for m in UNSEEN[group]), 'methods that the program knows')
    t.equal({key: got[key] for key in unseen if key in got}, {}, 'rows of methods that only call')
    if group == 'exceptions':
        for m in ('exception', 'thrown'):
            t.equal(got['Sites.' + m, 'Sites$Problem', 0], want['Sites.' + m, 'Sites$Problem'][0:3:2], 'exceptions that %s makes' % m)


@test(level='plain', since=11, collectors='any')
def what_is_not_counted_is_estimated(t):
    """Objects of JNI functions: some MB that no probe sees, in samples of 4 KiB; clones are counted."""
    def missed(group, *jvm):
        prof = t.profile('Sites', group, 4000, opts=COUNTS + ',sample=4k', native=True, jvm=jvm)[1]
        (t.work / 'java.hprof.txt').unlink()
        return [int(x) for x in re.fullmatch(r'about (\d+) objects, (\d+) bytes', prof.report['not counted by probes']).groups()]
    native, cloned, none = missed('native'), missed('copies'), missed('arrays')
    t.check(native[0] > 4000 and native[0] > none[0] and native[1] > none[1], 'of JNI functions about %s, without about %s' % (native, none))
    t.check(cloned[0] < 4000, 'of clones about %s' % cloned)


@test(level='plain', since=11, collectors='all')
def live_objects_are_estimated(t):
    """Each site within 4 standard errors, one run in 4,000 beyond by chance; what was allocated is exact."""
    n, interval = (400000 if t.level == 'long' else 100000) if t.jdk.has('jit') else 30000, 4096
    run, prof = profile_without_loss(t, 'SitesKeep', n, opts=COUNTS + ',sample=4k', native=True)
    truth = re.findall(r'^truth (\S+) (\S+) (\d+) (\d+) (\d+)$', run.out, re.M)
    t.equal(len(truth), 4, 'sites')
    for method, klass, *figures in truth:
        objects, live, live_bytes = map(int, figures)
        own = [r for r, name, frames in _rows(prof) if (name, frames[0][0]) == (klass, method)]
        t.equal([r.objects for r in own], [objects], 'objects of %s' % method)
        if live == 0:
            t.equal((own[0].live, own[0].live_bytes), (0, 0), 'live of %s' % method)
            continue
        chance = 1 - math.exp(-live_bytes / live / interval)
        error = math.sqrt(live * (1 - chance) / chance)
        t.near(own[0].live, live, 4 * error + 1, 'live objects of %s' % method)
        t.near(own[0].live_bytes / live_bytes, own[0].live / live, 0.01, 'live bytes of %s as the objects' % method)


@test(level='plain', until=10)
def without_the_event_nothing_is_known_to_live(t):
    _, prof = t.profile('SitesKeep', 10000, opts=COUNTS, native=True)
    t.equal((prof.lists[0].order, any(r.live or r.live_bytes for r in prof.lists[0].rows), 'live' in prof.report), ('allocated', False, False), 'order, live figures')


@test(level='plain', collectors='all', params=('plain', 'busy', 'busy with calls'))
def sixteen_threads_at_once(t, how):
    """The sum of all threads is exact, whoever came when. busy: a machine that shows many processors, and aggregators that never rest."""
    calls_too = 'calls' in how
    run, prof = t.profile('SitesThreads', 16, 20000 if t.jdk.has('jit') else 1000, opts=COUNTS + ',cpu=times' * calls_too, env=preload(t, 'busy') if 'busy' in how else None)
    got = _places(prof, 'SitesThreads', lines=False)
    t.equal({k: got[(*k, 0)][0] for k in made(run)}, made(run), 'objects counted and made')
    t.check(' allocations counted, 0 lost, at ' in run.err or calls_too, 'stderr %r' % run.err)
    t.check(prof.report.get('drainers') or not calls_too, 'no drainers: %s' % prof.report)


@test(level='plain', collectors='any')
def without_probes_every_allocation_is_recorded(t):
    """As with sites=exact, whose probes the VM refuses, too: where the event misses allocations, a line says so."""
    run = t.java('SitesFirst', 1000, opts=COUNTS, env=preload(t, 'refuses', REFUSES='hook'))
    t.complete(run, done=DONE)
    t.output()
    told = [ln for ln in run.err.splitlines() if 'VM refused probes' in ln]
    t.equal([' sites=exact is used instead' in ln for ln in told], [True, False][:1 if t.jdk.version >= 17 else 2], 'lines that say so: %s' % run.err)


# ---- with cpu=times


def _by_stack(prof, program):
    """{(class, stack of the program's methods, leaf first): objects}."""
    sums = collections.Counter()
    for r, name, frames in _rows(prof):
        methods = [m for m, _ in frames]
        if not methods or methods[0].startswith((program + '.', program + '$')):
            sums[name, '<'.join(m.rpartition('.')[2] for m in methods if m.startswith((program + '.', program + '$')))] += r.objects
    return sums


def _said_rows(run):
    return {(name, stack): int(n) for name, n, stack in re.findall(r'^row (\S+) (\d+) (\S+)$', run.out, re.M)}


@test(level='plain', collectors='all', params=('', ',times=sampled', ',times=wall'))
def calls_allocate_under_their_own_trace(t, more):
    run, prof = t.profile('SitesTree', 500 if t.jdk.has('jit') else 50, opts=CALLS + more)
    t.equal(prof.sections, ['SITES', 'CPU TIME (ms)'], 'sections')
    got, want = _by_stack(prof, 'SitesTree'), _said_rows(run)
    t.check(len(want) > 20, 'the program knows of %d rows' % len(want))
    wrong = {key: (got[key], n) for key, n in want.items() if got[key] != n}
    t.check(not wrong, 'objects counted and made: %s' % wrong)
    t.equal([key for key in got if key[0].startswith('SitesTree$') and key not in want and '$Worker' not in key[0]], [], 'rows that cannot be')
    no_odd_exits(t, prof)


@test(level='plain', collectors='all')
def totals_with_calls_are_those_of_exact(t):
    """Of each class and method of the program, objects and bytes."""
    n = _sites_rounds(t)
    run, prof = t.profile('SitesCounts', n, opts=CALLS, native=True)
    _as_said(t, run, prof)
    (t.work / 'java.hprof.txt').unlink()
    _equal_places(t, run, prof, t.profile('SitesCounts', n, opts=EXACT, native=True)[1], lines=False)


@test(level='plain', since=21, collectors='any')
def virtual_threads_keep_their_traces(t):
    """Each object is of a stack that begins where its virtual thread does, on whichever carrier."""
    run, prof = t.profile('SitesVirtual', 300, 10, opts=CALLS)
    stacks = collections.Counter()
    for r, name, frames in _rows(prof):
        if name == 'SitesVirtual$Item':
            stacks[tuple(m for m, _ in frames if m.startswith('SitesVirtual'))] += r.objects
            t.check(not any('ForkJoin' in m for m, _ in frames), 'a frame of a carrier: %s' % frames)
    t.equal(dict(stacks), {('SitesVirtual.items', 'SitesVirtual.work', 'SitesVirtual.lambda$main'): 6000}, 'stacks')


@test(level='plain', collectors='any')
def filters_leave_allocations_with_who_called(t):
    """What a class without probes of calls allocates is its caller's; where nobody has them it has no stack."""
    run, prof = t.profile('SitesTree', 100, opts=CALLS + ',exclude=SitesTree$Worker')
    got, want = _by_stack(prof, 'SitesTree'), {(name, re.sub('<?run$', '', stack)): n for (name, stack), n in _said_rows(run).items()}
    t.equal((want['SitesTree$Item', 'leaf'], want['SitesTree$Node', '']), (1600, 800), 'objects below run, and of run')
    t.equal({key: got[key] for key in want}, want, 'objects by stack')


@test(params=(',depth=0', ',depth=2', ',thread=y'))
def stacks_as_asked_for(t, more):
    run, prof = t.profile('SitesTree', 100, opts=CALLS + more)
    want = sum(n for (name, _), n in _said_rows(run).items() if name == 'SitesTree$Item')
    own = [(r, frames) for r, name, frames in _rows(prof) if name == 'SitesTree$Item']
    t.equal(sum(r.objects for r, _ in own), want, 'objects')
    if 'thread' in more:
        threads = collections.Counter()
        for r, trace in prof.sites:
            threads[prof.names[trace.thread]] += r.objects if r.name == 'SitesTree$Item' else 0
        t.equal(sorted(n for n in threads.values() if n), [200] * 8 + [1600], 'objects of each thread')
    else:
        t.equal(max(len(frames) for _, frames in own), int(more[-1]), 'frames')


# ---- dumps


def _sites(flags=0, cutoff=0.0, serial=7):
    return p.command(p.SITES, struct.pack('>Hf', flags, cutoff), serial)


OF_STEP = {'SitesSteps$Item': 1, 'char[]': 1, 'SitesSteps$Item[][]': 1, 'SitesSteps$Item[]': 2}


def _step_objects(prof):
    """{class: objects} of the program's own methods, of each list of either format."""
    lists = []
    for d in prof.lists:
        sums = collections.Counter()
        for r in d.rows:
            text = hasattr(prof, 'text')
            name = r.name if text else prof.classes[r.klass]
            frames = prof.traces[r.trace].frames if text else prof.traces[r.trace][1]
            if frames and frames[0].method in ('SitesSteps.one', 'SitesSteps.items'):
                sums[name] += r.objects
        lists.append(dict(sums))
    return lists


def _steps(n):
    return {name: each * n for name, each in OF_STEP.items()} if n else {}


def _commands(t, form, more='', threads=2, n=500, **kw):
    """Lists a peer asks for after steps, with CONTROL 2 (off), 1 (on) and 6 (clear) between."""
    peer = Peer(t)
    run = t.start('SitesSteps', threads, n, opts='%s,net=127.0.0.1:%d,format=%s%s' % (COUNTS, peer.port, form, more), **kw)
    run.wait_line('ready')
    asked, done, want = 0, 0, []
    for what, expected in ((None, 1), (p.control(2), 1), (p.control(1), 2), (p.control(6), 1), ('clear', 0), ('step, clear', 0), (None, 1)):
        if what in ('clear', 'step, clear'):
            if what == 'step, clear':  # no listing between them, which would have drainers hand over what they counted
                done += 1
                step(run, done)
            peer.send(p.control(6))
        else:
            if what:
                peer.send(what)
                peer.send(_sites())  # its answer says that the command was obeyed
                asked += 1
                peer.wait_for(b'hprofx: version', asked)
                want.append(want[-1] if what != p.control(6) else 0)
            done += 1
            step(run, done)
        peer.send(_sites())
        asked += 1
        peer.wait_for(b'hprofx: version', asked)
        want.append(expected)
    stop_steps(run)
    t.equal((run.code, run.out), (0, 'ready\ndone %d\n' % done), 'exit code, stdout')
    peer.wait_end()
    path = t.work / ('stream.' + form)
    path.write_bytes(bytes(peer.streams[0]))
    t.read('check', path)
    prof = hprof_text.read(path) if form == 'a' else hprof_binary.read(path)
    t.equal(_step_objects(prof), [_steps(k * threads * n) for k in want + [1]], 'objects of each list')
    return prof


@test(level='plain', collectors='any', params=('a', 'b'))
def a_peer_switches_and_clears(t, form):
    _commands(t, form)


@test(level='plain', collectors='any')
def a_peer_switches_and_clears_beside_calls(t):
    _commands(t, 'a', ',cpu=times')


@test(collectors='any')
def a_clear_reaches_what_drainers_hold(t):
    """Nothing that was counted before a clear comes back from a drainer's table."""
    _commands(t, 'a', ',cpu=times', threads=12, n=20000, env=preload(t, 'busy'))


@test(level='plain', collectors='any', params=('', ',cpu=times', ',live=n'))
def dumps_reset_nothing(t, more):
    """SIGQUIT twice: totals since the start."""
    done = DONE_CALLS if 'times' in more else DONE
    run = t.start('SitesSteps', 3, 400, opts=COUNTS + more)
    run.wait_line('ready')
    for n in (1, 2):
        step(run, n)
        t.check(ask(run, done), 'the program has ended')
    stop_steps(run)
    lines = run.out.splitlines()  # the VM's own threads between them
    t.equal((run.code, lines[0], lines[-1]), (0, 'ready', 'done 2'), 'exit code, first and last line')
    prof = t.parse(t.work / 'java.hprof.txt', dumps=None)
    t.equal(_step_objects(prof), [_steps(1200), _steps(2400), _steps(2400)], 'objects of each list')
    t.check('removed by the compiler' in prof.report, 'what is counted beside')
    t.equal(prof.report['not counted by probes'].startswith('about '), more == '' and t.jdk.version >= 11, 'an estimate by samples')
    if 'times' in more:
        t.equal([d.counts()['SitesSteps.one'] for d in prof.tables], [1200, 1200, 0], 'calls of each table')


# ---- the VM


@test(level='plain', collectors='all', params=('', ',cpu=times'), plain_params=('',))
def classes_that_unload_before_the_dump(t, more):
    """Their objects are counted, their sizes are not known any more; of arrays they are."""
    run, prof = t.profile('SitesUnload', 40, 8, opts=COUNTS + more)
    got = _places(prof, 'gen', lines=False)
    want = {k: n for k, n in made(run).items() if k[0].endswith('.run')}
    t.equal(len(want), 16, 'sites')
    t.equal({k: got.get((*k, 0), (0, 0))[0] for k in want}, want, 'objects counted and made')
    t.check(all(got[(*k, 0)][1] > 0 for k in want if k[1].endswith('[]')), 'bytes of arrays: %s' % got)
    unsized = sum(got[(*k, 0)][0] for k in want if not k[1].endswith('[]') and got[(*k, 0)][1] == 0)
    gone = int(re.search(r'^unloaded (\d+)$', run.out, re.M)[1])  # ZGC of JDK 11 unloads none
    t.check(unsized >= 100 or gone < 32, 'objects of unloaded classes without a size: %d' % unsized)
    t.check(int(prof.report.get('objects of unknown size', 0)) >= unsized, 'report %s' % prof.report)


HUGE = '''public class Huge {
    static volatile Object sink;
    static void big() { %s }
    static void full() { %s }
    static void small() { sink = new Huge(); }
    public static void main(String[] a) {
        for (int i = 0; i < 3; i++) { big(); full(); small(); }
        System.out.println("done");
    }
}
'''


@test(level='plain', since=17, collectors='any', params=('', ',cpu=times'))
def huge_methods(t, more):
    """Methods that the probes find no room in stay as they are, and the report says so; all others count."""
    source = t.work / 'huge' / 'Huge.java'
    source.parent.mkdir()
    one = 'sink = new byte[1];'  # 6 bytes
    source.write_text(HUGE % (one * 3000, one * 10920))
    t.javac17(source, t.work)
    run = t.start_command(t.jdk.java() + t.gc + [t.agent(COUNTS + more), '-cp', str(t.dir / 'huge'), 'Huge']).finish()
    t.complete(run, stdout='done\n', done=DONE_CALLS if more else DONE)
    prof = t.output(dumps=1 + bool(more))
    got = _places(prof, 'Huge', lines=False)
    t.equal({key[0]: figures[0] for key, figures in got.items()}, {'Huge.big': 9000, 'Huge.small': 3}, 'objects by method')
    t.check(any('longer than 65535' in v for k, v in prof.report.items() if k == 'methods not instrumented'), 'report %s' % prof.report)
