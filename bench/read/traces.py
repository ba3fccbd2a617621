# SPDX-License-Identifier: BSD-2-Clause
"""traces.py FOLDER COUNT DEPTH: writes a profile of COUNT traces as HPROF text, binary and pprof (FOLDER/traces.text, .binary, .pprof), and prints their
average depth."""
import gzip
import os
import random
import struct
import sys

METHODS = 20000 # of the program
DATE = 'Sat Nov 21 01:52:23 2026'


def stacks(count, depth=16, seed=1):
    """[(samples, [method, ...] innermost first)] of `count` different stacks of at most `depth` methods, in the order of a program that returns from a few
    methods and then calls a few others. A caller has 4 places that call; a tenth of the calls goes to one of 500 methods that everybody uses."""
    rng, seen, rows = random.Random(seed), set(), []
    path = [0]
    while len(rows) < count:
        del path[max(1, len(path) - rng.choice((1, 1, 1, 2, 2, 3, 5, depth // 2))):]
        for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
            if len(path) < depth:
                path.append(rng.randrange(500) if rng.random() < 0.1 else (path[-1] * 31 + 7 * rng.randrange(4) + 1) % METHODS)
        key = tuple(path)
        if key not in seen:
            seen.add(key)
            rows.append((rng.randrange(1, 9), path[::-1]))
        elif len(path) == depth:
            path = [0] + [rng.randrange(METHODS) for _ in range(rng.randrange(1, 3))]
    return rows


def method(i):
    """Class, method, source, line."""
    return 'com.example.project.module%d.Class%d' % (i % 97, i // 7), 'method%d' % i, 'Class%d.java' % (i // 7), i % 1900 + 1


def order(rows):
    """Indexes of the rows, largest count first."""
    return sorted(range(len(rows)), key=lambda i: -rows[i][0])


def text(path, rows):
    lines = ['\t%s.%s(%s:%d)\n' % method(i) for i in range(METHODS)]
    total = sum(n for n, _ in rows)
    with open(path, 'w', encoding='ascii') as out:
        out.write('JAVA PROFILE 1.0.1, created %s\n\nwords\n\n--------\n\nTHREAD START (obj=50000181, id = 200001, name="main", group="main")\n' % DATE)
        for i, (_, frames) in enumerate(rows):
            out.write('TRACE %d:\n%s' % (300001 + i, ''.join([lines[m] for m in frames])))
        out.write('CPU SAMPLES BEGIN (total = %d) %s\nrank   self  accum   count trace method\n' % (total, DATE))
        done = 0
        for rank, i in enumerate(order(rows), 1):
            n, frames = rows[i]
            done += n
            out.write('%4d %5.2f%% %5.2f%% %7d %5d %s.%s\n' % ((rank, int(1e4 * n / total) / 100, int(1e4 * done / total) / 100, n, 300001 + i) + method(frames[0])[:2]))
        out.write('CPU SAMPLES END\n')


def binary(path, rows):
    def record(tag, body):
        return struct.pack('>BII', tag, 0, len(body)) + body
    with open(path, 'wb') as out:
        out.write(b'JAVA PROFILE 1.0.2\0' + struct.pack('>IQ', 8, 1795232082000))
        ids = {}

        def string(s):
            if s not in ids:
                ids[s] = 0x7f0000000000 + 16 * len(ids)
                out.write(record(1, struct.pack('>Q', ids[s]) + s.encode()))
            return ids[s]
        signature, loaded = string('()V'), {}
        for i in range(METHODS):
            of, name, source, line = method(i)
            if of not in loaded:
                loaded[of] = len(loaded) + 1
                out.write(record(2, struct.pack('>IQIQ', loaded[of], 0x1000 + loaded[of], 0, string(of))))
            out.write(record(4, struct.pack('>QQQQIi', 0x5000000 + i, string(name), signature, string(source), loaded[of], line)))
        for i, (_, frames) in enumerate(rows):
            out.write(record(5, struct.pack('>III%dQ' % len(frames), 300001 + i, 0, len(frames), *[0x5000000 + m for m in frames])))
        out.write(record(0x0d, struct.pack('>II', sum(n for n, _ in rows), len(rows)) + b''.join(struct.pack('>II', rows[i][0], 300001 + i) for i in order(rows))))


def varint(v):
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    out.append(v)
    return bytes(out)


def field(number, body):
    return varint(number << 3 | 2) + varint(len(body)) + body


def pprof(path, rows):
    strings, ids = [], {}

    def string(s):
        if s not in ids:
            ids[s] = len(strings)
            strings.append(s)
        return ids[s]
    string('')
    with gzip.open(path, 'wb', compresslevel=1) as out:
        out.write(field(1, b'\x08' + varint(string('samples')) + b'\x10' + varint(string('count'))))
        out.write(field(3, b'\x08\x01\x38\x01'))
        for i in range(METHODS):
            of, name, source, line = method(i)
            out.write(field(5, b'\x08' + varint(i + 1) + b'\x10' + varint(string(of + '.' + name)) + b'\x20' + varint(string(source))))
            out.write(field(4, b'\x08' + varint(i + 1) + b'\x10\x01' + field(4, b'\x08' + varint(i + 1) + b'\x10' + varint(line))))
        numbers = [varint(i + 1) for i in range(METHODS)]
        for n, frames in rows:
            out.write(field(2, field(1, b''.join([numbers[m] for m in frames])) + field(2, varint(n))))
        for s in strings:
            out.write(field(6, s.encode()))


def main(folder, count, depth):
    rows = stacks(int(count), int(depth))
    for make in (text, binary, pprof):
        make(os.path.join(folder, 'traces.' + make.__name__), rows)
    print('average_depth %.1f' % (sum(len(frames) for _, frames in rows) / len(rows)))


if __name__ == '__main__':
    main(*sys.argv[1:])
