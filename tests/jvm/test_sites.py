# SPDX-License-Identifier: BSD-2-Clause
"""heap=sites: exact numbers for every way to allocate, by programs that know what they allocate and keep."""
import re

from expect import objects_are_exact, of_site, site_rows, sites_are_exact
from harness import DUMPING
from preload import agent
from runner import test
from waiting import stop_steps

DONE = 'Dumping%s done.' % DUMPING['sites']
MANY = 100  # calls of each way: too few to compile the method
# The thread that asks for a method's compilation first makes the strings of its class, below whatever runs: a method of the JDK may be called often enough.
NO_COMPILER = ['-Xint']
EXACT = 'heap=sites,cutoff=0,depth=40'
GROUPS = ('new', 'arrays', 'multi', 'copies', 'indirect', 'native', 'language', 'exceptions', 'humongous')


@test(level='plain', emulated=True, collectors='all', params=GROUPS, plain_params=('new', 'multi', 'native'))
def every_way_is_counted(t, group):
    if group == 'native' and t.jdk.version == 8:
        t.skip('nothing on JDK 8 sees what JNI and Unsafe allocate')
    run, p = t.profile('Sites', group, MANY, opts=EXACT, native=True, jvm=NO_COMPILER if group == 'language' else ())
    sites_are_exact(t, run, p)


@test(since=17)
def ways_of_later_java_are_counted(t):
    run, p = t.profile('SitesModern', MANY, opts=EXACT, native=True, jvm=NO_COMPILER)
    sites_are_exact(t, run, p)


STOPPED = "hprofx: gc=y: no garbage was collected before the last dump: the collector of this VM stops before the program's end; ask for a dump while the program runs"


@test(level='plain', params=('plain', 'b'), collectors=('G1', 'Parallel'))
def a_collection_before_the_dump(t, form):
    """gc=y: what the program drops is no longer alive, without a collection of its own; and the binary file has the same figures."""
    opts = EXACT + ',gc=y,format=' + ('a' if form == 'plain' else 'b')
    run = t.java('Sites', 'new', MANY, opts=opts, native=True, jvm=['-XX:+DisableExplicitGC'])
    t.complete(run, done=DONE)
    p = t.output() if form == 'plain' else t.binary(t.work / 'java.hprof')
    stops = t.case.collector in ('ZGC', 'Shenandoah')
    t.equal(run.err.splitlines().count(STOPPED), 1 if stops else 0, 'lines that say that there was none')
    if not stops:
        sites_are_exact(t, run, p)


@test(level='plain', collectors=('ZGC', 'Shenandoah'), needs=('hotspot',))
def the_end_amid_a_collection(t):
    """A collection that the dump has forced may never return."""
    if t.env.sanitized:
        t.skip('the thread that waits for the collection holds blocks at the end')
    for ms in range(300, 400, 20):
        t.complete(t.java('Split', 'plain', ms, opts='heap=sites,gc=y,dump=100ms,verbose=n'), verbose=False, done=DONE)
        t.output(dumps=None)


@test(level='plain', since=21, collectors=('ZGC',), needs=('hotspot',), params=('SitesNewTemplate', 'SitesNewSmall'), plain_params=('SitesNewTemplate',))
def a_collection_while_a_class_is_made(t, template):
    """The generational ZGC then forgets what the static fields hold, and crashes later: a bug of the VM, which hprofx repairs."""
    alignment, fields = {'SitesNewTemplate': (8, 100), 'SitesNewSmall': (16, 1)}[template]  # the size tells one field there, too
    jvm = ['-XX:ObjectAlignmentInBytes=%d' % alignment] + (['-XX:+ZGenerational'] if t.jdk.version < 24 else [])
    run, p = t.profile('SitesNew', 5, template, fields, opts='heap=sites,live=n,cutoff=0,depth=4', native=True, jvm=jvm + [agent(t, 'midclass')])
    objects_are_exact(t, run, p)
    t.check(int(p.report['classes repaired'].split(',')[0]) >= 5, 'the report says %r' % p.report['classes repaired'])


@test(level='plain', collectors='any', since=11, params=('exact', 'sampled', 'counts'))
def a_session_that_begins_with_the_jvm_does_not_collect(t, sites):
    run = t.java('SitesFirst', 10, opts='heap=sites,live=n,verbose=n,sites=' + sites, jvm=['-Xlog:gc'])
    t.equal(run.out.count('JvmtiEnv ForceGarbageCollection'), 0, 'collections (%s)' % run.out)


@test(collectors=('Serial', 'Parallel'), since=11, until=17)
def it_collects_if_the_tlab_of_the_main_thread_is_large(t):
    """Which would cost more to use up. Later VMs take TLABs of this size for more threads, until there are none."""
    run, p = t.profile('SitesFirst', 50000, opts='heap=sites,cutoff=0,depth=4', jvm=['-Xlog:gc:stderr', '-Xmn320m', '-XX:-ResizeTLAB', '-XX:TLABSize=32m'])
    t.equal(run.err.count('Pause Full (JvmtiEnv ForceGarbageCollection'), 1, 'collections')
    objects_are_exact(t, run, p)


FLAGS = {'default': [], 'interpreter': ['-Xint'], 'no TLAB': ['-XX:-UseTLAB'], 'c1': ['-XX:TieredStopAtLevel=1'], 'c2': ['-XX:-TieredCompilation'],
         'fixed TLAB': ['-XX:-ResizeTLAB', '-XX:TLABSize=64k'], 'interpreter, no TLAB': ['-Xint', '-XX:-UseTLAB']}


@test(level='plain', collectors='all', params=sorted(FLAGS), plain_params=('default', 'interpreter', 'no TLAB'))
def from_the_first_line_of_main(t, flags):
    if 'no TLAB' in flags and t.jdk.version < 21:
        t.needs('hotspot')  # it tells that the event misses allocations
    run, p = t.profile('SitesFirst', 2000 if 'inter' in flags else 50000, opts='heap=sites,cutoff=0,depth=4', jvm=FLAGS[flags])
    objects_are_exact(t, run, p)


MUCH = 'heap=sites,cutoff=0,depth=4'


@test(collectors='all', params=('a', 'b'))
def no_figure_wraps(t, form):
    """5 GB through one site."""
    run = t.java('SitesMuch', 'through', 5000, opts=MUCH + ',format=' + form)
    t.complete(run, done=DONE)
    p = t.output() if form == 'a' else t.binary(t.work / 'java.hprof')
    objects_are_exact(t, run, p)
    size = of_site(site_rows(p), 'SitesMuch$Large.make', 'byte[]')[2]
    if form == 'b':
        t.equal(size, 0xFFFFFFFF, 'bytes of the row: what four bytes do not hold')
        size = p.lists[0].bytes
    t.check(5000 << 20 < size < 5050 << 20, '%d bytes' % size)


@test(collectors='all', timeout=300)
def many_frees_at_one_collection(t):
    millions = 10 if t.level == 'long' else 1
    run, p = t.profile('SitesMuch', 'free', millions * 1000000, opts=MUCH, jvm=['-Xmx3g'] if millions > 1 else [])
    objects_are_exact(t, run, p)


@test(level='plain', collectors='all')
def a_full_heap(t):
    """What there is no room for is no allocation; the run goes on, and the counts with it."""
    run, p = t.profile('SitesMuch', 'full', 1000, opts=MUCH, jvm=['-Xmx128m' if t.case.collector == 'ZGC' and t.jdk.version < 17 else '-Xmx48m'])
    t.equal('refused 3' in run.out.splitlines(), True, 'lengths that the VM refused')
    objects_are_exact(t, run, p)


@test(level='plain')
def exceptions_come_out_as_without_the_agent(t):
    plain = t.java('SitesFails', 100, opts=None, native=True)
    run, p = t.profile('SitesFails', 100, opts=EXACT, native=True, stdout=plain.out)
    objects_are_exact(t, run, p)


@test(level='plain')
def without_live_objects(t):
    """live=n: totals only, no tags."""
    run, p = t.profile('Sites', 'new', MANY, opts=EXACT + ',live=n', native=True)
    sites_are_exact(t, run, p, live=False)
    t.equal((p.lists[0].order, any(r.live or r.live_bytes for r in p.lists[0].rows)), ('allocated', False), 'order, live figures')
    t.check('live' not in p.report, 'report %s' % p.report)


@test(level='plain', since=11)
def another_owner_of_the_capability(t):
    """One line says that allocations are not seen, or how they are; the program runs on."""
    run = t.java('SitesFirst', 1000, opts=MUCH, jvm=[agent(t, 'sites')])
    t.equal((run.code, 'holder 0' in run.out.splitlines(), 'made SitesFirst.items SitesFirst$Item 1000' in run.out.splitlines()), (0, True, True), 'exit code, the holder has it, stdout')
    told = [ln for ln in run.err.splitlines() if ln.startswith('hprofx: heap=sites: ')]
    t.equal(len(told), 1, 'lines about it: %s' % run.err)
    p = t.output()
    if p.report['sites'] != 'none':
        objects_are_exact(t, run, p)


@test(level='plain', since=11, params=('', ',cpu=times'), plain_params=(',cpu=times',))
def another_owner_of_the_capability_leaves_stacks_as_they_are(t, more):
    """With cpu=times from JDK 22 on the probes are reached through a Java method, which no stack shows."""
    run = t.java('SitesFirst', 1000, opts=MUCH + more, jvm=[agent(t, 'sites')])
    p = t.output(dumps=2 if more else 1)
    t.equal(p.report['sites'], 'probes and VMObjectAlloc', 'engine')
    objects_are_exact(t, run, p)
    t.equal([f.method for _, trace in p.sites for f in trace.frames if 'rofxTracker' in f.method or f.method.startswith('hprofx')], [], 'frames of hprofx')
    methods = {trace.frames[0].method for r, trace in p.sites if r.name == 'SitesFirst$Item' and r.objects >= 1000}
    t.equal(methods, {'SitesFirst$Item.<init>'}, 'leaf of the stack')


@test(level='plain', collectors='all')
def classes_that_unload_keep_their_names(t):
    """Eight loaders of a class of one name, 40 classes in all: its arrays and its mirrors, the first charged to java.lang.Class."""
    run, p = t.profile('SitesUnload', 40, 8, opts=EXACT)
    objects_are_exact(t, run, p)
    if (t.jdk.version, t.case.collector) != (11, 'ZGC'):  # which unloads none
        t.check(int(re.search(r'^unloaded (\d+)$', run.out, re.M)[1]) >= 32, 'unloaded classes: %s' % run.out)
    rows = [(r, name) for r, name, methods in site_rows(p) if 'SitesUnload$Loader.define' in methods]
    t.equal(sum(r.objects for r, name in rows if name == 'java.lang.Class'), 40 if t.jdk.version > 8 else 0, 'mirrors')
    t.equal([name for _, name in rows if name.startswith('gen.')], [], 'mirrors that are instances of their own class')


@test(since=28, collectors='any', params=('exact', 'sampled', 'counts'))
def objects_of_value_classes_are_counted(t, sites):
    """Of all N the stack and the size are known, and none is live, as the report says."""
    n = 2000
    run = t.start('Values', n, opts='heap=sites,cutoff=0,sites=%s%s' % (sites, ',sample=100' if sites == 'sampled' else ''), jvm=['--enable-preview'])
    run.wait_line('ready')
    stop_steps(run)
    t.equal(run.code, 0, 'exit code')
    p = t.output()
    rows = re.findall(r'^ *\d+ +[\d.]+% +[\d.]+% +\d+ +(\d+) +\d+ +(\d+) +\d+ Values\$Wide$', (t.work / 'java.hprof.txt').read_text(), re.M)
    live, made = (sum(int(r[k]) for r in rows) for k in (0, 1))
    t.equal(live, 0, 'live')
    if sites == 'sampled':
        t.check(0.7 * n < made < 1.3 * n, 'about %d are %d' % (n, made))
    else:
        t.equal(made, n + (sites == 'exact'), 'objects')  # the VM makes one of each class itself, which no probe sees
    if sites != 'counts':
        said = int(p.report['allocations of value objects'].split()[0].rstrip(','))
        t.check(said >= n if sites == 'exact' else said > 0, 'the report says %d' % said)
