# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times: nanoseconds added a call beside the least that probes can cost, and whole programs."""
import statistics

from measure import interleave, quartiles, ratios
from report import row
from subjects_sampling import say, workloads


def times(ctx):
    """fib, each call with: nothing; two empty natives; two natives that read the TSC (the limit); cpu=times; times=sampled. Then programs with both over without."""
    ctx.need_agent()
    rows, raw = [], []
    n, rounds = str(ctx.size(32, 24)), str(ctx.size(12, 4))
    native = ctx.agents["natives"]
    modes = {"plain": ("plain", []), "empty natives": ("empty", []), "natives with a clock": ("clock", []), "cpu=times": ("plain", ctx.product("cpu=times")),
             "times=sampled": ("plain", ctx.product("cpu=times,times=sampled"))}

    def once(jdk, name):
        mode, vm = modes[name]
        more = ["--enable-native-access=ALL-UNNAMED"] if int(jdk) >= 22 else []
        return ctx.java(jdk, ["Probes", mode, n, rounds, native], more + vm)

    for jdk in ctx.jdks:
        say("times, JDK %s: a call" % jdk)
        runs = interleave(list(modes), ctx.times(3), lambda c, j=jdk: once(j, c))
        ns = {c: [r.figures["call_hundredths_ns"] / 100 for r in runs[c]] for c in modes}
        added = {c: [a - b for a, b in zip(ns[c], ns["plain"])] for c in list(modes)[1:]}
        goals = {"cpu=times": 1.1 * statistics.median(added["natives with a clock"]), "times=sampled": 8 if int(jdk) >= 22 else None}
        rows.append(row("fib: a call", jdk, quartiles(ns["plain"])[1], "ns"))
        for c in added:
            q = quartiles(added[c])
            rows.append(row("fib: %s, added a call" % c, jdk, q[1], "ns", goals.get(c), (q[0], q[2]), "n=%d" % len(added[c])))
        raw += [dict(jdk=jdk, work="fib", configuration=c, figures=r.figures, report=r.report) for c in modes for r in runs[c]]
        configurations = {"none": [], "cpu=times": ctx.product("cpu=times"), "times=sampled": ctx.product("cpu=times,times=sampled")}
        for name, arguments in workloads(ctx).items():
            say("times, JDK %s: %s" % (jdk, name))
            runs = interleave(list(configurations), ctx.times(2), lambda c, j=jdk, a=arguments: ctx.java(j, a, configurations[c]))
            for c in list(configurations)[1:]:
                q = ratios([r.cpu for r in runs[c]], [r.cpu for r in runs["none"]])
                w = ratios([r.inside for r in runs[c]], [r.inside for r in runs["none"]])
                rows.append(row("%s: %s, CPU, start included" % (name, c), jdk, q[1], "ratio", None, (q[0], q[2]), "n=%d" % len(runs["none"])))
                rows.append(row("%s: %s, wall" % (name, c), jdk, w[1], "ratio", None, (w[0], w[2])))
            raw += [dict(jdk=jdk, work=name, configuration=c, cpu=r.cpu, wall=r.wall, inside=r.inside, report=r.report) for c in configurations for r in runs[c]]
    return rows, raw
