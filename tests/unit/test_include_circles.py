#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""No circle of includes has more than two modules: none of a circle can be read or tested without the others."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
FOLDERS = ("base", "bci", "pipeline", "tables", "writers", "agent", "command")  # a folder sees only those below it (meson.build)
LIMIT = 2


def modules(folder):
    """Of every module (a .c and a .h of one name): the other modules of the folder that it includes."""
    files = sorted(folder.rglob("*.[ch]"))
    names = {path.stem for path in files}
    includes = {name: set() for name in names}
    for path in files:
        for included in INCLUDE.findall(path.read_text()):
            stem = pathlib.PurePath(included).stem
            if stem in names and stem != path.stem:
                includes[path.stem].add(stem)
    return includes


def reached(includes, start):
    found, todo = set(), [start]
    while todo:
        for name in includes[todo.pop()] - found:
            found.add(name)
            todo.append(name)
    return found


def circles(includes):
    """Modules that include each other, directly or by others: the strongly connected components."""
    reach = {name: reached(includes, name) for name in includes}
    found = {tuple(sorted(other for other in reach[name] | {name} if name == other or name in reach[other])) for name in includes}
    return {circle for circle in found if len(circle) > 1}


class IncludeCircles(unittest.TestCase):
    def test_no_circle_has_more_than_two_modules(self):
        for name in FOLDERS:
            with self.subTest(folder=name):
                includes = modules(ROOT / name)
                self.assertGreater(len(includes), 5)
                large = {circle for circle in circles(includes) if len(circle) > LIMIT}
                self.assertEqual(large, set(), "cut an include, or move what both need into a header below both")

    def test_every_module_has_a_name_that_no_other_has(self):
        for name in FOLDERS:
            folders = {}
            for path in (ROOT / name).rglob("*.[ch]"):
                folders.setdefault(path.stem, set()).add(path.parent)
            self.assertEqual({stem for stem, of in folders.items() if len(of) > 1}, set())


if __name__ == "__main__":
    unittest.main()
