# SPDX-License-Identifier: BSD-2-Clause
"""cpu=samples on real work, stops, and the handler's own cost."""
import os
import statistics
import sys

from machine import tick_ms
from measure import DidNotRun, OutOfTime, quartiles, ratios
from report import row


def javac(ctx, count):
    """Arguments of java: javac over this many generated files."""
    folder = os.path.join(ctx.work, "src%d" % count)
    if not os.path.isdir(folder):
        ctx.run([sys.executable, os.path.join(ctx.root, "bench", "jvm", "gen_sources.py"), folder, str(count)])
    package = os.path.join(folder, "gen")
    names = sorted(os.listdir(package))
    return ["Javac", "-nowarn", "-proc:none", "-d", os.path.join(ctx.work, "classes")] + [os.path.join(package, n) for n in names]


def workloads(ctx):
    """{name: arguments of java}; about a second each. javac takes longest and is the last, to get what the others leave of their shares."""
    return {"calls": ["Calls", str(ctx.size(80, 10))], "locks": ["Locks", str(ctx.size(600_000, 100_000))],
            "deep": ["Deep", "500", str(ctx.size(20_000, 3000))], "javac": javac(ctx, ctx.size(5, 2))}


def shortest_interval(ctx, jdk):
    """(option, what the report says of it): the shortest interval that the product takes, found by asking for less and less."""
    for ms in ("0.1", "0.5", "1", "2", "4"):
        try:
            done = ctx.java(jdk, ["Calls", "20"], ctx.product("cpu=samples,interval=" + ms))
        except OutOfTime:
            raise
        except DidNotRun:
            continue
        return "interval=" + ms, effective(done)
    raise DidNotRun("no interval of 4 ms or less is taken")


def effective(done):
    """The interval that the report states, as text."""
    for key, value in done.report.items():
        if "effective interval" in key:
            return value
    return "not stated"


def say(text):
    print("  " + text, file=sys.stderr, flush=True)


def samples(ctx, rows, raw):
    """Ratios of CPU and wall time with and without the agent: at 10 ms, 1 ms and the shortest interval, and at 10 ms by the other engines."""
    ctx.need_agent()
    work = workloads(ctx)
    for jdk in ctx.box.shares(ctx.jdks):
        configurations = {"none": [], "10 ms": ctx.product("cpu=samples,interval=10"), "1 ms": ctx.product("cpu=samples,interval=1")}
        option, stated = shortest_interval(ctx, jdk)
        if option != "interval=1":
            configurations[option[9:] + " ms"] = ctx.product("cpu=samples," + option)
        configurations.update({"10 ms, " + e: ctx.product("cpu=samples,interval=10,sampler=" + e) for e in ("walk", "poll")})
        say("samples, JDK %s: shortest interval %s, effective %s" % (jdk, option[9:], stated))
        hello = ctx.compare(configurations, 5, lambda c, j=jdk: ctx.java(j, ["Hello"], configurations[c]), 2)
        start = {c: statistics.median(r.cpu for r in hello[c]) for c in configurations}
        for name in ctx.box.shares(work):
            say("samples, JDK %s: %s" % (jdk, name))
            runs = ctx.compare(configurations, 4, lambda c, j=jdk, a=work[name]: ctx.java(j, a, configurations[c]))
            base = runs["none"]
            for c in list(configurations)[1:]:
                limit = 1.01 if c == "10 ms" else None
                q = ratios([r.cpu for r in runs[c]], [r.cpu for r in base], (start[c], start["none"]))
                rows.append(row("%s, %s: CPU" % (name, c), jdk, q, "ratio", limit, "effective " + effective(runs[c][-1])))
                rows.append(row("%s, %s: wall" % (name, c), jdk, ratios([r.inside for r in runs[c]], [r.inside for r in base]), "ratio", limit))
            raw += [dict(jdk=jdk, work=name, configuration=c, cpu=r.cpu, wall=r.wall, inside=r.inside, report=r.report)
                    for c in configurations for r in runs[c]]
            if len(base) > 1:
                noise = ratios([r.cpu for r in base[1:]], [r.cpu for r in base])
                rows.append(row("%s, no agent against itself: CPU" % name, jdk, noise, "ratio", None, "noise"))
        raw += [dict(jdk=jdk, work="Hello", configuration=c, cpu=r.cpu, wall=r.wall) for c in configurations for r in hello[c]]


def pauses(ctx, rows, raw):
    """How a busy thread is stopped beside 1000 others of half a core together: with none, and with each engine."""
    ctx.need_agent()
    threads, seconds = ctx.size(1000, 50), 1
    configurations = {"none": []}
    configurations.update({e: ctx.product("cpu=samples,sampler=" + e) for e in ("async", "walk", "poll")})
    for jdk in ctx.box.shares(ctx.jdks):
        say("pauses, JDK %s" % jdk)
        runs = ctx.compare(configurations, 6, lambda c, j=jdk: ctx.java(j, ["Pauses", str(threads), str(seconds)], configurations[c]))
        for c in configurations:
            for key, what, unit, by in (("stops", "stops over 10 us", "/s", seconds), ("p50_ns", "median stop", "us", 1e3), ("p99_ns", "99 % of stops within", "us", 1e3),
                                        ("longest_ns", "longest stop", "us", 1e3), ("stopped_ns", "stopped a second", "ms", 1e6 * seconds)):
                rows.append(row("%s: %s" % (c, what), jdk, quartiles([r.figures[key] / by for r in runs[c]]), unit))
        raw += [dict(jdk=jdk, configuration=c, figures=r.figures, report=r.report) for c in configurations for r in runs[c]]


def read_lines(path):
    """{key: number} of a file of "key value" lines, which goes away: the next run has its own. DidNotRun if the run left none."""
    try:
        with open(path, encoding="ascii") as f:
            figures = {k: int(v) for k, v in (line.split() for line in f)}
        os.unlink(path)
    except OSError as e:
        raise DidNotRun("the run left no figures: %s" % e) from e
    return figures


def floors(ctx, rows, raw, tick, jdk, depth):
    """How long an empty handler on the same kind of timer interrupts, and how long AsyncGetCallTrace takes, on 256 paths of calls."""
    inner = os.path.join(ctx.work, "handler.txt")

    def once(name):
        done = ctx.java(jdk, ["Gaps", str(depth), "0.7"], ["-agentpath:%s=%s,%d,%s" % (ctx.agents["handler_bench"], name, int(tick * 1000), inner)])
        done.figures.update(read_lines(inner))
        key = "gap_p50_ns" if name == "empty" else "inside_p50_ns"
        if key not in done.figures:
            raise DidNotRun("no interruption seen in: Gaps %d with %s" % (depth, name))
        return done.figures[key] / 1e3

    floor = ctx.compare({"empty": None, "agct": None}, 6, once)
    rows.append(row("depth %d: interruption, empty" % depth, jdk, quartiles(floor["empty"]), "us"))
    rows.append(row("depth %d: agct, time inside" % depth, jdk, quartiles(floor["agct"]), "us"))
    raw.append(dict(jdk=jdk, depth=depth, us=floor))


def known_stacks(ctx, rows, raw, tick, jdk, depth):
    """Median time in the handler, by a clock around it. The program has one path of calls, so the thread knows most stacks."""
    inner = os.path.join(ctx.work, "handler-times.txt")
    java = [os.path.join(ctx.jdks[jdk], "bin", "java"), "-cp", ctx.classes] + ctx.product("cpu=samples,depth=1024,interval=%g" % tick)

    def once(_):
        ctx.run(["env", "HANDLER_TIMES=" + inner, "LD_PRELOAD=" + ctx.agents["handler_times"]] + java + ["Gaps", str(depth), "2", "1"])
        return read_lines(inner)

    runs = ctx.compare({"known": None}, 6, once)["known"]
    rows.append(row("depth %d: known stack, time inside" % depth, jdk, quartiles([r["inside_p50_ns"] / 1e3 for r in runs]), "us",
                    3.0 if depth == 30 else 8.0))
    raw.append(dict(jdk=jdk, depth=depth, known=runs))


def handler(ctx, rows, raw):
    """What a sample takes from the thread, at two depths.

    The interval is the scheduler's tick: then every tick brings a signal, in all configurations by the same POSIX timer."""
    ctx.need_agent()
    for jdk in ctx.box.shares(ctx.jdks):
        for depth in ctx.box.shares((30, 500)):
            say("handler, JDK %s, depth %d" % (jdk, depth))
            for part in ctx.box.shares((floors, known_stacks)):
                part(ctx, rows, raw, tick_ms(), jdk, depth)
