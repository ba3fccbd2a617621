# SPDX-License-Identifier: BSD-2-Clause
"""cpu=samples on real work, stops, and the handler's own cost."""
import os
import re
import statistics
import sys

from machine import tick_ms
from measure import DidNotRun, OutOfTime, differences, quartiles, ratios
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
    """{key: number} of a file of "key value" lines."""
    with open(path, encoding="ascii") as f:
        return {k: int(v) for k, v in (line.split() for line in f)}


def reported_handler_us(done):
    """Mean time in the handler by the product's own report (wall time: on a busy machine a preemption counts too); None if not stated."""
    match = re.match(r"([0-9.]+) us", done.report.get("handler", ""))
    return float(match.group(1)) if match else None


def handler(ctx, rows, raw):
    """Length of an interruption by cpu=samples beyond that by an empty handler on the same kind of timer, at two depths.

    The interval is the scheduler's tick: then every tick brings a signal, in all configurations by the same POSIX timer."""
    ctx.need_agent()
    tick = tick_ms()
    inner = os.path.join(ctx.work, "handler.txt")
    bench = "-agentpath:%s=%%s,%d,%s" % (ctx.agents["handler_bench"], int(tick * 1000), inner)
    configurations = {"empty": [bench % "empty"], "agct": [bench % "agct"], "product": ctx.product("cpu=samples,depth=1024,interval=%g" % tick)}

    def once(jdk, depth, name):
        done = ctx.java(jdk, ["Gaps", str(depth), "0.7"], configurations[name])
        if name in ("empty", "agct"):
            done.figures.update(read_lines(inner))
        if "gap_p50_ns" not in done.figures:
            raise DidNotRun("no interruption seen in: Gaps %d with %s" % (depth, name))
        return done

    for jdk in ctx.box.shares(ctx.jdks):
        for depth, limit in ctx.box.shares(((30, 3.0), (500, 16.0))):
            say("handler, JDK %s, depth %d" % (jdk, depth))
            runs = ctx.compare(configurations, 6, lambda c, j=jdk, d=depth: once(j, d, c))
            gap = {c: [r.figures["gap_p50_ns"] / 1e3 for r in runs[c]] for c in configurations}
            rows.append(row("depth %d: interruption, empty" % depth, jdk, quartiles(gap["empty"]), "us"))
            for c in ("agct", "product"):
                rows.append(row("depth %d: %s beyond the empty handler" % (depth, c), jdk, differences(gap[c], gap["empty"]), "us",
                                limit if c == "product" else None))
            inside = [r.figures.get("inside_p50_ns", 0) / 1e3 for r in runs["agct"]]
            rows.append(row("depth %d: agct, time inside" % depth, jdk, quartiles(inside), "us"))
            own = [v for v in map(reported_handler_us, runs["product"]) if v is not None]
            if own:
                rows.append(row("depth %d: product, mean inside by its report" % depth, jdk, quartiles(own), "us"))
            raw += [dict(jdk=jdk, depth=depth, configuration=c, figures=r.figures, report=r.report)
                    for c in configurations for r in runs[c]]
