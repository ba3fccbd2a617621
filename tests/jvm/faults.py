# SPDX-License-Identifier: BSD-2-Clause
"""Faults of the agent's calls, and the preloaded library that makes them (native/faults.c)."""
import collections
import contextlib
import dataclasses
import mmap
import struct

import imports
from preload import preload

HEAD, PLAN, ROW = '2I', 'iiQQ', '32s2Q'  # struct control of native/faults.c
PLANS = 3


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    how: str
    k: int = 1
    onward: bool = False

    def plans(self):
        """What stands behind another failing call needs that one too."""
        own = (self.kind, self.k, self.onward, self.how)
        other = imports.BEHIND.get(self.kind)
        return [own] + ([(other[0], other[2], other[3], other[1])] if other else [])

    def text(self):
        return ','.join('%s:%d%s:%s' % (kind, k, '+' if onward else '', 'short' if how == 'short' else imports.number(how)) for kind, k, onward, how in self.plans())

    def __str__(self):
        return '%s %s at call %d%s' % (self.kind, self.how, self.k, ' and on' if self.onward else '')


class Control:
    """struct control of native/faults.c, while the program runs and after it."""

    def __init__(self, t, name='faults'):
        self.path = t.dir / name
        self.path.unlink(missing_ok=True)

    def environment(self, t, faults):
        return preload(t, 'faults', HPX_FAULTS_FILE=str(self.path), HPX_FAULTS=faults)

    @contextlib.contextmanager
    def map(self):
        with open(self.path, 'r+b') as f, mmap.mmap(f.fileno(), 0) as m:
            yield m

    @staticmethod
    def rows(m):
        at, n = struct.calcsize(HEAD) + PLANS * struct.calcsize(PLAN), struct.unpack_from(HEAD, m)[1]
        for i in range(n):
            place = at + i * struct.calcsize(ROW)
            name, calls, injected = struct.unpack_from(ROW, m, place)
            yield name.rstrip(b'\0').decode(), calls, injected, place

    def tally(self):
        """(Counter of calls, faults injected by kind)."""
        with self.map() as m:
            rows = list(self.rows(m))
        return collections.Counter({n: calls for n, calls, _, _ in rows}), collections.Counter({n: k for n, _, k, _ in rows})

    def arm(self, *faults):
        """From now on calls count, from 1."""
        plans = [p for f in faults for p in f.plans()]
        with self.map() as m:
            number = {}
            for i, (name, _, _, place) in enumerate(self.rows(m)):
                number[name] = i
                struct.pack_into('2Q', m, place + 32, 0, 0)
            for i in range(PLANS):
                kind, k, onward, how = plans[i] if i < len(plans) else (None, 0, False, 0)
                struct.pack_into(PLAN, m, struct.calcsize(HEAD) + i * struct.calcsize(PLAN), number.get(kind, -1), imports.number(how) if kind else 0, k, onward)
            struct.pack_into('I', m, 0, 1)

    def disarm(self):
        with self.map() as m:
            struct.pack_into('I', m, 0, 0)
