# SPDX-License-Identifier: BSD-2-Clause
"""Sessions in a program that runs: how long the command takes to begin and end one, and what the program feels of it."""
import os
import re
import time

from measure import DidNotRun, ends_within, kill_group, out_of_time, quartiles, start
from report import row
from subjects_requests import Program, clean

WINDOW = 2.0  # seconds before, in and after a session
ATTACH_MS = 100.0
CALLS = 1000  # of a piece of bench/jvm/Attach.java


def command(ctx, *words):
    """Seconds that hprofx takes."""
    begin = time.monotonic()
    child = start([os.path.join(ctx.root, "build", "hprofx"), "--agent", ctx.agent, *words])
    try:
        if not ends_within(child, ctx.box.left()):
            raise out_of_time("hprofx " + " ".join(words))
        seconds = time.monotonic() - begin
        if child.wait() != 0:
            raise DidNotRun("hprofx %s: status %d" % (" ".join(words), child.returncode))
        return seconds
    finally:
        if child.returncode is None:
            kill_group(child)
            child.wait()


def session(ctx, jdk, classes, kind):
    """A program that has loaded so many classes, and two sessions. Windows: 0 none, 1 begins, 2 runs, 3 ends, 4 behind it."""
    clean(ctx)
    program = Program(ctx, jdk, ["Attach", str(classes)], ["-Xmx512m"])
    pid = str(program.child.pid)
    got = {}
    try:
        program.until(lambda: "ready\n" in program.text(), "start")
        time.sleep(WINDOW)
        program.window()
        got["first begin"] = command(ctx, "start", "-e", kind, "-o", ctx.output, pid, "force=y")
        program.window()
        time.sleep(WINDOW)
        program.window()
        got["end"] = command(ctx, "stop", pid)
        program.window()
        time.sleep(WINDOW)
        program.window()
        got["next begin"] = command(ctx, "start", "-e", kind, "-o", ctx.output, pid, "force=y") if classes == 0 else None
        windows = program.end()
        got["classes"] = int(re.search(r"^classes (\d+)$", program.text(), re.M)[1])
    finally:
        program.close()
        clean(ctx)
    got["longest"] = [windows[i][1] / 1e3 for i in range(5)]
    got["calls"] = [CALLS * windows[i][2] / windows[i][0] for i in range(5)]
    return got


def attach(ctx, rows, raw):
    """cpu=samples in a small program, cpu=times in one of 20,000 classes of the JDK."""
    ctx.need_agent()
    for jdk in ctx.box.shares(ctx.jdks):
        for kind, classes, rounds in (("cpu", 0, 7), ("times", ctx.size(20000, 1000), 3)):
            runs = ctx.compare(["session"], rounds, lambda _, j=jdk, n=classes, k=kind: session(ctx, j, n, k))["session"]
            title = "cpu=samples" if kind == "cpu" else "cpu=times, %d classes" % runs[0]["classes"]

            def add(what, values, unit, limit=None, of=title, j=jdk):
                rows.append(row("%s: %s" % (of, what), j, quartiles(values), unit, limit))
            if classes == 0:
                add("from the command to a session", [1e3 * r["first begin"] for r in runs], "ms", ATTACH_MS)
                add("the same, once the library is loaded", [1e3 * r["next begin"] for r in runs], "ms", ATTACH_MS)
                add("from the command to the profile", [1e3 * r["end"] for r in runs], "ms")
            else:
                add("from the command to a session", [r["first begin"] for r in runs], "s")
                add("from the command to the profile", [r["end"] for r in runs], "s")
            for i, when in enumerate(("before", "while it begins", "in it", "while it ends", "behind it")):
                add("longest stop " + when, [r["longest"][i] for r in runs], "ms")
            for i, when in enumerate(("before", "while it begins", "in it", "while it ends", "behind it")):
                add("million calls a second " + when, [r["calls"][i] / 1e6 for r in runs], "")
            raw += [dict(r, jdk=jdk, kind=kind) for r in runs]
