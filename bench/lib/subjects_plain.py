# SPDX-License-Identifier: BSD-2-Clause
"""Micro-benches, start-up, memory, size, names."""
import json
import os
import statistics
import subprocess

from measure import DidNotRun, differences, interleave, quartiles, run
from report import row

KIB = 1024.0


def micro(name, quick=("--quick",)):
    """A subject that runs build/bench/micro/bench_NAME, with the arguments `quick` in a quick run, and keeps its JSON."""
    def subject(ctx):
        program = os.path.join(ctx.root, "build", "bench", "micro", "bench_" + name)
        figures = os.path.join(ctx.work, name + ".json")
        argv = [program, "--json", figures] + (list(quick) if ctx.quick else [])
        if not os.path.exists(program):
            raise DidNotRun("%s is not there" % os.path.relpath(program, ctx.root))
        print(run(argv).output, end="", flush=True)
        try:
            with open(figures, encoding="utf-8") as f:
                return [], json.load(f)
        except (OSError, ValueError) as e:
            raise DidNotRun("bench_%s left no JSON: %s" % (name, e)) from e
    return subject


def start(ctx):
    """What `java -version` takes more with the agent."""
    ctx.need_agent()
    rows, raw = [], []
    configurations = {"none": [], "agent that does nothing": ["-agentpath:%s=nothing" % ctx.agents["null_agent"]],
                      "cpu=samples": ctx.product("cpu=samples")}
    for jdk in ctx.jdks:
        runs = interleave(list(configurations), ctx.times(25, 5), lambda c, j=jdk: ctx.java(j, ["-version"], configurations[c]))
        base = runs["none"]
        rows.append(row("java -version alone: CPU", jdk, statistics.median(r.cpu for r in base) * 1e3, "ms", None,
                        tuple(q * 1e3 for q in quartiles([r.cpu for r in base])[::2])))
        for c in list(configurations)[1:]:
            for kind, limit in (("cpu", 5.0), ("wall", 5.0)):
                q = differences([getattr(r, kind) * 1e3 for r in runs[c]], [getattr(r, kind) * 1e3 for r in base])
                rows.append(row("%s: added %s" % (c, "CPU" if kind == "cpu" else "wall"), jdk, q[1], "ms",
                                limit if c == "cpu=samples" else None, (q[0], q[2]), "n=%d" % len(base)))
        raw += [dict(jdk=jdk, configuration=c, cpu=r.cpu, wall=r.wall) for c in configurations for r in runs[c]]
    return rows, raw


def memory(ctx):
    """Resident memory that the agent adds with 1, 100 and 1000 Java threads that have all been sampled or could have been."""
    ctx.need_agent()
    rows, raw = [], []
    vm = ["-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-XX:TieredStopAtLevel=1"]
    configurations = {"none": [], "depth 4": ctx.product("cpu=samples"), "depth 1024": ctx.product("cpu=samples,depth=1024")}
    for jdk in ctx.jdks:
        for threads, work in ((1, 50), (100, 20), (1000, 2)):
            runs = interleave(list(configurations), ctx.times(4), lambda c, j=jdk, t=threads, w=work:
                              ctx.java(j, ["Threads", str(t), str(w)], vm + configurations[c]))
            for c in list(configurations)[1:]:
                q = differences([r.figures["rss_kb"] / KIB for r in runs[c]], [r.figures["rss_kb"] / KIB for r in runs["none"]])
                rows.append(row("%d threads, %s: resident memory added" % (threads, c), jdk, q[1], "MiB", 16 + threads * 32 / KIB,
                                (q[0], q[2]), "n=%d" % len(runs[c])))
            raw += [dict(jdk=jdk, threads=threads, configuration=c, rss_kb=r.figures["rss_kb"]) for c in configurations for r in runs[c]]
    return rows, raw


def size(ctx):
    """Bytes of the stripped library."""
    ctx.need_agent()
    stripped = os.path.join(ctx.work, "stripped.so")
    try:
        done = subprocess.run(["strip", "-o", stripped, ctx.agent], capture_output=True, text=True, check=False)
    except OSError as e:
        raise DidNotRun(str(e)) from e
    if done.returncode != 0:
        raise DidNotRun("strip: %s" % done.stderr)
    kib = os.path.getsize(stripped) / KIB
    return [row("stripped library", None, kib, "KiB", 300.0)], {"bytes": os.path.getsize(stripped)}


def names(ctx):
    """A program that loads thousands of classes: what their names cost in CPU time and memory."""
    rows, raw = [], []
    classes = ctx.size(20_000, 2000)
    vm = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xms256m"]
    configurations = {"none": [], "GetClassMethods alone": ["-agentpath:%s=methods" % ctx.agents["null_agent"]]}
    if os.path.exists(ctx.agent):
        configurations["product, cpu=samples"] = ctx.product("cpu=samples")
    for jdk in ctx.jdks:
        runs = interleave(list(configurations), ctx.times(4),
                          lambda c, j=jdk: ctx.java(j, ["LoadAll", str(classes)], vm + configurations[c]))
        base = runs["none"]
        loaded = base[0].figures["classes"]
        for c in list(configurations)[1:]:
            is_product = c.startswith("product")
            note = "%d classes, %d methods, n=%d" % (loaded, base[0].figures["methods"], len(base))
            q = differences([r.cpu * 1e6 / loaded for r in runs[c]], [r.cpu * 1e6 / loaded for r in base])
            rows.append(row("%s: CPU added a class" % c, jdk, q[1], "us", None, (q[0], q[2]), note))
            q = differences([r.figures["rss_kb"] / KIB for r in runs[c]], [r.figures["rss_kb"] / KIB for r in base])
            rows.append(row("%s: resident memory added" % c, jdk, q[1], "MiB", 16 + 32 / KIB if is_product else None, (q[0], q[2])))
        raw += [dict(jdk=jdk, configuration=c, cpu=r.cpu, figures=r.figures) for c in configurations for r in runs[c]]
    return rows, raw


def churn(ctx):
    """Classes that are loaded and dropped, threads that start and end, for minutes: how fast resident memory grows behind the first third."""
    ctx.need_agent()
    rows, raw = [], []
    seconds = ctx.size(180, 9)
    vm = ["-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:MaxMetaspaceSize=48m", "-XX:TieredStopAtLevel=1"]
    configurations = {"none": [], "GetClassMethods alone": ["-agentpath:%s=methods" % ctx.agents["null_agent"]],
                      "product": ctx.product("cpu=samples")}
    for jdk in ctx.jdks:
        for kind, rate in (("classes", 2000), ("threads", 2000)):
            for c, arguments in configurations.items():
                for _ in range(ctx.times(1)):
                    r = ctx.java(jdk, ["Churn", kind, str(seconds), str(rate)], vm + arguments)
                    raw.append(dict(jdk=jdk, kind=kind, configuration=c, figures=r.figures, report=r.report, output=r.output))
                f = r.figures
                rows.append(row("%s, %s: memory added a minute" % (kind, c), jdk, f["slope_kb_a_minute"] / KIB, "MiB", None, None,
                                "%d %s in %d s" % (f["done"], kind, seconds)))
                rows.append(row("%s, %s: descriptors added" % (kind, c), jdk, f["descriptors_added"], "", 0, None,
                                "tables: %s" % r.report["tables"] if r.report else ""))
    return rows, raw
