# SPDX-License-Identifier: BSD-2-Clause
"""What the agent allocates it gives back: counted by a second link of its objects (tests/balance). Under --sanitized every test is held to this."""
import os
import pathlib
import re
import subprocess

import balance
from runner import test

AGENT = pathlib.Path(__file__).resolve().parents[2] / 'agent'

# Bytes at most that may stay per thread that ever started: ended threads are forgotten (docs/data-path.md), but tables hold some in reserve.
A_THREAD = 256


def _counted(t):
    """The counting agent: the one under test, or the one of its build."""
    lib = t.env.agent.resolve()
    return lib if lib.parent.name == 'balance' else lib.parents[1] / 'tests' / 'balance' / 'libhprofx.so'


def _run(t, name, program, *args, plant=None, opts='cpu=samples,interval=1'):
    lib = _counted(t)
    t.check(lib.exists(), 'no counting agent at %s' % lib)
    env = {'HPX_BALANCE': str(t.work / name)}
    if plant:
        env['HPX_BALANCE_PLANT'] = plant
    t.profile(program, *args, opts=None, agent='-agentpath:%s=%s' % (lib, opts), env=env)
    os.rename(t.work / 'java.hprof.txt', t.work / (name + '.txt'))
    reports = list(t.work.glob(name + '.[0-9]*'))
    t.equal(len(reports), 1, 'reports of the balance')
    b = balance.Balance(reports[0], lib)
    t.check(b.complete, 'the balance is not complete')
    return b


SITES = {'exact': 'heap=sites', 'counts': 'heap=sites,sites=counts', 'counts and calls': 'heap=sites,sites=counts,cpu=times', 'sampled': 'heap=sites,sites=sampled,sample=4k'}


@test(level='plain', params=[(what, mode) for what in ('UnloadMany', 'ShortThreads') for mode in sorted(SITES)], plain_params=[('UnloadMany', 'exact'), ('ShortThreads', 'counts')])
def nothing_of_sites_is_held_at_the_end(t, what):
    program, mode = what
    if mode == 'sampled' and t.jdk.version < 11:
        t.skip('this VM takes no samples of allocations')
    b = _run(t, 'b', program, 300, 100, opts=SITES[mode])
    t.equal(b.faults(), [], 'blocks held at the end')
    t.check({'heap', 'mapping'} <= {kind for kind, calls in b.live()}, 'kinds that were counted')


@test(level='plain', params=('Crowd', 'ShortThreads'), plain_params=('Crowd',))
def nothing_of_monitors_is_held_at_the_end(t, program):
    lib, args = _counted(t), {'Crowd': (200, 100), 'ShortThreads': (1000, 100)}[program]
    run = t.start(program, *args, opts=None, agent='-agentpath:%s=monitor=y,owner=y,waits=y,locks=y,pinned=y,thread=y,dump=100ms' % lib,
                  env={'HPX_BALANCE': str(t.work / 'b')}).finish()
    t.equal(run.code, 0, 'exit code')
    b = balance.Balance(next(t.work.glob('b.[0-9]*')), lib)
    t.equal((b.complete, b.faults()), (True, []), 'complete, blocks held at the end')


ENDS = {'classes': ('UnloadMany', (1000, 100), 'cpu=samples,interval=1'), 'threads': ('ShortThreads', (300, 100), 'cpu=samples,interval=1,thread=y'),
        'lines': ('HotSplit', (20,), 'cpu=samples,interval=1,lineno=n'), 'walk': ('UnloadMany', (300, 100), 'cpu=samples,interval=1,sampler=walk'),
        'poll': ('ShortThreads', (300, 1000), 'cpu=samples,interval=1,sampler=poll'), 'native': ('ShortThreads', (300, 100), 'cpu=samples,interval=1,native=y'),
        'calls': ('ShortThreads', (300, 100), 'cpu=times'), 'counted calls': ('ShortThreads', (300, 100), 'cpu=times,times=counts')}


@test(level='plain', params=tuple(ENDS), plain_params=('threads', 'walk', 'poll', 'native', 'counted calls'))
def nothing_is_held_at_the_end(t, what):
    program, args, opts = ENDS[what]
    b = _run(t, 'b', program, *args, opts=opts)
    t.equal(b.faults(), [], 'blocks held at the end')
    kinds = {kind for kind, calls in b.live()}
    t.check({'heap', 'mapping'} <= kinds, 'only %s were counted' % kinds)


@test(level='plain')
def nothing_of_gz_is_held_at_the_end(t):
    """The compressor of every file of split=y, too, and of a file that fails."""
    lib = _counted(t)
    for name, file in (('files', 'x'), ('full', '/dev/full')):
        run = t.start('Burn', 600, 600, opts=None, agent='-agentpath:%s=cpu=samples,interval=1,dump=200ms,split=y,gz=y,file=%s' % (lib, file), env={'HPX_BALANCE': str(t.work / name)}).finish()
        t.equal(run.code, 0, 'exit code')
        b = balance.Balance(next(t.work.glob(name + '.[0-9]*')), lib)
        t.equal((b.complete, b.faults()), (True, []), 'complete, blocks held at the end')


@test(level='plain', params=('heap', 'jvmti'))
def a_planted_leak_is_seen(t, kind):
    found = _run(t, 'b', 'Hello', plant=kind).faults()
    t.equal(len(found), 1, 'held blocks: %s' % found)
    t.check(re.match('1 blocks, (1234|0) bytes of %s are still held: __wrap_hpx_callbacks_init@hooks.c' % kind, found[0]), found[0])


def _growth(t, plant=None, opts='cpu=samples'):
    """(owner, blocks, bytes) by which 4500 threads more that started and ended made the live blocks grow, largest first."""
    few, many = (_run(t, 'b%d' % n, 'ShortThreads', n, 0, plant=plant, opts=opts).live() for n in (500, 5000))
    grown = [(kind + ' ' + ' < '.join(calls), many[kind, calls][0] - few[kind, calls][0], many[kind, calls][1] - few[kind, calls][1]) for kind, calls in many]
    return sorted((g for g in grown if g[1] > 0 or g[2] > 0), key=lambda g: -g[2])


@test(params=('cpu=samples', 'heap=sites', 'heap=sites,sites=counts'))
def threads_that_ended_hold_their_records_alone(t, opts):
    """Blocks: a table grows by doubling, so by few; a state or ring that stayed would be thousands."""
    grown = _growth(t, opts=opts)
    t.check(sum(g[1] for g in grown) < 100, 'blocks that grew with the threads: %s' % grown[:5])
    t.check(sum(g[2] for g in grown) < 4500 * A_THREAD, 'bytes that grew with the threads: %s' % grown[:5])


@test()
def a_planted_leak_a_thread_is_seen(t):
    grown = _growth(t, plant='thread')
    t.check(grown and max(g[1] for g in grown) == 4500, 'no owner grew by a block a thread: %s' % grown[:5])


def _calls(pattern, text):
    return set(re.findall(pattern, text))


@test(level='plain', collectors='any', one_jdk=True)
def every_function_that_allocates_is_counted(t):
    """What the agent calls of libc and JVMTI, against what tests/balance wraps."""
    hands_out = set('malloc calloc realloc reallocarray strdup strndup asprintf vasprintf posix_memalign aligned_alloc memalign valloc pvalloc getline getdelim '
                    'mmap mmap64 mremap munmap free open_memstream getaddrinfo realpath getcwd scandir sem_open'.split())
    symbols = subprocess.run(['nm', '-D', '--undefined-only', str(t.env.agent)], capture_output=True, text=True, check=True).stdout
    called = {s.split('@')[0] for s in _calls(r' U (\S+)', symbols)} & hands_out
    t.check('calloc' in called, 'nm shows no calloc: %r' % symbols[:200])
    wraps = (AGENT.parent / 'tests' / 'balance' / 'wraps.c').read_text()
    t.equal(sorted(called - _calls(r'__wrap_(\w+)\(', wraps)), [], 'functions of libc that are not counted')
    # Of JVMTI: all that give back memory for Deallocate.
    gives = set('''Allocate GetAllThreads GetThreadInfo GetOwnedMonitorInfo GetOwnedMonitorStackDepthInfo GetTopThreadGroups GetThreadGroupInfo GetThreadGroupChildren
        GetAllStackTraces GetThreadListStackTraces GetObjectsWithTags GetLoadedClasses GetClassLoaderClasses GetClassSignature GetSourceFileName GetClassMethods
        GetClassFields GetImplementedInterfaces GetConstantPool GetSourceDebugExtension GetObjectMonitorUsage GetFieldName GetMethodName GetLineNumberTable
        GetLocalVariableTable GetBytecodes GetAllModules GetExtensionFunctions GetExtensionEvents GetSystemProperties GetSystemProperty GetErrorName
        GetJNIFunctionTable'''.split())
    used = _calls(r'->(\w+)\(', ''.join(p.read_text() for p in sorted(AGENT.rglob('*.c')) if p.parent.name != 'jvmpi')) & gives  # a library of its own
    t.check('GetMethodName' in used, 'no call of JVMTI found')
    counted = _calls(r'COUNT\((\w+)\)', (AGENT.parent / 'tests' / 'balance' / 'jvmti.c').read_text())
    t.equal(sorted(used - counted), [], 'functions of JVMTI that are not counted')
