# SPDX-License-Identifier: BSD-2-Clause
"""The rotation of the Java tests: what one run leaves out the next ones take."""
import contextlib
import dataclasses
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
    return [one(n, "plain", True) for n in ("8", "11", "17zero", "21", "28")] + [one(n, "full", False) for n in ("17", "25")]


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


class ChoiceTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for path in sorted(JVM.glob("test_*.py")):
            importlib.import_module(path.stem)
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


class OnceTests(unittest.TestCase):
    """A test that fails and passes when it is repeated."""

    def run_of(self, *ends):
        ends = iter(ends)
        case = runner.Case("a.b", lambda t: next(ends)(), None, jdks()[0], "G1", False, 60)
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
            env = mock.Mock(tmp=folder, sanitized=None)
            results = runner.Results(runner.again(["tests/jvm/run"]))
            with mock.patch.object(jdk.Jdk, "gc", lambda *a: []):
                runner._run_one(env, case, results, False)
        return results.totals["ok"], results.totals["FAIL"], len(results.unstable)

    def fails(self, error):
        def end():
            raise error("why")
        return end

    def test_passes_and_is_told(self):
        self.assertEqual(self.run_of(self.fails(harness.Failure), lambda: None), (1, 0, 1))

    def test_fails_if_it_fails_twice(self):
        self.assertEqual(self.run_of(self.fails(harness.Failure), self.fails(harness.Failure)), (0, 1, 1))

    def test_fails_at_once_by_harm(self):
        self.assertEqual(self.run_of(self.fails(harness.Harm)), (0, 1, 0))

    def test_not_many_may(self):
        results = runner.Results(None)
        self.assertEqual([results.may_fail_once(None, "") for _ in range(runner.UNSTABLE + 1)], [True] * runner.UNSTABLE + [False])


class InTurnTests(unittest.TestCase):
    def some(self, things, count, turn, level="full"):
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
                return {c.name for c in runner.collect([jdk.Jdk("17", 17, "server", HOME, "plain", False, lacks)], [])}
        all_of, some = names(()), names(("hotspot",))
        self.assertLess(some, all_of)
        self.assertIn("structures.are_on", all_of - some)
        self.assertGreater(len(some), 0.7 * len(all_of))

    def test_a_parameter_that_needs_them_is_skipped(self):
        t = harness.Test.__new__(harness.Test)
        t.jdk = jdk.Jdk("17", 17, "server", HOME, "plain", False)
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
