# SPDX-License-Identifier: BSD-2-Clause
"""hprofx diff with two runs of a program, in the second of which a method is slower."""
import json
import subprocess

from attached import of_build
from runner import test


def _pair(t, percent, samples, *conditions):
    """The second run needs `percent` more for one method. Both have about `samples` effective samples: without perf events a sample comes every tick only, and
    the runs are longer."""
    def run(name, more, ms):
        _, p = t.profile('Slower', more, ms, opts='cpu=samples,depth=8,interval=1,file=' + name, name=name)
        return int(p.report['effective samples'])
    ms, found = samples, run('a.txt', 0, samples)
    if found < 0.8 * samples:
        ms = int(samples * min(10, samples / max(found, 1)))
        run('a.txt', 0, ms)
    run('b.txt', percent, ms)
    asked = [x for c in conditions for x in ('--fail-if', c)]
    done = subprocess.run([of_build(t, 'hprofx'), 'diff', '--json', *asked, 'a.txt', 'b.txt'], capture_output=True, text=True, cwd=t.work, timeout=60)
    t.equal(done.stderr, '', 'stderr of hprofx diff')
    found = json.loads(done.stdout)
    t.equal(found['status'], done.returncode, 'status')
    return found, {c['condition']: c['result'] for c in found['conditions']}


@test(measures=True)
def a_method_that_takes_half_as_long_again(t):
    found, results = _pair(t, 50, 3000, 'Slower.hot +5%', 'Slower.rest +5%', 'nobody +5%')
    t.equal(results, {'Slower.hot +5%': 'fails', 'Slower.rest +5%': 'passes', 'nobody +5%': 'unsure'}, 'conditions (%s)' % found['conditions'])
    hot = next(m for m in found['methods'] if m['method'] == 'Slower.hot')
    t.check(hot['self']['changed'] and hot['self']['difference'] > 0.04, 'hot: %s' % hot)  # 30 % to 45/115

