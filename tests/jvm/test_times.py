# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times: exact counts of programs that know them; classes that look as they are."""
import collections
import re

from runner import test

CASES = ('recursion', 'exceptions', 'lambdas', 'kinds', 'indirect', 'threads', 'storms')
EXACT = 'cpu=times,cutoff=0'



def _expected(run):
    return {m: int(n) for m, n in re.findall(r'^expect (\S+) (\d+)$', run.out, re.M)}


def _counts(p):
    """Calls by method, lambda bodies under the method that they were written in."""
    c = collections.Counter()
    for r in p.rows:
        c[re.sub(r'(\.lambda\$\w+)\$\d+$', r'\1', r.method)] += r.count
    return c


def _exact(t, p, run):
    got, want = _counts(p), _expected(run)
    t.check(want, 'the program expects nothing')
    wrong = {m: (got[m], n) for m, n in want.items() if got[m] != n}
    t.check(not wrong, 'calls counted and made: %s' % wrong)


@test(level='quick', params=CASES, quick_params=('recursion', 'exceptions', 'kinds'))
def counts_are_exact(t, case):
    run, p = t.profile('Count', case, opts=EXACT)
    t.equal(p.sections, ['CPU TIME (ms)'], 'sections')
    _exact(t, p, run)
