# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times beside what is not a call: more threads, the start, the rewriter, and the JDK's own method timing."""
import os
import struct

from measure import DidNotRun, differences, quartiles
from report import row
from subjects_sampling import say


def threads(ctx, rows, raw):
    """fib on 1 and on 4 threads: CPU time that cpu=times adds to a call on its own thread, and what the profiler's threads use for it."""
    ctx.need_agent()
    n = str(ctx.size(33, 26))
    configurations = {"none": [], "cpu=times": ctx.product("cpu=times")}
    for jdk in ctx.box.shares(ctx.jdks):
        added = {}
        for count in ctx.box.shares((1, 4)):
            say("times-threads, JDK %s: %d" % (jdk, count))
            runs = ctx.compare(configurations, 6, lambda c, j=jdk, k=count: ctx.java(j, ["Fibs", str(k), n], configurations[c]))
            q = differences([r.figures["cpu_hundredths_ns"] / 100 for r in runs["cpu=times"]], [r.figures["cpu_hundredths_ns"] / 100 for r in runs["none"]])
            added[count] = q.median
            limit = 1.3 * added[1] if count == 4 else None
            rows.append(row("%d threads: CPU added a call, on its thread" % count, jdk, q, "ns", limit))
            own = quartiles([float(r.report["own CPU time"].split()[0]) * 1e6 / r.figures["calls"] for r in runs["cpu=times"]])
            rows.append(row("%d threads: CPU of the profiler's threads, a call" % count, jdk, own, "ns"))
            wall = quartiles([r.figures["wall_hundredths_ns"] / 100 for r in runs["cpu=times"]])
            rows.append(row("%d threads: wall time, a call of all" % count, jdk, wall, "ns"))
            raw += [dict(jdk=jdk, threads=count, configuration=c, figures=r.figures, report=r.report) for c in configurations for r in runs[c]]


def start(ctx, rows, raw):
    """What the start takes more with cpu=times: everything in java.base instrumented, and only a package that is not there. Empty loads no class of
    java.base beyond those of the JVM's own start, Hello some 600; the null agent retransforms the former without changing them."""
    ctx.need_agent()
    configurations = {"none": [], "null agent": ["-agentpath:%s=retransform" % ctx.agents["null_agent"]], "cpu=times": ctx.product("cpu=times"),
                      "cpu=times, include=": ctx.product("cpu=times,include=no.such.package")}
    for jdk in ctx.box.shares(ctx.jdks):
        for program in ctx.box.shares(("Empty", "Hello")):
            runs = ctx.compare(configurations, 20, lambda c, j=jdk, p=program: ctx.java(j, [p], configurations[c]), 2)
            for c in list(configurations)[1:]:
                for kind in ("cpu", "wall"):
                    q = differences([getattr(r, kind) * 1e3 for r in runs[c]], [getattr(r, kind) * 1e3 for r in runs["none"]])
                    limit = 150.0 if c == "cpu=times" and kind == "wall" else None
                    rows.append(row("%s, %s: added %s" % (program, c, "CPU" if kind == "cpu" else "wall"), jdk, q, "ms", limit))
            raw += [dict(jdk=jdk, program=program, configuration=c, cpu=r.cpu, wall=r.wall, report=r.report) for c in configurations for r in runs[c]]


def method_timing(ctx, rows, raw):
    """fib counted by jdk.MethodTiming (JDK 25 on) and by cpu=times with the same class alone."""
    ctx.need_agent()
    n, rounds = str(ctx.size(30, 22)), str(ctx.size(8, 3))
    for jdk in ctx.box.shares(j for j in ctx.jdks if int(j) >= 25):
        recording = "-XX:StartFlightRecording:method-timing=Probes::fib,filename=%s" % os.path.join(ctx.work, "timing.jfr")
        configurations = {"none": [], "jdk.MethodTiming": [recording, "-Xlog:jfr*=off"], "cpu=times,include=Probes": ctx.product("cpu=times,include=Probes")}
        runs = ctx.compare(configurations, 6, lambda c, j=jdk: ctx.java(j, ["Probes", "plain", n, rounds], configurations[c]))
        ns = {c: [r.figures["call_hundredths_ns"] / 100 for r in runs[c]] for c in configurations}
        for c in list(configurations)[1:]:
            rows.append(row("fib: %s, added a call" % c, jdk, differences(ns[c], ns["none"]), "ns"))
        raw += [dict(jdk=jdk, configuration=c, figures=r.figures, report=r.report) for c in configurations for r in runs[c]]
    if not rows:
        raise DidNotRun("jdk.MethodTiming is in JDK 25 and later")


def requests(ctx, home):
    """The classes of java.base as requests of hprofx-bci --batch; returns (file, classes, bytes)."""
    folder, to = os.path.join(ctx.work, "image"), os.path.join(ctx.work, "requests")
    ctx.run([os.path.join(home, "bin", "jimage"), "extract", "--dir", folder, "--include", "regex:/java.base/.*", os.path.join(home, "lib", "modules")])
    classes = total = 0
    with open(to, "wb") as out:
        for where, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith(".class"):
                    with open(os.path.join(where, name), "rb") as f:
                        data = f.read()
                    out.write(struct.pack(">IIB", len(data), classes, 1) + data)
                    classes, total = classes + 1, total + len(data)
        out.write(struct.pack(">I", 0))
    ctx.run(["rm", "-rf", folder])
    return to, classes, total


def rewriting(ctx, rows, raw):
    """The rewriter over java.base: CPU time of hprofx-bci --batch, its reading and writing included."""
    program = os.path.join(ctx.root, "build", "hprofx-bci")
    if not os.path.exists(program):
        raise DidNotRun("build/hprofx-bci is not there")
    batch = 'exec "$0" --batch <"$1" >/dev/null'

    for jdk in ctx.box.shares(ctx.jdks):
        say("rewriting, JDK %s" % jdk)
        file, classes, total = requests(ctx, ctx.jdks[jdk])
        cpu = [r.cpu for r in ctx.compare(["batch"], 7, lambda _, f=file: ctx.run(["sh", "-c", batch, program, f]))["batch"]]
        rows.append(row("class bytes", jdk, quartiles([total / 1e6 / c for c in cpu]), "MB/s", None, "%d classes, %.0f MB" % (classes, total / 1e6)))
        rows.append(row("classes", jdk, quartiles([classes / 1e3 / c for c in cpu]), "thousand/s"))
        raw += [dict(jdk=jdk, classes=classes, bytes=total, cpu=c) for c in cpu]
        os.unlink(file)
