# SPDX-License-Identifier: BSD-2-Clause
"""cpu=samples by the VM's own structures: they are on where they are as expected, and off, with a reason and without a loss, where they are not."""
import re

from expect import distance, shares_of, split_samples, truth
from runner import test

OPTS = 'cpu=samples,interval=1,depth=32,cutoff=0'
UNREAD = 'by events, unless -XX:-DebugNonSafepoints turns it off'
FLAG = 'by DebugNonSafepoints'


def _has_structures(t):
    if t.jdk.kind == 'zero':
        t.skip('the zero VM has no compiled code and no anchors')


def _profile(t, program=('Split', 'inlined', 1500), opts=OPTS, agents=(), jvm=(), env=None):
    jvm = ['-agentpath:%s/libtables.so=%s' % (t.env.native_dir(t.jdk), a) for a in agents] + list(jvm)
    return t.profile(*program, opts=opts, jvm=jvm, env=env)


def _knows_inlined_methods(t, run, p):
    got, want = shares_of(split_samples(p, 'inlined')), truth(run)
    t.check(distance(got, want) <= 0.12, 'shares %s, the truth %s' % (got, want))


@test(level='plain', collectors='all', needs=('hotspot',))
def are_on(t):
    _has_structures(t)
    run, p = _profile(t)
    t.equal((p.report['vm structures'], p.report['debug information']), ('on', FLAG), 'the report')
    t.equal('inlined loops' in p.report, t.jdk.version == 8, 'what the compiler of JDK 8 blurs')
    _knows_inlined_methods(t, run, p)


# What turns them off: options, environment, the engine, the lines of the report.
OFF = {
    'option': (',vmstructs=n', {}, 'walk', {'vm structures': 'off, vmstructs=n', 'debug information': UNREAD}),
    'environment': ('', {'HPROFX_VMSTRUCTS': 'n'}, 'walk', {'vm structures': 'off, HPROFX_VMSTRUCTS=n', 'debug information': UNREAD}),
    'no raw walks': ('', {'HPROFX_RAW_WALK': 'n'}, 'walk', {'vm structures': 'off, HPROFX_RAW_WALK=n'}),
    'asgct': (',sampler=asgct', {}, 'asgct', {'debug information': FLAG}),
    'libjsig': ('', {'LD_PRELOAD': 'libjsig.so'}, 'walk', {'vm structures': 'off, faults cannot be caught in this process', 'debug information': FLAG}),  # which keeps our handlers of faults from running
}


@test(level='plain', params=sorted(OFF), needs=('hotspot',))
def are_off_on_demand(t, by):
    more, env, engine, says = OFF[by]
    if by in ('option', 'environment'):
        if not t.jdk.has('jit'):
            t.skip('this VM has no compiled code')
    else:
        _has_structures(t)
    if by == 'libjsig':
        found = [f for f in t.jdk.home.rglob('libjsig.so') if 'server' not in f.parts]
        if not found:
            t.skip('no libjsig below %s' % t.jdk.home)
        env = {'LD_PRELOAD': str(found[0])}
    run, p = _profile(t, opts=OPTS + more, env=env)
    t.equal({k: p.report[k] for k in says}, says, 'the report')
    t.equal(p.report['sampler'].split(',')[0], engine, 'the engine')
    t.equal([k for k in p.report if k.startswith(('known', 'named'))], [], 'known and named stacks')
    n = split_samples(p, 'inlined')
    t.check(sum(n) >= 0.7 * p.total, 'only %d of %d samples are in the methods that use the time' % (sum(n), p.total))


@test(level='plain', needs=('hotspot',))
def a_choice_of_the_command_line_is_respected(t):
    _has_structures(t)
    for choice, more, says in (('-', '', ('on', 'off')), ('-', ',vmstructs=n', ('off,', UNREAD.split(' ')[0])), ('+', '', ('on', FLAG.split(' ')[0]))):
        _, p = _profile(t, program=('Hello',), opts=OPTS + more, jvm=['-XX:+UnlockDiagnosticVMOptions', '-XX:%sDebugNonSafepoints' % choice])
        t.equal(tuple(p.report[k].split(' ')[0] for k in ('vm structures', 'debug information')), says, 'the report')


# What is spoilt, and the reason that the report gives for the engine walk. Some are seen at load, some at VMInit, or below the first Java code that prepares a class, or
# when samples come. The list of heaps has another name on JDK 8.
SPOILT = {
    'stride=0': "the VM's tables have another shape",
    'CodeBlob._size=gone': "the VM's tables have no CodeBlob._size as expected",
    'CodeBlob._frame_size=twice': "the VM's tables have no CodeBlob._frame_size as expected",
    'CodeHeap._segmap=+4000': "the VM's tables have no CodeHeap._segmap as expected",
    'CodeHeap._log2_segment_size=+4': "the VM's code heap",
    'CodeHeap._memory=+8': "the VM's code heap",
    'CodeCache._heaps=junk': "a read of the VM's structures faulted",
    'HeapBlock::Header._used=+1': "the VM's code cache is not where it announced code",
    'ConstMethod._method_idnum=-4': '',
    'CodeBlob._frame_size=+4': '',
    'ConstMethod._code_size=+2': '',
}
SPOILT.update({what: 'the VM' for what in (
    'JavaFrameAnchor._last_Java_sp=gone', 'JavaThread._anchor=+9999', 'JavaThread._thread_state=+4', 'JavaThread._anchor=+8', 'JavaFrameAnchor._last_Java_pc=+8',
    'nmethod._compile_id=gone', 'CodeBlob._frame_complete_offset=gone', 'PcDesc._pc_offset=gone', 'StubQueue._buffer_limit=+4', 'ConstMethod._max_stack=gone')})


@test(level='plain', params=sorted(SPOILT), needs=('hotspot',))
def contradictions_turn_to_less_and_lose_nothing(t, what):
    _has_structures(t)
    t.planted = True
    run, p = _profile(t, agents=[what if t.jdk.version > 8 else what.replace('_heaps', '_heap')])
    t.check(p.report['vm structures'].startswith('off, ' + SPOILT[what]), 'the report: %s' % p.report['vm structures'])
    t.equal(p.report['sampler'].split(',')[0], 'walk', 'the engine')
    t.check(('hprofx: faults: ' in run.err) or 'faulted' not in p.report['vm structures'], 'a fault (%s)' % run.err)
    n = split_samples(p, 'inlined')
    t.check(sum(n) >= 0.7 * p.total, 'only %d of %d samples are in the methods that use the time' % (sum(n), p.total))


def _compared(p, what):
    m = re.match(r'(\d+), (\d+) different, (\d+) ', p.report.get(what + ' compared', '0, 0 different, 0 '))
    return [int(n) for n in m.groups()]


@test(level='plain', params=('inlined', 'plain'), collectors='all', needs=('hotspot',))
def most_stacks_of_a_steady_program_are_known(t, kind):
    _has_structures(t)
    _, p = _profile(t, program=('Split', kind, 1500))
    known = int(p.report['known stacks'].split()[0])
    compared, different, _ = _compared(p, 'known stacks')
    t.equal(p.report['vm structures'], 'on', 'the report')
    t.check(known >= 0.4 * p.total, '%d of %d samples known' % (known, p.total))
    t.check(compared > 0 and different == 0, '%d compared, %d different' % (compared, different))


@test(level='plain', needs=('hotspot',))
def stacks_of_short_threads_are_known(t):
    """A thread that ends after three samples finds those that others have named."""
    _has_structures(t)
    _, p = _profile(t, program=('ShortThreads', 400, 3000), opts='cpu=samples,interval=1,depth=32')
    known = int(p.report['known stacks'].split()[0])
    compared, different, _ = _compared(p, 'known stacks')
    t.check(known >= 0.4 * p.total, '%d of %d samples known' % (known, p.total))
    t.check(compared > 0 and different == 0, '%d compared, %d different' % (compared, different))


# Classes that are unloaded, redefined and deoptimized, exceptions, overflows, virtual threads.
# The emulator has no process_vm_readv, so the bounds of the stack of a thread that was there before are not known, as of the one that redefines.
@test(level='plain', emulated=('plain',), params=('plain', 'redefinition', 'flushing'), collectors='all', needs=('hotspot',))
def stacks_are_those_of_asyncgetcalltrace(t, row):
    _has_structures(t)
    flags = {'plain': [], 'redefinition': ['-agentpath:%s/libredefine.so=LSoak' % t.env.native_dir(t.jdk)], 'flushing': ['-XX:ReservedCodeCacheSize=6m']}[row]
    _, p = _profile(t, program=('Soak', 3), opts='cpu=samples,interval=0.5,depth=32,cutoff=0.001', jvm=['-Xss2m'] + flags, env={'HPROFX_VERIFY': '1'})
    compared, different, _ = _compared(p, 'named stacks')
    t.equal(p.report['vm structures'], 'on', 'the report')
    t.check(compared >= 100, '%d compared' % compared)
    # AsyncGetCallTrace leaves out frames of the interpreter that are just built, and callers of some stubs
    t.check(different <= max(8, compared // 50), '%d of %d different' % (different, compared))
    compared, different, _ = _compared(p, 'known stacks')
    t.check(compared >= 100 and different == 0, 'known: %d compared, %d different' % (compared, different))


@test(level='plain', params=('explicit', 'implicit'), needs=('hotspot',))
def exceptions_have_stacks(t, kind):
    """9 to 64 % of these programs had no stack by AsyncGetCallTrace."""
    _has_structures(t)
    _, p = _profile(t, program=('Throws', kind, 1500))
    truncated = int(p.report.get('truncated', '0').split()[0])
    ends = {k: v for k, v in p.report.items() if k.startswith(('trunc', 'without a frame'))}
    t.check(p.unknown() <= 0.03 * p.total, '%d of %d samples without a stack: %s' % (p.unknown(), p.total, ends))
    t.check(truncated <= 0.01 * p.total, '%d of %d samples truncated: %s' % (truncated, p.total, ends))
