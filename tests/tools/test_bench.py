# SPDX-License-Identifier: BSD-2-Clause
"""The time boxes of tools/bench and its table of verdicts, by a clock that only moves when a made-up run takes time."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "lib"))
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
from box import Box, scaled  # noqa: E402
from measure import DidNotRun, OutOfTime, ends_within, interleave, quartiles, run  # noqa: E402
from report import row, verdicts  # noqa: E402


def load_tool():
    loader = importlib.machinery.SourceFileLoader("bench_tool", str(ROOT / "tools" / "bench"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_tool", loader))
    loader.exec_module(module)
    return module


TOOL = load_tool()


class Clock:
    """Seconds of made-up runs."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Program:
    """Made-up runs that take so long; one that is still running at the end of its box is ended there."""

    def __init__(self, clock, box, seconds):
        self.clock, self.box, self.seconds = clock, box, seconds

    def __call__(self, configuration):
        took = self.seconds(configuration) if callable(self.seconds) else self.seconds
        if took > self.box.left():
            self.clock.now = max(self.clock.now, self.box.end)
            raise OutOfTime("made-up program")
        self.clock.now += took
        return took


class Context:
    """What one_subject() and the made-up subjects need."""

    box = None


def run_subject(function, seconds, clock):
    return TOOL.one_subject(Context(), function, Box(seconds, clock))


def compare_three(clock, seconds, wanted=50):
    """A subject of three comparisons, one row with a limit each."""
    def subject(ctx, rows, runs):
        for item in ctx.box.shares("abc"):
            made = interleave(["none", "ours"], wanted, Program(clock, ctx.box, seconds), ctx.box)
            runs.append(made)
            rows.append(row(item, None, quartiles(made["ours"]), "s", 1e9))
    return subject


class BoxTests(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()

    def test_a_subject_that_wants_more_rounds_than_fit_ends_within_its_box(self):
        result = run_subject(compare_three(self.clock, 1.0), 60, self.clock)
        self.assertLessEqual(self.clock.now, 1060)
        self.assertEqual(result["did_not_run"], "")
        self.assertEqual([r["rounds"] for r in result["rows"]], [9, 9, 9])

    def test_a_comparison_ends_when_it_has_the_rounds_that_are_wanted(self):
        result = run_subject(compare_three(self.clock, 1.0, wanted=4), 60, self.clock)
        self.assertEqual([r["rounds"] for r in result["rows"]], [4, 4, 4])

    def test_time_that_one_comparison_leaves_goes_to_those_after_it(self):
        box = Box(100, self.clock)
        shares = []
        for item in box.shares(["short", "long"]):
            shares.append(box.left_for_rounds())
            self.clock.now += 5 if item == "short" else 0
        self.assertEqual(shares, [45.0, 85.0])

    def test_shares_within_a_share_are_parts_of_it(self):
        box = Box(100, self.clock)
        seen = [box.left_for_rounds() for _ in box.shares("ab") for _ in box.shares("xyz")]
        self.assertEqual(seen[0], 15.0)
        self.assertEqual(box.left_for_rounds(), 90.0)

    def test_too_few_rounds_give_no_verdict(self):
        result = run_subject(compare_three(self.clock, 5.0), 60, self.clock)
        self.assertEqual([(r["rounds"], r["verdict"]) for r in result["rows"]], [(1, "too few rounds"), (2, "too few rounds"), (2, "too few rounds")])

    def test_a_row_with_enough_rounds_has_a_verdict(self):
        self.assertEqual(row("goal", None, quartiles([1, 2, 3]), "s", 2)["verdict"], "met")
        self.assertEqual(row("goal", None, quartiles([1, 2, 3]), "s", 1.9)["verdict"], "missed")
        self.assertEqual(row("goal", None, quartiles([1, 2, 3]), "s", 2.1, at_least=True)["verdict"], "missed")

    def test_every_second_round_runs_the_configurations_in_the_other_order(self):
        order = []
        interleave("AB", 3, order.append, Box(10, self.clock))
        self.assertEqual("".join(order), "ABBAAB")

    def test_a_run_that_hangs_in_the_first_round_ends_its_subject_at_the_end_of_its_box(self):
        def hangs(_):
            return 1e6
        result = run_subject(compare_three(self.clock, hangs), 60, self.clock)
        self.assertEqual(self.clock.now, 1060)
        self.assertEqual((result["rows"], result["did_not_run"]), ([], "made-up program"))

    def test_a_run_that_hangs_later_leaves_the_rounds_before_it(self):
        seconds = iter([1.0] * 8 + [1e6] * 9)
        result = run_subject(compare_three(self.clock, lambda _: next(seconds)), 60, self.clock)
        self.assertEqual(self.clock.now, 1060)
        self.assertEqual([(r["what"], r["rounds"]) for r in result["rows"]], [("a", 4)])
        self.assertIn("made-up program", result["did_not_run"])

    def test_boxes_are_stretched_to_the_minutes_that_are_given(self):
        self.assertEqual(scaled({"a": 60, "b": 120}, 6), ({"a": 120.0, "b": 240.0}, 2.0))
        self.assertEqual(scaled({"a": 60}, None), ({"a": 60.0}, 1.0))

    def test_the_default_run_with_a_minute_for_building_takes_twenty_minutes_at_most(self):
        self.assertLessEqual(sum(seconds for name, (_, seconds, _) in TOOL.SUBJECTS.items() if name not in TOOL.LONG), 19 * 60)


class RunTests(unittest.TestCase):
    def test_a_run_that_does_not_end_is_killed_with_all_that_it_started(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, "alive")
            os.mkfifo(fifo)
            opened = []

            def wait_until_it_has_a_child(_, seconds):
                opened.append(open(fifo, "rb"))  # pylint: disable=consider-using-with
                self.assertEqual(opened[0].read(6), b"begun\n")
                self.assertEqual(seconds, 5)
                return False  # not ended in time

            script = 'exec 3>"$0"; (echo begun >&3; sleep 20; echo survived >&3) & wait'
            with self.assertRaises(OutOfTime):
                run(["sh", "-c", script, fifo], 5, wait_until_it_has_a_child)
            with opened[0] as alive:
                self.assertEqual(alive.read(), b"")  # the end comes when the last of them has died

    def test_a_run_that_ends_is_waited_for(self):
        self.assertEqual(run(["sh", "-c", "echo calls 7"], 1e6, ends_within).figures, {"calls": 7})

    def test_a_run_of_another_status_did_not_run(self):
        with self.assertRaisesRegex(DidNotRun, "status 3"):
            run(["sh", "-c", "exit 3"], 1e6)

    def test_nothing_is_started_when_the_box_is_over(self):
        with self.assertRaises(OutOfTime):
            run(["/not/there"], 0.0)


class VerdictTests(unittest.TestCase):
    def test_the_table_lists_every_subject(self):
        def subject(name):
            def function(_, rows, __):
                if name == "memory":
                    raise DidNotRun("no agent\nand more")
                if name != "names":
                    rows.append(row("goal of " + name, None, quartiles([1.0] * (2 if name == "start" else 3)), "ms", 0.5 if name == "size" else 2))
            return function
        real = dict(TOOL.SUBJECTS)
        self.addCleanup(TOOL.SUBJECTS.update, real)
        TOOL.SUBJECTS.update({name: (title, seconds, subject(name)) for name, (title, seconds, _) in real.items()})
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            table = verdicts(TOOL.measure(Context(), {name: 60 for name in real}, True, Clock()))
        self.assertEqual([v["subject"] for v in table], list(real))
        found = {v["subject"]: (v["goal"], v["verdict"]) for v in table}
        self.assertEqual(found["clock"], ("goal of clock", "met"))
        self.assertEqual(found["size"], ("goal of size", "missed"))
        self.assertEqual(found["start"], ("goal of start", "too few rounds"))
        self.assertEqual(found["memory"], ("no agent", "did not run"))
        self.assertEqual(found["names"], ("(no goal)", ""))


if __name__ == "__main__":
    unittest.main()
