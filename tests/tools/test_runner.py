# SPDX-License-Identifier: BSD-2-Clause
"""The rotation of the Java tests: what one run leaves out the next ones take."""
import collections
import contextlib
import dataclasses
import functools
import importlib
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

JVM = pathlib.Path(__file__).resolve().parents[1] / "jvm"
sys.path.insert(0, str(JVM))

import build  # noqa: E402
import harness  # noqa: E402
import jdk  # noqa: E402
import runner  # noqa: E402

HOME = pathlib.Path("/nowhere")
OFFERED = {"8": ("Serial", "Parallel", "G1"), "17zero": ("Serial", "Parallel", "G1")}


def jdks():
    def one(label, level, brief):
        return jdk.Jdk(label, int(label.removesuffix("zero")), "zero" if label.endswith("zero") else "server", HOME, level, brief)
    return [one(n, "quick", True) for n in ("8", "11", "17zero", "21", "28")] + [one(n, "plain", False) for n in ("17", "25")]


def offered(self):
    return OFFERED.get(self.label, jdk.COLLECTORS)


class ControlTests(unittest.TestCase):
    def control(self, *codes):
        """What control() says of runs that end with these exit codes, and their number."""
        runs = iter([mock.Mock(code=code, err="No suitable\ndriver\n") for code in codes])
        t = harness.Test.__new__(harness.Test)
        t.case = "some.test [25 G1]"
        with contextlib.redirect_stdout(io.StringIO()) as said:
            try:
                self.assertEqual(t.control(lambda: next(runs)).code, 0)
            finally:
                self.assertEqual(list(runs), [])
                self.said = said.getvalue()

    def test_a_run_without_the_agent_that_fails_is_made_again_and_told_of(self):
        self.control(1, 0)
        self.assertEqual(self.said, "again: some.test [25 G1]: without the agent the exit code was 1: No suitable driver\n")

    def test_one_that_works_is_not_told_of(self):
        self.control(0)
        self.assertEqual(self.said, "")

    def test_one_that_fails_twice_is_a_failure(self):
        with self.assertRaisesRegex(harness.Failure, "a second time: 3, expected 0"):
            self.control(1, 3)


class RotationTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for path in sorted(JVM.glob("test_*.py")):
            importlib.import_module(path.stem)
        with mock.patch.object(jdk.Jdk, "offered", offered):
            cls.cases = runner.collect(jdks(), [])
        own = {}
        for c in cls.cases:
            own.setdefault(c.variants or c.name, []).append(c)
        cls.most = max(max(runner.PLAIN_SHARE * sum(not c.jdk.brief for c in cells), runner.BRIEF_SHARE * sum(c.jdk.brief for c in cells)) for cells in own.values())

    @classmethod
    @functools.lru_cache(maxsize=None)
    def chosen(cls, seed):
        return runner.rotate(cls.cases, seed)

    def names(self, seed):
        return [str(c) for c in self.chosen(seed)]

    def test_as_many_seeds_in_a_row_as_a_test_has_cells_take_every_cell_of_every_test(self):
        for first in (0, 452):
            taken = {n for seed in range(first, first + self.most) for n in self.names(seed)}
            self.assertEqual(taken, {str(c) for c in self.cases})

    def test_a_short_run_has_every_function_and_in_turn_every_parameter(self):
        with mock.patch.object(jdk.Jdk, "offered", offered):
            cases = runner.collect([jdk.Jdk("17", 17, "server", HOME, "quick", False)], [])
        functions = {c.function for c in cases}
        taken = set()
        for seed in range(max(sum(c.function is f for c in cases) for f in functions)):
            chosen = runner.rotate(cases, seed, every_case=False)
            self.assertEqual({c.function for c in chosen}, functions)
            self.assertLessEqual(len(chosen), len(functions) + len(jdk.COLLECTORS))
            taken |= {str(c) for c in chosen}
        self.assertEqual(taken, {str(c) for c in cases})

    def test_every_case_has_a_name_of_its_own(self):
        self.assertEqual(len({str(c) for c in self.cases}), len(self.cases))

    def test_every_run_has_every_short_test_and_every_cell_and_a_few_in_a_row_have_every_test(self):
        whole = {c.variants or c.name for c in self.cases if not c.jdk.brief}
        short = {c.variants or c.name for c in self.cases if not c.jdk.brief and c.level == "quick"}
        row = collections.deque(maxlen=runner.PLAIN_SHARE)
        for seed in range(self.most):
            chosen = self.chosen(seed)
            row.append({c.variants or c.name for c in chosen if not c.jdk.brief})
            self.assertLessEqual(short, row[-1])
            self.assertTrue(len(row) < runner.PLAIN_SHARE or set().union(*row) == whole)
            self.assertEqual({c.cell() for c in chosen}, {c.cell() for c in self.cases})

    def test_a_test_that_skips_seeds_skips_nothing_that_it_takes_in_turn(self):
        turns = {}
        for seed in range(2 * runner.PLAIN_SHARE):
            for c in self.chosen(seed):
                if c.level != "quick" and not c.jdk.brief:
                    turns.setdefault(c.name, []).append(c.turn)
        in_turn = [t for t in turns.values() if len(t) == 2]
        self.assertTrue(in_turn)
        for t in in_turn:
            self.assertEqual(t, list(range(t[0], t[0] + len(t))))

    def test_a_run_is_a_fraction_of_all_cases(self):
        for seed in range(self.most):
            self.assertLess(len(self.names(seed)), 0.25 * len(self.cases))

    def test_the_same_seed_takes_the_same_cases_and_the_next_one_others(self):
        self.assertEqual(self.names(7), self.names(7))
        self.assertNotEqual(self.names(7), self.names(8))

    def test_a_new_test_leaves_the_others_where_they_are(self):
        without = [c for c in self.cases if not c.name.startswith("net.")]
        rest = {str(c) for c in runner.rotate(without, 3)}
        self.assertLessEqual(len(rest - set(self.names(3))), len({c.cell() for c in self.cases}))  # but those that fill a cell

    def test_the_command_that_repeats_a_case_chooses_it_alone(self):
        alone = {}
        with mock.patch.object(jdk.Jdk, "offered", offered):
            for case in runner.rotate(self.cases, 5):
                words = runner.again(["tests/jvm/run", "--collectors=own"])(case)
                self.assertIn("--%s=%s=/nowhere" % ("brief" if case.jdk.brief else "jdks", case.jdk.label), words)
                self.assertIn("--turn=%d" % case.turn, words)
                self.assertIn(str(case), words)
                if case.jdk not in alone:
                    alone[case.jdk] = [str(c) for c in runner.collect([case.jdk], [])]
                self.assertEqual(alone[case.jdk].count(str(case)), 1)


class InTurnTests(unittest.TestCase):
    def some(self, things, count, turn, level="plain"):
        t = harness.Test.__new__(harness.Test)
        t.level, t.case = level, mock.Mock(turn=turn)
        return t.in_turn(things, count)

    def test_seeds_in_a_row_take_all(self):
        things = list(range(21))
        taken = [self.some(things, 4, turn) for turn in range(100, 106)]
        self.assertEqual(sorted(x for some in taken for x in some), things)
        self.assertLessEqual(max(map(len, taken)), 4)

    def test_few_are_taken_whole_and_a_long_run_takes_all(self):
        self.assertEqual(self.some([1, 2], 4, 9), [1, 2])
        self.assertEqual(self.some([], 4, 9), [])
        self.assertEqual(self.some(list(range(21)), 4, 9, "long"), list(range(21)))


class BuildTests(unittest.TestCase):
    """A build with -Dhotspot=false says in its library that it reads nothing of the VM's internals."""

    @classmethod
    def setUpClass(cls):
        for path in sorted(JVM.glob("test_*.py")):
            importlib.import_module(path.stem)

    def lacks(self, content):
        with tempfile.NamedTemporaryFile() as file:
            file.write(content)
            file.flush()
            return build.lacks(pathlib.Path(file.name))

    def test_the_text_of_the_source_is_the_one_that_is_looked_for(self):
        source = (JVM.parents[1] / "agent" / "hotspot" / "without.c").read_bytes()
        self.assertEqual(self.lacks(source), ("hotspot",))
        self.assertEqual(self.lacks(b"vmstructs=n"), ())

    def test_tests_that_need_the_internals_are_left_out_and_the_others_stay(self):
        def names(lacks):
            with mock.patch.object(jdk.Jdk, "offered", offered):
                return {c.name for c in runner.collect([jdk.Jdk("17", 17, "server", HOME, "quick", False, lacks)], [])}
        all_of, some = names(()), names(("hotspot",))
        self.assertLess(some, all_of)
        self.assertIn("structures.are_on", all_of - some)
        self.assertGreater(len(some), 0.7 * len(all_of))

    def test_a_parameter_that_needs_them_is_skipped(self):
        t = harness.Test.__new__(harness.Test)
        t.jdk = jdk.Jdk("17", 17, "server", HOME, "quick", False)
        t.needs("hotspot")
        t.jdk = dataclasses.replace(t.jdk, lacks=("hotspot",))
        with self.assertRaisesRegex(harness.Skip, "has no hotspot"):
            t.needs("hotspot")


class ResultsTests(unittest.TestCase):
    def test_a_failure_prints_the_command_that_repeats_it(self):
        case = runner.Case("a.b", None, None, jdks()[0], "G1", False, 60, turn=17)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), mock.patch.object(harness, "SLOW", 1):
            runner.Results(runner.again(["tests/jvm/run"])).add(case, "FAIL", "why", 1.0)
        self.assertIn("again: tests/jvm/run --brief=8=/nowhere --turn=17 '--only=a.b [8 G1]'", out.getvalue())


if __name__ == "__main__":
    unittest.main()
