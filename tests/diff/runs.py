# SPDX-License-Identifier: BSD-2-Clause
"""Profiles of a made-up program, drawn at random: what the tests of hprofx diff compare.

A program has methods with shares as Zipf's law has them, each behind a path of callers. A run of it draws samples from these shares, and is written as a text
HPROF file. Everything comes from a random.Random, so a seed repeats it."""
import collections
import itertools
import math

DATE = 'Wed Nov 25 12:00:00 2026'


class Program:
    """`hot` is a method whose total is `share` of the samples, half of it its own; the others share the rest."""
    def __init__(self, random, methods=200, share=0.25):
        self.stacks, self.weights = [], []
        weights = [1 / (rank + 1) for rank in range(methods)]
        scale = (1 - share) / sum(weights)
        for i, weight in enumerate(weights):
            service = 'app.Service%d.handle' % random.randrange(12)
            inner = ['app.part%d.Step%d.run' % (random.randrange(9), random.randrange(40)) for _ in range(random.randrange(4))]
            self.add(['app.Main.main', service] + inner + ['app.leaf.Work%d.work' % i], weight * scale)
        for part, leaf in ((0.5, None), (0.3, 'app.leaf.Hash.mix'), (0.2, 'app.leaf.Hash.fold')):
            self.add(['app.Main.main', 'app.Service0.handle', 'app.Hot.spin'] + ([leaf] if leaf else []), share * part)

    def add(self, stack, weight):
        self.stacks.append(tuple(stack))
        self.weights.append(weight)

    def slower(self, method, by):
        """The same program, in which everything with this method takes 1 + by times as long."""
        other = Program.__new__(Program)
        other.stacks = self.stacks
        other.weights = [w * (1 + by) if method in s else w for s, w in zip(self.stacks, self.weights)]
        return other

    def noisy(self, random, sigma):
        """As one run of it is: each leaf is slower or faster than usual."""
        other = Program.__new__(Program)
        other.stacks = self.stacks
        off = collections.defaultdict(lambda: math.exp(random.gauss(0, sigma)))
        other.weights = [w * off[s[2] if len(s) > 2 and s[2] == 'app.Hot.spin' else s[-1]] for s, w in zip(self.stacks, self.weights)]
        return other

    def share(self, method):
        return sum(w for s, w in zip(self.stacks, self.weights) if method in s) / sum(self.weights)

    def with_share(self, method, share):
        """The same program, in which everything with this method has `share` of the samples."""
        now = self.share(method)
        return self.slower(method, share * (1 - now) / (now * (1 - share)) - 1)

    def draw(self, random, n):
        """stack -> samples"""
        return collections.Counter(random.choices(self.stacks, cum_weights=list(itertools.accumulate(self.weights)), k=n))


def text(counts, table='CPU SAMPLES', heaviness=1, report=''):
    """A text HPROF file. heaviness: how many intervals a sample stands for; the report then has the effective samples."""
    rows = sorted(counts.items(), key=lambda x: (-x[1], x[0]))
    n = sum(counts.values())
    lines = ['JAVA PROFILE 1.0.1, created %s' % DATE, '', '--------', '', 'THREAD START (obj=50000100, id = 200001, name="main", group="main")']
    for i, (stack, _) in enumerate(rows):
        lines += ['TRACE %d:' % (300001 + i)] + ['\t%s(%s.java:%d)' % (m, m.split('.')[-2], 10 + k) for k, m in enumerate(reversed(stack))]
    total = n * heaviness
    lines += ['%s BEGIN (total = %d) %s' % (table, total, DATE), 'rank   self  accum   count trace method']
    accumulated = 0
    for i, (stack, count) in enumerate(rows):
        accumulated += count
        lines.append('%4d %5.2f%% %5.2f%% %7d %d %s' % (i + 1, 100 * count / n, 100 * accumulated / n, count * heaviness, 300001 + i, stack[-1]))
    lines += ['%s END' % table]
    if heaviness > 1:
        lines.append('hprofx: effective samples: %d' % n)
    return '\n'.join(lines + ([report] if report else [])) + '\n'


def sites(counts, size=24, report=''):
    """Allocations: every sample an object of byte[]."""
    rows = sorted(counts.items(), key=lambda x: (-x[1], x[0]))
    n = sum(counts.values())
    lines = text(counts).split('CPU SAMPLES BEGIN')[0].splitlines()
    lines += ["SITES BEGIN (ordered by live bytes) %s" % DATE, "          percent          live          alloc'ed  stack class",
              ' rank   self  accum     bytes objs     bytes  objs trace name']
    accumulated = 0
    for i, (_, count) in enumerate(rows):
        accumulated += count
        lines.append('%5d %5.2f%% %5.2f%% %9d %4d %9d %5d %d byte[]' % (i + 1, 100 * count / n, 100 * accumulated / n, count * size, count, count * size, count, 300001 + i))
    return '\n'.join(lines + ['SITES END'] + ([report] if report else [])) + '\n'
