# SPDX-License-Identifier: BSD-2-Clause
"""JVMPI: heap dumps, object dumps and monitor dumps. tests/jvmpi/dump.c reads them by the manual and compares them with what JNI says."""
import collections
import re

import jvmpi_agent
from heap_view import View
from runner import test

SUBJECTS = ('heaps', 'roots', 'monitors')


def _dump(t, *subjects, jvm=(), **kw):
    agent = jvmpi_agent.library(t, 'dump')
    owned = '-Downed=%s' % str(not 9 <= t.jdk.version <= 15).lower()  # there the VM tells owned monitors only at the cost of its compiler's work
    return t.java('JvmpiDump', agent, *subjects, jvm=[*jvmpi_agent.checked(t), owned, *jvm], **kw)


def _sound(t, run, subjects):
    t.equal(run.code, 0, 'exit code: %s' % run.err[-300:])
    t.equal(re.findall(r'^BAD .*', run.out, re.M), [], 'checks that failed')
    t.equal(re.findall(r'^done (\w+)$', run.out, re.M), list(subjects), 'subjects that were checked')
    t.equal([line for line in run.err.splitlines() if line.startswith('hprofx: jvmpi')], [], 'messages')
    # JDK 8 warns of its own launcher too, without a frame of Java.
    t.equal(re.findall(r'WARNING in native method.*\n\s+at.*|.*JNI local refs.*', run.out), [], '-Xcheck:jni')


@test(params=SUBJECTS, collectors='all')
def dump_says_what_jni_says(t, name):
    _sound(t, _dump(t, name, agent=jvmpi_agent.shim(t, jvmpi_agent.library(t, 'dump'))), [name])


@test(since=21, collectors='any')
def virtual_threads_stand_in_a_dump(t):
    """Mounted, unmounted and waiting ones: their frames are roots, and their objects are in the dump once."""
    dump = jvmpi_agent.library(t, 'dump')
    run = t.java('JvmpiDumpVirtual', dump, agent=jvmpi_agent.shim(t, dump), jvm=[*jvmpi_agent.checked(t), '-Djdk.virtualThreadScheduler.parallelism=4'])
    _sound(t, run, ['virtual'])
    t.equal([int(n) for n in re.findall(r'^of JvmpiDumpVirtual\$Held: (\d+)$', run.out, re.M)], [3], 'objects of virtual threads')


@test(since=28, collectors='any')
def values_have_no_dump(t):
    """With value classes (--enable-preview) equal objects would have one id: no dump, one line, and the agent goes on."""
    run = t.java('JvmpiFib', 1, agent=jvmpi_agent.shim(t, jvmpi_agent.library(t, 'hprof99'), 'heap=sites'), jvm=['--enable-preview'])
    t.equal(run.code, 0, 'exit code: %s' % run.err[-300:])
    t.check('hprofx: jvmpi: there is no heap dump: objects of value classes' in run.err, 'no line that says why: %s' % run.err[-500:])


LETTERS = dict(zip(('boolean', 'char', 'float', 'double', 'byte', 'short', 'int', 'long'), 'ZCFDBSIJ'))


def _name(name):
    """A class's name in our dumps -> as Class.getName() has it."""
    element = name.replace('[]', '')
    if element == name:
        return name
    return '[' * name.count('[]') + LETTERS.get(element, 'L%s;' % element)


@test(collectors='any')
def level_2_has_the_objects_of_our_binary_dump(t):
    """Both agents are in one JVM. The program's own objects are the same; those of the JDK are, but for what runs between the dumps."""
    jvmpi_agent.build(t)
    run = _dump(t, 'counts', opts='heap=dump,format=b,heapdump=walk', jvm=['-agentpath:%s' % jvmpi_agent.shim(t, jvmpi_agent.library(t, 'dump')).split(':', 1)[1]])
    _sound(t, run, ['counts'])
    told = collections.Counter({n: int(c) for n, c in re.findall(r'^of (.+): (\d+)$', run.out, re.M)})
    v = View(t.binary(t.work / 'java.hprof'))
    ours = collections.Counter(_name(v.classes[o.klass].name) if hasattr(o, 'klass') else '[' + 'ZCFDBSIJ'[o.type - 4] for o in v.objects.values())
    own = {n for n in told | ours if 'JvmpiDump' in n}
    t.equal({n: told[n] for n in own}, {n: ours[n] for n in own}, "objects of the program's classes")
    t.equal([told['JvmpiDump$' + n] for n in ('Cell', 'Base', 'Empty')], [2, 0, 1], 'known instances')
    t.equal(told['[LJvmpiDump$Cell;'], 3, 'arrays of cells')
    far = {n: (told[n], ours[n]) for n in (told | ours).keys() if n != 'classes' and abs(told[n] - ours[n]) > max(20, ours[n] // 8)}
    t.equal(far, {}, 'classes whose objects differ by more than the end of a program explains')
    t.check(-20 < len(v.classes) - told['classes'] < 200, 'classes: %d and %d' % (told['classes'], len(v.classes)))
    t.check(sum(1 for n in told if told[n] == ours[n]) > len(ours) * 0.8, 'few classes have equal counts')
