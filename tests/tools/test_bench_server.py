# SPDX-License-Identifier: BSD-2-Clause
"""The subject `server` of tools/bench over made-up runs."""
import contextlib
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
import subjects_server  # noqa: E402
from box import Box  # noqa: E402
from measure import DidNotRun, OutOfTime, interleave  # noqa: E402


def cell(cpu, why=""):
    made = subjects_server.Cell()
    made.cpu, made.requests, made.end, made.why, made.ended = cpu, 1e6 / cpu, 0.1 if not why else None, why, not why
    return made


class Context:
    """What the subject needs of a context; a run takes no time."""

    def __init__(self, wall=False):
        self.jdks, self.root, self.work, self.output, self.box, self.wall = {"17": "/jdk"}, "/root", "/work", "/work/output.txt", Box(60), wall

    def need_agent(self):
        pass

    def offers(self, option):
        assert option == "wall"
        return self.wall

    def product(self, options):
        return ["product", options]

    def compare(self, configurations, rounds, once):
        return interleave(configurations, rounds, once, self.box)


class ServerTests(unittest.TestCase):
    def run_server(self, ctx, one, peer=True):
        found = unittest.mock.Mock(side_effect=None if peer else DidNotRun("no package"), return_value=("/peer.so", "3.0"))
        with unittest.mock.patch("subjects_server.one", one), unittest.mock.patch("subjects_server.prepare", lambda _: "/server"), \
             unittest.mock.patch("subjects_server.home_for", lambda *_: "/tree"), unittest.mock.patch("machine.async_profiler", found), \
             unittest.mock.patch("machine.jdk_version", lambda home: home), contextlib.redirect_stderr(io.StringIO()):
            rows, raw = [], []
            subjects_server.server(ctx, rows, raw)
        return {r["what"]: r for r in rows}, raw

    def test_each_mode_is_held_to_no_agent_and_to_the_peer(self):
        def one(_, home, __, vm, output):
            self.assertEqual(home, "/tree")
            self.assertEqual(output, None if not vm else "/work/output.txt" if vm[0] == "product" else "/work/peer.collapsed")
            return cell(100.0 if not vm else 100.9 if vm[0] == "product" else 100.5)
        rows, raw = self.run_server(Context(wall=True), one)
        for mode, verdict in (("cpu=samples", "met"), ("heap=sites,sites=sampled", "met"), ("wall=20", "met"), ("heap=sites", "")):
            row = rows[mode + ": CPU a request, over no agent"]
            self.assertEqual((round(row["value"], 3), row["verdict"]), (1.009, verdict))
        for mode in ("cpu=samples", "cpu=samples,interval=1", "heap=sites,sites=sampled", "monitor=y", "wall=20"):
            self.assertEqual(rows[mode + ": CPU a request, hprofx over peer"]["verdict"], "missed")
        self.assertNotIn("cpu=times: CPU a request, hprofx over peer", rows)
        self.assertEqual({r["configuration"] for r in raw if r["ended"]}, {"no agent"} | {m.options for m in subjects_server.MODES} | {"peer, " + p for p in subjects_server.OF_PEER})

    def test_a_mode_that_never_ends_is_a_goal_that_is_missed_and_is_not_run_again(self):
        runs = []

        def one(_, __, ___, vm, ____):
            runs.append(vm)
            never = vm and vm[-1].startswith("heap=sites,depth")
            return cell(100.0, "no end after SIGTERM in 60 s" if never else "")
        rows, _ = self.run_server(Context(), one, peer=False)
        self.assertEqual(len([vm for vm in runs if vm and vm[-1].startswith("heap=sites,depth")]), 1)
        self.assertEqual(len([vm for vm in runs if not vm]), 4)
        ended = rows["heap=sites: runs that ended with a profile"]
        self.assertEqual((ended["value"], ended["verdict"], ended["note"]), (0.0, "missed", "no end after SIGTERM in 60 s"))
        self.assertEqual(rows["heap=sites: CPU a request, over no agent"]["rounds"], 1)  # what it did until then counts
        self.assertEqual(rows["cpu=times: runs that ended with a profile"]["verdict"], "met")

    def test_without_the_peer_and_without_wall_the_others_run(self):
        rows, _ = self.run_server(Context(), lambda *_: cell(100.0), peer=False)
        self.assertFalse([what for what in rows if "peer" in what or "wall" in what])
        self.assertIn("monitor=y: requests a second, over no agent", rows)

    def test_exact_calls_have_the_usual_depth_and_the_others_that_of_the_peer(self):
        made = subjects_server.configurations_of(Context(), None)
        self.assertEqual(made["cpu=times"][0][-1], "cpu=times")
        self.assertEqual(made["monitor=y"][0][-1], "monitor=y,depth=512")


class CellTests(unittest.TestCase):
    """One run, by a made-up server."""

    class MadeUp:
        """A server that ends at one step."""

        text = ""

        def __init__(self, failing, error):
            self.failing, self.error, self.closed = failing, error, False

        def step(self, name):
            if name == self.failing:
                raise self.error

        def port(self):
            self.step("port")
            return "80"

        def first_answer(self, _):
            self.step("first_answer")

        def end(self):
            self.step("end")
            return 0.2

        def close(self):
            self.closed = True

    def run_one(self, failing=None, error=None, profile=True):
        made = self.MadeUp(failing, error)
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "output.txt")

            def load(_, cell_, __, ___):
                cell_.cpu = 7.0
                if profile:
                    pathlib.Path(output).write_text("hprofx: pid: 5\n", encoding="utf-8")
            ctx = unittest.mock.Mock(output=output)
            with unittest.mock.patch("subjects_server.Server", lambda *_: made), unittest.mock.patch("subjects_server.load", load):
                try:
                    return subjects_server.one(ctx, "/jdk", folder, [], output)
                finally:
                    self.assertTrue(made.closed)

    def test_a_run_has_its_figures_and_its_report(self):
        got = self.run_one()
        self.assertEqual((got.cpu, got.end, got.report, got.ended, got.why), (7.0, 0.2, {"pid": "5"}, True, ""))

    def test_what_a_run_did_not_do_is_said(self):
        for failing in ("port", "first_answer", "end"):
            got = self.run_one(failing, DidNotRun("no " + failing))
            self.assertEqual((got.ended, got.why), (False, "no " + failing))
            self.assertEqual(got.cpu, 7.0 if failing == "end" else None)
        self.assertEqual(self.run_one(profile=False).why, "no profile")

    def test_the_end_of_the_box_ends_the_subject(self):
        with self.assertRaises(OutOfTime):
            self.run_one("end", OutOfTime("killed"))


if __name__ == "__main__":
    unittest.main()
