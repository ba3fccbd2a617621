# SPDX-License-Identifier: BSD-2-Clause
"""Threads that start and end."""
from measure import quartiles, ratios
from report import row

LIMITS = {"10": 1.15, "1": 1.4}
DEEP = ["1500000", "60"]  # some 3 ms, 60 frames
WORK = {"that do nothing": 0, "of some 400 us": 650_000}  # turns of the loop


def deep(ctx, jdk, rows, raw):
    """Threads that end before they know their stacks: what they find of those that others have named."""
    product = ctx.product("cpu=samples,interval=1")
    runs = ctx.compare({"1": product}, 5, lambda c: ctx.java(jdk, ["ShortThreads", str(ctx.size(1000, 100))] + DEEP, product))["1"]
    for what, unit, value in (("known stacks", "%", lambda r: r["known stacks"].split("(")[1]), ("handler", "us", lambda r: r["handler"])):
        rows.append(row("threads of some 3 ms, 60 frames, 1 ms: " + what, jdk, quartiles([float(value(r.report).split()[0]) for r in runs]), unit))
    raw += [dict(jdk=jdk, threads="deep", report=r.report) for r in runs]


def thread_churn(ctx, rows, raw):
    """5,000 threads, 8 alive at a time: CPU and wall time with the agent / without; 1,000 with deep stacks: how these are found."""
    ctx.need_agent()
    threads = str(ctx.size(5000, 200))
    configurations = {"none": []}
    configurations.update((interval, ctx.product("cpu=samples,interval=" + interval)) for interval in LIMITS)
    for jdk, (title, turns) in ctx.box.shares([(j, w) for j in ctx.jdks for w in [*WORK.items(), ("deep", None)]]):
        if turns is None:
            deep(ctx, jdk, rows, raw)
            continue
        runs = ctx.compare(configurations, 5, lambda c, j=jdk, t=turns: ctx.java(j, ["ShortThreads", threads, str(t)], configurations[c]))
        for interval, limit in LIMITS.items():
            for kind, what in (("cpu", "CPU"), ("inside", "wall")):
                figure = ratios([getattr(r, kind) for r in runs[interval]], [getattr(r, kind) for r in runs["none"]])
                rows.append(row("threads %s, %s ms: %s" % (title, interval, what), jdk, figure, "ratio", limit))
        raw += [dict(jdk=jdk, threads=title, configuration=c, cpu=r.cpu, wall=r.wall, report=r.report) for c in configurations for r in runs[c]]
