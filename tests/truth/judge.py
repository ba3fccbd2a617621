# SPDX-License-Identifier: BSD-2-Clause
"""The profile of a session held against what the program counted meanwhile. Each judge returns [(what, failure or None)]: what it judged, and what is wrong."""
import math
import re

import expect
from hprof_text import LOCK_TIME, MONITOR_TIME, SAMPLES, SITES, TIMES, UNKNOWN, WAIT_TIME
from text_lines import sum_by

TRUTH = re.compile(r'^truth (cpu|calls|callee|made|alive|work|result) (.+)$', re.M)


class Truth:
    """The accounts of some phases."""

    def __init__(self, text):
        self.text = text
        lines = [(m[1], m[2].split(' ')) for m in TRUTH.finditer(text)]
        self.calls = sum_by((w[0], int(w[1])) for kind, w in lines if kind == 'calls')
        self.callees = sum_by(((w[0], w[1]), int(w[2])) for kind, w in lines if kind == 'callee')
        self.cpu = {k: ns / 1e6 for k, ns in sum_by((w[0], int(w[1])) for kind, w in lines if kind == 'cpu').items()}
        self.made = sum_by(((w[0], w[1]), int(w[2])) for kind, w in lines if kind == 'made')
        self.alive = sum_by((w[0], int(w[1])) for kind, w in lines if kind == 'alive')
        self.kept = self.alive  # in the whole heap: by the phases before, too
        self.work = sum_by((w[0], int(w[1])) for kind, w in lines if kind == 'work')
        self.results = sorted(' '.join(w) for kind, w in lines if kind == 'result')
        self.blocks = [b for b in expect.known_blocks(text, 'truth block')]


class Spread(str):
    """A failure that chance or a busy machine may bring: the scenario is run once more."""


def _verdict(what, ok, text, kind=str):
    return what, None if ok else kind('%s: %s' % (what, text))


def _of_class(method, klass):
    """Whether the method is one of the activity's class, its nested classes or lambdas."""
    return method.startswith(klass) and method[len(klass):len(klass) + 1] in ('.', '$', '/')


def _number(text):
    return float(re.match(r'[0-9.]+', text)[0])


def _share(report, key):
    m = re.search(r'\(([0-9.]+) %\)', report.get(key, ''))
    return float(m[1]) / 100 if m else 0


def _option(agent, name, default=''):
    return next((o.split('=', 1)[1] for o in reversed(agent.split(',')) if o.startswith(name + '=')), default)


def times(s, p, truth):
    got, included = expect.calls(p), _option(s.agent, 'include')
    for method, n in sorted(truth.calls.items()):
        want = n if not included or _of_class(method, included) else 0
        lost = any('incomplete' in d.report for d in p.dumps)
        ok = got[method] == want or lost and got[method] < want
        yield _verdict('calls of %s' % method, ok, '%d, made %d' % (got[method], want))


    if int(_option(s.agent, 'depth', '4')) > 1 and not included:
        named = ' '.join(d.report.get('replaced by the VM', '') for d in p.dumps)
        for (method, caller), n in sorted(truth.callees.items()):
            made = sum(r.count for d in p.dumps if d.title == TIMES for r in d.rows if r.method == method and [f.method for f in p.traces[r.trace].frames[1:2]] == [caller])
            yield _verdict('calls of %s by %s' % (method, caller), made == n or made < n and (method in named or 'more' in named), '%d, made %d, and the report does not say why' % (made, n))


def _unnamed(p):
    """Samples that the report says have no name, for a reason: hprofx looks for such methods, which takes it a second."""
    return sum(int(v.split()[0]) for d in p.dumps for k, v in d.report.items() if k.startswith('without a name, '))


def _lasted(p):
    """ms"""
    return sum(int(m[2]) - int(m[1]) for m in (re.search(r'from (\d+) to (\d+) ms', d.report.get('profile', '')) for d in p.dumps) if m)


def samples(s, p, truth):
    report = p.report
    interval = float(_option(s.agent, 'interval', '10'))
    if not any(d.title == SAMPLES for d in p.dumps):
        return
    each = max(interval, _number(report['effective interval']) if 'effective interval' in report else interval)
    rows = [(r, p.traces[r.trace]) for d in p.dumps if d.title == SAMPLES for r in d.rows]
    # sampler=walk and poll ask a thread later than its CPU time was used: meanwhile it has gone on, or ended, which they say.
    late = ('drifted', 'thread_ended') if re.search('sampler=(walk|poll)', s.agent) or '-Xcheck:jni' in s.jvm else ()
    unread = sum(r.count for r, t in rows if any(f.method.startswith(UNKNOWN) and f.method.removeprefix(UNKNOWN) not in late for f in t.frames))
    stalled = interval * sum(r.count for r, t in rows if t.frames and t.frames[0].method == 'hprofx.stalled')
    total = sum(r.count for r, _ in rows)
    why = sum_by((next(f.method for f in t.frames if f.method.startswith(UNKNOWN)), r.count) for r, t in rows if any(f.method.startswith(UNKNOWN) for f in t.frames))
    allowed = 0.02 * total + 10 + min(_unnamed(p), total * min(1, 1500 / max(1, _lasted(p))))
    yield _verdict('samples without a name or a stack', unread <= allowed, '%d of %d: %s; %d declared to be without a name' % (unread, total, dict(why), _unnamed(p)), Spread)
    walk = 'AsyncGetCallTrace' not in report['sampler'] and 'raw walks' not in report['sampler']
    for klass, ms in sorted(truth.cpu.items()):
        got = interval * sum(r.count for r, t in rows if any(_of_class(f.method, klass) for f in t.frames))
        off = 4 * math.sqrt(max(ms, each) * each) + 0.04 * ms + 10 * each
        off *= 2 if walk else 1
        yield _verdict('CPU time of %s' % klass, -off - stalled - interval * unread <= got - ms <= off, '%.0f ms, used %.0f, +- %.0f, stalled %.0f, %d samples unread' % (got, ms, off, stalled, unread), Spread)


def _made(truth, how, depth):
    """By method and class, or by class alone. sites=counts knows the place and no caller; behind reflection the caller may be beyond the depth."""
    own = sum_by((('', klass), n) for (_, klass), n in truth.made.items() if klass[0].isupper())
    others = {k: n for k, n in truth.made.items() if not k[1][0].isupper() and k[0].startswith('New.')} if how == 'counts' else {k: n for k, n in truth.made.items() if not k[1][0].isupper()}
    return {**own, **others} if how == 'counts' or depth < 32 else dict(truth.made)


def _counted(rows, method, klass):
    """(objects, bytes)"""
    if method:
        found = expect.of_site(rows, method, klass)
        return found[0], found[2]
    found = [r for r, name, _ in rows if name == klass]
    return sum(r.objects for r in found), sum(r.bytes for r in found)


def sites(s, p, truth, version):
    if not p.lists:
        yield 'allocation sites', 'allocation sites: there is no list'
        return
    rows, how = expect.site_rows(p), _option(s.agent, 'sites')
    sampled = how == 'sampled'
    for (method, klass), n in sorted(_made(truth, how, int(_option(s.agent, 'depth', '4'))).items()):
        got, size = _counted(rows, method, klass)
        if sampled:
            each = float(_option(s.agent, 'sample').rstrip('k')) * 1024
            mean = size / got if got else 32
            k = max(1, n * mean / each)
            ok = abs(got - n) <= 4 * n / math.sqrt(k) + 4 * each / mean
        else:
            ok = got == n or version in (11, 12, 13, 14, 15, 16) and how == 'exact' and 0 <= n - got <= 4 + 0.01 * n  # docs/sites.md: what the event misses
        yield _verdict('%s of %s' % (klass, method or 'any method'), ok, '%d objects, made %d' % (got, n), Spread if sampled else str)
        if got and not sampled and not klass.endswith(']'):
            yield _verdict('bytes of %s' % klass, size % got == 0, '%d bytes of %d objects' % (size, got))
    if re.match(r'\d+ objects', p.report.get('live', '')) and how == 'exact':
        for klass, n in sorted(truth.alive.items()):
            got = sum(r.live for r, name, _ in rows if name == klass)
            yield _verdict('live %s' % klass, got == n, '%d, kept %d' % (got, n))


TABLES = {'blocked': MONITOR_TIME, 'waiting': WAIT_TIME, 'parked': LOCK_TIME}


def monitor(s, p, truth):
    asked = {'blocked': True, 'waiting': _option(s.agent, 'waits') == 'y', 'parked': _option(s.agent, 'locks') == 'y'}
    for state, title in TABLES.items():
        blocks = [b for b in truth.blocks if b.detail == state]
        if not asked[state] or not blocks or (state == 'parked' and any(b.thread == 'virtual' for b in blocks)):
            continue
        got, hidden = expect.blocked_in(p, title, {b.method for b in blocks}, lambda r, method, _: (method, r.name))
        for key, (count, ms, forced) in sorted(expect.of_blocks(blocks, lambda b: (b.method, b.klass)).items()):
            n, took = got.get(key, (0, 0))
            what = '%s in %s for %s' % ((state,) + key)
            if state != 'parked':
                yield _verdict('times ' + what, n == count, '%d, the program says %d' % (n, count))
            yield _verdict('ms ' + what, forced - hidden <= took <= ms + hidden, '%.2f, measured %.2f, forced %.2f' % (took, ms, forced), Spread)


def wall(s, p, truth, version):
    walls = [d for d in p.dumps if d.title.startswith('WALL CLOCK')]
    if not walls:
        yield 'WALL CLOCK', 'WALL CLOCK: there is none'
        return
    rows = [(r, [f.method for f in p.traces[r.trace].frames]) for d in walls for r in d.rows]
    looks = [float(ms) for ms in re.findall(r'(\S+) ms of', p.report.get('wall clock, time per look', ''))] or [float(_option(s.agent, 'wall'))]
    untold = any('wall clock, monitors not told' in d.report for d in p.dumps)
    blocks = [b for b in truth.blocks if b.thread != 'virtual']
    for key, (count, ms, forced) in sorted(expect.of_blocks(blocks, lambda b: (b.detail, b.method, '' if b.klass == '-' or untold and b.detail != 'parked' else b.klass)).items()):
        state, method, klass = key
        if state == 'io' and int(_option(s.agent, 'depth', '4')) < 16:
            continue  # a read from a socket is nine methods below
        got = sum(r.count for r, methods in rows if r.state == state and method in methods and (r.klass == klass or untold and state != 'parked'))
        off = 0.02 * ms + 5 * max(looks) * math.sqrt(2 * count / 6 + 1) + len(walls) * 2
        text = '%d ms, measured %.0f, forced %.0f, +- %.0f' % (got, ms, forced, off)
        yield _verdict('ms %s in %s%s' % (state, method, ' for ' + klass if klass else ''), forced - off <= got <= ms + off, text, Spread)


def dump(s, p, truth, heaps):
    """heaps: {class: objects} of the last one."""
    for klass, n in sorted(truth.kept.items()):
        yield _verdict('objects of %s in the heap' % klass, heaps.get(klass, 0) == n, '%d, kept %d' % (heaps.get(klass, 0), n))


# view: whether the file has rows for it
VIEWS = {
    'cpu': lambda p: any(d.rows for d in p.dumps if d.title == SAMPLES), 'times': lambda p: any(d.rows for d in p.dumps if d.title == TIMES),
    'alloc': lambda p: bool(p.lists and p.lists[-1].rows),
}


def shown(p, views):
    """What hprofx view makes of the file (views: {VIEW: its JSON}): all dumps of it."""
    def total(view, measure):
        return next((m['total'] for v in views[view]['views'] for m in v['measures'] if m['name'] == measure), 0)

    if 'cpu' in views:
        want = sum(d.total for d in p.dumps if d.title == SAMPLES)
        yield _verdict('samples that the command shows', total('cpu', 'samples') == want, '%d of %d' % (total('cpu', 'samples'), want))
    if 'times' in views:
        want = sum(r.count for d in p.dumps if d.title == TIMES for r in d.rows)
        yield _verdict('calls that the command shows', total('times', 'calls') == want, '%d of %d' % (total('times', 'calls'), want))
    if 'alloc' in views:
        want = sum(r.objects for r in p.lists[-1].rows)
        yield _verdict('objects that the command shows', total('alloc', 'alloc_objects') == want, '%d of %d' % (total('alloc', 'alloc_objects'), want))


def slower(s, truth, control):
    """Fixed work, in CPU time of its thread, against that without the agent. Wide: the machine is busy, and compiles as it likes."""
    slow = 5 if set(s.jvm) & {'-Xint', '-Xcomp', '-Xcheck:jni'} else 1
    included = _option(s.agent, 'include')
    for name, ns in sorted(truth.work.items()):
        counted = 'times' in s.modes and (not included or _of_class(name + '.', included))
        calls = sum(n for m, n in truth.calls.items() if _of_class(m, name)) + sum(n for (_, m), n in truth.callees.items() if _of_class(m, name)) if counted else 0
        objects = sum(n for (m, _), n in truth.made.items() if _of_class(m, name)) if set(s.modes) & {'sites', 'counts', 'dump'} else 0
        base = control.work[name]
        limit = 5 * base + slow * (2e8 + 1e4 * calls + 3e4 * objects)
        yield _verdict('work of %s' % name, ns <= limit, '%.0f ms, without the agent %.0f, at most %.0f' % (ns / 1e6, base / 1e6, limit / 1e6), Spread)


def session(s, p, truth, version):
    """All modes of the scenario."""
    found = []
    for mode in s.modes:
        if mode == 'times':
            found += times(s, p, truth)
        elif mode == 'samples':
            found += samples(s, p, truth)
        elif mode in ('sites', 'counts', 'sampled'):
            found += sites(s, p, truth, version)
        elif mode == 'monitor':
            found += monitor(s, p, truth)
        elif mode == 'wall':
            found += wall(s, p, truth, version)
        elif mode == 'dump' and p.heaps:
            h = p.heaps[-1]
            found += dump(s, p, truth, sum_by((h.classes[o.klass].name, 1) for o in h.objects.values() if getattr(o, 'klass', None)))
    return [(mode_of, text) for mode_of, text in found]
