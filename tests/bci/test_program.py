#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""test_program PROGRAM: hprofx-bci from outside: exit codes, the batch protocol, jars."""
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

PROGRAM = None


def utf8(text):
    data = text.encode()
    return b"\1" + struct.pack(">H", len(data)) + data


def class_file(code=b"\xb1", major=52, access=9):
    """Class T with one static method `m`."""
    pool = utf8("T") + b"\7\0\1" + utf8("java/lang/Object") + b"\7\0\3" + utf8("m") + utf8("()V") + utf8("Code")
    method = struct.pack(">HHHH", access, 5, 6, 1) + struct.pack(">HIHHI", 7, 12 + len(code), 1, 0, len(code)) + code + b"\0\0\0\0"
    return b"\xca\xfe\xba\xbe" + struct.pack(">HHH", 0, major, 8) + pool + struct.pack(">HHHHHH", 0x21, 2, 4, 0, 0, 1) + method + b"\0\0"


GOOD = class_file()
LEFT = class_file(code=b"\xcb\xb1")  # an unknown opcode in its only method
BAD = GOOD[:-1]


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def run_program(self, *args, data=b""):
        return subprocess.run([PROGRAM, *map(str, args)], input=data, capture_output=True, check=False)

    def one(self, data, *options):
        (self.dir / "in").write_bytes(data)
        return self.run_program(*options, self.dir / "in", self.dir / "out")

    def test_a_class_is_rewritten(self):
        run = self.one(GOOD, "--tracker", "odd/T")
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        out = (self.dir / "out").read_bytes()
        self.assertIn(utf8("odd/T"), out)
        self.assertTrue(out.startswith(GOOD[:8]))

    def test_the_kinds_of_probe_are_chosen(self):
        allocates = class_file(code=b"\3\xbc\x0a\x57\xb1")
        calls = {b"enter": "--calls", b"array": "--sites", b"object": "--objects"}
        for options in ((), ("--calls",), ("--sites",), ("--objects",), ("--sites", "--objects"), ("--calls", "--sites", "--objects")):
            self.assertEqual(self.one(allocates, *options).returncode, 0, options)
            out = (self.dir / "out").read_bytes()
            for name, option in calls.items():
                self.assertEqual(utf8(name.decode()) in out, option in (options or ("--calls",)), (options, option))
        self.assertEqual(self.one(GOOD, "--sites").returncode, 1)
        self.assertIn(b"allocates nothing", self.one(GOOD, "--sites", "--verbose").stderr)
        self.assertIn(b"1 probes of sites, 1 of objects", self.one(allocates, "--sites", "--objects", "--verbose").stderr)

    def test_sites_begin_at_the_first_number(self):
        self.assertEqual(self.one(class_file(code=b"\3\xbc\x0a\x57\xb1"), "--sites", "--first", "70000").returncode, 0)
        self.assertIn(b"\3" + struct.pack(">I", 70000), (self.dir / "out").read_bytes())

    def test_a_class_is_left_alone_with_its_reason(self):
        run = self.one(LEFT)
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"left alone: no method was instrumented", run.stderr)
        self.assertFalse((self.dir / "out").exists())
        self.assertIn(b"an unknown opcode", self.one(LEFT, "--verbose").stderr)

    def test_a_damaged_class_is_refused(self):
        run = self.one(BAD)
        self.assertEqual(run.returncode, 2)
        self.assertIn(b"refused: ", run.stderr)

    def test_wrong_usage_is_64(self):
        for args in ([], ["a"], ["a", "b", "c"], ["--what", "a", "b"], ["--batch", "a"], ["--jar", "--batch"], ["--first", "-1", "a", "b"],
                     ["--min", "x", "a", "b"], ["--first", "2147483648", "a", "b"], ["--tracker", "", "a", "b"]):
            run = self.run_program(*args)
            self.assertEqual((run.returncode, run.stdout), (64, b""), args)
            self.assertIn(b"usage: hprofx-bci", run.stderr)

    def test_help_is_no_error(self):
        run = self.run_program("--help")
        self.assertEqual(run.returncode, 0)
        self.assertIn(b"--batch", run.stdout)

    def test_files_that_cannot_be_had_are_66(self):
        (self.dir / "in").write_bytes(GOOD)
        self.assertEqual(self.run_program(self.dir / "none", self.dir / "out").returncode, 66)
        self.assertEqual(self.run_program(self.dir / "in", self.dir / "no" / "out").returncode, 66)
        self.assertEqual(self.run_program(self.dir / "in", "/dev/full").returncode, 66)
        self.assertEqual(self.run_program(self.dir, self.dir / "out").returncode, 66)

    def test_a_batch_answers_each_request(self):
        requests = b"".join(struct.pack(">IIB", len(c), 70000, 1) + c for c in (GOOD, LEFT, BAD)) + bytes(4)
        run = self.run_program("--tracker", "odd/T", "--batch", data=requests)
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        answers, at = [], 0
        while at < len(run.stdout):
            status, length = struct.unpack_from(">BI", run.stdout, at)
            answers.append((status, run.stdout[at + 5:at + 5 + length]))
            at += 5 + length
        self.assertEqual([a[0] for a in answers], [0, 1, 2])
        self.assertIn(b"\3" + struct.pack(">I", 70000), answers[0][1])  # the class number is the first method's
        self.assertEqual(answers[1][1], b"no method was instrumented")

    def test_a_batch_that_is_cut_off_or_too_large_is_65(self):
        whole = struct.pack(">IIB", len(GOOD), 1, 0) + GOOD
        for n in (0, 1, 3, 4, 8, 9, len(whole) - 1, len(whole)):
            self.assertEqual(self.run_program("--batch", data=whole[:n]).returncode, 65, n)
        self.assertEqual(self.run_program("--batch", data=struct.pack(">I", (64 << 20) + 1)).returncode, 65)

    def jar(self, entries):
        with zipfile.ZipFile(self.dir / "in.jar", "w", zipfile.ZIP_DEFLATED) as jar:
            for name, data in entries:
                jar.writestr(name, data)
        return self.run_program("--jar", self.dir / "in.jar", self.dir / "out.jar")

    def test_a_jar_keeps_its_order_and_what_is_no_class(self):
        run = self.jar([("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n"), ("p/", b""), ("p/T.class", GOOD), ("p/x.txt", b"y" * 100000), ("L.class", LEFT)])
        if b"without libarchive" in run.stderr:
            self.skipTest("built without libarchive")
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        with zipfile.ZipFile(self.dir / "out.jar") as jar:
            self.assertIsNone(jar.testzip())
            self.assertEqual(jar.namelist(), ["META-INF/MANIFEST.MF", "p/", "p/T.class", "p/x.txt", "L.class"])
            self.assertEqual(jar.read("p/x.txt"), b"y" * 100000)
            self.assertEqual(jar.read("L.class"), LEFT)
            self.assertIn(utf8("java/lang/HprofxTracker"), jar.read("p/T.class"))

    def test_a_class_refused_in_a_jar_is_copied_and_listed(self):
        run = self.jar([("T.class", GOOD), ("bad/B.class", BAD)])
        if b"without libarchive" in run.stderr:
            self.skipTest("built without libarchive")
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"bad/B.class: refused", run.stderr)
        with zipfile.ZipFile(self.dir / "out.jar") as jar:
            self.assertEqual(jar.read("bad/B.class"), BAD)

    def test_a_jar_that_is_none_is_66(self):
        (self.dir / "in.jar").write_bytes(b"no jar")
        run = self.run_program("--jar", self.dir / "in.jar", self.dir / "out.jar")
        if b"without libarchive" in run.stderr:
            self.skipTest("built without libarchive")
        self.assertEqual(run.returncode, 66)
        self.assertEqual(self.run_program("--jar", self.dir / "none.jar", self.dir / "out.jar").returncode, 66)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
