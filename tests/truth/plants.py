# SPDX-License-Identifier: BSD-2-Clause
"""Defects that are planted: in the profile, before it is judged, and in the program, by an agent beside. Each must be found by the seeds of one plain run (planted)."""
from hprof_text import MONITOR_TIME, SAMPLES, SITES, TIMES, WAIT_TIME

OWN = ('Program', 'Account', 'Cpu', 'Blocked', 'Asleep', 'Noise', 'java.', 'jdk.', 'sun.', 'hprofx.')


def _own(method):
    return not method.startswith(OWN)


def _rows(p, title):
    return [(d, r) for d in p.dumps if d.title == title for r in d.rows]


def one_call_less(p):
    """In every row: of some methods the program does not tell."""
    for _, r in _rows(p, TIMES):
        if r.count > 1 and _own(r.method):
            r.count -= 1


def samples_of_one_class_halved(p):
    rows = [r for _, r in _rows(p, SAMPLES) if any(_own(f.method) for f in p.traces[r.trace].frames)]
    for r in rows:
        r.count //= 2


def _sites(p, mend):
    for d in p.lists:
        for r in d.rows:
            if r.objects > 1 and any(_own(f.method) for f in p.traces[r.trace].frames):
                mend(r)


def one_object_less(p):
    def mend(r):
        size = r.bytes // r.objects
        r.objects, r.bytes = r.objects - 1, r.bytes - size
    _sites(p, mend)


def estimates_doubled(p):
    def mend(r):
        r.objects, r.bytes = 2 * r.objects, 2 * r.bytes
    _sites(p, mend)


def one_block_twice(p):
    for d in p.dumps:
        if d.title in (MONITOR_TIME, WAIT_TIME):
            d.rows[:] = [r._replace(count=r.count + 1) for r in d.rows]


def waits_shown_as_half(p):
    for d in p.dumps:
        if d.title.startswith('WALL CLOCK'):
            for r in d.rows:
                r.count //= 2 if r.state in ('sleeping', 'waiting', 'parked', 'blocked') else 1


def objects_missing(p):
    for h in p.heaps:
        for i, o in list(h.objects.items()):
            if getattr(o, 'klass', None) and h.classes[o.klass].name == 'New$Kept':
                del h.objects[i]
                break


# name: (modes whose scenarios have it, what falsifies the profile)
PLANTS = {
    'samples': ('samples', samples_of_one_class_halved), 'times': ('times', one_call_less), 'sites': ('sites', one_object_less), 'counts': ('counts', one_object_less),
    'sampled': ('sampled', estimates_doubled), 'monitor': ('monitor', one_block_twice), 'wall': ('wall', waits_shown_as_half), 'dump': ('dump', objects_missing),
}

HARM = ('hang', 'code')  # of harm.c, an agent beside


def falsify(plant, modes, p):
    if plant in PLANTS and PLANTS[plant][0] in modes:
        PLANTS[plant][1](p)
