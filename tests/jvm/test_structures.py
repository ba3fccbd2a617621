# SPDX-License-Identifier: BSD-2-Clause
"""cpu=samples by the VM's own structures: they are on where they are as expected, and off, with a reason and without a loss, where they are not."""
import re

from expect import distance, shares_of, split_samples, truth
from runner import test

OPTS = 'cpu=samples,interval=1,depth=32,cutoff=0'
UNREAD = 'by events, unless -XX:-DebugNonSafepoints turns it off'
FLAG = 'by DebugNonSafepoints'


def _has_structures(t):
    return t.jdk.kind != 'zero'


def _profile(t, program=('Split', 'inlined', 1500), opts=OPTS, agents=(), jvm=(), env=None):
    jvm = ['-agentpath:%s/libtables.so=%s' % (t.env.native_dir(t.jdk), a) for a in agents] + list(jvm)
    return t.profile(*program, opts=opts, jvm=jvm, env=env)


def _knows_inlined_methods(t, run, p):
    got, want = shares_of(split_samples(p, 'inlined')), truth(run)
    t.check(distance(got, want) <= 0.12, 'shares %s, the truth %s' % (got, want))


@test(level='plain', collectors='all', needs=('hotspot',))
def are_on(t):
    if not _has_structures(t):
        t.skip('the zero VM has no compiled code')
    run, p = _profile(t)
    t.equal((p.report['vm structures'], p.report['debug information']), ('on', FLAG), 'the report')
    t.equal('inlined loops' in p.report, t.jdk.version == 8, 'what the compiler of JDK 8 blurs')
    _knows_inlined_methods(t, run, p)


@test(level='plain', params=('option', 'environment'), needs=('hotspot',))
def are_off_on_demand(t, by):
    run, p = _profile(t, opts=OPTS + (',vmstructs=n' if by == 'option' else ''), env={'HPROFX_VMSTRUCTS': 'n'} if by == 'environment' else None)
    t.equal(p.report['vm structures'], 'off, ' + ('vmstructs=n' if by == 'option' else 'HPROFX_VMSTRUCTS=n'), 'the report')
    t.equal(p.report['debug information'], UNREAD, 'the report')
    if t.jdk.has('jit'):
        _knows_inlined_methods(t, run, p)


@test(level='plain', needs=('hotspot',))
def a_choice_of_the_command_line_is_respected(t):
    if not _has_structures(t):
        t.skip('the zero VM has no compiled code')
    _, p = _profile(t, program=('Hello',), jvm=['-XX:+UnlockDiagnosticVMOptions', '-XX:-DebugNonSafepoints'])
    t.equal((p.report['vm structures'], p.report['debug information'].split(' ')[0]), ('on', 'off'), 'the report')
    _, p = _profile(t, program=('Hello',), opts=OPTS + ',vmstructs=n', jvm=['-XX:+UnlockDiagnosticVMOptions', '-XX:-DebugNonSafepoints'])
    t.equal(p.report['debug information'], UNREAD, 'the report: the flag is not read')
    _, p = _profile(t, program=('Hello',), jvm=['-XX:+UnlockDiagnosticVMOptions', '-XX:+DebugNonSafepoints'])
    t.equal((p.report['vm structures'], p.report['debug information']), ('on', FLAG), 'the report')


# What is spoilt: the reason. Some are seen at load, some at VMInit, the last when samples come. The list of heaps has another name on JDK 8.
SPOILT = {
    'stride=0': "the VM's tables have another shape",
    'CodeBlob._size=gone': "the VM's tables have no CodeBlob._size as expected",
    'CodeBlob._frame_size=twice': "the VM's tables have no CodeBlob._frame_size as expected",
    'CodeHeap._segmap=+4000': "the VM's tables have no CodeHeap._segmap as expected",
    'CodeHeap._log2_segment_size=+4': "the VM's code heap",
    'CodeHeap._memory=+8': "the VM's code heap",
    'CodeCache._heaps=junk': "a read of the VM's structures faulted",
    'HeapBlock::Header._used=+1': "the VM's code cache is not where it announced code",
    'ConstMethod._method_idnum=-4': "the VM's code cache names another method than AsyncGetCallTrace",
}


@test(level='plain', params=sorted(SPOILT), needs=('hotspot',))
def contradictions_turn_to_the_event_and_lose_nothing(t, what):
    if not _has_structures(t):
        t.skip('the zero VM has no compiled code')
    run, p = _profile(t, agents=[what if t.jdk.version > 8 else what.replace('_heaps', '_heap')])
    t.check(p.report['vm structures'].startswith('off, ' + SPOILT[what]), 'the report: %s' % p.report['vm structures'])
    t.equal('hprofx: faults: 1' in run.err, 'faulted' in SPOILT[what], 'a fault (%s)' % run.err)
    _knows_inlined_methods(t, run, p)


@test(level='plain', needs=('hotspot',))
def without_a_guard_they_are_off(t):
    """libjsig keeps the handlers of faults that hprofx installs from running."""
    found = [f for f in t.jdk.home.rglob('libjsig.so') if 'server' not in f.parts]
    if not _has_structures(t) or not found:
        t.skip('no libjsig below %s' % t.jdk.home)
    run, p = _profile(t, env={'LD_PRELOAD': str(found[0])})
    t.equal((p.report['vm structures'], p.report['debug information']), ('off, faults cannot be caught in this process', FLAG), 'the report')
    _knows_inlined_methods(t, run, p)


# Some are seen at load, some at VMInit, the last two below the first Java code that loads a class.
@test(level='plain', params=('JavaFrameAnchor._last_Java_sp=gone', 'JavaThread._anchor=+9999', 'JavaThread._thread_state=+4', 'JavaThread._anchor=+8', 'JavaFrameAnchor._last_Java_pc=+8'), needs=('hotspot',))
def without_anchors_the_rest_stays_on(t, what):
    if not _has_structures(t):
        t.skip('the zero VM has no compiled code')
    run, p = _profile(t, agents=[what])
    t.check(p.report['vm structures'].startswith('on, without anchors: the VM'), 'the report: %s' % p.report['vm structures'])
    t.equal(p.report['debug information'], FLAG, 'the report')
    t.equal([k for k in p.report if k.startswith('outside Java')], [], 'lines of the report that need anchors')
    _knows_inlined_methods(t, run, p)


def _known(p):
    compared = re.match(r'(\d+), (\d+) different', p.report.get('known stacks compared', '0, 0 different'))
    return int(p.report.get('known stacks', '0').split()[0]), int(compared.group(1)), int(compared.group(2))


def _has_raw_walks(t):
    if not _has_structures(t):
        t.skip('the zero VM has no anchors')


@test(level='plain', params=('inlined', 'plain'), collectors='all', needs=('hotspot',))
def most_stacks_of_a_steady_program_are_known(t, kind):
    _has_raw_walks(t)
    _, p = _profile(t, program=('Split', kind, 1500))
    known, compared, different = _known(p)
    t.check('raw walk' not in p.report, 'the report: %s' % p.report.get('raw walk'))
    t.check(known >= 0.4 * p.total, '%d of %d samples known' % (known, p.total))
    t.check(compared > 0 and different <= 8, '%d compared, %d different' % (compared, different))


@test(level='plain', needs=('hotspot',))
def raw_walks_are_off_on_demand(t):
    _has_raw_walks(t)
    run, p = _profile(t, env={'HPROFX_RAW_WALK': 'n'})
    t.equal((p.report['vm structures'], p.report['raw walk']), ('on', 'off, HPROFX_RAW_WALK=n'), 'the report')
    t.equal([k for k in p.report if k.startswith('known')], [], 'known stacks')
    _knows_inlined_methods(t, run, p)


@test(level='plain', params=('nmethod._compile_id=gone', 'CodeBlob._frame_complete_offset=gone', 'PcDesc._pc_offset=gone', 'StubQueue._buffer_limit=+4'), needs=('hotspot',))
def without_raw_walks_the_rest_stays_on(t, what):
    _has_raw_walks(t)
    run, p = _profile(t, agents=[what])
    t.check(p.report['vm structures'] == 'on' and p.report['raw walk'].startswith('off, the VM'), 'the report: %s, %s' % (p.report['vm structures'], p.report['raw walk']))
    _knows_inlined_methods(t, run, p)


@test(level='plain', needs=('hotspot',))
def without_names_raw_walks_stay_on(t):
    _has_raw_walks(t)
    run, p = _profile(t, agents=['ConstMethod._max_stack=gone'])
    t.check('raw walk' not in p.report, 'the report: %s' % p.report.get('raw walk'))
    t.check(p.report['named stacks'].startswith('off, the VM'), 'the report: %s' % p.report['named stacks'])
    _knows_inlined_methods(t, run, p)


@test(level='plain', needs=('hotspot',))
def sampler_asgct_recognises_and_names_nothing(t):
    _has_raw_walks(t)
    run, p = _profile(t, opts=OPTS + ',sampler=asgct')
    t.equal((p.report['vm structures'], p.report['raw walk']), ('on', 'off, sampler=asgct'), 'the report')
    t.equal([k for k in p.report if k.startswith(('known', 'named'))], [], 'known and named stacks')
    _knows_inlined_methods(t, run, p)


# Classes that are unloaded, redefined and deoptimized, exceptions, overflows, virtual threads.
@test(level='plain', params=('plain', 'redefinition', 'flushing'), collectors='all', needs=('hotspot',))
def known_stacks_are_those_of_asyncgetcalltrace(t, row):
    _has_raw_walks(t)
    flags = {'plain': [], 'redefinition': ['-agentpath:%s/libredefine.so=LSoak' % t.env.native_dir(t.jdk)], 'flushing': ['-XX:ReservedCodeCacheSize=6m']}[row]
    _, p = _profile(t, program=('Soak', 3), opts='cpu=samples,interval=0.5,depth=32,cutoff=0.001', jvm=['-Xss2m'] + flags, env={'HPROFX_VERIFY': '1'})
    known, compared, different = _known(p)
    t.check('raw walk' not in p.report, 'the report: %s' % p.report.get('raw walk'))
    t.check(compared >= 100, '%d compared' % compared)
    t.check(different <= max(3, compared // 200), '%d of %d different' % (different, compared))
    if 'named stacks compared' in p.report:
        t.check(not p.report['named stacks'].startswith('off'), 'the report: %s' % p.report['named stacks'])


@test(level='plain', params=('explicit', 'implicit'), needs=('hotspot',))
def exceptions_have_stacks(t, kind):
    """9 to 64 % of these programs have no stack without the structures. Those that remain: until 21 an exception of the VM may deoptimize its method, and a
    thread whose anchor has a pc is left alone in its stub, most of all where the VM allocates an array of a size below 0."""
    if not _has_structures(t):
        t.skip('the zero VM has no anchors')
    _, p = _profile(t, program=('Throws', kind, 1500))
    remain = [k for k in p.report if k in ('without a stack, deoptimization', 'outside Java, in_VM, stub')]
    known = sum(int(p.report[k].split()[0]) for k in remain)
    t.check(p.unknown() - known <= 0.1 * p.total, '%d of %d samples without a stack, %d of them known' % (p.unknown(), p.total, known))
    t.check(kind == 'implicit' or p.unknown() <= 0.1 * p.total, '%d of %d samples without a stack' % (p.unknown(), p.total))
