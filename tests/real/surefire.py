# SPDX-License-Identifier: BSD-2-Clause
"""mvn test with argLine: Surefire runs the tests of surefire/ in two JVMs, without the agent and under it."""
import shutil
import xml.etree.ElementTree

import build
import fetched
import judged
from harness import OURS

COMPILER = 'org.apache.maven.plugins:maven-compiler-plugin:3.16.0'
SUREFIRE = 'org.apache.maven.plugins:maven-surefire-plugin:3.6.1'
JUNIT = 'org.junit.jupiter:junit-jupiter:6.1.3'
FORKS = 2


def _mvn(t, folder, *words):
    """A run of Maven on the JDK under test, without what only shows how far it is."""
    if not shutil.which('mvn'):
        t.skip('no mvn')
    cmd = ['mvn', '-B', '-Dstyle.color=never', '-Dmaven.repo.local=%s' % (fetched.FOLDER / 'repository'), *words]
    return t.start_command(cmd, env={**build.clean_environment(), 'JAVA_HOME': str(t.jdk.home)}, cwd=folder).finish()


def _results(folder):
    """{test: (outcome, what it printed)}"""
    found = {}
    for file in (folder / 'target' / 'surefire-reports').glob('TEST-*.xml'):
        for case in xml.etree.ElementTree.parse(file).iter('testcase'):
            printed = '\n'.join(e.text for e in case if e.tag in ('system-out', 'system-err'))
            found[case.get('classname'), case.get('name')] = ('failure' if case.find('failure') is not None else 'ok', printed)
    return found


def _lines(run):
    return {judged.VARIES.sub('#', ln) for ln in run.out.splitlines() if not OURS.match(ln) and 'Total time:' not in ln}


def project(t, folder):
    """Compiles the tests; they and the plugins are fetched by it."""
    sources = folder / 'src' / 'test' / 'java'
    sources.mkdir(parents=True)
    for file in (fetched.HERE / 'surefire').glob('*.java'):
        shutil.copy(file, sources)
    text = fetched.pom((JUNIT,)).replace('</project>', '<properties><maven.compiler.release>17</maven.compiler.release><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>'
                                         '</properties></project>')
    (folder / 'pom.xml').write_text(text)
    run = _mvn(t, folder, '-q', COMPILER + ':testCompile')
    if run.code != 0:
        t.skip('not fetched: %s' % (run.out + run.err)[:300])


def compare(t, options):
    folder = t.work / 'project'
    project(t, folder)
    seen = []
    for opts in (None, options):
        shutil.rmtree(folder / 'target' / 'surefire-reports', ignore_errors=True)
        line = [] if opts is None else ['-DargLine=%s' % t.agent('%s,file=%s/${surefire.forkNumber}.txt' % (opts, t.work))]
        run = _mvn(t, folder, SUREFIRE + ':test', '-DforkCount=%d' % FORKS, *line)
        seen.append((run.code, _results(folder), _lines(run)))
    (code, results, lines), (code_under, results_under, lines_under) = seen
    t.check(len(results) == 10, 'tests: %s (%s)' % (sorted(results), (run.out + run.err)[-500:]))
    t.equal((code_under, results_under), (code, results), 'status and results')
    t.equal(sorted(lines_under - lines), [], 'lines of Maven that are not there without the agent')
    files = [t.work / ('%d.txt' % (n + 1)) for n in range(FORKS)]
    return 'status %d, unknown %.2f %%' % (code, 100 * judged.profiles(t, files))
