# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times: nanoseconds added a call beside the least that probes can cost, and whole programs."""
import os
import statistics

from machine import command
from measure import interleave, quartiles, ratios
from report import row
from subjects_sampling import say, workloads


H2 = "/usr/share/java/h2.jar"


def h2(ctx):
    """{name: arguments of java}: the H2 database filled and asked by the program of its test, if Debian's libh2-java is there."""
    if not os.path.exists(H2):
        say("times: no %s (libh2-java)" % H2)
        return {}
    javac = os.path.join(ctx.jdks[min(ctx.jdks, key=int)], "bin", "javac")
    command([javac, "-cp", H2, "-d", ctx.classes, os.path.join(ctx.root, "tests", "jvm", "h2", "Database.java")], ctx.root)
    return {"h2": ["-cp", "%s:%s" % (ctx.classes, H2), "Database", str(ctx.size(4000, 400))]}


def times(ctx):
    """fib, each call with: nothing; two empty natives; two natives that read the TSC; the same by critical downcalls from JDK 22 on; cpu=times, there by
    natives too; times=sampled. The limit is that of the probes' own kind. Then programs with cpu=times and with times=sampled over without."""
    ctx.need_agent()
    rows, raw = [], []
    n, rounds = str(ctx.size(32, 24)), str(ctx.size(12, 4))
    native = ctx.agents["natives"]
    oldest = {"plain": ("plain", []), "empty natives": ("empty", []), "natives with a clock": ("clock", []), "cpu=times": ("plain", ctx.product("cpu=times")),
              "times=sampled": ("plain", ctx.product("cpu=times,times=sampled"))}
    newer = {"empty downcalls": ("downcall-empty", []), "downcalls with a clock": ("downcall-clock", []),
             "cpu=times by natives": ("plain", ctx.product("cpu=times") + ["-Djdk.internal.foreign.CABI=SYS_V"])}

    def once(jdk, name):
        mode, vm = {**oldest, **newer}[name]
        more = ["--enable-native-access=ALL-UNNAMED"] if int(jdk) >= 22 else []
        return ctx.java(jdk, ["Probes", mode, n, rounds, native], more + vm)

    for jdk in ctx.jdks:
        say("times, JDK %s: a call" % jdk)
        modes = {**oldest, **newer} if int(jdk) >= 22 else oldest
        runs = interleave(list(modes), ctx.times(3), lambda c, j=jdk: once(j, c))
        ns = {c: [r.figures["call_hundredths_ns"] / 100 for r in runs[c]] for c in modes}
        added = {c: [a - b for a, b in zip(ns[c], ns["plain"])] for c in list(modes)[1:]}
        limits = {kind: statistics.median(added[kind + " with a clock"]) for kind in ("natives", "downcalls") if kind + " with a clock" in added}
        rows.append(row("fib: a call", jdk, quartiles(ns["plain"])[1], "ns"))
        for c in added:
            q = quartiles(added[c])
            probes = runs[c][0].report.get("probes", "")
            limit = 1.1 * limits["downcalls" if "downcalls" in probes else "natives"] if c.startswith("cpu=times") else None
            limit = 8 if c == "times=sampled" and "downcalls" in probes else limit
            note = "n=%d" % len(added[c]) + (", " + probes.split(":")[0] if probes else "")
            rows.append(row("fib: %s, added a call" % c, jdk, q[1], "ns", limit, (q[0], q[2]), note))
        raw += [dict(jdk=jdk, work="fib", configuration=c, figures=r.figures, report=r.report) for c in modes for r in runs[c]]
        configurations = {"none": [], "cpu=times": ctx.product("cpu=times"), "times=sampled": ctx.product("cpu=times,times=sampled")}
        for name, arguments in {**workloads(ctx), **h2(ctx)}.items():
            say("times, JDK %s: %s" % (jdk, name))
            runs = interleave(list(configurations), ctx.times(2), lambda c, j=jdk, a=arguments: ctx.java(j, a, configurations[c]))
            for c in list(configurations)[1:]:
                q = ratios([r.cpu for r in runs[c]], [r.cpu for r in runs["none"]])
                w = ratios([r.inside for r in runs[c]], [r.inside for r in runs["none"]])
                rows.append(row("%s: %s, CPU, start included" % (name, c), jdk, q[1], "ratio", None, (q[0], q[2]), "n=%d" % len(runs["none"])))
                rows.append(row("%s: %s, wall" % (name, c), jdk, w[1], "ratio", None, (w[0], w[2])))
            raw += [dict(jdk=jdk, work=name, configuration=c, cpu=r.cpu, wall=r.wall, inside=r.inside, report=r.report) for c in configurations for r in runs[c]]
    return rows, raw
