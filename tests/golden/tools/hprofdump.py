#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Decode a binary HPROF stream into one line per record (for golden comparisons).

usage: hprofdump.py [--heap] [--summary] FILE|-     (FILE may be .gz)
  --heap     also list every heap sub-record
  --summary  counts only
Works for identifier size 4 and 8, versions 1.0.1 and 1.0.2.
"""
import sys, struct, gzip, collections
TAG = {1: 'UTF8', 2: 'LOAD_CLASS', 3: 'UNLOAD_CLASS', 4: 'FRAME', 5: 'TRACE', 6: 'ALLOC_SITES', 7: 'HEAP_SUMMARY',
       0x0a: 'START_THREAD', 0x0b: 'END_THREAD', 0x0c: 'HEAP_DUMP', 0x0d: 'CPU_SAMPLES', 0x0e: 'CONTROL_SETTINGS',
       0x1c: 'HEAP_DUMP_SEGMENT', 0x2c: 'HEAP_DUMP_END'}
SZ = {4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
TN = {2: 'object', 4: 'boolean', 5: 'char', 6: 'float', 7: 'double', 8: 'byte', 9: 'short', 10: 'int', 11: 'long'}


class R:
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


def mutf8(b):
    return b.decode('utf-8', 'backslashreplace')


def heap(r, end, names, classes, out, cnt, full):
    while r.p < end:
        t = r.u1()
        if t == 0xff: cnt['ROOT_UNKNOWN'] += 1; o = r.id(); s = 'ROOT_UNKNOWN %x' % o
        elif t == 1: cnt['ROOT_JNI_GLOBAL'] += 1; s = 'ROOT_JNI_GLOBAL %x ref=%x' % (r.id(), r.id())
        elif t == 2: cnt['ROOT_JNI_LOCAL'] += 1; s = 'ROOT_JNI_LOCAL %x thread=%d frame=%d' % (r.id(), r.u4(), r.i4())
        elif t == 3: cnt['ROOT_JAVA_FRAME'] += 1; s = 'ROOT_JAVA_FRAME %x thread=%d frame=%d' % (r.id(), r.u4(), r.i4())
        elif t == 4: cnt['ROOT_NATIVE_STACK'] += 1; s = 'ROOT_NATIVE_STACK %x thread=%d' % (r.id(), r.u4())
        elif t == 5: cnt['ROOT_STICKY_CLASS'] += 1; s = 'ROOT_STICKY_CLASS %x' % r.id()
        elif t == 6: cnt['ROOT_THREAD_BLOCK'] += 1; s = 'ROOT_THREAD_BLOCK %x thread=%d' % (r.id(), r.u4())
        elif t == 7: cnt['ROOT_MONITOR_USED'] += 1; s = 'ROOT_MONITOR_USED %x' % r.id()
        elif t == 8: cnt['ROOT_THREAD_OBJ'] += 1; s = 'ROOT_THREAD_OBJ %x thread=%d trace=%d' % (r.id(), r.u4(), r.u4())
        elif t == 0x20:
            cnt['CLASS_DUMP'] += 1
            c, tr, su, lo, si, do, r1, r2, isz = r.id(), r.u4(), r.id(), r.id(), r.id(), r.id(), r.id(), r.id(), r.u4()
            s = 'CLASS %x(%s) trace=%d super=%x loader=%x signers=%x domain=%x res=%x,%x instsize=%d' % (c, classes.get(c, '?'), tr, su, lo, si, do, r1, r2, isz)
            n = r.u2(); s += ' cpool=%d[' % n
            for _ in range(n): i = r.u2(); k = r.u1(); s += '%d:%s:%s ' % (i, TN.get(k, k), r.val(k))
            n = r.u2(); s = s.rstrip() + '] static=%d[' % n
            for _ in range(n): i = r.id(); k = r.u1(); s += '%s:%s=%s ' % (names.get(i, '?%x' % i), TN.get(k, k), r.val(k))
            n = r.u2(); s = s.rstrip() + '] inst=%d[' % n
            for _ in range(n): i = r.id(); k = r.u1(); s += '%s:%s ' % (names.get(i, '?%x' % i), TN.get(k, k))
            s = s.rstrip() + ']'
        elif t == 0x21:
            cnt['INSTANCE_DUMP'] += 1
            o, tr, c, n = r.id(), r.u4(), r.id(), r.u4(); b = r.raw(n)
            s = 'INSTANCE %x trace=%d class=%x(%s) n=%d %s' % (o, tr, c, classes.get(c, '?'), n, b.hex())
        elif t == 0x22:
            cnt['OBJ_ARRAY_DUMP'] += 1
            o, tr, n, c = r.id(), r.u4(), r.u4(), r.id(); e = ['%x' % r.id() for _ in range(n)]
            s = 'OBJ_ARRAY %x trace=%d n=%d class=%x(%s) [%s]' % (o, tr, n, c, classes.get(c, '?'), ' '.join(e))
        elif t == 0x23:
            cnt['PRIM_ARRAY_DUMP'] += 1
            o, tr, n, k = r.id(), r.u4(), r.u4(), r.u1(); b = r.raw(n * SZ[k])
            s = 'PRIM_ARRAY %x trace=%d n=%d type=%s %s' % (o, tr, n, TN[k], b.hex() if len(b) <= 160 else b[:160].hex() + '..')
        else: raise ValueError('bad heap sub-tag 0x%x at %d' % (t, r.p - 1))
        if full: out('  ' + s)
    if r.p != end: raise ValueError('heap record overrun: %d != %d' % (r.p, end))


def main():
    a = sys.argv[1:]; full = '--heap' in a; summ = '--summary' in a
    f = [x for x in a if not x.startswith('--')][0]
    b = sys.stdin.buffer.read() if f == '-' else (gzip.open(f) if f.endswith('.gz') else open(f, 'rb')).read()
    out = (lambda s: None) if summ else print
    z = b.index(b'\0'); r = R(b); r.p = z + 1; r.ids = r.u4(); ms = r.u8()
    print('HEADER %s idsize=%d time_ms=%d size=%d' % (b[:z].decode(), r.ids, ms, len(b)))
    names, classes, cnt, last = {}, {}, collections.Counter(), None
    order = []
    while r.p < len(b):
        at = r.p; t = r.u1(); us = r.u4(); n = r.u4(); end = r.p + n; nm = TAG.get(t, '0x%x' % t); cnt['#' + nm] += 1
        if not order or order[-1][0] != nm: order.append([nm, 1])
        else: order[-1][1] += 1
        pre = '@%d +%dus %s len=%d' % (at, us, nm, n)
        if t == 1: i = r.id(); s = r.raw(n - r.ids); names[i] = mutf8(s); out('%s id=%x "%s"' % (pre, i, names[i]))
        elif t == 2:
            c, o, tr, nmi = r.u4(), r.id(), r.u4(), r.id(); classes[o] = names.get(nmi, '?'); out('%s serial=%d obj=%x trace=%d name=%s' % (pre, c, o, tr, names.get(nmi, '?')))
        elif t == 3: out('%s serial=%d' % (pre, r.u4()))
        elif t == 4: out('%s id=%x method=%s sig=%s src=%s class=%d line=%d' % (pre, r.id(), *[names.get(x, '?%x' % x) for x in (r.id(), r.id(), r.id())], r.u4(), r.i4()))
        elif t == 5:
            s, th, k = r.u4(), r.u4(), r.u4(); out('%s serial=%d thread=%d n=%d [%s]' % (pre, s, th, k, ' '.join('%x' % r.id() for _ in range(k))))
        elif t == 6:
            fl, cut, lb, li, ab, ai, k = r.u2(), r.raw(4), r.u4(), r.u4(), r.u8(), r.u8(), r.u4()
            out('%s flags=%d cutoff=%s live=%d/%d alloc=%d/%d n=%d' % (pre, fl, cut.hex(), lb, li, ab, ai, k))
            for _ in range(k): out('  SITE arr=%d class=%d trace=%d live=%d/%d alloc=%d/%d' % (r.u1(), r.u4(), r.u4(), r.u4(), r.u4(), r.u4(), r.u4()))
        elif t == 7: out('%s live=%d/%d alloc=%d/%d' % (pre, r.u4(), r.u4(), r.u8(), r.u8()))
        elif t == 0x0a:
            th, o, tr = r.u4(), r.id(), r.u4(); x = [names.get(i, '?%x' % i) if i else '<0>' for i in (r.id(), r.id(), r.id())]
            out('%s serial=%d obj=%x trace=%d name="%s" group="%s" parent="%s"' % (pre, th, o, tr, *x))
        elif t == 0x0b: out('%s serial=%d' % (pre, r.u4()))
        elif t in (0x0c, 0x1c): out(pre); heap(r, end, names, classes, out, cnt, full)
        elif t == 0x0d:
            tot, k = r.u4(), r.u4(); out('%s total=%d n=%d' % (pre, tot, k))
            for _ in range(k): out('  SAMPLE count=%d trace=%d' % (r.u4(), r.u4()))
        elif t == 0x0e: out('%s flags=%x depth=%d' % (pre, r.u4(), r.u2()))
        elif t == 0x2c: out(pre)
        else: out(pre + ' UNKNOWN ' + r.raw(n)[:64].hex())
        if r.p != end: raise ValueError('record at %d: consumed %d of %d' % (at, r.p - at - 9, n))
    for k in sorted(cnt): print('COUNT', k, cnt[k])
    print('ORDER', ' '.join('%s*%d' % (x, y) if y > 1 else x for x, y in order) if len(order) < 400 else '(%d runs)' % len(order))


if __name__ == '__main__':
    try:
        main()
    except BrokenPipeError:
        pass
