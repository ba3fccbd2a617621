# SPDX-License-Identifier: BSD-2-Clause
"""The readers of heap dumps, held against each other on a dump of the JVM: each must find the same, and complain of a file that is damaged.
A reader that is not installed (tests/format/heap-readers) is a skipped test."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import heap_readers


def program_class(result):
    return [n for c, n in result.classes.items() if c == 'Dump']


class HeapReaders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dump = os.path.join(cls.folder.name, 'dump.hprof')
        java = heap_readers.find_jdk('17') / 'bin' / 'java'
        subprocess.run([str(java), '-Xmx64m', str(heap_readers.HERE / 'heap' / 'Dump.java'), cls.dump], check=True, capture_output=True)
        cls.found = {}
        for reader in heap_readers.READERS:
            try:
                cls.found[reader] = heap_readers.read(reader, cls.dump)
            except heap_readers.NotAvailable as e:
                cls.found[reader] = e

    def result(self, reader):
        result = self.found[reader]
        if isinstance(result, heap_readers.NotAvailable):
            self.skipTest('not available: %s' % result)
        return result

    def good(self, reader):
        result = self.result(reader)
        self.assertEqual(result.complaints, [])
        self.assertEqual(program_class(result), [5])
        for other in heap_readers.READERS:
            if not isinstance(self.found[other], heap_readers.NotAvailable):
                self.assertEqual(result, self.found[other])

    def damaged(self, reader):
        self.result(reader)
        path = os.path.join(self.folder.name, 'cut-%s.hprof' % reader)
        data = pathlib.Path(self.dump).read_bytes()
        pathlib.Path(path).write_bytes(data[:len(data) // 4 * 3])
        result = heap_readers.read(reader, path)
        self.assertNotEqual(result.complaints, [])
        self.assertIn((reader, result.complaints[0]), heap_readers.complaints(path, None, [reader]))

    def test_visualvm_opens_a_good_dump(self):
        self.good('visualvm')

    def test_the_parser_of_the_jdk_opens_a_good_dump(self):
        self.good('jdk')

    def test_jhat_opens_a_good_dump(self):
        self.good('jhat')

    def test_visualvm_complains_of_a_cut_dump(self):
        self.damaged('visualvm')

    def test_the_parser_of_the_jdk_complains_of_a_cut_dump(self):
        self.damaged('jdk')

    def test_jhat_complains_of_a_cut_dump(self):
        self.damaged('jhat')

    def test_a_class_that_a_reader_counts_otherwise_is_a_complaint(self):
        result = self.result('visualvm')
        classes = dict(result.classes, Dump=6)
        with mock.patch.object(heap_readers, 'read', return_value=result._replace(unresolved=0)):
            self.assertEqual(heap_readers.complaints('x', classes, ['visualvm']), [('visualvm', '5 objects of Dump instead of 6')])
            self.assertEqual(heap_readers.complaints('x', result.classes, ['visualvm']), [])

    def test_lost_references_are_a_complaint(self):
        with mock.patch.object(heap_readers, 'read', return_value=heap_readers.Result({}, 3, [])):
            self.assertEqual(heap_readers.complaints('x', {}, ['jhat']), [('jhat', '3 references to what is not in the dump')])

    def test_a_reader_that_is_missing_is_not_available(self):
        with mock.patch.dict(os.environ, HEAP_READERS='/nowhere'):
            with self.assertRaisesRegex(heap_readers.NotAvailable, 'run tests/format/heap-readers'):
                heap_readers.read('jdk', 'x')

    def test_names_of_classes_are_those_of_source(self):
        for name, want in (('[C', 'char[]'), ('[[I', 'int[][]'), ('[Ljava.lang.Object;', 'java.lang.Object[]'), ('java/lang/String', 'java.lang.String'),
                           ('char[]', 'char[]'), ('A$B', 'A$B')):
            self.assertEqual(heap_readers.source_form(name), want)


if __name__ == '__main__':
    unittest.main()
