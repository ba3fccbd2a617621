# SPDX-License-Identifier: BSD-2-Clause
"""A program behind sessions that have ended, beside one with an agent that does nothing."""
import os

from measure import DidNotRun, ratios
from report import row

LIMIT = 1.02
OPTIONS = ("cpu=samples,interval=1", "cpu=times,cutoff=0", "heap=sites,sites=exact,cutoff=0", "monitor=y,waits=y", "heap=sites,sites=counts,cutoff=0",
           "cpu=samples,sampler=walk,interval=1")


def sessions(ctx, rows, raw):
    """CPU time of a call, an allocation, a critical section and a thread after six sessions, each of other options / with the null agent."""
    library = os.path.join(ctx.root, "build", "tests", "sessions", "libsessions.so")
    if not os.path.exists(library):
        raise DidNotRun("%s is not there" % os.path.relpath(library, ctx.root))
    vm = ["-XX:+UseSerialGC", "-Xmn64m"]
    rounds = str(ctx.size(8, 2))
    null = vm + ["-agentpath:%s=nothing" % ctx.agents["null_agent"]]
    configurations = {"null agent": (null, [rounds]), "after six sessions": (vm, [rounds, library, ctx.output] + list(OPTIONS))}
    for jdk in ctx.box.shares(ctx.jdks):
        runs = ctx.compare(configurations, 7, lambda c, j=jdk: ctx.java(j, ["Sessions"] + configurations[c][1], configurations[c][0]))
        for key, what in (("call", "a call"), ("allocation", "an allocation"), ("section", "a critical section"), ("thread", "a thread")):
            key_ns = key + "_hundredths_ns"
            figure = ratios([r.figures[key_ns] for r in runs["after six sessions"]], [r.figures[key_ns] for r in runs["null agent"]])
            rows.append(row("CPU time of %s after six sessions" % what, jdk, figure, "ratio", LIMIT))
        raw += [dict(jdk=jdk, configuration=c, figures=r.figures) for c in configurations for r in runs[c]]
