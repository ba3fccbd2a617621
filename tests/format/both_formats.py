#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""both_formats ascii_sample: the text and the binary file of the same snapshots say the same: threads, tables row by row, and the frames of each trace."""
import os
import subprocess
import sys
import tempfile
import unittest

import hprof_binary
import hprof_text

SAMPLE = None


def numbers(text, binary):
    """What each file says, in the same form."""
    return [(d.total, [(r.count, r.trace) for r in d.rows]) for d in text.tables], binary.tables


class BothFormats(unittest.TestCase):
    def files(self, *modes):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, 'x.txt')
            subprocess.run([SAMPLE, name, 'binary', *modes], check=True)
            return hprof_text.read(name), hprof_binary.read(name + '.b')

    def test_rows_threads_and_frames_agree(self):
        for modes in ([], ['threads'], ['depth1'], ['two'], ['two', 'threads'], ['empty'], ['cut'], ['cut', 'two', 'threads'], ['many'], ['many', 'two', 'threads']):
            with self.subTest(' '.join(modes)):
                text, binary = self.files(*modes)
                self.assertEqual(*numbers(text, binary))
                self.assertEqual(len(binary.tables), 2 if 'two' in modes else 1)
                self.assertEqual({t.serial: (t.name, t.group) for t in text.threads.values()}, {s: t[:2] for s, t in binary.threads.items()})
                self.assertEqual(text.ended, set(binary.ended))
                # binary has the empty trace too, which records without a trace name
                self.assertEqual(set(text.traces), set(binary.traces) - {300000})
                for serial, t in text.traces.items():
                    thread, frames = binary.traces[serial]
                    self.assertEqual((t.thread, [(f.method, f.source, f.line) for f in t.frames]),
                                     (thread, [(f.method, f.source or '<Unknown Source>', max(f.line, 0)) for f in frames]))
                self.assertEqual(text.report, binary.report)

    def test_numbers_of_hostile_names_agree(self):
        for modes in (['hostile'], ['hostile', 'threads', 'two']):
            with self.subTest(' '.join(modes)):
                self.assertEqual(*numbers(*self.files(*modes)))


if __name__ == '__main__':
    SAMPLE = os.path.abspath(sys.argv.pop(1))
    unittest.main()
