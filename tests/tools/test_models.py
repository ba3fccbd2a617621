# SPDX-License-Identifier: BSD-2-Clause
"""The runner of the SPIN models: what it must never read as success, and what it says of code that changed."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().parents[1] / "models" / "run"
PLANT_OF_GATE = "#ifdef NO_SECOND_LOOK\n#endif\n"
CODE = "/* c */\nstatic int one(int a)\n{\n    return a; /* as it is */\n}\n\nint two(void)\n{\n    return one(2);\n}\n"


class ModelTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def run_with(self, model, *args, name="small"):
        (self.root / (name + ".pml")).write_text(model, encoding="utf-8")
        return subprocess.run([sys.executable, RUN, "--models", self.root, "--root", self.root, *args], check=False, capture_output=True,
                              text=True)

    def lines_of(self, model, **kwargs):
        if not shutil.which("spin"):
            self.skipTest("spin is not installed")
        done = self.run_with(model, **kwargs)
        return done.returncode, done.stdout.splitlines()

    def test_a_sound_model_passes(self):
        status, lines = self.lines_of("byte n;\nactive proctype p() { n++; assert(n == 1) }\n")
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 0 skipped"))

    def test_an_assertion_that_fails_a_deadlock_and_a_cycle_are_failures(self):
        for body, claim in (("assert(n == 1)", ""), ("n == 1", ""), ("do :: n = 1 - n od", "ltl ends { <>[](n == 1) }\n")):
            with self.subTest(body=body):
                status, lines = self.lines_of("byte n;\nactive proctype p() { %s }\n%s" % (body, claim))
                self.assertEqual(status, 1)
                self.assertIn("1 failed", lines[-1])

    def test_a_model_that_spin_does_not_read_is_a_failure(self):
        self.assertEqual(self.lines_of("active proctype p() { nothing = 1 }\n")[0], 1)

    def test_a_planted_fault_that_is_not_found_is_a_failure(self):
        status, lines = self.lines_of(PLANT_OF_GATE + "active proctype p() { skip }\n", name="gate")
        self.assertEqual(status, 1)
        self.assertIn("FAIL gate NO_SECOND_LOOK: the planted fault is not found", lines)

    def test_code_that_changes_asks_for_a_look_and_comments_do_not(self):
        (self.root / "a.c").write_text(CODE, encoding="utf-8")
        model = "/* mirrors: a.c:one */\n/* mirrors: a.c:two */\nactive proctype p() { skip }\n"
        self.assertEqual(self.run_with(model, "--stamp").returncode, 0)
        stamped = (self.root / "small.pml").read_text(encoding="utf-8")
        (self.root / "a.c").write_text(CODE.replace("as it is", "another comment"), encoding="utf-8")
        self.assertNotIn("changed", self.run_with(stamped, "--check").stderr)
        (self.root / "a.c").write_text(CODE.replace("return a", "return a + 1"), encoding="utf-8")
        said = self.run_with(stamped, "--check").stderr
        self.assertIn("the code of a.c:one changed: look at its model small.pml, then run tests/models/run --stamp", said)
        self.assertNotIn("a.c:two", said)

    def test_a_function_that_is_gone_is_told(self):
        (self.root / "a.c").write_text(CODE, encoding="utf-8")
        done = self.run_with("/* mirrors: a.c:three 0123456789ab */\n", "--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a.c:three: it is defined 0 times, not once", done.stderr)


if __name__ == "__main__":
    unittest.main()
