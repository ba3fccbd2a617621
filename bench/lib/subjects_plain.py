# SPDX-License-Identifier: BSD-2-Clause
"""Micro-benches, start-up, memory, size, names."""
import json
import os

from measure import DidNotRun, Figure, differences, quartiles
from report import row

KIB = 1024.0


def micro(name):
    """A subject that runs build/bench/micro/bench_NAME, which prints its own table, and keeps its JSON and its goals."""
    def subject(ctx, rows, raw):
        program = os.path.join(ctx.root, "build", "bench", "micro", "bench_" + name)
        figures = os.path.join(ctx.work, name + ".json")
        if not os.path.exists(program):
            raise DidNotRun("%s is not there" % os.path.relpath(program, ctx.root))
        argv = [program, "--json", figures, "--seconds", "%.1f" % ctx.box.left_for_rounds()] + (["--quick"] if ctx.quick else [])
        print("\n" + ctx.run(argv).output, end="", flush=True)
        try:
            with open(figures, encoding="utf-8") as f:
                raw.append(json.load(f))
        except (OSError, ValueError) as e:
            raise DidNotRun("bench_%s left no JSON: %s" % (name, e)) from e
        for goal in raw[0]["goals"]:
            if not goal.get("later"):
                at_least = "at_least" in goal
                figure = Figure(None, goal["value"], None, raw[0]["rounds"])
                rows.append(row(goal["what"], None, figure, "", goal["at_least" if at_least else "at_most"], at_least=at_least))
    return subject


def start(ctx, rows, raw):
    """What `java -version` takes more with the agent."""
    ctx.need_agent()
    configurations = {"none": [], "agent that does nothing": ["-agentpath:%s=nothing" % ctx.agents["null_agent"]],
                      "cpu=samples": ctx.product("cpu=samples")}
    for jdk in ctx.box.shares(ctx.jdks):
        runs = ctx.compare(configurations, 50, lambda c, j=jdk: ctx.java(j, ["-version"], configurations[c]), 5)
        base = runs["none"]
        rows.append(row("java -version alone: CPU", jdk, quartiles([r.cpu * 1e3 for r in base]), "ms"))
        for c in list(configurations)[1:]:
            for kind in ("cpu", "wall"):
                q = differences([getattr(r, kind) * 1e3 for r in runs[c]], [getattr(r, kind) * 1e3 for r in base])
                rows.append(row("%s: added %s" % (c, "CPU" if kind == "cpu" else "wall"), jdk, q, "ms", 5.0 if c == "cpu=samples" else None))
        raw += [dict(jdk=jdk, configuration=c, cpu=r.cpu, wall=r.wall) for c in configurations for r in runs[c]]


def memory(ctx, rows, raw):
    """Resident memory that the agent adds with 1, 100 and 1000 Java threads that have all been sampled or could have been."""
    ctx.need_agent()
    vm = ["-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-XX:TieredStopAtLevel=1"]
    configurations = {"none": [], "hprofx": ctx.product("cpu=samples,depth=1024")}
    for jdk in ctx.box.shares(ctx.jdks):
        for threads, work in ctx.box.shares(((1, 50), (100, 10), (1000, 2))):
            runs = ctx.compare(configurations, 5, lambda c, j=jdk, t=threads, w=work:
                               ctx.java(j, ["Threads", str(t), str(w)], vm + configurations[c]))
            q = differences([r.figures["rss_kb"] / KIB for r in runs["hprofx"]], [r.figures["rss_kb"] / KIB for r in runs["none"]])
            rows.append(row("%d threads: resident memory added" % threads, jdk, q, "MiB", 16 + threads * 32 / KIB))
            raw += [dict(jdk=jdk, threads=threads, configuration=c, rss_kb=r.figures["rss_kb"]) for c in configurations for r in runs[c]]


def size(ctx, rows, raw):
    """Bytes of the stripped library."""
    ctx.need_agent()
    stripped = os.path.join(ctx.work, "stripped.so")
    ctx.run(["strip", "-o", stripped, ctx.agent])
    raw.append({"bytes": os.path.getsize(stripped)})
    rows.append(row("stripped library", None, raw[0]["bytes"] / KIB, "KiB", 300.0))


def names(ctx, rows, raw):
    """A program that loads thousands of classes: what their names cost in CPU time and memory."""
    classes = ctx.size(10_000, 2000)
    vm = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xms256m"]
    configurations = {"none": [], "GetClassMethods alone": ["-agentpath:%s=methods" % ctx.agents["null_agent"]]}
    if os.path.exists(ctx.agent):
        configurations["product, cpu=samples"] = ctx.product("cpu=samples")
    for jdk in ctx.box.shares(ctx.jdks):
        runs = ctx.compare(configurations, 4, lambda c, j=jdk: ctx.java(j, ["LoadAll", str(classes)], vm + configurations[c]))
        base = runs["none"]
        loaded = base[0].figures["classes"]
        for c in list(configurations)[1:]:
            q = differences([r.cpu * 1e6 / loaded for r in runs[c]], [r.cpu * 1e6 / loaded for r in base])
            rows.append(row("%s: CPU added a class" % c, jdk, q, "us", note="%d classes, %d methods" % (loaded, base[0].figures["methods"])))
            q = differences([r.figures["rss_kb"] / KIB for r in runs[c]], [r.figures["rss_kb"] / KIB for r in base])
            rows.append(row("%s: resident memory added" % c, jdk, q, "MiB", 16 + 32 / KIB if c.startswith("product") else None))
        raw += [dict(jdk=jdk, configuration=c, cpu=r.cpu, figures=r.figures) for c in configurations for r in runs[c]]


def churn(ctx, rows, raw):
    """Classes that are loaded and dropped, threads that start and end, for minutes: how fast resident memory grows behind the first third."""
    ctx.need_agent()
    vm = ["-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:MaxMetaspaceSize=48m", "-XX:TieredStopAtLevel=1"]
    configurations = {"none": [], "GetClassMethods alone": ["-agentpath:%s=methods" % ctx.agents["null_agent"]],
                      "product": ctx.product("cpu=samples")}
    seconds = str(int(ctx.size(ctx.box.left_for_rounds() / (2 * len(configurations) * len(ctx.jdks)), 9)))
    for jdk in ctx.jdks:
        for kind, rate in (("classes", 2000), ("threads", 2000)):
            for c, arguments in configurations.items():
                r = ctx.java(jdk, ["Churn", kind, seconds, str(rate)], vm + arguments)
                raw.append(dict(jdk=jdk, kind=kind, configuration=c, figures=r.figures, report=r.report, output=r.output))
                f = r.figures
                rows.append(row("%s, %s: memory added a minute" % (kind, c), jdk, f["slope_kb_a_minute"] / KIB, "MiB",
                                note="%d %s in %s s" % (f["done"], kind, seconds)))
                rows.append(row("%s, %s: descriptors added" % (kind, c), jdk, f["descriptors_added"], "", 0,
                                "tables: %s" % r.report["tables"] if r.report else ""))
