# SPDX-License-Identifier: BSD-2-Clause
"""heap=sites: samples of allocations, what a peer may ask for, and sites beside CPU time in one dump."""
import re
import struct
import subprocess
import time

import hprof_binary
import hprof_text
import peer as p
from golden import compared
from harness import DUMPING
from peer import Peer
from runner import test
from waiting import ask, step, stop_steps, until

SITES = DUMPING['sites']
DONE = 'Dumping%s done.' % SITES


@test(level='plain', collectors='any', params=('', ',sites=counts', ',sites=counts,cpu=times'))
def without_a_dump_the_summary_has_no_sites(t, more):
    """doe=n: no snapshot, so the number of sites is unknown; with cpu=times that of the allocations, too."""
    run = t.java('SitesFirst', 1000, opts='heap=sites,doe=n' + more)
    t.complete(run, verbose=False)
    t.output(dumps=0)
    m = re.findall('^hprofx: sites: (?:(\\d+) allocations counted, )?0 lost; no profile at exit$', run.err, re.M)
    t.check(len(m) == 1 and (m[0] == '' if 'cpu' in more else int(m[0]) > 2000), 'stderr %s' % run.err)


HOW = {'fork': 'fork', 'walk': 'walk', 'auto,maxpause=off': '(fork|walk)'}


def _live(prof, which):
    """(objects, live) of the classes of SitesLive in a list."""
    sums = {}
    for r in prof.lists[which].rows:
        if re.match(r'SitesLive\$', r.name):
            objects, live = sums.get(r.name[10:], (0, 0))
            sums[r.name[10:]] = (objects + r.objects, live + r.live)
    return sums


@test(level='plain', since=17, collectors='all', params=sorted(HOW), plain_params=('fork',), needs=('hotspot',))
def what_lives_is_counted_for_a_dump(t, how):
    """By a copy of the process, or in the JVM; at the end there again. ZGC cannot be copied, and shows no more than what is reachable."""
    n = 4000
    run = t.start_command(t.command('SitesLive', n, opts='heap=sites,cutoff=0,depth=2,heapdump=' + how + ('' if 'maxpause' in how else ',maxpause=60')), stdin=subprocess.PIPE)
    run.wait_line('ready')
    t.check(ask(run, DONE), 'the program has ended')
    run.process.stdin.close()
    run.finish()
    t.equal((run.code, run.out.splitlines()[0]), (0, 'ready'), 'exit code, first line')
    prof = t.parse(t.work / 'java.hprof.txt', 2)
    first = prof.dumps[0].report['live walk'].split(',')[0]
    want = HOW[how] if t.case.collector != 'ZGC' else 'walk'
    t.check(re.fullmatch(want, first), 'the first look is a %s' % first)
    t.check(prof.dumps[1].report['live walk'].startswith('walk,'), 'the last look: %s' % prof.dumps[1].report['live walk'])
    for i in range(2):
        t.equal(_live(prof, i), {'Kept': (n, n), 'Half': (n, n // 2), 'Dropped': (n, 0), 'Copy': (n + 1, n)}, 'objects, live of list %d' % (i + 1))


@test(level='plain', since=17, collectors='any', needs=('hotspot',))
def a_look_that_stops_for_too_long_is_left_out(t):
    run = t.start_command(t.command('SitesLive', 40000, opts='heap=sites,cutoff=0,depth=2,heapdump=walk,maxpause=1ms'), stdin=subprocess.PIPE)
    run.wait_line('ready')
    t.check(ask(run, DONE), 'the program has ended')
    run.process.stdin.close()
    run.finish()
    prof = t.parse(t.work / 'java.hprof.txt', 2)
    t.check(prof.dumps[0].report['live'].startswith('not in this dump: to count live objects in the JVM would stop the program for about '), 'report %s' % prof.dumps[0].report)
    t.check('this dump does not show what is live; maxpause=' in run.err, 'stderr %s' % run.err)
    t.equal([_live(prof, i)['Kept'] for i in range(2)], [(40000, 0), (40000, 40000)], 'objects, live')


@test(level='plain', since=11, collectors='any')
def a_dump_does_not_wait_for_a_collector_that_collects_nothing(t):
    if t.jdk.version >= 20:
        t.needs('hotspot')  # it tells that this is Epsilon
    run = t.start('SitesSteps', 1, 10, opts='heap=sites,cutoff=0,gc=y', gc=False, jvm=['-XX:+UnlockExperimentalVMOptions', '-XX:+UseEpsilonGC'])
    run.wait_line('ready')
    step(run, 1)
    begun = time.monotonic()
    t.check(ask(run, DONE), 'the program has ended')
    t.check(time.monotonic() - begun < 20, 'the dump took %.0f s' % (time.monotonic() - begun))
    stop_steps(run)
    t.equal(run.code, 0, 'exit code')


def _sites(flags=0, cutoff=0.0, serial=7):
    return p.command(p.SITES, struct.pack('>Hf', flags, cutoff), serial)


def _items(lists):
    """(order or flags, live and allocated objects of Steps.Item) of each list."""
    return [(key, sum(r.live for r in rows), sum(r.objects for r in rows)) for key, rows in lists]


class Stream:
    """The program that works in steps under a peer; the lists that have come."""

    def __init__(self, t, form, opts='heap=sites,cutoff=0'):
        self.t, self.form, self.n = t, form, 0
        self.peer = Peer(t)
        self.run = t.start('Steps', opts='%s,net=127.0.0.1:%d,format=%s' % (opts, self.peer.port, form))
        self.run.wait_line('ready')
        self.asked = 0

    def step(self):
        self.n += 1
        step(self.run, self.n)

    def send(self, data, answers=1):
        """Sends, and waits for the answers: a report follows every one."""
        self.asked += answers
        self.peer.send(data)
        self.peer.wait_for(b'hprofx: version', self.asked)

    def stop(self, **how):
        stop_steps(self.run)
        self.t.equal((self.run.code, self.run.out.splitlines()[0], self.run.out.splitlines()[-1]), (0, 'ready', 'done %d' % (100 * self.n)), 'exit code, stdout')
        self.peer.wait_end()
        path = self.t.work / ('stream.' + self.form)
        path.write_bytes(bytes(self.peer.streams[0]))
        self.t.read('check', path)
        return hprof_text.read(path, **how) if self.form == 'a' else hprof_binary.read(path)


def _lists(prof, form):
    if form == 'a':
        return _items((d.order, [r for r in d.rows if r.name == 'Steps$Item']) for d in prof.lists)
    return _items((d.flags, [r for r in d.rows if prof.classes[r.klass] == 'Steps$Item']) for d in prof.lists)


@test(level='plain', params=('a', 'b'))
def lists_that_a_peer_asks_for(t, form):
    """0x03 with each flag, 0x04, CONTROL 2 and 1 and 6; nothing is reset but by 6."""
    s = Stream(t, form)
    s.step()
    s.send(_sites())
    s.step()
    s.send(_sites(2))
    s.send(_sites(1))  # what changed since: nothing of Steps
    s.step()
    s.send(_sites(1))
    s.send(_sites(4))
    if form == 'b':
        s.send(p.command(p.SUMMARY))
    else:  # the text has no such record
        s.peer.send(p.command(p.SUMMARY))
    s.send(p.control(2) + _sites(), 1)
    s.step()  # is not counted
    s.send(_sites())
    s.send(p.control(1) + _sites())
    s.step()
    s.send(_sites())
    s.send(p.control(6) + _sites())
    s.step()
    s.send(_sites())
    prof = s.stop()
    key = (lambda flags: 'allocated' if flags & 2 else 'live') if form == 'a' else (lambda flags: flags)
    want = [(0, 100), (2, 200), (1, 0), (1, 300), (4, 300), (0, 300), (0, 300), (0, 300), (0, 400), (0, 0), (0, 100), (0, 100)]
    t.equal(_lists(prof, form), [(key(flags), n, n) for flags, n in want], 'lists: order, live and allocated objects')
    if form == 'b':
        total = prof.lists[4]
        t.equal(len(prof.summaries), 1, 'summaries')
        t.check(prof.summaries[0].objects >= total.objects and prof.summaries[0].bytes >= total.bytes and prof.summaries[0].live >= 300, 'summary %s, list %s' % (prof.summaries[0], total[:6]))


compared(('net-depth', 'net-dump-without-heap', 'net-text'))


@test(level='plain', collectors='any')
def golden_net_depth(t):
    """Sub option 7 sets the depth: 1 becomes 3."""
    s = Stream(t, 'a', 'heap=sites,depth=1,cutoff=0')
    s.peer.send(p.control(7, struct.pack('>H', 3)))
    s.send(_sites())
    s.step()
    s.send(_sites())
    prof = s.stop()
    stacks = {tuple(f.method for f in trace.frames) for r, trace in prof.sites if r.name == 'Steps$Item'}
    probed = ('Steps$Item.<init>', 'Steps.alloc', 'Steps.step')  # JDK 8: the probe is in the constructor
    t.equal(stacks, {probed if t.jdk.version == 8 else ('Steps.alloc', 'Steps.step', 'Steps.main')}, 'stacks')


@test(level='plain', collectors='any')
def golden_net_dump_without_heap(t):
    """DUMP HEAP, which ended the program under the original: one line."""
    s = Stream(t, 'a')
    s.step()
    s.peer.send(p.command(p.HEAP, serial=11))
    until(s.run, lambda: 'serial 11:' in s.run.err)
    prof = s.stop()
    t.equal((len(re.findall(r'^hprofx: net=.*serial 11:', s.run.err, re.M)), prof.sections), (1, ['SITES']), 'lines, sections')


@test(level='plain', collectors='any')
def golden_net_text(t):
    """The recorded commands of net-text, and what they answer."""
    s = Stream(t, 'a', 'heap=sites,cpu=samples')
    s.peer.send(p.command(p.GC))
    s.step()
    s.send(_sites(0, 0.01))
    s.step()
    s.send(_sites(2, 0.01))
    s.send(_sites(1, 0.01))
    s.send(_sites(4, 0.01))
    s.peer.send(p.command(p.SUMMARY) + p.command(p.TRACES))
    s.send(p.samples(0.5))
    s.send(p.samples(0.5))
    s.send(p.control(5) + p.samples(0.5))
    s.step()
    s.send(p.samples(0.5))
    s.peer.send(p.control(2))
    s.step()
    s.send(_sites(0, 0.0))
    s.peer.send(p.control(1) + p.control(99))
    prof = s.stop(recovered=True)  # DUMP TRACES has put some where no row needs them
    t.equal(prof.sections, ['SITES'] * 4 + ['CPU SAMPLES'] * 4 + ['SITES'] * 2 + ['CPU SAMPLES'], 'sections')
    t.equal([d.order for d in prof.lists], ['live', 'allocated', 'live', 'live', 'live', 'live'], 'order of the lists')
    t.equal(_lists(prof, 'a')[4], ('live', 300, 300), 'while tracking is off nothing is counted')
    found = [d.rows[0].method for d in prof.tables if d.total > 10 and d.rows]
    t.equal(found, ['Steps.work'] * len(found), 'samples')
    t.check(len(found) >= 3, 'only %d tables of a step' % len(found))


@test(level='plain', collectors='any')
def requests_beside_cpu_time(t):
    """Calls are of the time between two dumps, allocations of all the time."""
    done = 'Dumping%s%s done.' % (SITES, DUMPING['times'])
    run = t.start('Steps', opts='heap=sites,cpu=times,cutoff=0')
    run.wait_line('ready')
    for n in (1, 2):
        step(run, n)
        t.check(ask(run, done), 'the program has ended')
    stop_steps(run)
    prof = t.parse(t.work / 'java.hprof.txt', dumps=None)
    t.equal(prof.sections, ['SITES', 'CPU TIME (ms)'] * 3, 'sections')
    t.equal([n for _, _, n in _lists(prof, 'a')], [100, 200, 200], 'objects of each list')
    t.equal([d.counts()['Steps.alloc'] for d in prof.tables], [1, 1, 0], 'calls of each table')
