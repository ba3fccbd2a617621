# SPDX-License-Identifier: BSD-2-Clause
"""hprofx view of a heap dump, of the JVM's own or of hprofx: classes, strings, empty collections and what retains most are those of a program that is known, and as long as the JVM says."""
import fcntl
import json
import re
import signal
import subprocess
import time

from attached import FAILED, PARTIAL, USAGE, Program, command, does, hprofx, leaves_no_profile, leaves_nothing, refuses
from preload import preload
from runner import test

COMPACT = {25: '-XX:+UseCompactObjectHeaders', 28: '-XX:-UseCompactObjectHeaders'}  # what is no default


def _rows(said, title):
    """{name: (count, bytes)} of a table."""
    part = said.split('\n%s\n' % title)[1].split('\n\n')[0]
    return {name: (int(count.replace(',', '')), int(size.replace(',', ''))) for count, size, name in re.findall(r'^ +([\d,]+) +([\d,]+)(?: +[\d,]+)?  +(\S.*)$', part, re.M)}


def _jcmd(t, p, *words):
    return subprocess.run([*t.jdk.tool('jcmd'), str(p.run.pid), *words], capture_output=True, text=True, check=True, timeout=max(1, t.deadline - time.monotonic())).stdout


def _histogram(t, p):
    """{class: (objects, bytes)} as the JVM counts."""
    spoken = lambda name: re.sub(r'^\[L(.*);$', r'\1[]', name)
    return {spoken(name): (int(count), int(size)) for count, size, name in re.findall(r'^ *\d+: +(\d+) +(\d+)  (\S+)', _jcmd(t, p, 'GC.class_histogram'), re.M)}


def _words_are_right(t, said, jvm):
    """jvm: its histogram."""
    ours = {k: v for k, v in _rows(said, 'Classes').items() if k.startswith('HeapWords')}
    t.equal(ours, {k: v for k, v in jvm.items() if k.startswith('HeapWords')}, 'classes')
    t.equal({k: v[0] for k, v in ours.items() if k[10:] in ('Node', 'Leaf', 'Node[]', 'Table')},
            {'HeapWords$Node': 45000, 'HeapWords$Leaf': 5000, 'HeapWords$Node[]': 70, 'HeapWords$Table': 47}, 'objects of classes')
    texts = _rows(said, 'Duplicate strings')
    t.equal([texts['"%s"' % text][0] for text in ('a text of HeapWords, often', '\u0441\u043b\u043e\u0432\u043e of HeapWords')], [1001, 501], 'strings, with the constant')
    empty = {k[10:]: v[0] for k, v in _rows(said, 'Empty collections').items() if k.startswith('HeapWords')}
    t.equal(empty, {'Bag': 20, 'Table': 20, 'Shared': 20, 'Line': 20}, 'empty collections with a table')
    t.equal(_rows(said, 'Arrays without elements')['HeapWords$Node[]'][0], 10, 'arrays without elements')


def _retained(said):
    """{class: (bytes, itself, objects)}, of objects of one class the largest."""
    part = said.split('\nRetained: ')[1].split('\n\n')[0]
    rows = re.findall(r'^ +([\d,]+) +[\d.]+% +([\d,]+) +([\d,]+)  (\S.*?)(?: @ 0x[0-9a-f]+)?$', part, re.M)
    return {row[3]: tuple(int(v.replace(',', '')) for v in row[:3]) for row in reversed(rows)}


def _holders_are_right(t, said, jvm):
    items = 5000
    each = sum(jvm[name][1] // jvm[name][0] for name in ('java.util.HashMap$Node', 'java.lang.Integer', 'HeapWords$Item'))
    rows = _retained(said)
    table = rows['java.util.HashMap$Node[]']
    t.equal((table[0] - table[1], table[2]), (items * each, 1 + 3 * items), 'what the table of the map retains')
    t.equal(rows['java.util.HashMap'], (table[0] + rows['java.util.HashMap'][1], jvm['java.util.HashMap'][1] // jvm['java.util.HashMap'][0], 2 + 3 * items), 'the map')
    nodes = rows['HeapWords$Node']
    t.equal((nodes[0], nodes[2]), (sum(jvm['HeapWords$' + k][1] for k in ('Node', 'Leaf')), 50000), 'the list')
    paths = [[re.sub(' @ 0x[0-9a-f]+$', '', line.strip()) for line in path.splitlines()] for path in said.split('\nPaths: ')[1].split('\n\n') if '\n    ' in '\n' + path]
    ends = [path[-3:] for path in paths if path[-1] == '.table: java.util.HashMap$Node[]']  # further maps are the JDK's
    t.check(ends and ends[0][0].endswith(': class HeapWords') and ends[0][1] == '.cache: java.util.HashMap', 'path to the map: %s' % paths)


@test(level='plain', collectors=('G1', 'ZGC'), timeout=240)
def a_dump_is_told_in_words(t):
    """Of the JVM's dump, plain and compressed where it does that, and of hprofx's; in each of the layouts of objects."""
    for n, option in enumerate(filter(None, ('-Xmx128m', '-XX:-UseCompressedOops', COMPACT.get(t.jdk.version)))):
        p = Program(t, 'HeapWords', jvm=(option,))
        files = [t.work / ('jvm%d.hprof' % n), t.work / ('ours%d.hprof' % n)]
        _jcmd(t, p, 'GC.heap_dump', str(files[0]))
        if t.jdk.version >= 17:
            files.append(t.work / ('packed%d.hprof' % n))
            _jcmd(t, p, 'GC.heap_dump', '-gz=1', str(files[-1]))
        does(t, '-e', 'heap', '-o', files[1], p.run.pid)
        jvm = _histogram(t, p)
        for file in files:
            said = t.read('view', '-n', '100000', file)
            _words_are_right(t, said, jvm)
            _holders_are_right(t, said, jvm)
        _words_are_right(t, does(t, 'heap', '-n', '100000', p.run.pid), jvm)
        leaves_nothing(t, p.run.pid)
        p.end(t)


@test(level='plain', collectors='any')
def heap_takes_what_goes_with_a_dump(t):
    p = Program(t, 'HeapWords')
    does(t, 'heap', p.run.pid, 'maxpause=off')
    said = json.loads(does(t, 'heap', '--json', p.run.pid))
    t.equal((said['pid'], said['heap_dump']['complete'], said['heap_dump']['dangling']), (p.run.pid, True, 0), 'pid, complete, dangling')
    t.check(said['heap_dump']['classes'] and said['heap_dump']['retained'] and said['heap_dump']['paths'], 'a part of the JSON is empty')
    t.check(does(t, '-e', 'heap', p.run.pid).startswith('Heap dump: '), '-e heap does not tell what is in the heap')
    refuses(t, USAGE, 'heap takes a heap dump alone', 'heap', p.run.pid, 'cpu=samples')
    refuses(t, USAGE, 'allocation sites take time', 'heap', p.run.pid, 'sites=exact')
    refuses(t, USAGE, 'leave out format=', 'heap', p.run.pid, 'format=a')
    refuses(t, USAGE, '-n wants a number of rows', 'heap', '-n', 'x', p.run.pid)
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def the_dump_has_no_name_while_it_is_read(t):
    """Whoever ends the command, as the first signal does, then leaves no file as large as the heap."""
    p = Program(t, 'HeapWords')
    with subprocess.Popen(command(t) + ['heap', '-n', '100000', str(p.run.pid)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0) as asked:
        fcntl.fcntl(asked.stdout, fcntl.F_SETPIPE_SZ, 4096)
        asked.stdout.read(1)  # it has read the dump, and cannot write all that it has to say
        t.equal(asked.poll(), None, 'the command has ended')
        leaves_no_profile(t, asked)
        asked.send_signal(signal.SIGINT)
        t.equal(asked.wait(max(1, t.deadline - time.monotonic())), -signal.SIGINT, 'how the first signal ends it')
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def without_a_dump_the_reason_is_told(t):
    p = Program(t, 'HeapWords')
    done = hprofx(t, 'heap', p.run.pid, 'heapdump=walk,maxpause=1ms')
    t.equal((done.returncode, done.stdout), (FAILED, ''), 'status and stdout (%s)' % done.stderr)
    t.check(re.search(r'^hprofx: there is no heap dump: .* would stop the program for about \d+ ms, and maxpause=1ms allows less$', done.stderr, re.M), done.stderr)
    leaves_nothing(t, p.run.pid)
    p.end(t)


@test(level='plain', collectors='any')
def a_dump_that_is_not_whole_has_a_status(t):
    p = Program(t, 'HeapWords', env=preload(t, 'halfprofile'))
    done = hprofx(t, 'heap', p.run.pid)
    t.equal((done.returncode, done.stderr.splitlines()[-1:]), (PARTIAL, ['hprofx: the heap dump is not complete']), 'status and stderr')
    t.check('\nThe dump is not complete: objects and references are missing.\n' in done.stdout, done.stdout[:500])
    leaves_nothing(t, p.run.pid)
    p.end(t)
