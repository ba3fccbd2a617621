# SPDX-License-Identifier: BSD-2-Clause
"""The time boxes of tools/bench and its table of verdicts, by a clock that only moves when a made-up run takes time."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "lib"))
sys.dont_write_bytecode = True

# pylint: disable=wrong-import-position
import results  # noqa: E402
import subjects_heap  # noqa: E402
import subjects_javac  # noqa: E402
import subjects_monitor  # noqa: E402
import subjects_peer  # noqa: E402
import subjects_sites  # noqa: E402
from box import Box, scaled  # noqa: E402
from context import Context as RealContext  # noqa: E402
from measure import DidNotRun, OutOfTime, ends_within, interleave, mean_within, quartiles, run  # noqa: E402
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
            return {"before": 100.0, "after": 101.0, "seconds": 1.0, "vm_thread_ns": objects * 401, "child_ns": objects * 201, "peak": 101.0, "child_rss": 1.0,
                    "child_private": 1.0, "longest without": 0.1, "longest": 300.0, "safepoint": stop if configuration == "fork" else 200.0,
                    "collector": "G1", "megabytes": 10.0, "objects": objects, "said_ms": 1.0}
        beside = {"during": 0.9, "after": 1.0, "before": 1e5}
        with unittest.mock.patch("subjects_heap.one", one), unittest.mock.patch("subjects_heap.beside_writer", lambda *_: dict(beside)), contextlib.redirect_stderr(io.StringIO()), \
             unittest.mock.patch("subjects_heap.resident", lambda _, __, objects, vm: objects * (64 * len(vm) + 80 * ("exact" in str(vm)))):
            rows, runs = [], []
            subjects_heap.heapdump(self.MadeUpContext(factor), rows, runs)
        return {(r["what"], r["jdk"]): r for r in rows}, runs

    def test_a_small_box_has_the_oldest_jdk_and_a_million_objects(self):
        rows, runs = self.run_heapdump(1.0, 20.0)
        self.assertEqual({(r["jdk"], r["objects_wanted"]) for r in runs}, {("17", subjects_heap.SMALL), ("17", subjects_heap.MIDDLE)})
        self.assertEqual(rows["1 M objects: fork: CPU of the child, an object", "17"]["verdict"], "missed")
        self.assertEqual(rows["1 M objects: longest safepoint, walk over JVM", "17"]["verdict"], "met")
        self.assertEqual(rows["1 M objects, written: work a second during the dump over before, fork", "17"]["value"], 0.9)
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


class JavacTests(unittest.TestCase):
    """The subject `javac-threads` over made-up runs."""

    OUTPUT = "wall_ns 5\nthread 10000000 java\nthread 500000000 main\nthread 20000000 C1 CompilerThre\nthread 30000000 C2 CompilerThre\n" \
             "thread 7000000 GC Thread#0\nthread 1000000 G1 Conc#0\nthread 2000000 VM Thread\nthread 3000000 Service Thread\n" \
             "thread 4000000 hprofx\nthread 5000000 hprofx-out\nthread 6000000 Signal Dispatch\nprocess_ns 600000000\n"

    @staticmethod
    def made_up(cpu=0.61, output=OUTPUT):
        done = unittest.mock.Mock(cpu=cpu, output=output, figures={"process_ns": 600_000_000}, wall=1.0, inside=1.0, report={})
        return done

    def test_the_groups_of_threads_add_up_to_the_process(self):
        by = subjects_javac.cpu_by_group(self.made_up())
        found = {name: round(1e3 * seconds, 6) for name, seconds in by.items()}
        self.assertEqual(found, {"main": 510.0, "C1": 20.0, "C2": 30.0, "GC": 8.0, "VM": 2.0, "Service": 3.0, "hprofx": 9.0, "others": 6.0, "ended": 12.0,
                                 "at end": 10.0})
        self.assertAlmostEqual(sum(by.values()), 0.61)

    def test_a_run_without_accounts_of_threads_is_no_figure(self):
        with self.assertRaisesRegex(DidNotRun, "by thread"):
            subjects_javac.cpu_by_group(self.made_up(output="wall_ns 5\n"))

    def test_a_difference_is_in_percent_of_all_cpu_without_agent(self):
        base = [{"main": 0.5, "C1": 0.5}, {"main": 1.0, "C1": 1.0}]
        mine = [{"main": 0.5, "C1": 0.51}, {"main": 1.0, "C1": 1.04}]
        self.assertEqual([round(p, 9) for p in subjects_javac.points(mine, base, "C1")], [1.0, 2.0])

    def test_the_interval_of_a_mean_is_that_of_student(self):
        mean, half = mean_within([1.0, 2.0, 3.0, 4.0])  # standard deviation 1.291, t of 3 degrees 3.182
        self.assertEqual((mean, round(half, 3)), (2.5, 2.054))
        self.assertEqual(mean_within([7.0]), (7.0, None))
        self.assertLess(mean_within([1.0, 2.0] * 50)[1], 0.1)  # beyond the table

    def run_javac(self, offers):
        class MadeUpContext:
            agents, agent, layer_off, jdks, size = {"null_agent": "null.so"}, __file__, offers, {"17": "/jdk"}, lambda _, usual, __: usual
            box = Box(60, Clock())

            def product(self, options):
                return [options]

            def java(self, _, __, vm):
                return JavacTests.made_up(0.61 + 0.061 * ("cpu=samples,interval=10" in vm))

            def compare(self, configurations, _, once, __):
                return interleave(configurations, 3, once, self.box)
        rows, runs, out = [], [], io.StringIO()
        with unittest.mock.patch("subjects_javac.javac", lambda *_: []), contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(out):
            subjects_javac.javac_threads(MadeUpContext(), rows, runs)
        return {r["what"]: r for r in rows}, runs, out.getvalue()

    def test_the_table_has_a_line_a_variant_and_its_sum_is_the_ratio(self):
        rows, runs, table = self.run_javac("")
        self.assertAlmostEqual(rows["javac, hprofx, 10 ms: CPU"]["value"], 1.1)
        self.assertIn("mean +10.00 % +- 0.00", rows["javac, hprofx, 10 ms: CPU"]["note"])
        self.assertRegex(table, r"hprofx, 10 ms .*[+]10[.]00")
        self.assertEqual(len(runs), 3 * 8)
        self.assertNotIn("layer off", table)

    def test_the_layer_off_appears_when_the_product_has_the_option(self):
        rows, _, _ = self.run_javac("vmstructs=n")
        self.assertIn("javac, hprofx, hardly a signal, layer off: CPU", rows)
        self.assertAlmostEqual(rows["javac, hprofx, 10 ms, layer off: CPU"]["value"], 1.0)


class OfferedTests(unittest.TestCase):
    """What the help of the product says."""

    def offers(self, text):
        args = unittest.mock.Mock(quick=True, rounds=None, vm="")
        ctx = RealContext(str(ROOT), {"17": "/jdk"}, __file__, args, "/work")
        ctx.run = lambda _: unittest.mock.Mock(output=text)
        return ctx.layer_off

    def test_an_option_is_offered_if_its_line_begins_with_it(self):
        self.assertEqual(self.offers("  option   meaning\n  vmstructs=y|n           read tables y\n"), "vmstructs=n")
        self.assertEqual(self.offers("  option   meaning\n  cpu=samples  not vmstructs=y\n"), "")


class PeerTests(unittest.TestCase):
    """The subject `peer` over made-up runs."""

    STACKS = ("A.main_[j];A.fib_[0] 70\n"                                                 # compiled by C1
              "A.main_[j];libjvm.so 5\n"                                                  # native frames on top
              "[unknown_Java];I2C/C2I adapters(0xb) 3\n"
              "[not_walkable_Java];Interpreter 2\n"
              "InterpreterRuntime::newarray;TypeArrayKlass::allocate_common 4\n"
              "libc.so.6;thread_native_entry;CompileBroker::compiler_thread_loop;SystemDictionary::find 40\n"
              "[no_Java_frame] 6\n"
              "[unknown];libc.so.6 8\n"
              "--- a line that is no stack\n")

    def test_stacks_are_told_by_their_frames(self):
        self.assertEqual(subjects_peer.stacks_of(self.STACKS.splitlines(True)), (84, 9, 54))

    def test_an_interval_below_the_tick_takes_perf_events(self):
        with unittest.mock.patch("machine.tick_ms", lambda: 4.0):
            self.assertEqual([subjects_peer.event_of(ms) for ms in (10, 4, 1)], ["ctimer", "ctimer", "cpu"])

    class MadeUpContext:
        """What the subject needs of a context; a run takes no time."""

        def __init__(self, cpu, offers="", crash=""):
            self.cpu, self.layer_off, self.crash, self.work, self.root, self.jdks, self.box = cpu, offers, crash, "/work", "/root", {"17": "/jdk"}, Box(60, Clock())
            self.homes = set()

        def need_agent(self):
            pass

        def size(self, _, quick):
            return quick

        def product(self, options):
            return [options]

        def run(self, argv):
            if argv[0].startswith("/tree"):
                raise DidNotRun("status 1: java\nlibstdc++ is too old\n")

        def java(self, _, arguments, vm, home):
            self.homes.add(home)
            name = "peer" if "agentpath" in str(vm) else "off" if "vmstructs=n" in str(vm) else "ours" if vm else "none"
            if name == "peer" and arguments[0] == self.crash:
                raise DidNotRun("status -6: java")
            work = 0.5 if arguments == ["Hello"] else 0.5 + self.cpu[name]
            return unittest.mock.Mock(cpu=work, wall=1.0, inside=1.0, report={"without a stack": "7 (3.50 %)"})

        def compare(self, configurations, rounds, once, _=1):
            return interleave(configurations, rounds, once, self.box)

    def run_peer(self, ctx, tree="/jdk"):
        with unittest.mock.patch("subjects_peer.javac", lambda *_: ["Javac"]), contextlib.redirect_stderr(io.StringIO()), \
             unittest.mock.patch("subjects_peer.read_stacks", lambda _: (200, 5, 100)), unittest.mock.patch("machine.find_jdk", lambda *_, **__: tree), \
             unittest.mock.patch("machine.async_profiler", lambda _: ("/peer.so", "3.0")), unittest.mock.patch("machine.jdk_version", lambda _: "17.0.1"):
            result = TOOL.one_subject(ctx, subjects_peer.peer_beside, ctx.box)
        return {r["what"]: r for r in result["rows"]}, result

    def test_ours_is_held_to_the_peer_and_javac_to_its_goal(self):
        for ours, goal, beside in ((1.01, "met", "met"), (1.018, "missed", "met"), (1.03, "missed", "missed")):
            rows, _ = self.run_peer(self.MadeUpContext({"none": 1.0, "ours": ours, "peer": 1.02}))
            self.assertAlmostEqual(rows["javac, 10 ms, hprofx: CPU"]["value"], ours)  # without start-up
            self.assertEqual(rows["javac, 10 ms, hprofx: CPU"]["verdict"], goal)
            self.assertEqual(rows["deep, 1 ms: hprofx over peer"]["verdict"], beside)
            self.assertEqual(rows["calls, 10 ms, hprofx: CPU"]["limit"], None)

    def test_both_say_their_share_without_a_stack(self):
        rows, _ = self.run_peer(self.MadeUpContext({"none": 1.0, "ours": 1.0, "peer": 1.0}))
        self.assertEqual(rows["javac, 1 ms, hprofx: without a stack"]["value"], 3.5)
        self.assertEqual(rows["javac, 1 ms, peer: without a stack"]["value"], 2.5)
        self.assertFalse([what for what in rows if "layer off" in what])

    def test_the_layer_off_is_a_third_configuration(self):
        rows, _ = self.run_peer(self.MadeUpContext({"none": 1.0, "ours": 1.0, "peer": 1.0, "off": 1.05}, offers="vmstructs=n"))
        self.assertAlmostEqual(rows["javac, 10 ms, layer off: CPU"]["value"], 1.05)

    def test_a_program_on_which_the_peer_crashes_leaves_the_others(self):
        rows, result = self.run_peer(self.MadeUpContext({"none": 1.0, "ours": 1.0, "peer": 1.0}, crash="Deep"))
        self.assertEqual(result["did_not_run"], "status -6: java")
        self.assertNotIn("deep, 10 ms, peer: CPU", rows)
        self.assertIn("javac, 10 ms, peer: CPU", rows)

    def test_a_jdk_that_does_not_load_the_peer_is_told(self):
        ctx = self.MadeUpContext({"none": 1.0, "ours": 1.0, "peer": 1.0})
        self.run_peer(ctx, tree="/tree")
        self.assertEqual(ctx.homes, {"/jdk"})  # the other one loads it
        ctx.jdks = {"17": "/tree"}
        _, result = self.run_peer(ctx, tree="/tree")
        self.assertRegex(result["did_not_run"], "JDK 17 does not load the peer: libstdc.. is too old.*HPX_JDK_DIRS= tools/jdks 17")


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


class ResultsTests(unittest.TestCase):
    """bench/results/SUBJECT.md."""

    FACTS = {"cpu": "Some CPU", "architecture": "x86_64", "cores": 2, "kernel": "6.1", "tick_ms": 4.0, "jdks": {"17": "17.0.1+2"}, "load_1_5_15": (0.5, 0, 0)}

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, figure, date, runs=(), words=(), did_not_run=""):
        result = {"rows": figure, "runs": list(runs), "did_not_run": did_not_run}
        return results.write(self.folder, {name: "a title"}, {name: result}, self.FACTS, TOOL.arguments(list(words)), date)

    def text(self, name):
        return pathlib.Path(self.folder, name + ".md").read_text(encoding="utf-8")

    def test_a_file_has_title_command_date_machine_and_figures(self):
        words = ("--jdks=17", "--minutes=5", "--agent", "/home/somebody/agent.so", "--json", "/tmp/x.json")
        self.write("samples", [row("javac | CPU", "17", quartiles([1.0, 1.1, 1.2]), "ratio", 1.02)], "2026-11-26", words=words)
        text = self.text("samples")
        self.assertTrue(text.startswith("# A title\n\n" + results.BEGIN))
        self.assertTrue(text.endswith(results.END))
        self.assertIn("`tools/bench --jdks=17 --minutes=5 samples`, 2026-11-26. Some CPU, 2 cores, kernel 6.1, tick 4 ms, JDKs 17.0.1+2, load 0.5.", text)
        self.assertIn("| javac \\| CPU | 17 | 1.100 | 1.050..1.150 | 3 | <= 1.020 | missed |  |\n", text)
        self.assertNotIn("somebody", text)

    def test_a_second_run_replaces_the_figures_and_leaves_what_stands_around_them(self):
        self.write("samples", [row("old", None, 1.0, "ms")], "2026-11-25")
        path = pathlib.Path(self.folder, "samples.md")
        path.write_text("# By hand\n\nBefore.\n\n" + path.read_text(encoding="utf-8").split("\n\n", 1)[1] + "\nBehind.\n", encoding="utf-8")
        self.write("samples", [row("new", None, 2.0, "ms")], "2026-11-26")
        text = self.text("samples")
        self.assertTrue(text.startswith("# By hand\n\nBefore.\n\n" + results.BEGIN))
        self.assertTrue(text.endswith(results.END + "\nBehind.\n"))
        self.assertIn("| new |", text)
        self.assertNotIn("| old |", text)

    def test_a_file_without_figures_gets_them_at_its_end(self):
        pathlib.Path(self.folder, "samples.md").write_text("# By hand\n\nBefore.\n", encoding="utf-8")
        self.write("samples", [row("new", None, 2.0, "ms")], "2026-11-26")
        self.assertTrue(self.text("samples").startswith("# By hand\n\nBefore.\n\n" + results.BEGIN))

    def test_the_tables_of_a_micro_bench_are_written(self):
        self.write("ring", [], "2026-11-26", runs=[{"tables": {"push": [{"name": "warm", "ns": 1.35}, {"name": "cold", "worst": 7}]}}])
        self.assertIn("push:\n\n| name | ns | worst |\n| --- | --- | --- |\n| warm | 1.35 |  |\n| cold |  | 7 |\n", self.text("ring"))

    def test_a_subject_that_did_not_end_says_so_and_one_without_figures_has_no_file(self):
        self.write("ring", [row("new", None, 2.0, "ms")], "2026-11-26", did_not_run="out of time\nand more")
        self.assertIn("It did not run to its end: out of time.\n", self.text("ring"))
        self.assertEqual(self.write("lane", [], "2026-11-26", did_not_run="no agent"), [])
        self.assertFalse(pathlib.Path(self.folder, "lane.md").exists())

    def test_a_quick_run_keeps_no_results(self):
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as said:
            TOOL.arguments(["--quick", "--results"])
        self.assertIn("--results with --quick", said.getvalue())


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
