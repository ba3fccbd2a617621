# SPDX-License-Identifier: BSD-2-Clause
"""Stacks of allocations and blocks, which hprofx walks itself: they are those of GetStackTrace, whatever the VM does to code and classes meanwhile."""
import re

import hprof_text
from expect import objects_are_exact
from hprof_text import MONITOR_TIME
from peer import Peer, control
from runner import test

SITES = 'heap=sites,cutoff=0.001,depth=32'
ALL = {'HPROFX_VERIFY': '1'}
KEY = 'stacks of events'


def _has_structures(t):
    if t.jdk.kind == 'zero':
        t.skip('the zero VM has no anchors')


def _figures(p):
    """Known, named, by the VM."""
    return [int(n) for n in re.fullmatch(r'(\d+) known, (\d+) named, (\d+) by the VM', p.report[KEY]).groups()]


def _are_the_vms(t, p, least):
    compared, different = (int(n) for n in re.match(r'(\d+), (\d+) different', p.report[KEY + ' compared']).groups())
    t.check(compared >= least, '%d compared' % compared)
    t.equal(different, 0, 'of %d different' % compared)
    t.equal([k for k in p.report if k in (KEY + ' not walked', KEY + ' faulted')], [], 'lines of the report')


# Classes that are unloaded, redefined and deoptimized, exceptions, overflows, virtual threads.
@test(level='plain', params=('plain', 'redefinition', 'flushing'), collectors='all', needs=('hotspot',), timeout=300)
def stacks_are_those_of_getstacktrace(t, row):
    _has_structures(t)
    flags = {'plain': [], 'redefinition': ['-agentpath:%s/libredefine.so=LSoak' % t.env.native_dir(t.jdk)], 'flushing': ['-XX:ReservedCodeCacheSize=6m']}[row]
    _, p = t.profile('Soak', 2, opts=SITES + ',monitor=y,locks=y', jvm=['-Xss2m'] + flags, env=ALL)
    _are_the_vms(t, p, 5000)


@test(level='plain', params=(1, 5, 200, 1022), needs=('hotspot',))
def of_every_depth(t, depth):
    _has_structures(t)
    _, p = t.profile('SitesTree', 300, opts='heap=sites,cutoff=0,depth=%d' % depth, env=ALL)
    _are_the_vms(t, p, 1000)


@test(level='plain', since=21, until=999, params=('heap=sites', 'heap=sites,sites=sampled'), needs=('hotspot',))
def of_virtual_threads(t, mode):
    run, p = t.profile('SitesVirtual', 200, 10, opts=mode + ',cutoff=0,depth=40', env=ALL)
    if mode == 'heap=sites':
        objects_are_exact(t, run, p)
        _are_the_vms(t, p, 1000)
    t.check(not any('ForkJoin' in f.method for r, trace in p.sites if r.name == 'SitesVirtual$Item' for f in trace.frames), 'a frame of a carrier')


@test(needs=('hotspot',))
def of_an_allocation_beside_a_clear(t):
    """Sites have other ids after it: a stack that was looked for before is no other stack."""
    _has_structures(t)
    peer = Peer(t)
    run = t.start('SitesThreads', 8, 20000, opts='heap=sites,cutoff=0,depth=8,net=127.0.0.1:%d' % peer.port, env=ALL)
    try:
        while run.process.poll() is None:
            peer.send(control(6) * 50)  # the agent reads them one after the other
    except OSError:
        pass  # it has ended
    t.equal(run.finish().code, 0, 'exit code')
    peer.wait_end()
    path = t.work / 'stream'
    path.write_bytes(bytes(peer.streams[0]))
    _are_the_vms(t, hprof_text.read(path), 5000)


@test(level='plain', emulated=True, needs=('hotspot',))
def of_blocks(t):
    _has_structures(t)
    _, p = t.profile('Contend', 'threads', 16, 8, 20, opts='monitor=y,cutoff=0,depth=16', env=ALL)
    _are_the_vms(t, p, 15)
    t.check(p.table(MONITOR_TIME).total > 0, 'blocked time')


@test(level='plain', collectors='all', needs=('hotspot',))
def most_are_known(t):
    _has_structures(t)
    if not t.jdk.has('jit'):
        t.skip('an interpreter is too slow')
    _, p = t.profile('SitesTree', 3000, opts='heap=sites,cutoff=0,depth=32')
    known, named, asked = _figures(p)
    t.check(known >= 0.8 * (known + named + asked), '%d known, %d named, %d by the VM' % (known, named, asked))
    _are_the_vms(t, p, 64)


OFF = {'vmstructs=n': {}, 'HPROFX_VMSTRUCTS=n': {'HPROFX_VMSTRUCTS': 'n'}, 'HPROFX_RAW_WALK=n': {'HPROFX_RAW_WALK': 'n'}}


@test(level='plain', params=sorted(OFF), needs=('hotspot',))
def are_asked_for_on_demand(t, by):
    run, p = t.profile('SitesThreads', 4, 2000, opts='heap=sites,cutoff=0,depth=32' + ('' if OFF[by] else ',' + by), env=OFF[by])
    objects_are_exact(t, run, p)
    t.equal((p.report[KEY + ' not walked'], _figures(p)[:2]), (by, [0, 0]), 'the report')


@test(level='plain', needs=('hotspot',))
def are_asked_for_where_faults_cannot_be_caught(t):
    """libjsig keeps the handlers of faults that hprofx installs from running."""
    found = [f for f in t.jdk.home.rglob('libjsig.so') if 'server' not in f.parts]
    if not found:
        t.skip('no libjsig below %s' % t.jdk.home)
    _has_structures(t)
    run, p = t.profile('SitesThreads', 4, 2000, opts='heap=sites,cutoff=0,depth=32', env={'LD_PRELOAD': str(found[0])})
    objects_are_exact(t, run, p)
    t.equal((p.report[KEY + ' not walked'], _figures(p)[:2]), ('faults cannot be caught in this process', [0, 0]), 'the report')
