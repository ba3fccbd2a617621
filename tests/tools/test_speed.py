# SPDX-License-Identifier: BSD-2-Clause
"""The speed of the machine: how it is measured, and that budgets and limits of tests follow it."""
import importlib.machinery
import importlib.util
import itertools
import os
import pathlib
import re
import subprocess
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "jvm"))

import harness  # noqa: E402
import jdk  # noqa: E402
import runner  # noqa: E402
import test_faults  # noqa: E402,F401


def tool():
    loader = importlib.machinery.SourceFileLoader("speed", str(ROOT / "tools" / "speed"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("speed", loader))
    with mock.patch.object(sys, "dont_write_bytecode", True):
        loader.exec_module(module)
    return module


speed = tool()


class MeasureTests(unittest.TestCase):
    REFERENCE = {name: seconds for name, (seconds, *_) in speed.REFERENCE.items()}

    def test_the_cost_of_one_is_the_time_of_all_over_their_number(self):
        clock = itertools.count(step=0.02).__next__  # every round takes 20 ms
        self.assertAlmostEqual(speed.cost(lambda: 10, clock=clock), 0.002)

    def test_every_kind_of_work_is_done_and_measured(self):
        self.assertEqual(set(speed.measured(None)), set(speed.REFERENCE))
        self.assertTrue(all(c > 0 for c in speed.measured(None).values()))

    def test_a_machine_like_the_reference_or_faster_leaves_everything_as_it_is(self):
        self.assertAlmostEqual(speed.factor(self.REFERENCE), 1)
        self.assertEqual(speed.factor({name: c / 10 for name, c in self.REFERENCE.items()}), 1)

    def test_a_slow_measure_of_any_kind_makes_the_factor_larger(self):
        for name in speed.REFERENCE:
            slow = speed.factor({**self.REFERENCE, name: 100 * self.REFERENCE[name]})
            self.assertGreater(slow, 3)
            self.assertLess(slow, 100)
        self.assertAlmostEqual(speed.factor({name: 3 * c for name, c in self.REFERENCE.items()}), 3)

    def test_a_slow_kind_of_work_is_measured_as_slow(self):
        touch = speed.touch
        with mock.patch.object(speed, "touch", lambda: [touch() for _ in range(30)] and 1):  # of 30,000 touches it says that they are one
            self.assertGreater(speed.factor(speed.measured(None)), 10)

    def test_its_line_ends_with_the_factor(self):
        self.assertEqual(speed.told({**self.REFERENCE, "disk": 0.101}).split()[-1], "4.0")
        said = subprocess.run([ROOT / "tools" / "speed", "/tmp"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(said, r"\Atimes the reference: CPU [\d.]+ \([\d.]+ ns\), first touch .* fork .* disk .*; budgets and limits x [1-9]\d*\.\d\n\Z")


class FollowTests(unittest.TestCase):
    """Of tools/test the functions that the factor goes through; what they call says its arguments."""

    def run_shell(self, slow, commands):
        source = (ROOT / "tools" / "test").read_text()
        functions = [re.search(r"^%s\(\) \{( [^\n]*\}$|\n.*?^\}$)" % n, source, re.M | re.S).group() for n in ("within", "times", "suites")]
        shell = "set -euo pipefail; logs=x locales=x launcher=() SECONDS=0 HPX_SLOW=%s\nrun_logged() { echo \"$@\"; }\ncounted() { :; }\n%s\n%s" % (slow, "\n".join(functions), commands)
        return subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True, cwd="/").stdout

    def test_the_budget_of_a_step(self):
        self.assertEqual(self.run_shell("3.4", "show() { echo $budget; }; within 14 show; within 0 show"), "47\n0\n")
        self.assertEqual(self.run_shell("1.0", "show() { echo $budget; }; within 330 show"), "330\n")

    def test_the_limits_of_registered_tests(self):
        self.assertIn(" --timeout-multiplier 3.4 --suite unit\n", self.run_shell("3.4", "suites unit build 1 --suite unit"))
        self.assertIn(" --timeout-multiplier 34.0 --suite unit\n", self.run_shell("3.4", "suites valgrind build 10 --suite unit"))

    def cases(self):
        offers = mock.patch.object(jdk.Jdk, "offered", lambda self: jdk.COLLECTORS)
        with offers:
            return runner.collect([jdk.Jdk("17", 17, "server", pathlib.Path("/nowhere"), "quick", False)], [])

    def test_the_limits_of_java_tests(self):
        with mock.patch.object(harness, "SLOW", 1):
            plain = self.cases()
        with mock.patch.object(harness, "SLOW", 3.4):
            slow = self.cases()
            t = harness.Test.__new__(harness.Test)
            with mock.patch("time.monotonic", return_value=1000):
                t.allow(10)
        self.assertEqual(t.deadline, 1034)
        self.assertEqual([c.timeout for c in slow], [3.4 * c.timeout for c in plain])

    def test_the_command_that_repeats_a_case_has_the_factor(self):
        with mock.patch.object(harness, "SLOW", 3.4):
            self.assertRegex(runner.again(["tests/jvm/run"])(self.cases()[0]), r"^HPX_SLOW=3\.4 tests/jvm/run ")

    def test_the_java_tests_have_it_from_the_environment(self):
        for value, slow in (("3.4", 3.4), ("", 1.0)):
            said = subprocess.run([sys.executable, "-B", "-c", "import harness; print(harness.SLOW)"], cwd=ROOT / "tests" / "jvm", env={**os.environ, "HPX_SLOW": value},
                                  capture_output=True, text=True, check=True).stdout
            self.assertEqual(float(said), slow)


if __name__ == "__main__":
    unittest.main()
