# SPDX-License-Identifier: BSD-2-Clause
"""Where the CPU time of javac with an agent goes: by thread, with what an agent asks of the JVM switched on one after the other."""
import os
import re
from statistics import median

from measure import DidNotRun, mean_within, ratios
from report import print_lines, row
from subjects_sampling import javac, say

# Groups of threads by the names that the kernel keeps, 15 characters of them. The first that matches counts.
GROUPS = (("main", r"(java|main)$"), ("Service", r"Service Thread"), ("C1", r"C1 "), ("C2", r"C2 "), ("GC", r"(GC|G1|ParGC|Shenandoah|Z[A-Z][a-z]+) ?"),
          ("VM", r"VM "), ("hprofx", r"hprofx"))
OTHERS, ENDED, AT_END = "others", "ended", "at end"  # other threads; threads that had ended; what the process used after main: agents write their profile
COLUMNS = [name for name, _ in GROUPS] + [OTHERS, ENDED, AT_END]

# A pool that shrinks would move the work of its threads to ENDED.
VM = ["-XX:+IgnoreUnrecognizedVMOptions", "-XX:-UseDynamicNumberOfCompilerThreads", "-XX:-UseDynamicNumberOfGCThreads"]
NONE = "no agent"


def group_of(name):
    """The group of a thread of that name."""
    return next((group for group, pattern in GROUPS if re.match(pattern, name)), OTHERS)


def cpu_by_group(done):
    """{group: CPU seconds} of a run whose program called Figures.threads(); they add up to the CPU time of the process."""
    by = dict.fromkeys(COLUMNS, 0.0)
    threads = re.findall(r"^thread (\d+) (.+)$", done.output, re.M)
    if not threads or "process_ns" not in done.figures:
        raise DidNotRun("the kernel keeps no CPU time by thread")
    for ns, name in threads:
        by[group_of(name)] += int(ns) / 1e9
    in_main = done.figures["process_ns"] / 1e9
    by[ENDED] = in_main - sum(by.values())
    by[AT_END] = done.cpu - in_main
    return by


def variants(ctx):
    """{name: arguments of the JVM}: what an agent asks for, one thing each, and the product as it is."""
    null = "-agentpath:%s=" % ctx.agents["null_agent"]
    found = {NONE: [], "null agent: nothing": [null + "nothing"], "names at ClassPrepare": [null + "methods"], "flag": [null + "flag"],
             "event": [null + "event"], "event, records read": [null + "records"]}
    if os.path.exists(ctx.agent):
        for name, option in (("hprofx, hardly a signal", "interval=60000"), ("hprofx, 10 ms", "interval=10")):
            found[name] = ctx.product("cpu=samples," + option)
            if ctx.layer_off:
                found[name + ", layer off"] = ctx.product("cpu=samples,%s,%s" % (option, ctx.layer_off))
    return found


def points(mine, base, column):
    """What a group used more than without agent, in percent of all CPU time without agent, a figure a round."""
    return [100 * (m[column] - b[column]) / sum(b.values()) for m, b in zip(mine, base)]


def within(values, unit=""):
    """Mean and 95 % interval as text."""
    mean, half = mean_within(values)
    return "%+.2f%s" % (mean, unit) + (" +- %.2f" % half if half is not None else "")


def lines_of(by):
    """The table: milliseconds without agent, then the medians of the differences; by: {variant: [{group: seconds}, ...]}."""
    base = by[NONE]
    lines = [["", *COLUMNS, "all", "all: mean, 95 %"]]
    lines.append([NONE + ", ms"] + ["%.0f" % median(1e3 * b[c] for b in base) for c in COLUMNS] + ["%.0f" % median(1e3 * sum(b.values()) for b in base), ""])
    for name in list(by)[1:]:
        totals = [100 * (sum(m.values()) / sum(b.values()) - 1) for m, b in zip(by[name], base)]
        lines.append([name] + ["%+.2f" % median(points(by[name], base, c)) for c in COLUMNS] + ["%+.2f" % median(totals), within(totals)])
    return lines


def javac_threads(ctx, rows, raw):
    """javac by variant: CPU over no agent, and which threads used it."""
    arguments = javac(ctx, ctx.size(5, 2))
    configurations = variants(ctx)
    for jdk in ctx.box.shares(ctx.jdks):
        say("javac-threads, JDK %s" % jdk)
        runs = ctx.compare(configurations, 24, lambda c, j=jdk: ctx.java(j, arguments, VM + configurations[c]), 2)
        by = {c: [cpu_by_group(r) for r in runs[c]] for c in configurations}
        print_lines("javac, JDK %s: CPU by thread, difference to no agent in %% of all its CPU, medians of %d rounds" % (jdk, len(runs[NONE])), 1, lines_of(by))
        base = runs[NONE]
        for c in list(configurations)[1:]:
            percent = [100 * (r.cpu / b.cpu - 1) for r, b in zip(runs[c], base)]
            rows.append(row("javac, %s: CPU" % c, jdk, ratios([r.cpu for r in runs[c]], [r.cpu for r in base]), "ratio", None, "mean " + within(percent, " %")))
        if len(base) > 1:
            noise = [100 * (r.cpu / b.cpu - 1) for r, b in zip(base[1:], base)]
            rows.append(row("javac, no agent against itself: CPU", jdk, ratios([r.cpu for r in base[1:]], [r.cpu for r in base]), "ratio", None,
                            "mean " + within(noise, " %")))
        raw += [dict(jdk=jdk, configuration=c, cpu=r.cpu, wall=r.wall, inside=r.inside, groups=g, report=r.report)
                for c in configurations for r, g in zip(runs[c], by[c])]
