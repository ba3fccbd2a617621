# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times: nanoseconds added a call beside the least that probes can cost, and whole programs."""
import os
import statistics

from measure import quartiles, ratios
from report import row
from subjects_sampling import javac, say

H2 = "/usr/share/java/h2.jar"


def programs(ctx):
    """{name: arguments of java}: the H2 database filled and asked by bench/h2, if Debian's libh2-java is installed; javac.

    javac takes longest and is the last, to get what the others leave of their shares."""
    last = {"javac": javac(ctx, 2)}
    if not os.path.exists(H2):
        say("times: no %s (libh2-java)" % H2)
        return last
    compiler = os.path.join(ctx.jdks[ctx.oldest[0]], "bin", "javac")
    ctx.run([compiler, "-cp", H2, "-d", ctx.classes, os.path.join(ctx.root, "bench", "h2", "Database.java")])
    return {"h2": ["-cp", "%s:%s" % (ctx.classes, H2), "Database", str(ctx.size(400, 100))], **last}


def times(ctx, rows, raw):
    """A call of fib, and programs, with cpu=times, with times=sampled and with times=counts."""
    ctx.need_agent()
    work = programs(ctx)
    for name in ctx.box.shares(["fib"] + list(work)):  # the goals first
        for jdk in ctx.box.shares(ctx.jdks):
            say("times, JDK %s: %s" % (jdk, name))
            if name == "fib":
                a_call(ctx, jdk, rows, raw)
            else:
                whole_program(ctx, jdk, name, work[name], rows, raw)


def a_call(ctx, jdk, rows, raw):
    """fib, each call with: nothing; two natives that read the TSC; the same by critical downcalls from JDK 22 on; cpu=times; times=sampled;
    times=counts.

    The limit is that of the probes' own kind."""
    n, rounds, native = str(ctx.size(30, 24)), str(ctx.size(8, 4)), ctx.agents["natives"]
    modes = {"plain": ("plain", []), "natives with a clock": ("clock", []), "cpu=times": ("plain", ctx.product("cpu=times")),
             "times=sampled": ("plain", ctx.product("cpu=times,times=sampled")),
             "times=counts": ("plain", ctx.product("cpu=times,times=counts"))}
    more = []
    if int(jdk) >= 22:
        modes["downcalls with a clock"] = ("downcall-clock", [])
        more = ["--enable-native-access=ALL-UNNAMED"]
    runs = ctx.compare(modes, 4, lambda c: ctx.java(jdk, ["Probes", modes[c][0], n, rounds, native], more + modes[c][1]))
    ns = {c: [r.figures["call_hundredths_ns"] / 100 for r in runs[c]] for c in modes}
    added = {c: [a - b for a, b in zip(ns[c], ns["plain"])] for c in list(modes)[1:]}
    rows.append(row("fib: a call", jdk, quartiles(ns["plain"]), "ns"))
    for c in added:
        probes = runs[c][0].report.get("probes", "")
        kind = "downcalls" if "downcalls" in probes else "natives"
        limit = {"cpu=times": 1.1 * statistics.median(added[kind + " with a clock"]), "times=sampled": 8 if kind == "downcalls" else None, "times=counts": 1}.get(c)
        rows.append(row("fib: %s, added a call" % c, jdk, quartiles(added[c]), "ns", limit, probes.split(":")[0]))
    raw += [dict(jdk=jdk, work="fib", configuration=c, figures=r.figures, report=r.report) for c in modes for r in runs[c]]


def whole_program(ctx, jdk, name, arguments, rows, raw):
    """CPU and wall time over those without agent."""
    configurations = {"none": [], "cpu=times": ctx.product("cpu=times"), "times=sampled": ctx.product("cpu=times,times=sampled"),
                      "times=counts": ctx.product("cpu=times,times=counts")}
    runs = ctx.compare(configurations, 4, lambda c: ctx.java(jdk, arguments, configurations[c]))
    for c in list(configurations)[1:]:
        rows.append(row("%s: %s, CPU, start included" % (name, c), jdk, ratios([r.cpu for r in runs[c]], [r.cpu for r in runs["none"]]), "ratio",
                        1.5 if c == "times=counts" and name == "javac" else None))
        rows.append(row("%s: %s, wall" % (name, c), jdk, ratios([r.inside for r in runs[c]], [r.inside for r in runs["none"]]), "ratio"))
    raw += [dict(jdk=jdk, work=name, configuration=c, cpu=r.cpu, wall=r.wall, inside=r.inside, report=r.report) for c in configurations for r in runs[c]]
