#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_heap_file HPROFX [unittest arguments]: what hprofx view says of a heap dump whose objects are known: classes, strings, collections, several dumps, damage."""
import gzip
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'read'))
import hprof_files as h  # noqa: E402

PROGRAM = None
OBJECT, BOOLEAN, CHAR, BYTE, INT, LONG = 2, 4, 5, 8, 10, 11


class Dump:
    """A heap as a JVM with compressed references has it: objects lie one behind the other, from BASE on."""
    BASE = 0x700000000

    def __init__(self, size=8, jdk=17):
        self.f, self.jdk = h.Format(size), jdk
        self.base = self.BASE if size == 8 else self.BASE // 64
        self.at = self.base
        self.names, self.classes, self.subs, self.roots = {}, {}, [], []
        for name in ('java.lang.Object', 'java.lang.Class'):
            self.klass(name, fields=[('klass', LONG)] if name.endswith('Class') else [])
        self.klass('java.lang.String', fields=[('value', OBJECT), ('hash', INT)] + ([('coder', BYTE)] if jdk > 8 else []))

    def name(self, text):
        return self.names.setdefault(text, 100 + len(self.names))

    def klass(self, name, above='java.lang.Object', fields=(), statics=()):
        """Class objects lie apart."""
        i = 0x600000000 // (1 if self.f.size == 8 else 64) + 4096 * (len(self.classes) + 1)
        above = self.classes[above] if name != 'java.lang.Object' else None
        self.classes[name] = {'id': i, 'fields': list(fields), 'above': above}
        constants = b'\0\0'
        values = struct.pack('>H', len(statics)) + b''.join(self.f.id(self.name(n)) + bytes([t]) + v for n, t, v in statics)
        width = sum({OBJECT: self.f.size, BYTE: 1, INT: 4, LONG: 8}[t] for _, t in fields)
        self.name(name)
        self.subs.append(self.f.class_dump(i, 1, above['id'] if above else 0, width, constants, values, [(self.name(n), t) for n, t in fields]))
        return i

    def place(self, size):
        i = self.at
        self.at += (size + 7) // 8 * 8
        return i

    def all_fields(self, name):
        k, found = self.classes[name], []
        while k is not None:
            found += k['fields']
            k = k['above']
        return found

    def new(self, name, **values):
        fields = self.all_fields(name)
        i = self.place(12 + sum({OBJECT: 4, BYTE: 1, INT: 4, LONG: 8}[t] for _, t in fields))
        pack = {BYTE: lambda v: struct.pack('>b', v), INT: lambda v: struct.pack('>i', v), LONG: lambda v: struct.pack('>q', v), OBJECT: self.f.id}
        self.subs.append(self.f.instance(i, 1, self.classes[name]['id'], b''.join(pack[t](values.get(n, 0)) for n, t in fields)))
        return i

    def objects(self, name, *elements):
        i = self.place(16 + 4 * len(elements))
        self.subs.append(self.f.objects(i, 1, self.classes[name]['id'], *elements))
        return i

    def primitives(self, kind, data):
        width = {BYTE: 1, CHAR: 2, INT: 4, LONG: 8}[kind]
        i = self.place(16 + len(data))
        self.subs.append(self.f.primitives(i, 1, kind, data, len(data) // width))
        return i

    def text(self, text):
        if self.jdk == 8:
            return self.primitives(CHAR, text.encode('utf-16-be', 'surrogatepass'))
        wide = any(ord(c) > 255 for c in text)
        return self.primitives(BYTE, text.encode('utf-16-le', 'surrogatepass') if wide else text.encode('latin-1'))

    def string(self, text, value=None):
        wide = any(ord(c) > 255 for c in text)
        return self.new('java.lang.String', value=self.text(text) if value is None else value, coder=int(wide))

    def root(self, i, kind=0xff, more=b''):
        self.roots.append(bytes([kind]) + self.f.id(i) + more)
        return i

    def system_classes(self):
        for k in self.classes.values():
            self.root(k['id'], 5)

    def segments(self, end=True):
        return self.f.record(0x1c, b''.join(self.roots + self.subs)) + (self.f.record(0x2c, b'') if end else b'')

    def definitions(self):
        strings = b''.join(self.f.string(i, n) for n, i in self.names.items())
        loads = b''.join(self.f.load(n + 1, k['id'], 1, self.names[name]) for n, (name, k) in enumerate(self.classes.items()))
        return strings + loads + self.f.trace(1, 0)

    def head(self):
        return b'JAVA PROFILE 1.0.2\0' + struct.pack('>IQ', self.f.size, 1795232082000)

    def data(self):
        return self.head() + self.definitions() + self.segments()


class HeapFile(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def view(self, data, *options, status=0, said='', timeout=None, **variables):
        (self.folder / 'heap.hprof').write_bytes(data.data() if isinstance(data, Dump) else data)
        done = subprocess.run([PROGRAM, 'view', 'heap.hprof', *options], cwd=self.folder, capture_output=True, check=False, stdin=subprocess.DEVNULL, timeout=timeout,
                              env={**os.environ, **variables})
        self.assertEqual(done.returncode, status, done.stderr)
        (self.assertIn if said else self.assertEqual)(said, done.stderr.decode())
        return done.stdout.decode()

    def rows(self, said, title):
        """{name: (count, bytes)} of a table."""
        part = said.split('\n%s\n' % title)[1].split('\n\n')[0]
        found = re.findall(r'^ +([\d,]+) +([\d,]+)(?: +[\d,]+)?  +(\S.*)$', part, re.M)
        return {name: (int(count.replace(',', '')), int(size.replace(',', ''))) for count, size, name in found}

    def known(self, size=8, jdk=17):
        d = Dump(size, jdk)
        d.klass('p.Node', fields=[('next', OBJECT), ('value', LONG)])
        d.klass('p.Leaf', 'p.Node', fields=[('small', BYTE)])
        d.klass('p.Node[]')
        nodes = [d.new('p.Node') for _ in range(5)] + [d.new('p.Leaf') for _ in range(3)]
        d.root(d.objects('p.Node[]', *nodes))
        d.objects('p.Node[]')
        d.primitives(INT, bytes(40))
        d.primitives(LONG, bytes(8))
        d.primitives(LONG, b'')
        return d

    def test_classes_have_the_objects_and_bytes_of_the_dump(self):
        for size in (8, 4):
            with self.subTest(size=size):
                said = self.view(self.known(size))
                want = {'p.Node': (5, 5 * 24), 'p.Leaf': (3, 3 * 32), 'p.Node[]': (2, 48 + 16), 'int[]': (1, 56), 'long[]': (2, 24 + 16), 'java.lang.Class': (6, 6 * 24)}
                self.assertEqual(self.rows(said, 'Classes'), want)
                self.assertIn('Heap dump: 19 objects, %d B; 6 classes, 1 root.' % sum(b for _, b in want.values()), said)
                self.assertEqual(self.rows(said, 'Arrays without elements'), {'p.Node[]': (1, 16), 'long[]': (1, 16)})

    def test_the_rows_that_are_left_out_are_summed(self):
        said = self.view(self.known(), '-n', '2')
        self.assertEqual(self.rows(said, 'Classes'), {'java.lang.Class': (6, 144), 'p.Node': (5, 120), '4 more classes': (8, 256)})

    def test_strings_with_the_same_text_are_told(self):
        for jdk in (8, 17):
            with self.subTest(jdk=jdk):
                d = Dump(jdk=jdk)
                for i in range(10):
                    d.string('a text that is there often')
                    d.string('unique %d' % i)
                d.string('später')
                d.string('später')
                d.string('Ωμέγα 𝄞')
                d.string('Ωμέγα 𝄞')
                one = d.text('shared')
                for _ in range(4):
                    d.string('shared', one)
                d.new('java.lang.String')
                said = self.view(d)
                width = 24
                each = lambda text: 16 + (len(text.encode('utf-16-le')) if jdk == 8 or any(ord(c) > 255 for c in text) else len(text))
                up = lambda n: (n + 7) // 8 * 8
                want = {'"%s"' % t: (n, (n - 1) * (width + (0 if t == 'shared' else up(each(t)))))
                        for t, n in (('a text that is there often', 10), ('später', 2), ('Ωμέγα 𝄞', 2), ('shared', 4))}
                self.assertEqual(self.rows(said, 'Duplicate strings'), want)
                self.assertIn('28 strings, 14 different texts;', said)

    def test_one_text_in_two_encodings_is_two_texts(self):
        d = Dump()
        d.new('java.lang.String', value=d.primitives(BYTE, b'ab'), coder=0)
        d.new('java.lang.String', value=d.primitives(BYTE, b'ab'), coder=1)
        self.assertIn('2 strings, 2 different texts;', self.view(d))

    def test_texts_that_were_left_out_are_no_duplicates(self):
        d = Dump()
        for _ in range(5):
            d.string('\0' * 7)
        d.string('')
        d.string('')
        said = self.view(d)
        self.assertIn('7 strings, 1 different text and 5 of zeros, as redact= leaves them;', said)
        self.assertEqual(self.rows(said, 'Duplicate strings'), {'""': (2, 24 + 16)})

    def test_a_text_of_many_pieces_is_compared_to_its_end(self):
        d = Dump()
        long = 'x' * 200000
        for text in (long, long, 'y' + long[1:], long[:-1] + 'y', long + 'x'):
            d.string(text)
        said = self.view(d)
        self.assertEqual([(n, b) for n, b in self.rows(said, 'Duplicate strings').values()], [(2, 200016 + 24)])

    def test_a_text_behind_a_piece_of_zeros_is_another_one(self):
        d = Dump()
        for n in (0, 65536, 131072):
            d.string('\0' * n + 'abc')
        self.assertIn('3 strings, 3 different texts;', self.view(d))

    def test_the_beginning_of_a_text_is_shown_as_far_as_the_line_goes(self):
        d = Dump()
        for text in ('a\0b', '\U0001f600' * 100, '\U0001f600' * 72, 'x' * 73):
            d.string(text)
            d.string(text)
        shown = set(self.rows(self.view(d), 'Duplicate strings'))
        self.assertEqual(shown, {'"a\ufffdb"', '"%s..."' % ('\U0001f600' * 72), '"%s"' % ('\U0001f600' * 72), '"%s..."' % ('x' * 72)})

    def collections(self):
        d = Dump()
        d.klass('java.lang.Object[]')
        d.klass('java.util.AbstractList', fields=[('modCount', INT)])
        d.klass('java.util.ArrayList', 'java.util.AbstractList', fields=[('elementData', OBJECT), ('size', INT)])
        d.klass('p.List', 'java.util.ArrayList', fields=[('size', LONG)])
        d.klass('java.util.HashMap', fields=[('table', OBJECT), ('size', INT)])
        d.klass('java.util.LinkedHashMap', 'java.util.HashMap', fields=[('head', OBJECT)])
        d.klass('java.util.ArrayDeque', fields=[('elements', OBJECT), ('head', INT), ('tail', INT)])
        d.klass('java.util.concurrent.ConcurrentHashMap', fields=[('table', OBJECT), ('baseCount', LONG), ('counterCells', OBJECT)])
        return d

    def test_collections_without_elements_and_with_a_table_are_told(self):
        d = self.collections()
        table = lambda n: d.objects('java.lang.Object[]', *[0] * n)
        for name, field in (('java.util.ArrayList', 'elementData'), ('java.util.HashMap', 'table'), ('java.util.LinkedHashMap', 'table')):
            d.new(name, **{field: table(10)})
            d.new(name, **{field: table(10), 'size': 1})
            d.new(name, **{field: table(0)})
            d.new(name)
        d.new('java.util.ArrayList', elementData=table(20))
        d.new('java.util.ArrayDeque', elements=table(16), head=3, tail=3)
        d.new('java.util.ArrayDeque', elements=table(16), head=0, tail=3)
        d.new('java.util.concurrent.ConcurrentHashMap', table=table(16))
        d.new('java.util.concurrent.ConcurrentHashMap', table=table(16), baseCount=1 << 40)
        d.new('java.util.concurrent.ConcurrentHashMap', table=table(16), counterCells=table(2))
        said = self.view(d)
        self.assertEqual(self.rows(said, 'Empty collections'), {
            'java.util.ArrayList': (2, 56 + 96), 'java.util.HashMap': (1, 56), 'java.util.LinkedHashMap': (1, 56), 'java.util.ArrayDeque': (1, 80),
            'java.util.concurrent.ConcurrentHashMap': (1, 80)})
        self.assertEqual(self.rows(said, 'Arrays without elements'), {'java.lang.Object[]': (3, 48)})

    def test_many_subclasses_of_a_collection_with_many_fields_take_little_time(self):
        d = Dump()
        d.klass('java.util.ArrayList', fields=[('filler', INT)] * 60000 + [('size', INT), ('elementData', OBJECT)])
        for n in range(40000):
            d.klass('p.L%d' % n, 'java.util.ArrayList')
            d.subs.append(d.f.instance(d.place(16), 1, d.classes['p.L%d' % n]['id'], bytes(4)))
        self.assertIn('p.L', self.view(d, timeout=20))  # 0.5 s; each of them once looked at each field

    def test_a_heap_without_compression_is_recognised(self):
        d = Dump()
        d.klass('p.Node', fields=[('next', OBJECT), ('value', LONG)])
        d.klass('p.Node[]')
        at = 0
        for n in range(40):
            i = d.place(16 + 16)
            d.subs.append(d.f.instance(i, 1, d.classes['p.Node']['id'], d.f.id(at) + bytes(8)))
            at = d.place(24 + 8 * n)
            d.subs.append(d.f.objects(at, 1, d.classes['p.Node[]']['id'], *[i] * n))
        rows = self.rows(self.view(d), 'Classes')
        self.assertEqual((rows['p.Node'], rows['p.Node[]']), ((40, 40 * 32), (40, sum(24 + 8 * n for n in range(40)))))

    def test_fields_that_are_padded_are_recognised(self):
        """Before JDK 15 those of a subclass begin at a whole reference."""
        d = Dump()
        d.klass('p.Above', fields=[('small', BYTE)])
        d.klass('p.Below', 'p.Above', fields=[('more', BYTE)])
        for _ in range(40):
            d.subs.append(d.f.instance(d.place(12 + 4 + 4 + 4), 1, d.classes['p.Below']['id'], bytes(2)))
        self.assertEqual(self.rows(self.view(d), 'Classes')['p.Below'], (40, 40 * 24))

    def test_a_gap_before_a_long_takes_no_field_of_a_subclass(self):
        """Before JDK 15; the fields of the class itself fill it."""
        d = Dump(jdk=8)
        d.klass('p.Long', fields=[('value', LONG)])
        sizes = {'p.Long': 24}
        for name, above, fields, size in (('p.Int', 'p.Long', [('more', INT)], 32), ('p.Ref', 'p.Long', [('more', OBJECT)], 32), ('p.Longer', 'p.Long', [('more', LONG)], 32),
                                          ('p.Both', 'java.lang.Object', [('value', LONG), ('small', INT)], 24), ('p.Behind', 'p.Both', [('more', BYTE)], 32),
                                          ('p.Other', 'java.lang.Object', [('value', LONG), ('more', OBJECT)], 24), ('p.Twice', 'p.Int', [('small', INT), ('wide', LONG)], 40),
                                          ('p.Bytes', 'java.lang.Object', [('value', LONG), ('a', BYTE), ('b', BYTE), ('more', OBJECT), ('next', OBJECT)], 32)):
            d.klass(name, above, fields=fields)
            sizes[name] = size
        for name, size in sizes.items():
            width = sum({OBJECT: 8, BYTE: 1, INT: 4, LONG: 8}[t] for _, t in d.all_fields(name))
            for _ in range(40):
                d.subs.append(d.f.instance(d.place(size), 1, d.classes[name]['id'], bytes(width)))
        for _ in range(10):
            d.primitives(INT, bytes(20))
            d.primitives(LONG, bytes(16))
        rows = self.rows(self.view(d), 'Classes')
        self.assertEqual({name: rows[name] for name in (*sizes, 'int[]', 'long[]')},
                         {**{name: (40, 40 * size) for name, size in sizes.items()}, 'int[]': (10, 400), 'long[]': (10, 320)})

    def test_objects_of_one_program_that_fit_another_layout_do_not_change_the_arrays(self):
        """They have a field that the dump does not have, and would fit behind a header of 16 bytes."""
        d = Dump()
        d.klass('p.Above', fields=[('value', LONG), ('small', INT)])
        d.klass('p.Between', 'p.Above', fields=[('small', INT)])
        d.klass('p.Odd', 'p.Between', fields=[('small', INT)])
        for _ in range(1000):
            d.subs.append(d.f.instance(d.place(40), 1, d.classes['p.Odd']['id'], bytes(20)))
        for n in range(20):
            d.primitives(INT, bytes(4 * n))
            d.primitives(LONG, bytes(8 * n))
        rows = self.rows(self.view(d), 'Classes')
        self.assertEqual(rows['int[]'], (20, sum((16 + 4 * n + 7) // 8 * 8 for n in range(20))))
        self.assertEqual(rows['long[]'], (20, sum(16 + 8 * n for n in range(20))))

    def test_objects_that_are_16_bytes_apart_are_recognised(self):
        d = Dump()
        d.klass('p.Node', fields=[('next', OBJECT), ('value', LONG)])
        d.klass('p.Leaf', 'p.Node', fields=[('small', INT)])
        for n in range(40):
            for name, width in (('p.Node', 16), ('p.Leaf', 20)):
                d.subs.append(d.f.instance(d.place(32), 1, d.classes[name]['id'], bytes(width)))
            d.subs.append(d.f.primitives(d.place((16 + 4 * n + 15) // 16 * 16), 1, INT, bytes(4 * n), n))
        rows = self.rows(self.view(d), 'Classes')
        self.assertEqual((rows['p.Node'], rows['p.Leaf'], rows['int[]']), ((40, 40 * 32), (40, 40 * 32), (40, sum((16 + 4 * n + 15) // 16 * 16 for n in range(40)))))

    def test_elements_behind_a_whole_class_word_and_a_length_are_recognised(self):
        """Since JDK 22 with -XX:-UseCompressedClassPointers."""
        for ref in (4, 8):
            with self.subTest(ref=ref):
                d = Dump()
                d.klass('p.Node', fields=[('next', OBJECT), ('value', LONG)])
                d.klass('p.Node[]')
                for n in range(40):
                    d.subs.append(d.f.instance(d.place(16 + 8 + ref), 1, d.classes['p.Node']['id'], bytes(16)))
                    d.subs.append(d.f.objects(d.place((24 if ref == 8 else 20) + ref * n), 1, d.classes['p.Node[]']['id'], *[0] * n))
                    d.subs.append(d.f.primitives(d.place(20 + n), 1, BYTE, bytes(n), n))
                    d.subs.append(d.f.primitives(d.place(24 + 8 * n), 1, LONG, bytes(8 * n), n))
                rows = self.rows(self.view(d), 'Classes')
                up = lambda n: (n + 7) // 8 * 8
                self.assertEqual({name: rows[name][1] for name in ('p.Node', 'p.Node[]', 'byte[]', 'long[]')},
                                 {'p.Node': 40 * 32, 'p.Node[]': sum(up((24 if ref == 8 else 20) + ref * n) for n in range(40)), 'byte[]': sum(up(20 + n) for n in range(40)),
                                  'long[]': sum(24 + 8 * n for n in range(40))})

    def test_gzip_is_read_as_often(self):
        d = self.known()
        plain = self.view(d)
        self.assertEqual(self.view(gzip.compress(d.data())), plain)

    def test_a_pipe_is_read_once_and_has_the_table(self):
        data = self.known().data()  # less than a pipe holds
        (self.folder / 'plain').write_bytes(data)
        for words in (('view',), ('diff', 'plain')):
            with self.subTest(words=words):
                out, into = os.pipe()
                os.write(into, data)
                os.close(into)
                done = subprocess.run([PROGRAM, *words, '/dev/stdin'], cwd=self.folder, capture_output=True, check=False, stdin=out, text=True, timeout=60)
                os.close(out)
                self.assertEqual((done.returncode, done.stderr), (0, ''))
                self.assertNotRegex(done.stdout, 'Heap dump: |classes')
                self.assertIn('p.Node' if words == ('view',) else 'methods differs', done.stdout)

    def test_of_several_dumps_the_last_complete_one_counts(self):
        first, second, third = self.known(), self.known(), self.known()
        second.new('p.Node')
        third.new('p.Node')
        third.new('p.Node')
        head = first.head() + first.definitions()
        said = self.view(head + first.segments() + second.segments())
        self.assertIn('It is dump 2 of 2 in the file, the last.', said)
        self.assertEqual(self.rows(said, 'Classes')['p.Node'], (6, 144))
        said = self.view(head + first.segments() + second.segments() + third.segments(end=False))
        self.assertIn('It is dump 2 of 3 in the file, the last that is complete.', said)
        self.assertEqual(self.rows(said, 'Classes')['p.Node'], (6, 144))

    def test_a_dump_is_chosen_by_its_number(self):
        first, second, third = self.known(), self.known(), self.known()
        second.new('p.Node')
        third.new('p.Node')
        third.new('p.Node')
        data = first.head() + first.definitions() + first.segments() + second.segments() + third.segments(end=False)
        for number, nodes in ((1, 5), (2, 6), (3, 7)):
            said = self.view(data, '--dump', str(number), status=0 if number < 3 else 6, said='' if number < 3 else 'heap.hprof: the heap dump is not complete\n')
            self.assertIn('It is dump %d of 3 in the file.\n' % number, said)
            self.assertEqual(self.rows(said, 'Classes')['p.Node'], (nodes, 24 * nodes))
        self.assertEqual(self.view(data, '--dump=4', status=1, said='heap.hprof: the file has no heap dump 4; it has 1 of 19 objects, 2 of 20 objects, '
                                   '3 of 21 objects (incomplete)\n'), '')
        self.view(data, '--dump=0', status=2, said='--dump wants the number of a heap dump')
        self.view(data, '--dump=1', '--tree', status=2, said='--dump chooses a heap dump')
        self.view(h.text().data(), '--dump=1', status=1, said='heap.hprof: no heap dump is in it')
        self.view(h.times().data(), '--dump=1', status=1, said='--dump chooses a heap dump of one binary file, and there is none')

    def test_a_dump_may_be_empty(self):
        d = self.known()
        head, empty = d.head() + d.definitions(), d.f.record(0x1c, b'') + d.f.record(0x2c, b'')
        for data, dumps in ((head + empty, 1), (head + d.segments() + empty, 2)):
            said = self.view(data)
            self.assertTrue(said.startswith('Heap dump: 0 objects, 0 B; 0 classes, 0 roots.'), said)
            self.assertEqual('It is dump 2 of 2 in the file, the last.' in said, dumps == 2)
            said = json.loads(self.view(data, '--json'))
            self.assertEqual((said['views'], said['heap_dump']['objects'], said['heap_dump']['dumps']), ([], 0, dumps))
        said = self.view(data, '--dump', '1')
        self.assertIn('Heap dump: 19 objects', said)
        self.assertIn('It is dump 1 of 2 in the file.', said)

    def test_references_to_nothing_are_told(self):
        d = self.known()
        self.assertNotIn('that the dump does not have', self.view(d))
        d.new('p.Node', next=0x123456780)
        self.assertIn('\n1 reference leads to an object that the dump does not have; it is left out.\n', self.view(d))
        d.root(0x123456780)
        self.assertIn('\n2 references lead to objects that the dump does not have; they are left out.\n', self.view(d))

    def test_json_has_what_the_words_have(self):
        d = self.known()
        held = d.string('twice')
        d.root(d.new('p.Node', next=d.string('twice')))
        d.new('p.Node', next=0x123456780)
        d.root(held, 8, b'\0\0\0\1\0\0\0\1')
        d.system_classes()
        said = json.loads(self.view(d, '--json'))
        dump = said['heap_dump']
        self.assertEqual([v['view'] for v in said['views']], ['heap'])
        self.assertEqual([dump[k] for k in ('dump', 'dumps', 'complete', 'objects', 'roots', 'dangling', 'twice')], [1, 1, True, 25, 9, 1, 0])
        words = self.rows(self.view(d, '-n', '100'), 'Classes')
        self.assertEqual({c['class']: (c['objects'], c['bytes']) for c in dump['classes']}, words)
        self.assertTrue(all(c['retained'] <= c['bytes'] or c['class'] in ('p.Node', 'p.Node[]', 'java.lang.String') for c in dump['classes']), dump['classes'])
        top = dump['retained'][0]
        self.assertEqual((top['class'], top['objects'], top['itself']), ('p.Node[]', 9, 48))
        self.assertEqual(top['bytes'], 48 + 5 * 24 + 3 * 32)
        self.assertEqual(dump['unreached']['objects'], 5)
        self.assertEqual([{k: s[k] for k in ('by', 'root', 'class')} for s in dump['paths'][0]['steps']], [{'by': 'root', 'root': 'unknown root', 'class': 'p.Node[]'}])
        self.assertEqual(int(top['id'], 16), int(dump['paths'][0]['steps'][0]['id'], 16))
        self.assertEqual([(t['text'], t['strings'], t['arrays']) for t in dump['duplicate_strings']['top']], [('twice', 2, 2)])
        self.assertEqual({(a['class'], a['count']) for a in dump['empty_arrays']}, {('p.Node[]', 1), ('long[]', 1)})
        self.assertEqual(dump['empty_collections'], [])
        self.assertEqual(len(json.loads(self.view(d, '--json', '-n', '2'))['heap_dump']['classes']), 2)
        self.assertNotIn('heap_dump', json.loads(self.view(d, '--json', '--view', 'heap')))
        self.assertNotIn('heap_dump', json.loads(self.view(h.text().data(), '--json')))

    def test_a_dump_that_is_cut_off_is_told_as_far_as_it_goes(self):
        d = self.known()
        data = d.data()
        for cut in (9, 9 + 40, len(d.segments()) // 2):
            with self.subTest(cut=cut):
                said = self.view(data[:-cut], status=6, said='hprofx: heap.hprof: ' + ('the heap dump is not complete\n' if cut == 9 else 'broken at byte'))
                self.assertIn('The dump is not complete: objects and references are missing.', said)

    def test_a_broken_dump_has_retained_sizes_and_paths_up_to_its_break(self):
        """An array is what its record says, whatever its class is called; the readings that look for names end at the break, too."""
        d = Dump()
        d.klass('p.C', fields=[('n', INT), ('data', OBJECT)])
        d.klass('p.Holder', statics=[('all', OBJECT, d.f.id(d.objects('p.C', *(d.new('p.C', data=d.primitives(BYTE, bytes(n))) for n in (5000, 9000)))))])
        d.system_classes()
        d.primitives(BYTE, bytes(100))
        said = self.view(d.data()[:-40], status=6, said='hprofx: heap.hprof: broken at byte')
        self.assertNotIn('read differently', said)
        self.assertIn(['system class: class p.Holder', '.all: p.C', '[1]: p.C'], [path[:3] for path in self.paths(said)])

    def test_a_dump_with_stacks_is_behind_what_they_say(self):
        said = self.view(h.binary().data())
        self.assertLess(said.index('CPU'), said.index('Heap dump: '))

    def test_a_dump_in_text_has_no_such_page(self):
        self.assertNotIn('Heap dump: ', self.view(h.text().data()))

    def test_classes_that_are_above_themselves_and_objects_that_are_there_twice(self):
        d = self.known()
        node, leaf = d.classes['p.Node']['id'], d.classes['p.Leaf']['id']
        data = d.data().replace(d.f.class_dump(node, 1, d.classes['java.lang.Object']['id'], 16, fields=[(d.names['next'], OBJECT), (d.names['value'], LONG)]),
                                d.f.class_dump(node, 1, leaf, 16, fields=[(d.names['next'], OBJECT), (d.names['value'], LONG)]))
        self.assertNotEqual(data, d.data())
        rows = self.rows(self.view(data), 'Classes')
        self.assertEqual((rows['p.Node'][0], rows['p.Leaf'][0]), (5, 3))
        d.subs += d.subs[-3:]
        said = self.view(d)
        self.assertIn('3 objects are there twice, and count once.', said)
        self.assertIn('Heap dump: 19 objects', said)

    # What keeps the heap alive.

    def retained(self, said):
        """[(bytes, itself, objects, name)]"""
        part = said.split('\nRetained: ')[1].split('\n\n')[0]
        found = re.findall(r'^ +([\d,]+) +[\d.]+% +([\d,]+) +([\d,]+)  (\S.*?)(?: @ 0x[0-9a-f]+)?$', part, re.M)
        return [(*(int(v.replace(',', '')) for v in row[:3]), row[3]) for row in found]

    def paths(self, said):
        part = said.split('\nPaths: ')[1].split('\n', 1)[1]
        return [[re.sub(' @ 0x[0-9a-f]+$', '', line.strip()) for line in path.splitlines()] for path in part.split('\n\n') if path.startswith('    ')]

    def filled_map(self, items):
        d = Dump()
        for name, fields in (('p.Map', [('size', INT), ('table', OBJECT)]), ('p.Node', [('key', OBJECT), ('value', OBJECT), ('next', OBJECT)]), ('p.Node[]', [])):
            d.klass(name, fields=fields)
        nodes = [d.new('p.Node', value=d.primitives(BYTE, bytes(100))) for _ in range(items)]
        table = d.objects('p.Node[]', 0, *nodes)
        d.klass('p.Holder', statics=[('none', OBJECT, d.f.id(0)), ('n', INT, bytes(4)), ('map', OBJECT, d.f.id(d.new('p.Map', table=table)))])
        d.system_classes()
        return d

    def test_a_map_retains_its_table_and_its_items(self):
        items = 70
        said = self.view(self.filled_map(items))
        table, each = (16 + 4 * (items + 1) + 7) // 8 * 8, 24 + 120
        rows = self.retained(said)
        inside = table + items * each
        self.assertEqual(rows[1:3], [(24 + inside, 24, 2 + 2 * items, 'p.Map'), (inside, table, 1 + 2 * items, 'p.Node[]')])
        self.assertEqual((rows[0][2:], rows[0][0] - rows[0][1]), ((3 + 2 * items, 'class p.Holder'), 24 + inside))
        self.assertEqual(self.paths(said)[0], ['system class: class p.Holder', '.map: p.Map', '.table: p.Node[]'])
        self.assertNotIn('No root leads to', said)
        part = said.split('\nClasses\n')[1].split('\n\n')[0]
        classes = {name: size for size, name in re.findall(r'^ +[\d,]+ +[\d,]+ +([\d,]+)  (.+)$', part, re.M)}
        self.assertEqual((classes['p.Map'], classes['p.Node']), (format(24 + inside, ','), format(items * each, ',')))

    def test_what_two_hold_belongs_to_what_holds_both(self):
        d = Dump()
        d.klass('p.Pair', fields=[('one', OBJECT), ('two', OBJECT)])
        d.klass('p.Box', fields=[('in', OBJECT)])
        shared = d.primitives(BYTE, bytes(1000))
        boxes = [d.new('p.Box', **{'in': shared}) for _ in range(2)]
        d.root(d.new('p.Pair', one=boxes[0], two=boxes[1]), 1, d.f.id(0))
        d.system_classes()
        rows = {name: row for *row, name in self.retained(self.view(d))}
        self.assertEqual(rows['p.Pair'], [24 + 2 * 16 + 1016, 24, 4])
        self.assertEqual(rows['byte[]'], [1016, 1016, 1])
        self.assertEqual(rows['p.Box'], [16, 16, 1])

    def test_a_list_is_one_row_and_of_its_path_the_middle_is_left_out(self):
        d, links = Dump(), 100
        d.klass('p.Link', fields=[('next', OBJECT), ('item', OBJECT)])
        at = d.new('p.Link', item=d.primitives(BYTE, bytes(100000)))
        for _ in range(links - 1):
            at = d.new('p.Link', next=at)
        d.klass('p.Link[]')
        d.root(d.objects('p.Link[]', 0, 0, at), 3, struct.pack('>II', 1, 0))
        d.system_classes()
        said = self.view(d)
        rows = self.retained(said)
        self.assertEqual([row[3] for row in rows[:3]], ['p.Link[]', 'p.Link', 'byte[]'])
        self.assertEqual(rows[1], (24 * links + 100016, 24, links + 1, 'p.Link'))
        self.assertEqual(len([row for row in rows if row[3] == 'p.Link']), 1)
        self.assertEqual(self.paths(said)[0], ['local variable of a frame: p.Link[]', '[2]: p.Link', *['.next: p.Link'] * 10, '... %d more objects' % (links + 2 - 24), 'p.Link',
                                               *['.next: p.Link'] * 10, '.item: byte[]'])

    def test_the_ways_of_classes_have_names(self):
        d = Dump()
        d.klass('p.Above', statics=[('big', OBJECT, d.f.id(d.primitives(BYTE, bytes(5000))))])
        d.klass('p.Below', 'p.Above')
        d.root(d.new('p.Below'), 8, bytes(8))
        paths = self.paths(self.view(d))
        self.assertEqual(paths[0], ['thread: p.Below', 'its class: class p.Below', 'superclass: class p.Above', '.big: byte[]'])

    def test_weak_and_phantom_references_keep_nothing(self):
        for above, keeps in (('WeakReference', False), ('PhantomReference', False), ('SoftReference', True), ('Reference', True)):
            for referent in ('referent', 'other'):
                with self.subTest(above=above, referent=referent):
                    d = Dump()
                    d.klass('java.lang.ref.Reference', fields=[('queue', OBJECT), (referent, OBJECT), ('other', INT)])
                    if above != 'Reference':
                        d.klass('java.lang.ref.' + above, 'java.lang.ref.Reference')
                    d.klass('p.Entry', 'java.lang.ref.' + above, fields=[('referent', OBJECT)])
                    big, value, queue = (d.primitives(BYTE, bytes(n)) for n in (5000, 3000, 1000))
                    i = d.place(12 + 4 * 4)
                    d.subs.append(d.f.instance(i, 1, d.classes['p.Entry']['id'], b''.join(map(d.f.id, (value, queue, big))) + bytes(4)))
                    d.root(i)
                    rows = self.retained(self.view(d))
                    kept = keeps or referent != 'referent'
                    self.assertEqual([row[1] for row in rows if row[3] == 'byte[]'], [5016] * kept + [3016, 1016])
                    self.assertEqual([row[0] for row in rows if row[3] == 'p.Entry'][0] >= 5016 + 3016 + 1016, kept)

    def test_few_ids_may_lie_as_far_apart_as_they_can(self):
        d = Dump()
        d.subs = [d.f.primitives(i, 1, INT, bytes(4), 1) for i in (1, (1 << 64) - 1)]
        for i in (1, (1 << 64) - 1):
            d.root(i)
        self.assertEqual([row[3] for row in self.retained(self.view(d))], ['int[]', 'int[]'])

    def test_what_no_root_leads_to_is_told(self):
        d = Dump()
        d.klass('p.Box', fields=[('in', OBJECT)])
        d.root(d.new('p.Box'))
        d.new('p.Box', **{'in': d.primitives(BYTE, bytes(1000))})
        d.system_classes()
        self.assertIn('\nNo root leads to 2 objects, 1.0 KiB; weak references do not count.\n', self.view(d))

    def test_one_object_is_one(self):
        d = Dump()
        d.klass('p.Link', fields=[('next', OBJECT)])
        at = d.primitives(BYTE, bytes(100000))
        for _ in range(24):
            at = d.new('p.Link', next=at)
        d.root(at)
        d.new('p.Link')
        d.system_classes()
        said = self.view(d)
        self.assertIn('\nNo root leads to 1 object, 16 B; weak references do not count.\n', said)
        self.assertIn('\n    ... 1 more object\n', said)

    def test_little_memory_is_said(self):
        d = self.known()
        d.subs += [d.f.primitives(0x500000000 + 64 * i, 1, INT, b'', 0) for i in range(100000)]
        said = self.view(d, said='hprofx: heap.hprof: only the table of its heap: it needs more than 1 MiB', HPROFX_MEMORY='1m')
        self.assertIn('int[]', said)
        said = self.view(d, HPROFX_MEMORY='4m')
        self.assertIn('\nRetained sizes and paths are missing: it needs more than 4 MiB', said)
        self.assertIn('\nClasses\n', said)

    def test_memory_of_the_readings_is_there_for_retained_sizes(self):
        for kind, data in ((INT, b''), (BYTE, b'x')):
            with self.subTest(kind=kind):
                d = Dump()
                d.subs += [d.f.primitives(0x500000000 + 64 * i, 1, kind, data, len(data)) for i in range(100000)]
                self.assertNotIn('are missing', self.view(d, HPROFX_MEMORY='5000k'))

    def diff(self, before, after, *options, status=0, said=''):
        for name, d in (('before.hprof', before), ('after.hprof', after)):
            (self.folder / name).write_bytes(d if isinstance(d, bytes) else d.data())
        done = subprocess.run([PROGRAM, 'diff', 'before.hprof', 'after.hprof', *options], cwd=self.folder, capture_output=True, check=False, text=True,
                              stdin=subprocess.DEVNULL)
        self.assertEqual((done.returncode, done.stderr), (status, said))
        return done.stdout

    def test_two_dumps_differ_by_class(self):
        after = self.known()
        after.klass('p.New')
        for _ in range(7):
            after.new('p.Leaf')
        after.new('p.New')
        before = self.known()
        before.new('p.Node')
        self.assertEqual(self.diff(before, after), """\
Before: before.hprof, 20 objects, 544 B.
After: after.hprof, 28 objects, 784 B.
4 of 7 classes have changed.

        objects           change             bytes           change  class
             10               +7               320             +224  p.Leaf
              7               +1               168              +24  java.lang.Class
              5               -1               120              -24  p.Node
              1               +1                16              +16  p.New
""")

    def test_one_class_that_differs_has_words_for_one(self):
        before, after = Dump(), Dump()
        after.primitives(INT, bytes(4))
        before.subs, after.subs = [], after.subs[-1:]
        before.primitives(INT, b'')
        self.assertIn('Before: before.hprof, 1 object, 16 B.\nAfter: after.hprof, 1 object, 24 B.\n1 of 1 class has changed.\n', self.diff(before, after))

    def test_one_object_has_words_for_one(self):
        d = Dump()
        d.subs = []
        d.root(d.primitives(INT, b''))
        said = self.view(d)
        self.assertIn('Heap dump: 1 object, 16 B; 0 classes, 1 root.', said)
        self.assertIn('\n1 array, 16 B.\n', said)

    def test_the_same_dump_in_two_files_does_not_differ(self):
        self.assertIn('None of 6 classes has changed.\n', self.diff(self.known(), gzip.compress(self.known().data())))

    def test_both_sides_have_the_layout_that_one_of_them_shows(self):
        """Fields of each class begin at a multiple of 4: 24 bytes. One object alone does not show it."""
        sides = []
        for count in (10, 1):
            d = Dump(jdk=8)
            d.klass('p.A', fields=[('a', BYTE)])
            d.klass('p.B', 'p.A', fields=[('b', BYTE)])
            for _ in range(count):
                d.subs.append(d.f.instance(d.place(24), 1, d.classes['p.B']['id'], b'\0\0'))
            sides.append(d)
        said = self.diff(*sides)
        self.assertRegex(said, r' 1 +-9 +24 +-216  p\.B\n')
        self.assertIn('1 of 2 classes has changed.', said)
        self.assertRegex(self.diff(*reversed(sides)), r' 10 +\+9 +240 +\+216  p\.B\n')

    def test_a_layout_that_no_array_fits_does_not_count_for_instances(self):
        """One side has objects that are as long as if headers were longer; the other one shows padded fields."""
        odd, padded = Dump(jdk=8), Dump(jdk=8)
        for d in (odd, padded):
            d.klass('p.A', fields=[('a', BYTE)])
            d.klass('p.B', 'p.A', fields=[('b', BYTE)])
            d.klass('p.Long', fields=[('value', LONG), ('small', INT), ('more', INT), ('next', INT)])
        for _ in range(1000):
            odd.subs.append(odd.f.instance(odd.place(40), 1, odd.classes['p.Long']['id'], bytes(20)))
        for n in range(20):
            odd.primitives(INT, bytes(4 * n))
            odd.primitives(LONG, bytes(8 * n))
        for _ in range(10):
            padded.subs.append(padded.f.instance(padded.place(24), 1, padded.classes['p.B']['id'], bytes(2)))
        self.assertNotIn('differently', self.diff(odd, padded))
        self.assertNotIn('differently', self.diff(padded, odd))

    def test_a_comparison_of_a_dump_that_is_not_complete_has_status_6(self):
        d = self.known()
        for sides in ((d.data()[:-9], d), (d, d.data()[:-9])):
            said = self.diff(*sides, status=6, said='hprofx: %s.hprof: the heap dump is not complete\n' % ('before' if sides[1] is d else 'after'))
            self.assertIn(', incomplete.\n', said)

    def test_sides_without_a_layout_in_common_say_so(self):
        sides = []
        for width, header in ((4, 16), (8, 24)):
            d = Dump()
            d.klass('p.X[]')
            for n in range(1, 40):
                d.subs.append(d.f.objects(d.place(header + width * n), 1, d.classes['p.X[]']['id'], *[0] * n))
            sides.append(d)
        self.assertIn('The JVMs lay out objects differently, so equal objects differ in bytes.\n', self.diff(*sides))
        self.assertNotIn('differently', self.diff(sides[0], sides[0]))

    def test_two_dumps_differ_by_what_classes_retain(self):
        sides = []
        for size in (80, 800):
            d = Dump()
            d.klass('p.Keeper', fields=[('held', OBJECT)])
            d.system_classes()
            d.root(d.new('p.Keeper', held=d.primitives(LONG, bytes(size))))
            sides.append(d)
        self.assertNotIn('p.Keeper', self.diff(*sides))
        said = self.diff(*sides, '--retained')
        self.assertIn('        objects           change          retained           change  class\n', said)
        self.assertRegex(said, r' 1 +0 +832 +\+720  p\.Keeper\n')
        self.view(sides[0])
        done = subprocess.run([PROGRAM, 'diff', '--retained', '--json', 'heap.hprof', 'heap.hprof'], cwd=self.folder, capture_output=True, check=False, text=True)
        self.assertEqual((done.returncode, done.stdout), (2, ''))
        self.assertIn('--retained compares two binary files', done.stderr)

    def test_what_classes_of_one_name_retain_of_each_other_counts_once(self):
        sides = []
        for size in (80, 800):
            d = Dump()
            for name in ('p.Keeper', 'p.Keepen'):
                d.klass(name, fields=[('held', OBJECT)])
            d.system_classes()
            d.root(d.new('p.Keeper', held=d.new('p.Keepen', held=d.primitives(LONG, bytes(size)))))
            sides.append(d.data().replace(b'p.Keepen', b'p.Keeper'))
        for options, bytes_ in ((('--retained',), r'848 +\+720'), ((), None)):
            said = self.diff(*sides, *options)
            self.assertIn('\nClasses of one name from several class loaders are one row.\n', said)
            if bytes_:
                self.assertRegex(said, r' 2 +0 +%s  p\.Keeper\n' % bytes_)

    def test_two_dumps_with_stacks_differ_by_class_and_site(self):
        sides = []
        for counts in ((3, 2), (3, 7)):
            d = Dump()
            i = [d.name(n) for n in ('add', '()V', 'Shop.java', 'main')]
            for trace, count in zip((11, 12), counts):
                for _ in range(count):
                    at = d.place(16 + 8)
                    d.subs.append(d.f.primitives(at, trace, LONG, bytes(8), 1))
            frames = d.f.frame(901, i[0], i[1], i[2], 1, 7) + d.f.frame(902, i[3], i[1], i[2], 1, 12)
            stacks = d.f.trace(11, 0, 902) + d.f.trace(12, 0, 901, 902)
            sides.append(d.head() + d.definitions() + frames + stacks + d.segments())
        said = self.diff(*sides)
        self.assertIn(' of 2 classes has changed.\n', said)
        self.assertTrue(said.endswith("""
By class and allocation site
1 of 2 sites has changed.

        objects           change             bytes           change  class
              7               +5               168             +120  long[]
    at java.lang.Object.add:7 < java.lang.Object.main:12
"""), said)
        self.assertIn('methods', self.diff(*sides, '--view', 'heap'))
        self.assertNotIn('allocation site', self.diff(sides[0], self.known()))

    def test_a_diff_for_programs_has_methods_still(self):
        self.assertIn('"methods"', self.diff(self.known(), self.known(), '--json'))


if __name__ == '__main__':
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
