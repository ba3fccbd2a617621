# SPDX-License-Identifier: BSD-2-Clause
"""Stacks and names: depth, recursion, natives, lambdas, hidden classes, records, virtual threads, names that try to break the format."""
import re

import hprof_text
from runner import test

FAST = 'cpu=samples,interval=1,cutoff=0'


@test(level='plain')
def recursion_deeper_than_depth_is_cut_at_depth(t):
    _, p = t.profile('Deep', 500, 300, opts=FAST + ',depth=10', stdout='done\n')
    deep = [tr for _, tr in p.stacks() if any(f.method == 'Deep.down' for f in tr.frames)]
    t.check(deep, 'no stack of the recursion')
    t.equal({len(tr.frames) for tr in deep if len([f for f in tr.frames if f.method == 'Deep.down']) > 5}, {10}, 'frames of the recursive stacks')
    t.equal(max(len(tr.frames) for tr in p.traces.values()), 10, 'deepest stack')


@test(params=(1500, 5000))
def depth_2048(t, levels):
    _, p = t.profile('Deep', levels, 500, opts=FAST + ',depth=2048', stdout='done\n')
    deepest = max(len(tr.frames) for tr in p.traces.values())
    if levels > 2048:
        t.equal(deepest, 2048, 'frames of the deepest stack')
    else:
        whole = [tr for _, tr in p.stacks() if sum(f.method == 'Deep.down' for f in tr.frames) == levels + 1]
        t.check(whole, 'no stack has the whole recursion; the deepest has %d frames' % deepest)
    t.check(p.share('Deep.down') > 0.5, 'share of the recursion %.2f' % p.share('Deep.down'))
    # The zero VM refuses in the middle of a call: 8 to 9 % of this program (unknown_Java).
    t.check(p.unknown() <= (0.02 if t.jdk.has('jit') else 0.2) * p.total + 2, '%d of %d samples could not be walked' % (p.unknown(), p.total))


@test(level='plain')
def depth_0_has_no_samples(t):
    _, p = t.profile('HotSplit', 50, opts='cpu=samples,interval=1,depth=0', stdout='done true\n')
    t.equal((p.total, p.rows, p.traces), (0, [], {}), 'total, rows, traces')


@test()
def lineno_n(t):
    _, p = t.profile('HotSplit', 60, opts=FAST + ',lineno=n')
    t.equal({f.line for tr in p.traces.values() for f in tr.frames}, {0}, 'lines')
    t.check('HotSplit.hotA' in p.leaves(), 'no HotSplit.hotA')


@test()
def lines_are_those_of_the_source(t):
    _, p = t.profile('HotSplit', 100, opts=FAST)
    got = {(f.method, f.source, f.line) for _, tr in p.stacks() for f in tr.frames if f.method.startswith('HotSplit.hot')}
    t.check(('HotSplit.hotA', 'HotSplit.java', 5) in got and ('HotSplit.hotB', 'HotSplit.java', 6) in got, 'frames: %s' % sorted(got))
    # A sample whose walk began at a call or return, and went on from the caller, has its own method without a line.
    without = sum(n for n, tr in p.stacks() if any(f.method.startswith('HotSplit.hot') and f.line == 0 for f in tr.frames))
    t.check(without <= 0.01 * p.total and all(line in (0, 5, 6, 7) for _, _, line in got), '%d of %d without a line; frames: %s' % (without, p.total, sorted(got)))
    looks = [(tr.thread, tuple((f.method, f.source, f.line) for f in tr.frames)) for tr in p.traces.values()]
    t.equal(len(set(looks)), len(looks), 'traces that do not print alike')


@test(level='plain', needs=('hotspot',))
def native_methods_and_lambdas(t):
    _, p = t.profile('Natives', 300, opts=FAST + ',depth=20', native=True, stdout='done\n')
    native = [tr for _, tr in p.stacks() if tr.frames and tr.frames[0].method == 'Natives.burn']
    t.check(native, 'no sample on top of the native method')
    t.equal({tr.frames[0].line for tr in native}, {0}, 'line of the native method')
    for method in ('Natives.burn', 'Natives.target'):
        t.near(p.share(method), 300 / p.total, 0.2 * 300 / p.total, 'share of %s' % method)
    lambdas = [m for m in p.methods() if m.startswith('Natives.lambda$main$')]
    t.equal(len(lambdas), 1, 'lambda bodies %s' % lambdas)
    t.near(p.share(lambdas[0]), 300 / p.total, 0.2 * 300 / p.total, 'share of the lambda')
    t.equal([m for m in p.methods() if '/' in m], [], 'names with a slash')


@test(level='plain', since=17)
def records_hidden_classes_and_nest_mates(t):
    _, p = t.profile('Modern', 300, opts=FAST + ',depth=20', stdout='done\n')
    for method in ('Modern$Point.burnRecord', 'Modern$Square.burnSealed'):
        t.near(p.share(method), 300 / p.total, 0.2 * 300 / p.total, 'share of %s' % method)
    hidden = {m for m in p.methods() if m.endswith('.burnHidden')}
    t.check(len(hidden) == 1 and re.fullmatch(r'HiddenTemplate\.0x[0-9a-f]+\.burnHidden', min(hidden)), 'names of the hidden class: %s' % hidden)


LONG = ''.join(chr(ord('a') + i % 26) for i in range(2000))
CLASSES = [  # class.method, source file, as they must be printed; quotes and backslashes are plain outside quoted fields
    ('Strange$Größe.länge', 'Strange.java'),
    ('Strange$大きさ.𝒳𝒴', 'Strange.java'),
    ('p.New\\nLine.tab\\tquote"back\\slash', 'C\\rR.java'),
    ('p.Control\\u0001\\u007F\\u0085.lone\\uD800end', 'a (b:1) c.java'),
    ('p.TRACE 300001:.\\nTHREAD END (id = 200001)\\n', 'CPU SAMPLES END\\n'),
    ('p.Nul\\u0000.x\\u0000𝒳\\uDCB3y', 'ÿ.java'),
    ('p.Long%s.%s' % (LONG, LONG), 'Long.java'),
]
THREADS = [  # name and group, escaped
    ('new\\nline\\r\\ttab', 'g'),
    ('worker \\"one\\", group=\\"x\\")\\nTHREAD END (id = 200001)', 'quote\\"back\\\\slash'),
    ('😀 smile', '𝒳'),
    ('', ''),
    ('\\uD800\\u0000\\u0001\\u0085\\u009F\\u007F', 'lone \\uDFFF'),
    (LONG, 'long'),
]


def _hex(text):
    return re.sub(r'\\u[0-9a-fA-F]{4}', lambda m: m.group(0).lower(), text)


@test(level='plain', needs=('hotspot',))
def names_outside_ascii_and_forged_records(t):
    _, p = t.profile('Strange', 40, opts=FAST + ',depth=8', jvm=['-Dsun.stdout.encoding=UTF-8'], stdout='done\n')
    text = _hex(p.text)
    for method, source in CLASSES:
        t.check('\n\t%s(%s:' % (_hex(method), _hex(source)) in text, 'not printed: %s(%s:' % (method[:80], source))
    for name, group in THREADS:
        t.check('name="%s", group="%s")\n' % (_hex(name), _hex(group)) in text, 'no THREAD START of name="%s", group="%s"' % (name[:80], group))
    t.equal(hprof_text.unescape(THREADS[1][0]), 'worker "one", group="x")\nTHREAD END (id = 200001)', 'unescape')
    t.check(200001 in p.ended, 'no THREAD END of main')


@test(level='plain', since=21, needs=('hotspot',), collectors='all', timeout=240)
def frames_of_virtual_threads_in_the_heap_belong_to_the_stack(t):
    """Most frames of these threads are in the heap."""
    apart = ['-XX:CompileCommand=quiet', '-XX:CompileCommand=dontinline,Frozen.spin*']  # inlined, the loops of two roles may share instructions
    _, p = t.profile('Frozen', 500, 400, opts=FAST + ',depth=300', jvm=apart, stdout='done\n')
    whole, cut = 0, 0
    for n, tr in p.stacks():
        frames = [f.method for f in tr.frames]
        role = [f[len('Frozen.spin'):].lower() for f in frames if f.startswith('Frozen.spin')]
        if not role:
            continue
        if frames[-1] == 'hprofx.truncated':
            cut += n
            continue
        whole += n
        t.equal([f for f in frames if f in ('Frozen.one', 'Frozen.two', 'Frozen.three')], ['Frozen.' + role[0]], 'who called %s' % frames[:8])
        t.check('java.lang.VirtualThread.run' in frames and not any('ForkJoin' in f for f in frames), 'the outermost frames: %s' % frames[-8:])
    t.check(whole > 0 and cut <= 0.02 * whole + 1, '%d whole stacks, %d that end early' % (whole, cut))
