#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every variable of the library is the session's, or process_variables.txt says why it outlives a session. Argument: the library."""
import pathlib
import re
import subprocess
import sys
import unittest

LIST = pathlib.Path(__file__).resolve().with_name('process_variables.txt')
AGENT = LIST.parents[2] / 'agent'
SECTION = 'hpx_session_variables'
COMPILERS = ('completed', '__dso_handle', '_TLS_MODULE_BASE_', '__TMC_END__')  # the last one is a mark behind .data, which the linker puts there or in .bss


def _readelf(what):
    return subprocess.run(['readelf', '-W', what, LIBRARY], capture_output=True, text=True, check=True).stdout


def _sections():
    """Number -> (name, offset, size)."""
    rows = re.findall(r'^\s*\[\s*(\d+)\]\s+(\S+)\s+\S+\s+[0-9a-f]+\s+([0-9a-f]+)\s+([0-9a-f]+)', _readelf('-S'), re.M)
    return {n: (name, int(offset, 16), int(size, 16)) for n, name, offset, size in rows}


def _left_out():
    """Files of the agent that a build with -Dhotspot=false lacks."""
    files = {words[7] for words in map(str.split, _readelf('-s').splitlines()) if len(words) == 8 and words[3] == 'FILE'}
    return {f.name for f in AGENT.rglob('*.c')} - files if 'without.c' in files else set()


def _variables():
    """(file, name) of each that is not in the section; the file - for a global one."""
    sections, file, found = _sections(), '', set()
    for words in map(str.split, _readelf('-s').splitlines()):
        if len(words) == 8 and words[3] == 'FILE':
            file = words[7]
        elif len(words) == 8 and words[3] in ('OBJECT', 'TLS') and sections.get(words[6], ('',))[0] in ('.data', '.bss', '.tdata', '.tbss'):
            name = next(part for part in reversed(words[7].split('.')) if not part.isdigit())  # of a function's own: name.3, or function.name
            if name not in COMPILERS:
                found.add(('-' if name.startswith('hpx_') else file, name))
    return found


def _listed():
    found = set()
    for line in LIST.read_text().splitlines():
        if line and not line.startswith('#'):
            names, reason = line.split(': ', 1)
            assert reason, line
            file, *names = names.split()
            found.update((file, name) for name in names)
    return found


class ProcessVariables(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if '__asan_' in _readelf('-s') or '__tsan_' in _readelf('-s'):
            self.skipTest('a sanitizer has variables of its own')

    def test_each_is_listed_with_its_reason(self):
        self.assertEqual(sorted(_variables() - _listed()), [])

    def test_none_is_listed_that_is_not_there(self):
        left_out = _left_out()
        self.assertEqual(sorted(v for v in _listed() - _variables() if v[0] not in left_out), [])

    def test_those_of_a_session_are_zero_at_first(self):
        _, offset, size = next(s for s in _sections().values() if s[0] == SECTION)
        self.assertGreater(size, 1000)
        self.assertEqual(pathlib.Path(LIBRARY).read_bytes()[offset:offset + size].strip(b'\0'), b'')


if __name__ == '__main__':
    LIBRARY = sys.argv.pop(1)
    unittest.main()
