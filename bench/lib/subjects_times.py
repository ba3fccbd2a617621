# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times beside what is not a call: more threads, the start, the rewriter, and the JDK's own method timing."""
import os
import struct
import subprocess
import time

from measure import DidNotRun, differences, interleave, quartiles, run
from report import row
from subjects_sampling import say


def threads(ctx):
    """fib on 1 and on 4 threads: CPU time that cpu=times adds to a call on its own thread, and what the profiler's threads use for it."""
    ctx.need_agent()
    rows, raw = [], []
    n = str(ctx.size(34, 26))
    configurations = {"none": [], "cpu=times": ctx.product("cpu=times")}
    for jdk in ctx.jdks:
        added = {}
        for count in (1, 4):
            say("times-threads, JDK %s: %d" % (jdk, count))
            runs = interleave(list(configurations), ctx.times(3), lambda c, j=jdk, k=count: ctx.java(j, ["Fibs", str(k), n], configurations[c]))
            q = differences([r.figures["cpu_hundredths_ns"] / 100 for r in runs["cpu=times"]], [r.figures["cpu_hundredths_ns"] / 100 for r in runs["none"]])
            added[count] = q[1]
            limit = 1.3 * added[1] if count == 4 else None
            rows.append(row("%d threads: CPU added a call, on its thread" % count, jdk, q[1], "ns", limit, (q[0], q[2]), "n=%d" % len(runs["none"])))
            own = quartiles([float(r.report["own CPU time"].split()[0]) * 1e6 / r.figures["calls"] for r in runs["cpu=times"]])
            rows.append(row("%d threads: CPU of the profiler's threads, a call" % count, jdk, own[1], "ns", None, (own[0], own[2])))
            wall = quartiles([r.figures["wall_hundredths_ns"] / 100 for r in runs["cpu=times"]])
            rows.append(row("%d threads: wall time, a call of all" % count, jdk, wall[1], "ns", None, (wall[0], wall[2])))
            raw += [dict(jdk=jdk, threads=count, configuration=c, figures=r.figures, report=r.report) for c in configurations for r in runs[c]]
    return rows, raw


def start(ctx):
    """What an empty main takes more with cpu=times: everything in java.base instrumented, and only a package that is not there."""
    ctx.need_agent()
    rows, raw = [], []
    configurations = {"none": [], "cpu=times": ctx.product("cpu=times"), "cpu=times, include=": ctx.product("cpu=times,include=no.such.package")}
    for jdk in ctx.jdks:
        runs = interleave(list(configurations), ctx.times(10, 2), lambda c, j=jdk: ctx.java(j, ["Hello"], configurations[c]))
        for c in list(configurations)[1:]:
            for kind in ("cpu", "wall"):
                q = differences([getattr(r, kind) * 1e3 for r in runs[c]], [getattr(r, kind) * 1e3 for r in runs["none"]])
                limit = 150.0 if c == "cpu=times" and kind == "wall" else None
                rows.append(row("%s: added %s" % (c, "CPU" if kind == "cpu" else "wall"), jdk, q[1], "ms", limit, (q[0], q[2]), "n=%d" % len(runs["none"])))
        raw += [dict(jdk=jdk, configuration=c, cpu=r.cpu, wall=r.wall, report=r.report) for c in configurations for r in runs[c]]
    return rows, raw


def method_timing(ctx):
    """fib counted by jdk.MethodTiming (JDK 25 on) and by cpu=times with the same class alone."""
    ctx.need_agent()
    rows, raw = [], []
    n, rounds = str(ctx.size(30, 22)), str(ctx.size(8, 3))
    for jdk in [j for j in ctx.jdks if int(j) >= 25]:
        recording = "-XX:StartFlightRecording:method-timing=Probes::fib,filename=%s" % os.path.join(ctx.work, "timing.jfr")
        configurations = {"none": [], "jdk.MethodTiming": [recording, "-Xlog:jfr*=off"], "cpu=times,include=Probes": ctx.product("cpu=times,include=Probes")}
        runs = interleave(list(configurations), ctx.times(3), lambda c, j=jdk: ctx.java(j, ["Probes", "plain", n, rounds], configurations[c]))
        ns = {c: [r.figures["call_hundredths_ns"] / 100 for r in runs[c]] for c in configurations}
        for c in list(configurations)[1:]:
            q = differences(ns[c], ns["none"])
            rows.append(row("fib: %s, added a call" % c, jdk, q[1], "ns", None, (q[0], q[2]), "n=%d" % len(ns[c])))
        raw += [dict(jdk=jdk, configuration=c, figures=r.figures, report=r.report) for c in configurations for r in runs[c]]
    if not rows:
        raise DidNotRun("jdk.MethodTiming is in JDK 25 and later")
    return rows, raw


def requests(ctx, home):
    """The classes of the image as requests of hprofx-bci --batch; returns (file, classes, bytes)."""
    folder, to = os.path.join(ctx.work, "image"), os.path.join(ctx.work, "requests")
    run([os.path.join(home, "bin", "jimage"), "extract", "--dir", folder] +
        (["--include", "regex:/java.base/.*"] if ctx.quick else []) + [os.path.join(home, "lib", "modules")])
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
    run(["rm", "-rf", folder])
    return to, classes, total


def rewriting(ctx):
    """The rewriter over every class of the JDK: CPU time of hprofx-bci --batch, its reading and writing included."""
    rows, raw = [], []
    program = os.path.join(ctx.root, "build", "hprofx-bci")
    if not os.path.exists(program):
        raise DidNotRun("build/hprofx-bci is not there")
    for jdk, home in ctx.jdks.items():
        say("rewriting, JDK %s" % jdk)
        file, classes, total = requests(ctx, home)
        cpu = []
        for _ in range(ctx.times(7, 1)):
            with open(file, "rb") as source:
                begin = time.monotonic()
                child = subprocess.Popen([program, "--batch"], stdin=source, stdout=subprocess.DEVNULL)
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode != 0:
                raise DidNotRun("hprofx-bci --batch: status %d" % child.returncode)
            cpu.append(usage.ru_utime + usage.ru_stime)
            raw.append(dict(jdk=jdk, classes=classes, bytes=total, cpu=cpu[-1], wall=time.monotonic() - begin))
        q = quartiles([total / 1e6 / c for c in cpu])
        k = quartiles([classes / 1e3 / c for c in cpu])
        rows.append(row("class bytes", jdk, q[1], "MB/s", None, (q[0], q[2]), "%d classes, %.0f MB, n=%d" % (classes, total / 1e6, len(cpu))))
        rows.append(row("classes", jdk, k[1], "thousand/s", None, (k[0], k[2])))
        os.unlink(file)
    return rows, raw
