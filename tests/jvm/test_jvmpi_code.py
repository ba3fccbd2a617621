# SPDX-License-Identifier: BSD-2-Clause
"""JVMPI: calls, their objects and exits, the hook, unloaded classes, references. tests/jvmpi/code.c tells what it gets."""
import re

import jvmpi_agent
from runner import test

GLOBAL_NEW, GLOBAL_FREE, WEAK_NEW, WEAK_FREE = 14, 15, 16, 17  # jvmpi.h


def _run(t, subject, options, jvm=(), env=None):
    code = jvmpi_agent.library(t, 'code')
    run = t.java('JvmpiCode', code, subject, agent=jvmpi_agent.shim(t, code, options), jvm=[*jvmpi_agent.checked(t), *jvm], env=env)
    t.equal(run.code, 0, 'exit code: %s' % run.err[-300:])
    t.equal(re.findall(r'^BAD .*', run.out, re.M), [], 'refused events')
    t.equal([line for line in run.err.splitlines() if line.startswith('hprofx')], [], 'messages')
    return run


def _calls(run):
    """The calls of the program's own classes but of main(), names without `JvmpiCode`."""
    lines = [line for line in run.out.splitlines() if re.match(r'(in|out) JvmpiCode', line) and 'main(' not in line]
    return [re.sub(r'JvmpiCode\$?\.?', '', re.sub(r'LJvmpiCode\$(\w+);', r'\1', line)) for line in lines]


def _made(kind, *chain):
    """A chain of constructors of one object, outermost first."""
    return ['in %s %s' % (c, kind) for c in chain], ['out ' + c for c in reversed(chain)]


def _whole(kind, *chain):
    begin, end = _made(kind, *chain)
    return begin + end


BASE, MIDDLE, LEAF = 'Base.<init>(I)V', 'Middle.<init>()V', 'Leaf.<init>()V'


def _objects():
    leaf = _whole('Leaf', LEAF, MIDDLE, BASE)
    used = ['in id(I)I none', 'out id(I)I']
    outer, end = _made('Middle', 'Middle.<init>(II)V')
    begin, close = _made('Leaf', 'Leaf.<init>(II)V', 'Middle.<init>(I)V')
    middle, closed = _made('Middle', 'Middle.<init>(I)V')
    return (['in objects()V none'] + leaf + ['in Leaf.virt(I)I Leaf'] * 2 + ['out Leaf.virt(I)I'] * 2 +
            middle + used + _whole('Middle', BASE) + closed +
            outer + _whole('Middle', MIDDLE, BASE) + _whole('Middle', 'Middle.<init>(Middle)V', MIDDLE, BASE) + end +
            leaf + _whole('Leaf$Inner', 'Leaf$Inner.<init>(Leaf)V') +
            begin + used + _whole('Leaf', BASE) + close +
            ['in Leaf.<init>(II)V Leaf'] +  # v / 0: it has no exit
            _whole('Base', BASE) + ['out objects()V'])


@test(collectors='any')
def entries_name_the_object_in_constructors_too(t):
    run = _run(t, 'objects', 'alloc,entry2,exit', jvm=['-Xverify:all'] if t.jdk.version < 13 else [])
    t.equal(_calls(run), _objects(), 'calls')


@test(collectors='any')
def exits_come_by_exception_too(t):
    run = _run(t, 'exceptions', 'entry,exit')
    t.equal(_calls(run), ['in exceptions()V'] + ['in thrower(I)V'] * 3 + ['out thrower(I)V'] * 3 +
            ['in id(I)I', 'out id(I)I', 'out exceptions()V'], 'calls')


@test(params=('java', 'throw'), collectors='any')
def handler_that_calls_java_or_throws_harms_nobody(t, how):
    run = _run(t, 'exceptions', 'entry,exit,%s' % how)
    t.equal(len([c for c in _calls(run) if 'thrower' in c]), 6, 'calls')


@test(params=('java', 'throw'), collectors='any')
def handler_of_an_allocation_that_allocates_or_throws_harms_nobody(t, how):
    run = _run(t, 'exceptions', 'alloc,%s' % how)
    t.check(int(re.search(r'^event 4: (\d+)$', run.out, re.M).group(1)) > 10, 'few allocations: %s' % run.out[-300:])


@test(collectors='any')
def class_of_the_hook_replaces_the_programs_also_with_probes(t):
    t.check('word replaced' in _run(t, 'hook', 'hook').out, 'the class is the old one')
    run = _run(t, 'hook', 'hook,entry,exit')
    t.check('word replaced' in run.out, 'probes took the class of the hook away')


@test(collectors='all')
def unloaded_classes_are_told(t):
    if (t.jdk.version, t.case.collector) == (11, 'ZGC'):
        t.skip('ZGC of JDK 11 unloads no classes')
    run = _run(t, 'unload', 'unload,entry,exit')
    told = int(re.search(r'^unloaded: (\d+)$', run.out, re.M).group(1))
    t.check(1 <= told <= 10, '%d of 10 classes were told' % told)


@test(collectors='any')
def references_made_by_jni_are_counted(t):
    run = _run(t, 'references', 'strong,weak')
    got = {int(e): int(n) for e, n in re.findall(r'^event (\d+): (\d+)$', run.out, re.M)}
    few = 10  # of the launcher, on JDK 8
    t.check(30 <= got.get(GLOBAL_NEW, 0) <= 30 + few, 'global references: %s' % got)
    t.check(10 <= got.get(GLOBAL_FREE, 0) <= 10 + few, 'freed: %s' % got)
    t.equal((got.get(WEAK_NEW), got.get(WEAK_FREE)), (30, 6), 'weak references')
