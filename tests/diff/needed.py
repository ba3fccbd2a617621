#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""needed HPROFX: the table of bench/results/diff-needed.md. For a method with some share, and samples on each side: of 100 pairs of runs, how many fail --fail-if 'METHOD +5%'
where the share grew by 10 %, by 20 %, and how many pass it where nothing changed."""
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import runs

PAIRS = 100
HOT = 'app.Hot.spin'


def judge(hprofx, folder, seed, share, n, by):
    r = random.Random(seed)
    p = runs.Program(r, methods=60, share=share)
    names = []
    for side, q in (('a', p), ('b', p.with_share(HOT, share * (1 + by)) if by else p)):
        names.append(str(folder / ('%d-%s.txt' % (seed, side))))
        pathlib.Path(names[-1]).write_text(runs.text(q.draw(r, n)))
    done = subprocess.run([hprofx, 'diff', '--json', '--fail-if', 'Hot.spin +5%', *names], capture_output=True, text=True)
    for name in names:
        os.unlink(name)
    return json.loads(done.stdout)['conditions'][0]['result']


def main():
    hprofx = os.path.abspath(sys.argv[1])
    print('| share | samples on each side | unchanged: passes | grew by 10 %: fails | grew by 20 %: fails |\n| --- | --- | --- | --- | --- |')
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for share in (0.05, 0.1, 0.25, 0.5):
            for n in (2000, 5000, 10000, 20000, 50000, 100000):
                cells = []
                for by, wanted in ((0, 'passes'), (0.1, 'fails'), (0.2, 'fails')):
                    found = pool.map(lambda i: judge(hprofx, pathlib.Path(folder), i, share, n, by), range(PAIRS))
                    cells.append('%d %%' % (100 * sum(x == wanted for x in found) / PAIRS))
                print('| %.0f %% | %s | %s |' % (100 * share, format(n, ','), ' | '.join(cells)), flush=True)


if __name__ == '__main__':
    main()
