# SPDX-License-Identifier: BSD-2-Clause
"""A JVM under valgrind's memcheck: neither the agent, nor the VM on its behalf, touches memory that has been freed, or what lies beside a
block. Sanitizers see the agent's own instructions only. The VM interprets: memcheck does not follow code that a compiler changes while it runs."""
import re
import shutil

from attached import Program, does, of_build
from runner import test

JVM = ('-Xint', '-XX:+UseSerialGC', '-XX:-UsePerfData')


def _memcheck(t, log):
    if shutil.which('valgrind') is None:
        t.skip('no valgrind')
    return ('valgrind', '--undef-value-errors=no', '--smc-check=all-non-file', '--freelist-vol=400000000', '--fair-sched=yes', '--vgdb=no', '--error-limit=no',
            '--num-callers=25', '--log-file=%s' % log)


def _touched(log):
    """The VM touches pages below its stacks on purpose: only what is said of a block counts. The loader reads names by eight bytes."""
    records = re.split(r'\n==\d+== \n', log.read_text('utf-8', 'replace'))
    return [re.sub(r'==\d+== ', '', r) for r in records if 'Invalid ' in r and re.search("free'd|(?:after|before) a block", r) and 'dl-load.c' not in r]


def _sees_a_planted_one(t):
    log = t.work / 'planted.log'
    p = Program(t, jvm=JVM, prefix=_memcheck(t, log), agent='-agentpath:%s=use_after_free' % of_build(t, 'tests/planted/libplanted_agent.so'))
    p.end(t)
    t.check(any('on_vm_init' in r for r in _touched(log)), 'the planted bug is reported')


def _sessions(t, options):
    log = t.work / 'memcheck.log'
    p = Program(t, jvm=JVM, prefix=_memcheck(t, log))
    for i in range(3):
        p.tell('threads 10')
        does(t, 'start', '-o', t.work / ('%d.txt' % i), p.run.pid, options)
        p.tell('make 3000')
        p.tell('burn 50 10')
        does(t, 'stop', p.run.pid)
        p.tell('threads 0')
    p.end(t)
    t.equal(_touched(log), [], 'accesses to freed memory or beside a block')


@test(timeout=240, one_jdk=True, collectors=('Serial',), since=17)
def sessions_touch_no_freed_memory(t):
    _sees_a_planted_one(t)
    _sessions(t, 'cpu=samples,wall=20,monitor=y,heap=sites,sites=sampled,sample=1k')


@test(level='long', timeout=240, collectors=('Serial',), params=('heap=sites', 'cpu=times,include=Attached', 'heap=all', 'cpu=samples,sampler=walk'))
def nor_do_those_of_other_modes(t, options):
    _sessions(t, options)
