# SPDX-License-Identifier: BSD-2-Clause
"""Threads that start and end."""
from measure import ratios
from report import row

LIMITS = {"10": 1.15, "1": 1.4}
WORK = {"that do nothing": 0, "of some 400 us": 650_000}  # turns of the loop


def thread_churn(ctx, rows, raw):
    """5,000 threads, 8 alive at a time: CPU and wall time with the agent / without."""
    ctx.need_agent()
    threads = str(ctx.size(5000, 200))
    configurations = {"none": []}
    configurations.update((interval, ctx.product("cpu=samples,interval=" + interval)) for interval in LIMITS)
    for jdk, (title, turns) in ctx.box.shares([(j, w) for j in ctx.jdks for w in WORK.items()]):
        runs = ctx.compare(configurations, 5, lambda c, j=jdk, t=turns: ctx.java(j, ["ShortThreads", threads, str(t)], configurations[c]))
        for interval, limit in LIMITS.items():
            for kind, what in (("cpu", "CPU"), ("inside", "wall")):
                figure = ratios([getattr(r, kind) for r in runs[interval]], [getattr(r, kind) for r in runs["none"]])
                rows.append(row("threads %s, %s ms: %s" % (title, interval, what), jdk, figure, "ratio", limit))
        raw += [dict(jdk=jdk, threads=title, configuration=c, cpu=r.cpu, wall=r.wall, report=r.report) for c in configurations for r in runs[c]]
