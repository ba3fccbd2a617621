# SPDX-License-Identifier: BSD-2-Clause
"""cpu=samples on real work, the handler's own cost, and what compiled-method-load events cost."""
import os
import re
import statistics
import sys

from machine import tick_ms
from measure import DidNotRun, differences, interleave, quartiles, ratios, run
from report import row


def sources(ctx, count):
    """Generates count Java files; returns javac's arguments."""
    folder = os.path.join(ctx.work, "src%d" % count)
    if not os.path.isdir(folder):
        run([sys.executable, os.path.join(ctx.root, "bench", "jvm", "gen_sources.py"), folder, str(count)])
    package = os.path.join(folder, "gen")
    names = sorted(os.listdir(package))
    return ["-nowarn", "-proc:none", "-d", os.path.join(ctx.work, "classes")] + [os.path.join(package, n) for n in names]


def workloads(ctx):
    """{name: arguments of java}"""
    return {"javac": ["Javac"] + sources(ctx, ctx.size(80, 8)), "calls": ["Calls", str(ctx.size(250, 10))],
            "locks": ["Locks", str(ctx.size(3_000_000, 100_000))], "deep": ["Deep", "500", str(ctx.size(60_000, 3000))]}


def shortest_interval(ctx, jdk):
    """(option, what the report says of it): the shortest interval that the product takes, found by asking for less and less."""
    for ms in ("0.1", "0.5", "1", "2", "4"):
        try:
            done = ctx.java(jdk, ["Calls", "20"], ctx.product("cpu=samples,interval=" + ms))
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


def samples(ctx):
    """Ratios of CPU and wall time with and without the agent, at 10 ms, 1 ms and the shortest interval."""
    ctx.need_agent()
    rows, raw = [], []
    for jdk in ctx.jdks:
        configurations = {"none": [], "10 ms": ctx.product("cpu=samples,interval=10"), "1 ms": ctx.product("cpu=samples,interval=1")}
        option, stated = shortest_interval(ctx, jdk)
        if option != "interval=1":
            configurations[option[9:] + " ms"] = ctx.product("cpu=samples," + option)
        say("samples, JDK %s: shortest interval %s, effective %s" % (jdk, option[9:], stated))
        hello = interleave(list(configurations), ctx.times(7, 2), lambda c, j=jdk: ctx.java(j, ["Hello"], configurations[c]))
        start = {c: statistics.median(r.cpu for r in hello[c]) for c in configurations}
        for name, arguments in workloads(ctx).items():
            say("samples, JDK %s: %s" % (jdk, name))
            runs = interleave(list(configurations), ctx.times(6), lambda c, j=jdk, a=arguments: ctx.java(j, a, configurations[c]))
            base = runs["none"]
            for c in list(configurations)[1:]:
                limit = 1.01 if c == "10 ms" else None
                q = ratios([r.cpu for r in runs[c]], [r.cpu for r in base], (start[c], start["none"]))
                w = ratios([r.inside for r in runs[c]], [r.inside for r in base])
                note = "n=%d, effective %s" % (len(base), effective(runs[c][-1]))
                rows.append(row("%s, %s: CPU" % (name, c), jdk, q[1], "ratio", limit, (q[0], q[2]), note))
                rows.append(row("%s, %s: wall" % (name, c), jdk, w[1], "ratio", limit, (w[0], w[2])))
            raw += [dict(jdk=jdk, work=name, configuration=c, cpu=r.cpu, wall=r.wall, inside=r.inside, report=r.report)
                    for c in configurations for r in runs[c]]
            noise = ratios([r.cpu for r in base[0::2]], [r.cpu for r in base[1::2]])
            rows.append(row("%s, no agent against itself: CPU" % name, jdk, noise[1], "ratio", None, (noise[0], noise[2]), "noise"))
        raw += [dict(jdk=jdk, work="Hello", configuration=c, cpu=r.cpu, wall=r.wall) for c in configurations for r in hello[c]]
    return rows, raw


def engines(ctx):
    """Ratio of CPU and wall time at 10 ms for each engine, against the run without agent in the same round."""
    ctx.need_agent()
    rows, raw = [], []
    configurations = {"none": []}
    configurations.update({e: ctx.product("cpu=samples,sampler=" + e) for e in ("async", "walk", "poll")})
    for jdk in ctx.jdks:
        hello = interleave(list(configurations), ctx.times(5, 2), lambda c, j=jdk: ctx.java(j, ["Hello"], configurations[c]))
        start = {c: statistics.median(r.cpu for r in hello[c]) for c in configurations}
        for name, arguments in workloads(ctx).items():
            say("engines, JDK %s: %s" % (jdk, name))
            runs = interleave(list(configurations), ctx.times(4), lambda c, j=jdk, a=arguments: ctx.java(j, a, configurations[c]))
            for c in list(configurations)[1:]:
                q = ratios([r.cpu for r in runs[c]], [r.cpu for r in runs["none"]], (start[c], start["none"]))
                w = ratios([r.inside for r in runs[c]], [r.inside for r in runs["none"]])
                rows.append(row("%s, %s: CPU" % (name, c), jdk, q[1], "ratio", None, (q[0], q[2]), "n=%d" % len(runs[c])))
                rows.append(row("%s, %s: wall" % (name, c), jdk, w[1], "ratio", None, (w[0], w[2])))
            raw += [dict(jdk=jdk, work=name, configuration=c, cpu=r.cpu, wall=r.wall, inside=r.inside, report=r.report)
                    for c in configurations for r in runs[c]]
    return rows, raw


def pauses(ctx):
    """How a busy thread is stopped beside 1000 others of half a core together: with none, and with each engine."""
    ctx.need_agent()
    rows, raw = [], []
    threads, seconds = ctx.size(1000, 50), ctx.size(10, 1)
    configurations = {"none": []}
    configurations.update({e: ctx.product("cpu=samples,sampler=" + e) for e in ("async", "walk", "poll")})
    for jdk in ctx.jdks:
        say("pauses, JDK %s" % jdk)
        runs = interleave(list(configurations), ctx.times(3), lambda c, j=jdk: ctx.java(j, ["Pauses", str(threads), str(seconds)], configurations[c]))
        for c in configurations:
            for key, what, unit, by in (("stops", "stops over 10 us", "/s", seconds), ("p50_ns", "median stop", "us", 1e3), ("p99_ns", "99 % of stops within", "us", 1e3),
                                        ("longest_ns", "longest stop", "us", 1e3), ("stopped_ns", "stopped a second", "ms", 1e6 * seconds)):
                q = quartiles([r.figures[key] / by for r in runs[c]])
                rows.append(row("%s: %s" % (c, what), jdk, q[1], unit, None, (q[0], q[2]), "n=%d" % len(runs[c])))
        raw += [dict(jdk=jdk, configuration=c, figures=r.figures, report=r.report) for c in configurations for r in runs[c]]
    return rows, raw


def read_lines(path):
    """{key: number} of a file of "key value" lines."""
    with open(path, encoding="ascii") as f:
        return {k: int(v) for k, v in (line.split() for line in f)}


def reported_handler_us(done):
    """Mean time in the handler by the product's own report (wall time: on a busy machine a preemption counts too); None if not stated."""
    match = re.match(r"([0-9.]+) us", done.report.get("handler", ""))
    return float(match.group(1)) if match else None


def handler(ctx):
    """Length of an interruption by cpu=samples beyond that by an empty handler on the same kind of timer, at two depths.

    The interval is the scheduler's tick: then every tick brings a signal, in all configurations by the same POSIX timer."""
    ctx.need_agent()
    rows, raw = [], []
    tick = tick_ms()
    inner = os.path.join(ctx.work, "handler.txt")
    bench = "-agentpath:%s=%%s,%d,%s" % (ctx.agents["handler_bench"], int(tick * 1000), inner)
    configurations = {"no signal": [], "empty": [bench % "empty"], "agct": [bench % "agct"],
                      "product": ctx.product("cpu=samples,depth=1024,interval=%g" % tick)}

    def once(jdk, depth, name):
        done = ctx.java(jdk, ["Gaps", str(depth), str(ctx.size(4, 1))], configurations[name])
        if name in ("empty", "agct"):
            done.figures.update(read_lines(inner))
        if "gap_p50_ns" not in done.figures:
            raise DidNotRun("no interruption seen in: Gaps %d with %s" % (depth, name))
        return done

    for jdk in ctx.jdks:
        for depth, limit in ((30, 3.0), (500, 16.0)):
            say("handler, JDK %s, depth %d" % (jdk, depth))
            runs = interleave(list(configurations), ctx.times(5), lambda c, j=jdk, d=depth: once(j, d, c))
            gap = {c: [r.figures["gap_p50_ns"] / 1e3 for r in runs[c]] for c in configurations}
            for c in ("no signal", "empty"):
                q = quartiles(gap[c])
                rows.append(row("depth %d: interruption, %s" % (depth, c), jdk, q[1], "us", None, (q[0], q[2])))
            for c in ("agct", "product"):
                q = differences(gap[c], gap["empty"])
                rows.append(row("depth %d: %s beyond the empty handler" % (depth, c), jdk, q[1], "us", limit if c == "product" else None,
                                (q[0], q[2]), "n=%d" % len(gap[c])))
            q = quartiles([r.figures.get("inside_p50_ns", 0) / 1e3 for r in runs["agct"]])
            rows.append(row("depth %d: agct, time inside" % depth, jdk, q[1], "us", None, (q[0], q[2])))
            own = [v for v in map(reported_handler_us, runs["product"]) if v is not None]
            if own:
                q = quartiles(own)
                rows.append(row("depth %d: product, mean inside by its report" % depth, jdk, q[1], "us", None, (q[0], q[2])))
            raw += [dict(jdk=jdk, depth=depth, configuration=c, figures=r.figures, report=r.report)
                    for c in configurations for r in runs[c]]
    return rows, raw


def compiled_method_load(ctx):
    """javac: with the capability alone, with an empty callback, with debug information asked for by a flag, with the product."""
    rows, raw = [], []
    null = "-agentpath:%s=" % ctx.agents["null_agent"]
    configurations = {"none": [], "agent that does nothing": [null + "nothing"], "capability": [null + "capability"],
                      "event, empty callback": [null + "event"],
                      "-XX:+DebugNonSafepoints, no agent": ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"]}
    if os.path.exists(ctx.agent):
        configurations["product, cpu=samples"] = ctx.product("cpu=samples")
    arguments = ["Javac"] + sources(ctx, ctx.size(60, 8))
    for jdk in ctx.jdks:
        say("compiled-method-load, JDK %s" % jdk)
        runs = interleave(list(configurations), ctx.times(8), lambda c, j=jdk: ctx.java(j, arguments, configurations[c]))
        base = [r.cpu for r in runs["none"]]
        for c in list(configurations)[1:]:
            q = ratios([r.cpu for r in runs[c]], base)
            rows.append(row("javac, %s: CPU" % c, jdk, q[1], "ratio", None, (q[0], q[2]), "n=%d" % len(base)))
        for c in configurations:
            # Where the machine is noisy the total shows nothing; the thread that posts the events and the compilers do.
            q = quartiles([r.figures["service_ns"] / 1e6 for r in runs[c]])
            rows.append(row("%s: Service Thread" % c, jdk, q[1], "ms", None, (q[0], q[2])))
            q = quartiles([r.figures["compiler_ns"] / 1e6 for r in runs[c]])
            rows.append(row("%s: compilers" % c, jdk, q[1], "ms", None, (q[0], q[2])))
        raw += [dict(jdk=jdk, configuration=c, cpu=r.cpu, wall=r.wall, figures=r.figures) for c in configurations for r in runs[c]]
    return rows, raw
