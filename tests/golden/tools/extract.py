#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Reduce an HPROF output (text or binary, may be .gz) to canonical, comparable facts about the application classes.

usage: extract.py [--no-mirrors] FILE PREFIX[,PREFIX...]     PREFIX: class-name prefixes of the test program, e.g. Alloc
--no-mirrors: the output does not charge class mirrors to sites (ours), so nothing is to be subtracted.

Prints lines, sorted inside each kind, that do not depend on ids, serial numbers, JDK-internal classes or order of ties:
  THREAD  start/end of application threads, in order            (deterministic)
  SITE    rows whose innermost frame is in the application       (deterministic if the program collects before the end)
  COUNT   cpu=old rows between application methods               (counts deterministic)
  TIME    cpu=times rows of application methods                  (counts deterministic; ms and presence statistical)
  SAMPLE  share of samples per application method                (statistical)
  HEAP    objects reachable from application statics             (deterministic)
  INST    number and size of application instances               (deterministic if collected; unreachable ones included)
  MON     monitor blocks, thread states                          (deterministic)
  WAIT    WAIT/WAITED lines                                      (order per thread deterministic, times statistical)
Known defects of the original are made neutral: SITE rows of arrays that include the array class mirror (544 bytes, 1 object)
are printed without it; object arrays show the last non-null index and the object size, not nelems.
"""
import sys, re, gzip, struct, collections

AGENT = re.compile(r'^(HPROF |hprofx|DestroyJavaVM|Signal Dispatcher|Finalizer|Reference Handler|Common-Cleaner|Notification Thread|main$)')


def app(name, pre):
    return any(name == p or name.startswith(p + '.') or name.startswith(p + '$') or name.startswith(p + '[') for p in pre)


class Dump:  # common model
    def __init__(s):
        s.tr = {}; s.threads = []; s.tname = {}; s.sites = []; s.samples = []; s.times = []; s.old = []; s.obj = {}; s.cls = {}; s.mon = []; s.status = []; s.wait = []; s.roots = []; s.sections = []


def parse_text(t):
    d = Dump(); i = t.find('\n--------\n'); lines = (t[i + 10:] if i >= 0 else t).split('\n'); mode = None; cur = None; trace = None; mon = None
    for ln in lines:
        m = re.match(r'TRACE (\d+):(?: \(thread=(\d+)\))?', ln)
        if m: trace = [int(m.group(1)), int(m.group(2) or 0), []]; d.tr[trace[0]] = trace; continue
        if trace and ln.startswith('\t') and mode is None:
            if ln != '\t<empty>': trace[2].append(ln[1:])
            continue
        trace = None
        m = re.match(r'THREAD START \(obj=([0-9a-f]+), id = (\d+), name="(.*)", group="(.*)"\)$', ln, re.S)
        if m and mode is None: d.tname[int(m.group(2))] = m.group(3); d.threads.append(('start', int(m.group(2)), m.group(3), m.group(4))); continue
        m = re.match(r'THREAD END \(id = (\d+)\)', ln)
        if m and mode is None: d.threads.append(('end', int(m.group(1)), d.tname.get(int(m.group(1)), '?'), '')); continue
        m = re.match(r'(WAIT|WAITED): MONITOR (\S+), (timeout|time_waited)=(-?\d+), thread (\d+)', ln)
        if m: d.wait.append((m.group(1), m.group(2), int(m.group(4)), int(m.group(5)))); continue
        m = re.match(r'(SITES|CPU SAMPLES|CPU TIME \(ms\)|HEAP DUMP|MONITOR DUMP|MONITOR TIME) (BEGIN|END)', ln)
        if m: mode = m.group(1) if m.group(2) == 'BEGIN' else None; cur = None; mon = None; d.sections += [m.group(1)] if mode else []; continue
        if ln == 'count callee caller time': mode = 'OLD'; d.sections.append('OLD'); continue
        if mode == 'SITES':
            m = re.match(r'\s*\d+\s+\S+%\s+\S+%\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+) (.*)$', ln)
            if m: d.sites.append((m.group(6), int(m.group(5)), *[int(m.group(k)) for k in (1, 2, 3, 4)]))
        elif mode in ('CPU SAMPLES', 'CPU TIME (ms)'):
            m = re.match(r'\s*\d+\s+(\S+)%\s+\S+%\s+(\d+)\s+(\d+) (.*)$', ln)
            if m: (d.samples if mode == 'CPU SAMPLES' else d.times).append((m.group(4), int(m.group(2)), int(m.group(3)), float(m.group(1))))
        elif mode == 'OLD':
            m = re.match(r'(\d+) (<unknown callee>|\S+) (<unknown caller>|\S+) (-?\d+)$', ln)
            if m: d.old.append((int(m.group(1)), m.group(2), m.group(3), int(m.group(4))))
        elif mode == 'MONITOR DUMP':
            m = re.match(r'    THREAD (\d+), trace (\d+), status: (.*)', ln)
            if m: d.status.append((int(m.group(1)), int(m.group(2)), m.group(3))); continue
            m = re.match(r'    MONITOR (\S+)( unowned)?', ln)
            if m: mon = [m.group(1), None, 0, [], []]; d.mon.append(mon); continue
            m = re.match(r'\towner: thread (\d+), entry count: (\d+)', ln)
            if m: mon[1], mon[2] = int(m.group(1)), int(m.group(2)); continue
            m = re.match(r'\twaiting to (enter|be notified):(.*)', ln)
            if m: mon[3 if m.group(1) == 'enter' else 4] = [int(x) for x in re.findall(r'thread (\d+)', m.group(2))]
        elif mode == 'HEAP DUMP':
            m = re.match(r'OBJ ([0-9a-f]+) \(sz=(\d+), trace=(\d+), class=(.*)@([0-9a-f]+)\)', ln)
            if m: cur = dict(k='OBJ', sz=int(m.group(2)), tr=int(m.group(3)), c=m.group(4), f={}); d.obj[m.group(1)] = cur; continue
            m = re.match(r'ARR ([0-9a-f]+) \(sz=(\d+), trace=(\d+), nelems=(\d+), elem type=([^@]*)(@[0-9a-f]+)?\)', ln)
            if m: cur = dict(k='ARR' if m.group(6) else 'PRIM', sz=int(m.group(2)), tr=int(m.group(3)), n=int(m.group(4)), c=m.group(5), f={}, v=None); d.obj[m.group(1)] = cur; continue
            m = re.match(r'CLS ([0-9a-f]+) \(name=(.*), trace=(\d+)\)', ln)
            if m: cur = dict(k='CLS', c=m.group(2), f={}, super=None); d.cls[m.group(1)] = cur; continue
            m = re.match(r'ROOT ([0-9a-f]+) \(kind=<([^>]*)>', ln)
            if m: d.roots.append(m.group(2)); continue
            if cur is None: continue
            m = re.match(r'\t(static (\S+)|super|loader|signers|domain|constant pool entry \d+|\[(\d+)\]|([^\t]+))\t+([0-9a-f]+)$', ln)
            if m:
                if m.group(2): cur['f'][m.group(2)] = m.group(5)
                elif m.group(3): cur['f'][int(m.group(3))] = m.group(5)
                elif cur['k'] == 'OBJ': cur['f'][m.group(1)] = m.group(5)
                elif m.group(1) == 'super': cur['super'] = m.group(5)
    return d


SZ = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
TN = {2: 'object', 4: 'boolean', 5: 'char', 6: 'float', 7: 'double', 8: 'byte', 9: 'short', 10: 'int', 11: 'long'}


class R:  # a binary file
    def __init__(s, b): s.b, s.p, s.ids = b, 0, 4
    def raw(s, n):
        if s.p + n > len(s.b): raise EOFError('truncated at %d (+%d of %d)' % (s.p, n, len(s.b)))
        v = s.b[s.p:s.p + n]; s.p += n; return v
    def u1(s): return s.raw(1)[0]
    def u2(s): return struct.unpack('>H', s.raw(2))[0]
    def u4(s): return struct.unpack('>I', s.raw(4))[0]
    def i4(s): return struct.unpack('>i', s.raw(4))[0]
    def u8(s): return struct.unpack('>Q', s.raw(8))[0]
    def id(s): return s.u4() if s.ids == 4 else s.u8()
    def val(s, t):
        if t == 2: return '%x' % s.id()
        b = s.raw(SZ[t])
        return {4: lambda: str(b[0]), 5: lambda: 'u%04x' % struct.unpack('>H', b)[0], 6: lambda: repr(struct.unpack('>f', b)[0]),
                7: lambda: repr(struct.unpack('>d', b)[0]), 8: lambda: str(struct.unpack('>b', b)[0]), 9: lambda: str(struct.unpack('>h', b)[0]),
                10: lambda: str(struct.unpack('>i', b)[0]), 11: lambda: str(struct.unpack('>q', b)[0])}[t]()


def parse_bin(b):
    d = Dump(); z = b.index(b'\0'); r = R(b); r.p = z + 1; r.ids = r.u4(); r.u8(); nm, cser, frames, cname = {}, {}, {}, {}; insts = []; defs = {}
    hx = lambda v: '%x' % v
    while r.p < len(b):
        t, us, n = r.u1(), r.u4(), r.u4(); end = r.p + n
        if t == 1: i = r.id(); nm[i] = r.raw(n - r.ids).decode('utf-8', 'backslashreplace')
        elif t == 2: c, o, tr, k = r.u4(), r.id(), r.u4(), r.id(); cser[c] = nm.get(k, '?').replace('/', '.'); cname[o] = cser[c]
        elif t == 4:
            f, a, sg, src, c, l = r.id(), r.id(), r.id(), r.id(), r.u4(), r.i4()
            frames[f] = '%s.%s(%s:%s)' % (cser.get(c, '?'), nm.get(a, '<Unknown Method>'), nm.get(src, '<Unknown Source>') if src else '<Unknown Source>', l if l > 0 else 'Unknown line')
        elif t == 5: s, th, k = r.u4(), r.u4(), r.u4(); d.tr[s] = [s, th, [frames.get(r.id(), '?') for _ in range(k)]]
        elif t == 10:
            s, o, tr, a, g, p = r.u4(), r.id(), r.u4(), r.id(), r.id(), r.id(); d.tname[s] = nm.get(a, ''); d.threads.append(('start', s, nm.get(a, ''), nm.get(g, '')))
        elif t == 11: s = r.u4(); d.threads.append(('end', s, d.tname.get(s, '?'), ''))
        elif t == 6:
            d.sections.append('SITES'); r.raw(2 + 4 + 4 + 4 + 8 + 8); k = r.u4()
            for _ in range(k): a, c, tr, lb, li, ab, ai = r.u1(), r.u4(), r.u4(), r.u4(), r.u4(), r.u4(), r.u4(); d.sites.append((cser.get(c, '?'), tr, lb, li, ab, ai))
        elif t == 13:
            d.sections.append('CPU SAMPLES'); tot, k = r.u4(), r.u4()
            for _ in range(k): c, tr = r.u4(), r.u4(); f = d.tr.get(tr, [0, 0, []])[2]; d.samples.append((f[0].split('(')[0] if f else '<empty trace>', c, tr, 100.0 * c / max(tot, 1)))
        elif t in (0x0c, 0x1c):
            d.sections.append('HEAP DUMP')
            while r.p < end:
                g = r.u1()
                sz = {0xff: [0], 1: [0, 0], 2: [0, 4, 4], 3: [0, 4, 4], 4: [0, 4], 5: [0], 6: [0, 4], 7: [0], 8: [0, 4, 4]}.get(g)
                if sz is not None:
                    d.roots.append({0xff: 'unknown', 1: 'JNI global ref', 2: 'JNI local ref', 3: 'Java stack', 4: 'native stack', 5: 'system class', 6: 'thread block', 7: 'busy monitor', 8: 'thread'}[g])
                    for x in sz: r.raw(x or r.ids)
                elif g == 0x20:
                    c = r.id(); r.u4(); su = r.id(); [r.id() for _ in range(5)]; isz = r.u4(); e = dict(k='CLS', c=cname.get(c, '?'), f={}, super=hx(su) if su else None, isz=isz)
                    for _ in range(r.u2()): r.u2(); r.val(r.u1())
                    for _ in range(r.u2()): a = nm.get(r.id(), '?'); ty = r.u1(); v = r.val(ty); e['f'][a] = v if ty == 2 else ('=', TN[ty], v)
                    e['f'] = {k: v for k, v in e['f'].items() if v != '0'}; defs[c] = [(nm.get(r.id(), '?'), r.u1()) for _ in range(r.u2())]; d.cls[hx(c)] = e; e['id'] = c; e['su'] = su
                elif g == 0x21: o, tr, c, k = r.id(), r.u4(), r.id(), r.u4(); p = r.p; r.raw(k); insts.append((o, tr, c, p, k))
                elif g == 0x22: o, tr, k, c = r.id(), r.u4(), r.u4(), r.id(); el = [r.id() for _ in range(k)]; d.obj[hx(o)] = dict(k='ARR', sz=None, tr=tr, n=k, c=cname.get(c, '?'), f={i: hx(v) for i, v in enumerate(el) if v})
                elif g == 0x23: o, tr, k, ty = r.id(), r.u4(), r.u4(), r.u1(); v = r.raw(k * SZ[ty]); d.obj[hx(o)] = dict(k='PRIM', sz=None, tr=tr, n=k, c=TN[ty] + '[]', f={}, v=v.hex())
                else: raise ValueError('sub-tag %x' % g)
        r.p = end
    sup = {e['id']: e['su'] for e in d.cls.values()}
    for o, tr, c, p, k in insts:
        q = R(b); q.p = p; q.ids = r.ids; f = {}; x = c
        while x:
            for a, ty in defs.get(x, []): v = q.val(ty); key = a if a not in f else a + '@' + cname.get(x, '?'); f[key] = v if ty == 2 else ('=', TN[ty], v)
            x = sup.get(x, 0)
        d.obj[hx(o)] = dict(k='OBJ', sz=None, tr=tr, c=cname.get(c, '?'), f={a: v for a, v in f.items() if v != '0'})
    return d


def desc(d, i):
    if i in d.cls: return 'class ' + d.cls[i]['c']
    o = d.obj.get(i)
    if o is None: return '?'
    if o['k'] == 'PRIM': return '%s n=%d%s' % (o['c'], o['n'], ' ' + o['v'][:64] if o.get('v') is not None and len(o['v']) <= 256 else '')
    if o['k'] == 'ARR': return '%s last=%d%s' % (o['c'], max(list(o['f']) + [-1]), ' sz=%d' % o['sz'] if o['sz'] else '')
    return '%s%s' % (o['c'], ' sz=%d' % o['sz'] if o['sz'] else '')


def facts(d, pre, depth=3, mirrors=True):
    out = []; fr = lambda t: ' < '.join(re.sub(r'@.*', '', x) for x in d.tr.get(t, [0, 0, ['?']])[2])
    th = lambda t: (' thread="%s"' % d.tname.get(d.tr[t][1], d.tr[t][1])) if t in d.tr and d.tr[t][1] else ''
    for k, s, n, g in d.threads:
        if n != '?' and not AGENT.match(n): out.append('THREAD %s "%s"%s' % (k, n, ' group="%s"' % g if k == 'start' else ''))
    L = []; first = {}
    for c, t, *x in d.sites:  # the site that made the array class also got its mirror (original only)
        if mirrors and x[3] and c.endswith(']') and (app(c, pre) or c.endswith('[][]')): first[c] = min(t, first.get(c, t))
    for c, t, lb, li, ab, ai in d.sites:
        f = d.tr.get(t, [0, 0, []])[2]
        if not f or not app(f[0].split('(')[0], pre) or not (app(c, pre) or c.endswith(']')): continue
        if first.get(c) == t and ai > 1: lb, li, ab, ai = (lb - 544, li - 1, ab - 544, ai - 1)
        L.append('SITE live=%d/%d alloc=%d/%d %s @ %s%s' % (lb, li, ab, ai, c, fr(t), th(t)))
    out += sorted(L); L = []
    for n, a, b2, ms in d.old:
        if (app(a.split('(')[0], pre)) and (b2.startswith('<') or app(b2.split('(')[0], pre)): L.append('COUNT %d %s < %s' % (n, a, b2))
    out += sorted(L); L = []
    for m, n, t, p in d.times:
        if app(m, pre): L.append('TIME count=%d %s self=%.1f%% @ %s%s' % (n, m, p, fr(t), th(t)))
    out += L
    agg = collections.Counter()
    for m, n, t, p in d.samples:
        if app(m, pre): agg[(m, th(t))] += n
    tot = sum(agg.values())
    out += ['SAMPLE %5.1f%% %s%s' % (100.0 * v / tot, k[0], k[1]) for k, v in agg.most_common()]
    L = []; seen = set()

    def walk(path, i, dep):
        L.append('HEAP %s -> %s' % (path, desc(d, i)))
        if i in seen or dep == 0 or i not in d.obj: return
        seen.add(i); o = d.obj[i]
        if o['k'] == 'OBJ' and not app(o['c'], pre): return
        for a, v in sorted(o['f'].items(), key=lambda kv: (isinstance(kv[0], str), kv[0] if isinstance(kv[0], int) else 0, str(kv[0]))):
            if isinstance(v, tuple): L.append('HEAP %s.%s = %s %s' % (path, a, v[1], v[2])); continue
            if isinstance(a, int) and len(o['f']) > 64 and a >= 3: continue
            walk(path + ('[%d]' % a if isinstance(a, int) else '.' + a), v, dep - 1)
    for i, c in sorted(d.cls.items(), key=lambda kv: kv[1]['c']):
        if app(c['c'], pre):
            if c.get('isz') is not None: L.append('HEAP class %s instsize=%d super=%s' % (c['c'], c['isz'], d.cls[c['super']]['c'] if c['super'] in d.cls else None))
            for a, v in sorted(c['f'].items()):
                if isinstance(v, tuple): L.append('HEAP %s.%s = %s %s' % (c['c'], a, v[1], v[2]))
                else: walk(c['c'] + '.' + a, v, depth)
    out += L
    n = collections.Counter((o['c'], o['sz'], fr(o['tr'])) for o in d.obj.values() if o['k'] == 'OBJ' and app(o['c'], pre))
    out += sorted('INST %d x %s%s @ %s' % (v, k[0], ' sz=%d' % k[1] if k[1] else '', k[2]) for k, v in n.items())
    nm = lambda i: d.tname.get(i, '#%d' % i)
    for s, ow, ec, w, nw in d.mon: out.append('MON %s owner=%s entry=%d enter=%s notify=%s' % (s, nm(ow) if ow else None, ec, sorted(map(nm, w)), sorted(map(nm, nw))))
    for s, t, st in d.status:
        if s in d.tname and not AGENT.match(d.tname[s]): out.append('MON thread "%s" %s' % (d.tname[s], st))
    for k, s, ms, t in d.wait: out.append('WAIT %s %s %d "%s"' % (k, s, ms, nm(t)))
    if d.sections: out.append('SECTIONS ' + ' '.join(d.sections))
    return out


def main():
    a = [x for x in sys.argv[1:] if x != '--no-mirrors']; f, pre = a[0], a[1].split(',')
    raw = (gzip.open(f) if f.endswith('.gz') else open(f, 'rb')).read()
    b = raw.startswith(b'JAVA PROFILE') and raw[18:19] == b'\0'
    d = parse_bin(raw) if b else parse_text(raw.decode('utf-8', 'backslashreplace'))
    print('\n'.join(facts(d, pre, mirrors='--no-mirrors' not in sys.argv)))


if __name__ == '__main__': main()
