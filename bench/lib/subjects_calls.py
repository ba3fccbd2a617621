# SPDX-License-Identifier: BSD-2-Clause
"""cpu=times: nanoseconds added a call beside the least that probes can cost, and whole programs."""
import statistics

from measure import interleave, quartiles, ratios
from report import row
from subjects_sampling import say, workloads


def times(ctx):
    """fib, each call with: nothing; two empty natives; two natives that read the TSC (the limit); cpu=times. Then programs with cpu=times over without."""
    ctx.need_agent()
    rows, raw = [], []
    n, rounds = str(ctx.size(32, 24)), str(ctx.size(12, 4))
    native = ctx.agents["natives"]
    modes = {"plain": ("plain", []), "empty natives": ("empty", []), "natives with a clock": ("clock", []), "cpu=times": ("plain", ctx.product("cpu=times"))}

    def once(jdk, name):
        mode, vm = modes[name]
        more = ["--enable-native-access=ALL-UNNAMED"] if int(jdk) >= 22 else []
        return ctx.java(jdk, ["Probes", mode, n, rounds, native], more + vm)

    for jdk in ctx.jdks:
        say("times, JDK %s: a call" % jdk)
        runs = interleave(list(modes), ctx.times(3), lambda c, j=jdk: once(j, c))
        ns = {c: [r.figures["call_hundredths_ns"] / 100 for r in runs[c]] for c in modes}
        added = {c: [a - b for a, b in zip(ns[c], ns["plain"])] for c in list(modes)[1:]}
        limit = statistics.median(added["natives with a clock"])
        rows.append(row("fib: a call", jdk, quartiles(ns["plain"])[1], "ns"))
        for c in added:
            q = quartiles(added[c])
            rows.append(row("fib: %s, added a call" % c, jdk, q[1], "ns", 1.1 * limit if c == "cpu=times" else None, (q[0], q[2]), "n=%d" % len(added[c])))
        raw += [dict(jdk=jdk, work="fib", configuration=c, figures=r.figures, report=r.report) for c in modes for r in runs[c]]
        configurations = {"none": [], "times": ctx.product("cpu=times")}
        for name, arguments in workloads(ctx).items():
            say("times, JDK %s: %s" % (jdk, name))
            runs = interleave(list(configurations), ctx.times(2), lambda c, j=jdk, a=arguments: ctx.java(j, a, configurations[c]))
            q = ratios([r.cpu for r in runs["times"]], [r.cpu for r in runs["none"]])
            w = ratios([r.inside for r in runs["times"]], [r.inside for r in runs["none"]])
            rows.append(row("%s: CPU, start included" % name, jdk, q[1], "ratio", None, (q[0], q[2]), "n=%d" % len(runs["none"])))
            rows.append(row("%s: wall" % name, jdk, w[1], "ratio", None, (w[0], w[2])))
            raw += [dict(jdk=jdk, work=name, configuration=c, cpu=r.cpu, wall=r.wall, inside=r.inside, report=r.report) for c in configurations for r in runs[c]]
    return rows, raw


def threads(ctx):
    """fib on one thread and on four: CPU time that cpu=times adds to a call on the program's threads, and what the threads that drain them use for it."""
    ctx.need_agent()
    rows, raw = [], []
    n, rounds = str(ctx.size(27, 22)), str(ctx.size(30, 5))
    modes = {"none": [], "cpu=times": ctx.product("cpu=times")}
    for jdk in ctx.jdks:
        both = {}
        for count in (1, 4):
            say("threads, JDK %s: %d" % (jdk, count))
            runs = interleave(list(modes), ctx.times(3), lambda c, j=jdk, k=count: ctx.java(j, ["Many", str(k), n, rounds], modes[c]))
            ns = {c: [r.figures["cpu_hundredths_ns"] / 100 for r in runs[c]] for c in modes}
            added = quartiles([a - b for a, b in zip(ns["cpu=times"], ns["none"])])
            ours = quartiles([r.figures["drainers_hundredths_ns"] / 100 for r in runs["cpu=times"]])
            both[count] = added[1], ours[1], ratios(ns["cpu=times"], ns["none"])[1]
            rows.append(row("%d thread%s: its CPU, added a call" % (count, "s" * (count > 1)), jdk, added[1], "ns", None, (added[0], added[2]), "n=%d" % len(ns["none"])))
            rows.append(row("%d thread%s: our CPU a call" % (count, "s" * (count > 1)), jdk, ours[1], "ns", None, (ours[0], ours[2])))
            raw += [dict(jdk=jdk, threads=count, configuration=c, figures=r.figures, report=r.report) for c in modes for r in runs[c]]
        rows.append(row("four threads over one: slow-down of their CPU", jdk, both[4][2] / both[1][2], "ratio", 1.3))
        rows.append(row("four threads over one: our CPU a call", jdk, both[4][1] / both[1][1], "ratio", 1.3))
    return rows, raw
