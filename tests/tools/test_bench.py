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
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "lib"))
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import subjects_heap  # noqa: E402
import subjects_monitor  # noqa: E402
import subjects_sites  # noqa: E402
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


class SitesTests(unittest.TestCase):
    """The subject `sites` over made-up runs."""

    class MadeUp:  # pylint: disable=too-few-public-methods
        """A run of 10 ns an allocation, of so many more with an agent."""

        def __init__(self, ns, counts=True):
            self.cpu = self.wall = self.inside = 1.0
            self.figures = {"one_hundredths_ns": 1000 + 100 * ns, "cpu_hundredths_ns": 1000 + 100 * ns, "all_hundredths_ns": 500 + 50 * ns,
                            "live_rss_kb": 70 * 100_000 // 1024, "frees_service_ns": 1_000_000}
            self.report = {"own CPU time": "12 ms", "allocations": "1000 objects, 24000 bytes"} if counts else {"sites": "none"}
            self.output = "[0.1s][info][gc] GC(0) Pause Full (JvmtiEnv ForceGarbageCollection) 3M->0M(261M) 0.905ms\n" \
                          "[4.8s][info][gc] GC(1) Pause Full (System.gc()) 22M->0M(261M) %d.500ms\nlive_rss_kb 1\n" % ns

    class MadeUpContext:
        """What the subject needs of a context; a run takes no time."""

        def __init__(self, exact, counts=True):
            self.ns = {"none": 0, "null agent": 1000, "exact": exact}
            self.counts, self.jdks, self.agents, self.factor = counts, {"17": "/jdk"}, {"null_sites": "null.so"}, 1.0
            self.box = Box(60, Clock())

        def need_agent(self):
            pass

        def size(self, _, quick):
            return quick

        def product(self, options):
            return [options]

        def compare(self, modes, rounds, _):
            return {c: [SitesTests.MadeUp(self.ns.get(c, 1000), self.counts)] * rounds for c in modes}

    def run_sites(self, ctx):
        with unittest.mock.patch("subjects_sites.javac", lambda *_: []), contextlib.redirect_stderr(io.StringIO()):
            rows, runs = [], []
            subjects_sites.sites(ctx, rows, runs)
        return {r["what"]: r for r in rows}, runs

    def test_exact_is_held_to_the_jvm_calls_of_the_null_agent(self):
        for exact, verdict in ((1199, "met"), (1201, "missed")):
            rows, runs = self.run_sites(self.MadeUpContext(exact))
            for what in ("wall", "CPU of its thread"):
                added = rows["exact, added an allocation, " + what]
                self.assertEqual((added["value"], added["limit"], added["verdict"]), (exact, 1200.0, verdict))
            self.assertEqual({r["work"] for r in runs}, {"rate", "keep", "javac", "allocation storm"})

    def test_the_pause_is_that_of_the_collection_the_program_asked_for(self):
        rows, _ = self.run_sites(self.MadeUpContext(1600))
        pause = rows["0.1 million dead: pause, exact over null agent"]
        self.assertAlmostEqual(pause["value"], 1600.5 / 1000.5)
        self.assertEqual(pause["verdict"], "missed")

    def test_an_agent_that_counts_nothing_is_no_figure(self):
        with self.assertRaisesRegex(DidNotRun, "counted nothing: none"):
            subjects_sites.counted(self.MadeUp(0, counts=False))


class HeapTests(unittest.TestCase):
    """The subject `heapdump` over made-up runs."""

    class MadeUpContext:
        """What the subject needs of a context; a run takes no time."""

        def __init__(self, factor=1.0):
            self.factor, self.rounds, self.quick, self.jdks, self.oldest = factor, None, False, {"17": "/jdk", "25": "/jdk"}, ["17"]
            self.agent, self.output, self.agents = "agent.so", "output.txt", {"null_sites": "sites.so", "null_heap": "heap.so"}
            self.box = Box(60 * factor, Clock())

        def need_agent(self):
            pass

        def size(self, usual, _):
            return usual

        def times(self, usual):
            return usual

    def run_heapdump(self, factor, stop):
        def one(_, __, objects, configuration, ___):
            return {"before": 100.0, "after": 101.0, "seconds": 1.0, "vm_thread_ns": objects * 401, "child_ns": 1, "peak": 101.0, "child_rss": 1.0,
                    "child_private": 1.0, "longest without": 0.1, "longest": 300.0, "safepoint": stop if configuration == "fork" else 200.0,
                    "collector": "G1", "megabytes": 10.0, "objects": objects, "said_ms": 1.0}
        with unittest.mock.patch("subjects_heap.one", one), contextlib.redirect_stderr(io.StringIO()), \
             unittest.mock.patch("subjects_heap.resident", lambda _, __, objects, vm: objects * (64 * len(vm) + 80 * ("exact" in str(vm)))):
            rows, runs = [], []
            subjects_heap.heapdump(self.MadeUpContext(factor), rows, runs)
        return {(r["what"], r["jdk"]): r for r in rows}, runs

    def test_a_small_box_has_the_oldest_jdk_and_a_million_objects(self):
        rows, runs = self.run_heapdump(1.0, 20.0)
        self.assertEqual({(r["jdk"], r["objects_wanted"]) for r in runs}, {("17", subjects_heap.SMALL), ("17", subjects_heap.MIDDLE)})
        self.assertEqual(rows["1 M objects: walk: CPU an object", "17"]["verdict"], "missed")
        self.assertEqual(rows["1 M objects: to the complete file, fork over JVM", "17"]["verdict"], "met")
        self.assertEqual(rows["tracked object: memory of sites=exact beyond that", "17"]["verdict"], "missed")

    def test_the_safepoint_of_fork_has_its_goals_with_five_million_objects(self):
        for stop, verdict, beside in ((24.9, "met", "met"), (25.1, "missed", "met"), (31.0, "missed", "missed")):
            rows, _ = self.run_heapdump(10.0, stop)
            for jdk in ("17", "25"):
                self.assertEqual(rows["5 M objects: longest safepoint, fork", jdk]["verdict"], verdict)
                self.assertEqual(rows["5 M objects: longest safepoint, fork over JVM", jdk]["verdict"], beside)


class MonitorTests(unittest.TestCase):
    """The subject `monitor` over made-up runs."""

    TEXT = """MONITOR TIME BEGIN (total = 30 ms) now
rank   self  accum   count trace monitor
   1 90.00% 90.00%    1200 300001 Gate (Java)
   2 10.00% 100.00%     34 300002 Gate (Java)
MONITOR TIME END
MONITOR OWNERS BEGIN (total = 30 ms) now
rank   self  accum   count trace owner monitor
   1 100.00% 100.00%  1234 300001 300003 Gate (Java)
MONITOR OWNERS END
LOCK TIME BEGIN (total = 5 ms) now
rank   self  accum   count trace lock
   1 100.00% 100.00%    56 300001 Lock (Java)
LOCK TIME END
"""

    def test_contentions_are_counted_in_the_table_of_their_kind(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "output.txt")
            pathlib.Path(path).write_text(self.TEXT, encoding="utf-8")
            self.assertEqual(subjects_monitor.counted(path, "monitor"), 1234)
            self.assertEqual(subjects_monitor.counted(path, "lock"), 56)

    def test_a_contention_has_its_goal_beside_the_empty_callbacks(self):
        class MadeUpContext:
            agents = {"null_monitor": "null.so"}

            def product(self, options):
                return [options]

            def compare(self, configurations, rounds, once):
                return interleave(configurations, rounds, once, Box(60, Clock()))

        def turn(_, __, ___, vm, is_product):
            done = unittest.mock.Mock(figures={"contentions_in_all": 100}, counted=100 if is_product else None, report={})
            done.us = 10.0 + sum({"-agentpath:null.so": 1.0, "monitor=y,cutoff=0": 1.9, "monitor=y,cutoff=0,stacks=sampled": 2.1}[a] for a in vm)
            return done
        rows = []
        with unittest.mock.patch("subjects_monitor.turn", turn):
            subjects_monitor.contentions(MadeUpContext(), "17", subjects_monitor.PAIRS[-1], rows, [])
        found = {r["what"]: (round(r["value"], 6), r["verdict"]) for r in rows}
        self.assertEqual(found["a contention: exact, CPU added to empty callbacks"], (0.9, "met"))
        self.assertEqual(found["a contention: stacks=sampled, CPU added to empty callbacks"], (1.1, "missed"))
        self.assertEqual(found["a contention: exact, contentions in the table over those of the program"], (1.0, ""))


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
