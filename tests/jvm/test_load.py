# SPDX-License-Identifier: BSD-2-Clause
"""Every way to load the agent at the start."""
from runner import test


def _paths(t):
    return {'LD_LIBRARY_PATH': '%s:%s' % (t.env.agent.parent, t.env.agent.parent / 'compat')}


@test(collectors='any', level='plain', params=('-agentlib:', '-Xrun'))
def by_name(t, way):
    t.profile('Hello', agent=way + ('hprofx=cpu=samples' if way == '-agentlib:' else 'hprofx:cpu=samples'), env=_paths(t), stdout='hi\n')


OLD_NAME = {'agentlib': '-agentlib:hprof=cpu=samples', 'xrun': '-Xrunhprof:cpu=samples'}


@test(collectors='any', level='plain', since=9, params=sorted(OLD_NAME))
def by_the_old_name(t, way):
    t.profile('Hello', agent=OLD_NAME[way], env=_paths(t), stdout='hi\n')


@test(collectors='any', level='plain', until=8)
def the_old_name_on_8_is_ours_by_path_alone(t):
    """JDK 8 ships the original and looks in its own folder first."""
    t.java('Hello', agent=OLD_NAME['agentlib'], env=_paths(t))
    t.equal('hprofx' in (t.work / 'java.hprof.txt').read_text('utf-8'), False, 'by name: ours')
    t.profile('Hello', agent='-agentpath:%s=cpu=samples' % (t.env.agent.parent / 'compat' / 'libhprof.so'), stdout='hi\n')


@test(collectors='any')
def by_java_tool_options(t):
    run, _ = t.profile('Hello', opts=None, env={'JAVA_TOOL_OPTIONS': t.agent('cpu=samples')}, stdout='hi\n')
    t.check('Picked up JAVA_TOOL_OPTIONS' in run.err, 'the JVM did not take JAVA_TOOL_OPTIONS')


def _twice(t, second, env=None):
    """The agent that stands first on the command line stays; the other says so in one sentence and leaves nothing."""
    run = t.java('HotSplit', 30, jvm=[t.agent('cpu=samples,interval=1,file=first.txt')], agent=second, env=env)
    t.complete(run, 0, 'done true\n')
    said = [ln for ln in run.err.splitlines() if 'twice' in ln or 'already' in ln]
    t.equal(len(said), 1, 'sentences about the second load (%s)' % run.err)
    t.check(t.output('first.txt').total > 0, 'the first has no samples')
    t.equal([f for f in t.files() if 'second' in f], [], 'files of the second')


@test(collectors='any', level='plain')
def twice_the_second_refuses_in_one_sentence(t):
    _twice(t, t.agent('cpu=samples,file=second.txt'))


@test(collectors='any')
def twice_by_path_and_by_the_old_name(t):
    old = '-agentpath:%s' % (t.env.agent.parent / 'compat' / 'libhprof.so') if t.jdk.version == 8 else '-agentlib:hprof'
    _twice(t, old + '=cpu=samples,file=second.txt', _paths(t))
