# SPDX-License-Identifier: BSD-2-Clause
"""Which cases of the Java tests a run takes."""
import importlib
import pathlib
import platform
import sys
import unittest
from unittest import mock

JVM = pathlib.Path(__file__).resolve().parents[1] / "jvm"
sys.path.insert(0, str(JVM))

import jdk  # noqa: E402
import runner  # noqa: E402

HOME = pathlib.Path("/nowhere")
OFFERED = {"8": ("Serial", "Parallel", "G1"), "17zero": ("Serial", "Parallel", "G1")}


def jdks():
    def one(label, level, brief):
        return jdk.Jdk(label, int(label.removesuffix("zero")), "zero" if label.endswith("zero") else "server", HOME, level, brief)
    return [one(n, "plain", True) for n in ("8", "11", "17zero", "21", "28")] + [one(n, "full", False) for n in ("17", "25")]


def offered(self):
    return OFFERED.get(self.label, jdk.COLLECTORS)


class ChoiceTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for path in sorted(JVM.glob("test_*.py")):
            importlib.import_module(path.stem)
        cls.enterClassContext(mock.patch.object(jdk.Jdk, "processor", platform.machine()))
        with mock.patch.object(jdk.Jdk, "offered", offered):
            cls.cases = runner.collect(jdks(), [])
        cls.plain, cls.full = (runner.choose(cls.cases, full, 5) for full in (False, True))

    def test_a_full_run_has_every_test_and_every_cell(self):
        own = {c.name for c in self.cases if not c.jdk.brief}
        self.assertEqual({c.name for c in self.full if not c.jdk.brief} | {c.name for c in self.cases if c.one_in > 1}, own)
        self.assertEqual({c.name for seed in range(4) for c in runner.choose(self.cases, True, seed) if not c.jdk.brief}, own)
        self.assertEqual({c.cell() for c in self.full}, {c.cell() for c in self.cases})

    def test_a_plain_run_has_every_short_test_once_on_another_jdk(self):
        own = [c for c in self.plain if c.level == "plain"]
        self.assertEqual({c.function for c in own}, {c.function for c in self.cases if c.level == "plain" and not c.jdk.brief})
        self.assertLess(len(own), len({c.function for c in own}) + 30)
        jdks_of = {}
        for c in self.full:
            jdks_of.setdefault(c.name, []).append(c.jdk)
        twice = sum(c.jdk not in jdks_of[c.name] for c in own)
        self.assertGreater(twice, 0.9 * len(own))

    def test_a_plain_run_and_the_rest_have_every_test_once(self):
        made = {c.name for c in self.plain}
        rest = runner.choose(self.cases, True, 5, made)
        self.assertEqual({c.name for c in rest if not c.jdk.brief} | made, {c.name for c in self.full if not c.jdk.brief} | made)
        self.assertEqual({c.cell() for c in rest}, {c.cell() for c in self.cases})
        twice = {c.name for c in rest if not c.jdk.brief and not c.longer} & made
        self.assertLess(len(twice), 8)  # those that fill a cell

    def test_only_turns_change_with_the_seed(self):
        self.full = [c for c in self.full if c.one_in == 1]
        other = [c for c in runner.choose(self.cases, True, 6) if c.one_in == 1]
        self.assertEqual([str(c) for c in other], [str(c) for c in self.full])
        self.assertEqual({b.turn - a.turn for a, b in zip(self.full, other)}, {1})

    def test_a_new_test_leaves_the_others_where_they_are(self):
        without = [c for c in self.cases if not c.name.startswith("net.")]
        self.assertLessEqual(len({str(c) for c in runner.choose(without, True, 5)} - {str(c) for c in self.full}), 8)  # those that fill a cell

    def test_behind_the_end_of_the_time_no_test_begins(self):
        results = runner.Results(str)
        with mock.patch.object(runner, "UNTIL", 0):
            runner._run_one(None, None, results, False, None)
        self.assertEqual((results.late, sum(results.totals.values())), (1, 0))

    def test_every_case_has_a_name_of_its_own(self):
        self.assertEqual(len({str(c) for c in self.cases}), len(self.cases))

    def test_the_command_that_repeats_a_case_chooses_it_alone(self):
        alone = {}
        with mock.patch.object(jdk.Jdk, "offered", offered):
            for case in self.plain:
                words = runner.again(["tests/jvm/run", "--collectors=own"])(case)
                self.assertIn("--%s=%s=/nowhere" % ("brief" if case.jdk.brief else "jdks", case.jdk.label), words)
                self.assertIn("--turn=%d" % case.turn, words)
                self.assertIn(str(case), words)
                if case.jdk not in alone:
                    alone[case.jdk] = [str(c) for c in runner.collect([case.jdk], [])]
                self.assertEqual(alone[case.jdk].count(str(case)), 1)


if __name__ == "__main__":
    unittest.main()
