# SPDX-License-Identifier: BSD-2-Clause
"""Each collector under a program that allocates, locks and collects on several threads; the JVM's own checks; interpreter and single compilers."""
import re

from runner import test

OPTS = 'cpu=samples,interval=1,thread=y,depth=20,cutoff=0'


@test(level='plain', collectors='all')
def collections_while_sampling(t):
    # Most samples without a stack are of the first second, while methods are compiled; a sanitizer makes that longer, so there the rest is longer, too.
    rounds = 1500 if t.env.sanitized else 300 if t.level == 'plain' else 500
    plain = t.java('Gc', 4, rounds, opts=None, jvm=['-Xmx128m'])
    t.equal(plain.code, 0, 'exit code without the agent')
    _, p = t.profile('Gc', 4, rounds, opts=OPTS, jvm=['-Xmx128m'], stdout=plain.out)
    by_name = {p.names[s]: c for s, c in p.by_thread().items() if s in p.names}
    t.check(all(by_name.get('gc-%d' % i, 0) > 0 for i in range(4)), 'samples by thread: %s' % by_name)
    t.check(p.unknown() <= 0.1 * p.total, '%d of %d samples could not be walked' % (p.unknown(), p.total))


@test(level='plain', collectors='all')
def every_end_with_each_collector(t):
    for how, code in (('exit', 6), ('halt', 5), ('return', 0)):
        t.profile('Ends', how, code=code, stdout='ready\n')


MODES = {'check-jni': ['-Xcheck:jni'], 'int': ['-Xint'], 'c1': ['-XX:TieredStopAtLevel=1'], 'c2': ['-XX:-TieredCompilation'], 'comp': ['-Xcomp'],
         'noinline': ['-XX:-Inline'], 'nooops': ['-XX:-UseCompressedOops'], 'zombies': ['-XX:ReservedCodeCacheSize=4m', '-XX:+UseCodeCacheFlushing']}

OF_A_COMPILER = ('c1', 'c2', 'comp', 'noinline', 'zombies')


CHECKED = ('cpu=samples,interval=1', 'cpu=samples,interval=1,sampler=asgct', 'cpu=samples,sampler=poll', 'cpu=times', 'cpu=times,times=sampled', 'heap=sites', 'heap=sites,sites=counts', 'heap=dump',
           'monitor=y,locks=y,waits=y', 'wall=20')


@test(params=CHECKED, plain_params=CHECKED[:1] + CHECKED[5:6], level='plain', collectors='any')
def with_check_jni_nothing_of_ours_is_on_stdout(t, mode):
    """The VM would report handlers of faults that are not its own. JDK 8 warns of its own launcher."""
    if 'counts' in mode and t.jdk.version < 11:
        t.skip('sites=counts is tested from JDK 11 on')
    plain = t.java('HotSplit', 100, opts=None, jvm=['-Xcheck:jni'])
    run = t.java('HotSplit', 100, opts=mode + ',cutoff=0', jvm=['-Xcheck:jni'])
    t.equal((run.code, run.out), (plain.code, plain.out), 'exit code and stdout')
    t.check('WARNING' not in run.err and 'FATAL' not in run.err, 'the JVM warns: %s' % run.err)
    p = t.output()
    if 'poll' not in mode and t.jdk.has('hotspot') and t.jdk.kind != 'zero':
        said = ['hprofx: cpu=samples: AsyncGetCallTrace may fault, and -Xcheck:jni reports handlers of faults; using sampler=walk instead']
        t.equal([ln for ln in run.err.splitlines() if 'Xcheck' in ln], said if 'cpu=samples' in mode or 'wall' in mode else [], 'lines about it')
    if mode == 'heap=sites':
        t.equal(p.report.get('stacks of events not walked'), '-Xcheck:jni reports handlers of faults', 'the report')


@test(params=sorted(MODES), plain_params=('check-jni', 'int'), level='plain')
def jvm_mode(t, mode):
    if mode in OF_A_COMPILER and not t.jdk.has('jit'):
        t.skip('this VM has no compiler')
    program = ['HotSplit', 100 if mode != 'int' else 15]
    # JDK 8 warns of its own launcher under -Xcheck:jni.
    plain = t.java(*program, opts=None, jvm=MODES[mode]).out if mode == 'check-jni' else 'done true\n'
    run, p = t.profile(*program, opts=OPTS, jvm=MODES[mode])
    t.equal(run.out, plain, 'stdout')
    t.check('WARNING' not in run.err and 'FATAL' not in run.out + run.err, 'the JVM warns')
    t.equal(plain.splitlines()[-1], 'done true', 'stdout without the agent')
    c = p.innermost_of(['HotSplit.hotA', 'HotSplit.hotB', 'HotSplit.hotC'])
    t.check(c['HotSplit.hotA'] > c['HotSplit.hotB'] > c['HotSplit.hotC'] > 0, 'samples: %s' % c)


@test(params=('check-jni', 'c2', 'comp', 'zombies'), since=17, needs=('jit',))
def jvm_mode_with_much_of_everything(t, mode):
    plain = t.java('Gc', 3, 40, opts=None, jvm=MODES[mode])
    run, _ = t.profile('Gc', 3, 40, opts=OPTS, jvm=MODES[mode])
    if mode != 'zombies':  # the VM may say that its code cache is full
        t.equal(run.out, plain.out, 'stdout')
    t.check('WARNING' not in run.out + run.err or mode == 'zombies', 'the JVM warns')
    run, _ = t.profile('Modern', 50, opts=OPTS, jvm=MODES[mode])
    t.equal(run.out, 'done\n', 'stdout')
    t.check('WARNING' not in run.out + run.err or mode == 'zombies', 'the JVM warns')
