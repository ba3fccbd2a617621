# SPDX-License-Identifier: BSD-2-Clause
"""JFR recordings, made by hand: chunks with types, constants and events of any layout."""
import struct

MAGIC, HEAD = b'FLR\0', 68
START_NS, TICKS, FREQUENCY = 1_700_000_000_000_000_000, 5000, 1_000_000  # a tick is a microsecond
BASIC = ('boolean', 'byte', 'char', 'short', 'int', 'long', 'float', 'double', 'java.lang.String')
NULL, EMPTY, CONSTANT, UTF8, CHARS, LATIN1 = range(6)

# name: fields (name, type, flags: p pool, a array, t ticks, n nanoseconds). Not in the JDK's order, which no reader may count on.
TYPES = {
    'java.lang.Class': [('modifiers', 'int', ''), ('name', 'jdk.types.Symbol', 'p')],
    'java.lang.Thread': [('osName', 'java.lang.String', ''), ('osThreadId', 'long', ''), ('javaName', 'java.lang.String', ''), ('virtual', 'boolean', '')],
    'jdk.types.Symbol': [('string', 'java.lang.String', '')],
    'jdk.types.ThreadState': [('name', 'java.lang.String', '')],
    'jdk.types.GCName': [('name', 'java.lang.String', '')],
    'jdk.types.Method': [('hidden', 'boolean', ''), ('name', 'jdk.types.Symbol', 'p'), ('descriptor', 'jdk.types.Symbol', 'p'), ('type', 'java.lang.Class', 'p')],
    'jdk.types.StackFrame': [('lineNumber', 'int', ''), ('method', 'jdk.types.Method', 'p'), ('bytecodeIndex', 'int', '')],
    'jdk.types.StackTrace': [('truncated', 'boolean', ''), ('frames', 'jdk.types.StackFrame', 'a')],
}
_AT, _WHO, _STACK = ('startTime', 'long', 't'), ('eventThread', 'java.lang.Thread', 'p'), ('stackTrace', 'jdk.types.StackTrace', 'p')
_TOOK, _STATE = ('duration', 'long', 't'), ('state', 'jdk.types.ThreadState', 'p')
EVENTS = {
    'jdk.ExecutionSample': [_AT, ('sampledThread', 'java.lang.Thread', 'p'), _STACK, _STATE],
    'jdk.NativeMethodSample': [_AT, ('sampledThread', 'java.lang.Thread', 'p'), _STACK, _STATE],
    'jdk.CPUTimeSample': [_AT, _STACK, _WHO, ('failed', 'boolean', ''), ('samplingPeriod', 'long', 't')],
    'jdk.CPUTimeSamplesLost': [_AT, ('lostSamples', 'int', ''), _WHO],
    'jdk.ObjectAllocationSample': [_AT, _WHO, _STACK, ('objectClass', 'java.lang.Class', 'p'), ('weight', 'long', '')],
    'jdk.ObjectAllocationInNewTLAB': [_AT, _WHO, _STACK, ('objectClass', 'java.lang.Class', 'p'), ('allocationSize', 'long', ''), ('tlabSize', 'long', '')],
    'jdk.ObjectAllocationOutsideTLAB': [_AT, _WHO, _STACK, ('objectClass', 'java.lang.Class', 'p'), ('allocationSize', 'long', '')],
    'jdk.JavaMonitorEnter': [_AT, _TOOK, _WHO, _STACK, ('monitorClass', 'java.lang.Class', 'p')],
    'jdk.JavaMonitorWait': [_AT, _TOOK, _WHO, _STACK, ('monitorClass', 'java.lang.Class', 'p')],
    'jdk.ThreadPark': [_AT, _TOOK, _WHO, _STACK, ('parkedClass', 'java.lang.Class', 'p')],
    'jdk.ThreadSleep': [_AT, _TOOK, _WHO, _STACK, ('time', 'long', '')],
    'jdk.ActiveSetting': [_AT, ('id', 'long', ''), ('name', 'java.lang.String', ''), ('value', 'java.lang.String', '')],
    'jdk.JVMInformation': [_AT, ('javaArguments', 'java.lang.String', ''), ('pid', 'long', '')],
    'jdk.GarbageCollection': [_AT, _TOOK, ('gcId', 'int', ''), ('share', 'float', ''), ('longest', 'double', ''), ('name', 'jdk.types.GCName', 'p')],
    'jdk.GCPhasePause': [_AT, _TOOK, _WHO, ('gcId', 'int', ''), ('name', 'java.lang.String', '')],
}
OF_ASYNC_PROFILER = {'profiler.WallClockSample': [_AT, ('sampledThread', 'java.lang.Thread', 'p'), _STACK, _STATE, ('samples', 'int', '')]}
UNITS = {'t': 'TICKS', 'n': 'NANOSECONDS', 'm': 'MILLISECONDS'}


class Text:
    """A string in one of the six encodings; of CONSTANT the key."""
    def __init__(self, text, encoding=UTF8):
        self.text, self.encoding = text, encoding


class Chunk:
    def __init__(self, compressed=True, version=(2, 1), types=None, start=START_NS):
        self.compressed, self.version, self.start = compressed, version, start
        self.types = dict(types or {**TYPES, **EVENTS})
        self.ids = {name: 1000 + i for i, name in enumerate([*BASIC, *self.types])}  # not the JDK's
        self.pieces = []
        self.name_key = 0

    # --- values

    def packed(self, n):
        n &= (1 << 64) - 1
        out = bytearray()
        while n > 0x7f and len(out) < 8:
            out.append(n & 0x7f | 0x80)
            n >>= 7
        return bytes(out) + bytes([n])

    def integer(self, n, width):
        if self.compressed and width > 1:
            return self.packed(n & ((1 << 8 * width) - 1))
        return (n & ((1 << 8 * width) - 1)).to_bytes(width, 'big')

    def string(self, s):
        s = s if isinstance(s, Text) else Text(s) if s is not None else Text('', NULL)
        kind = bytes([s.encoding])
        if s.encoding in (NULL, EMPTY):
            return kind
        if s.encoding == CONSTANT:
            return kind + self.integer(s.text, 8)
        if s.encoding == CHARS:
            units = struct.unpack('<%dH' % (len(s.text.encode('utf-16-le')) // 2), s.text.encode('utf-16-le'))
            return kind + self.integer(len(units), 4) + b''.join(self.integer(u, 2) for u in units)
        data = s.text.encode('utf-8' if s.encoding == UTF8 else 'latin-1')
        return kind + self.integer(len(data), 4) + data

    def value(self, kind, v):
        width = {'boolean': 1, 'byte': 1, 'char': 2, 'short': 2, 'int': 4, 'long': 8}.get(kind)
        if width:
            return self.integer(int(v), width)
        if kind in ('float', 'double'):
            return struct.pack('>f' if kind == 'float' else '>d', v)
        if kind == 'java.lang.String':
            return self.string(v)
        return self.fields(kind, v)

    def fields(self, kind, values):
        """values: {field: value}; those that are left out are 0."""
        out = b''
        for name, of, flags in self.types[kind]:
            default = None if of == 'java.lang.String' else {} if of in self.types and 'p' not in flags else 0
            v = values.get(name, [] if 'a' in flags else default)
            items = v if 'a' in flags else [v]
            out += self.integer(len(items), 4) if 'a' in flags else b''
            out += b''.join(self.integer(i, 8) if 'p' in flags else self.value(of, i) for i in items)
        return out

    # --- records

    def record(self, kind, body):
        """The size in four bytes, as the JDK pads it."""
        body = self.integer(kind, 8) + body
        n = len(body) + 4
        size = bytes([n & 0x7f | 0x80, n >> 7 & 0x7f | 0x80, n >> 14 & 0x7f | 0x80, n >> 21]) if self.compressed else n.to_bytes(4, 'big')
        return size + body

    def event(self, kind, **values):
        values.setdefault('startTime', TICKS)
        self.pieces.append(self.record(self.ids[kind], self.fields(kind, values)))
        return self

    def constants(self, kind, values):
        """values: {key: fields, or a string}. A checkpoint of its own."""
        body = b''.join(self.integer(0, 8) for _ in range(3)) + b'\0' + self.integer(1, 4) + self.integer(self.ids[kind], 8) + self.integer(len(values), 4)
        body += b''.join(self.integer(k, 8) + self.value(kind, v) for k, v in values.items())
        self.pieces.append(self.record(1, body))
        return self

    def raw(self, data):
        self.pieces.append(data)
        return self

    def metadata(self, encoding=UTF8):
        strings = {}

        def number(s):
            return self.integer(strings.setdefault(s, len(strings)), 4)

        def element(name, attributes, children=()):
            return number(name) + self.integer(len(attributes), 4) + b''.join(number(k) + number(v) for k, v in attributes.items()) + self.integer(len(children), 4) + b''.join(children)

        def field(name, of, flags):
            attributes = {'name': name, 'class': str(self.ids.get(of, 77))}
            attributes.update({'constantPool': 'true'} if 'p' in flags else {}, **({'dimension': '1'} if 'a' in flags else {}))
            return element('field', attributes, [element('annotation', {'class': '1', 'value': UNITS[f]}) for f in flags if f in UNITS])
        classes = [element('class', {'id': str(self.ids[n]), 'name': n}) for n in BASIC]
        classes += [element('class', {'id': str(self.ids[n]), 'name': n, 'superType': 'jdk.jfr.Event'}, [field(*f) for f in fields] + [element('annotation', {'class': '1', 'value': 'label'})])
                    for n, fields in self.types.items()]
        tree = element('root', {}, [element('metadata', {}, classes), element('region', {'locale': 'en_US'})])
        body = b''.join(self.integer(0, 8) for _ in range(3)) + self.integer(len(strings), 4) + b''.join(self.string(Text(s, encoding)) for s in strings) + tree
        self.pieces.append(self.record(0, body))
        return self

    def data(self, size=None, state=0, duration_ns=3_000_000_000):
        body = b''.join(self.pieces)
        return MAGIC + struct.pack('>HHQQQQQQQI', *self.version, len(body) + HEAD if size is None else size, 0, 0, self.start, duration_ns, TICKS, FREQUENCY,
                                   state << 24 | self.compressed) + body

    # --- what most recordings have

    def stacks(self, prefix='p/', at=0):
        """Threads 1 main, 2 worker; classes 1 p.C, 2 p.D, 3 byte[]; stacks 1 main -> run:12, 2 main -> run -> leaf, 3 none."""
        symbols = [prefix + 'C', prefix + 'D', '[B', 'main', 'run', 'leaf', '()V']
        self.constants('jdk.types.Symbol', {at + i + 1: {'string': s} for i, s in enumerate(symbols)})
        self.constants('java.lang.Class', {i: {'name': at + i} for i in (1, 2, 3)})
        self.constants('jdk.types.Method', {i: {'type': 1 + (i == 3), 'name': at + 3 + i, 'descriptor': at + 7} for i in (1, 2, 3)})
        self.constants('java.lang.Thread', {1: {'javaName': 'main', 'osName': 'java'}, 2: {'javaName': None, 'osName': 'worker'}})
        self.constants('jdk.types.ThreadState', {1: {'name': 'STATE_RUNNABLE'}, 2: {'name': 'STATE_SLEEPING'}, 3: {'name': 'STATE_DEFAULT'}})
        frames = [{'method': 3, 'lineNumber': 30}, {'method': 2, 'lineNumber': 12}, {'method': 1, 'lineNumber': -1}]
        self.constants('jdk.types.StackTrace', {1: {'frames': frames[1:]}, 2: {'frames': frames}, 3: {'frames': []}})
        return self


def whole(**how):
    """Every kind of event that a JDK writes."""
    c = Chunk(**how).metadata().stacks()
    for thread, stack, n in ((1, 1, 3), (1, 2, 2), (2, 2, 1), (2, 0, 1)):
        for _ in range(n):
            c.event('jdk.ExecutionSample', sampledThread=thread, stackTrace=stack, state=1)
    c.event('jdk.NativeMethodSample', sampledThread=2, stackTrace=2, state=1)
    c.event('jdk.ObjectAllocationSample', eventThread=1, stackTrace=1, objectClass=3, weight=5000).event('jdk.ObjectAllocationSample', eventThread=1, stackTrace=2, objectClass=2, weight=1 << 40)
    c.event('jdk.JavaMonitorEnter', duration=20000, eventThread=2, stackTrace=2, monitorClass=1).event('jdk.JavaMonitorEnter', duration=30000, eventThread=2, stackTrace=2, monitorClass=1)
    c.event('jdk.JavaMonitorWait', duration=40000, eventThread=1, stackTrace=1, monitorClass=2).event('jdk.ThreadPark', duration=50000, eventThread=1, stackTrace=1)
    c.event('jdk.ThreadSleep', duration=60000, eventThread=2, stackTrace=1, time=60)
    c.event('jdk.GarbageCollection', duration=7, gcId=-1, share=0.5, longest=1e300)
    return c.event('jdk.JVMInformation', javaArguments='p.Main -x 1', pid=4711)


def cpu_time(**how):
    """As JDK 25 does it: both clocks."""
    c = whole(**how)
    for thread, stack, n in ((1, 2, 4), (2, 1, 1)):
        for _ in range(n):
            c.event('jdk.CPUTimeSample', eventThread=thread, stackTrace=stack, samplingPeriod=10000)
    return c.event('jdk.CPUTimeSample', eventThread=1, failed=True, samplingPeriod=10000).event('jdk.CPUTimeSamplesLost', lostSamples=17, eventThread=1)


def async_profiler(settings=(('event', 'cpu'), ('interval', '5000000'), ('wall', '20000000')), **how):
    """As async-profiler 3 does it (samples of two clocks are one type), and 4 (profiler.WallClockSample)."""
    c = Chunk(types={**TYPES, **EVENTS, **OF_ASYNC_PROFILER}, **how).metadata().stacks()
    for name, value in settings:
        c.event('jdk.ActiveSetting', name=name, value=value)
    for state, n in ((3, 4), (1, 2), (2, 1)):
        for _ in range(n):
            c.event('jdk.ExecutionSample', sampledThread=1, stackTrace=1, state=state)
    c.event('profiler.WallClockSample', sampledThread=2, stackTrace=2, state=2, samples=10)
    return c.event('jdk.ObjectAllocationInNewTLAB', eventThread=1, stackTrace=1, objectClass=3, allocationSize=24, tlabSize=4000).event(
        'jdk.ObjectAllocationOutsideTLAB', eventThread=1, stackTrace=1, objectClass=3, allocationSize=70000)


def all_files():
    """For the fuzzer: (name, bytes)."""
    a = whole().data()
    return [('whole', a), ('raw', whole(compressed=False, version=(1, 0)).data()), ('cpu-time', cpu_time().data()), ('async', async_profiler().data()), ('two', a + cpu_time().data()), ('cut', a[:len(a) * 3 // 4])]
