# SPDX-License-Identifier: BSD-2-Clause
"""What is in the files that hprofx writes, read here with nothing but Python: [(measure or name of a part, {key: value})] of each. A part of other programs'
formats is a dictionary of stacks as in source.py, without what the format cannot hold."""
import collections
import gzip
import json
import struct


def folded(data):
    out = collections.Counter()
    for line in data.decode().split('\n')[:-1]:
        stack, value = line.rsplit(' ', 1)
        out[tuple(stack.split(';'))] += int(value)
    return out


def numbers(text):
    """JSON whose decimals stay exact."""
    return json.loads(text, parse_float=lambda s: __import__('fractions').Fraction(s))


def speedscope(data):
    """{name: (unit, {names: value})}."""
    file, out = numbers(data), {}
    frames = file['shared']['frames']
    for p in file['profiles']:
        assert p['type'] == 'sampled' and len(p['samples']) == len(p['weights']) and p['endValue'] == sum(p['weights']), p['name']
        stacks = collections.Counter()
        for stack, weight in zip(p['samples'], p['weights']):
            stacks[tuple(frames[i]['name'] for i in stack)] += weight
        out[p['name']] = p['unit'], stacks
    return out


def firefox(data):
    """{process: (type of weights, {(thread, frames): weight})}."""
    file, out = numbers(data), {}
    assert file['meta']['preprocessedProfileVersion'] == 47
    assert len({t['tid'] for t in file['threads']}) == len(file['threads'])
    for t in file['threads']:
        for name in ('stackTable', 'frameTable', 'funcTable', 'samples', 'markers'):
            assert all(len(column) == t[name]['length'] for key, column in t[name].items() if isinstance(column, list)), name
        stack, frame, func, strings = t['stackTable'], t['frameTable'], t['funcTable'], t['stringArray']

        def frames(i):
            f = frame['func'][stack['frame'][i]]
            this = (strings[func['name'][f]], strings[func['fileName'][f]] if func['fileName'][f] is not None else '', frame['line'][stack['frame'][i]] or 0)
            prefix = stack['prefix'][i]
            assert prefix is None or prefix < i
            return (frames(prefix) if prefix is not None else ()) + (this,)
        kind, stacks = out.setdefault(t['processName'], (t['samples']['weightType'], collections.Counter()))
        assert kind == t['samples']['weightType'] and t['samples']['time'] == sorted(t['samples']['time'])
        for i, weight in zip(t['samples']['stack'], t['samples']['weight']):
            stacks[t['name'], frames(i)] += weight
    return out


def fields(data):
    """(number, value) of a message of protocol buffers."""
    at = 0

    def varint():
        nonlocal at
        v = shift = 0
        while True:
            v |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                return v
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            at += 8
            yield key >> 3, struct.unpack('<Q', data[at - 8:at])[0]
        else:
            assert key & 7 == 2, key
            n = varint()
            at += n
            assert at <= len(data)
            yield key >> 3, data[at - n:at]


def varints(data):
    out, v, shift = [], 0, 0
    for b in data:
        v |= (b & 127) << shift
        shift += 7
        if b < 128:
            out.append(v)
            v = shift = 0
    return out


def message(data):
    """{number: [values]}."""
    out = collections.defaultdict(list)
    for number, value in fields(data):
        out[number].append(value)
    return out


def one(m, number, default=0):
    return m[number][-1] if m[number] else default


def pprof(data):
    """{measure: (unit, {(thread, frames): value})}."""
    m = message(gzip.decompress(data))
    strings = [s.decode() for s in m[6]]
    functions = {one(f, 1): (strings[one(f, 2)], strings[one(f, 4)]) for f in map(message, m[5])}
    locations = {}
    for where in map(message, m[4]):
        line = message(one(where, 4))
        locations[one(where, 1)] = functions[one(line, 1)] + (one(line, 2),)
    types = [(strings[one(t, 1)], strings[one(t, 2)]) for t in map(message, m[1])]
    out = {name: (unit, collections.Counter()) for name, unit in types}
    for sample in map(message, m[2]):
        thread, state = '', ()
        for label in map(message, sample[3]):
            assert strings[one(label, 1)] in ('thread', 'state')
            if strings[one(label, 1)] == 'thread':
                thread = strings[one(label, 2)]
            else:  # elsewhere the innermost frame
                state = ((strings[one(label, 2)], '', 0),)
        stack = tuple(locations[i] for i in reversed(varints(one(sample, 1, b''))))
        assert stack
        stack = stack + state if not state or stack[0][0] != '[no stack]' else state
        for (name, _), value in zip(types, varints(one(sample, 2))):
            if value:
                out[name][1][thread, stack] += value
    assert strings[0] == '' and strings[one(m, 14)] == types[0][0]
    return out
