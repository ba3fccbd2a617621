# SPDX-License-Identifier: BSD-2-Clause
"""JVMPI: what a call and an allocation cost with an agent whose handler does nothing, beside cpu=times and heap=sites in the same rounds."""
import os

from measure import DidNotRun, differences
from report import row
from subjects_sampling import say


def jvmpi(ctx, rows, raw):
    """ns of CPU added a call of fib, and an allocation, on the thread that makes it."""
    ctx.need_agent()
    shim = os.path.join(os.path.dirname(os.path.realpath(ctx.agent)), "libhprofx-jvmpi.so")
    if not os.path.exists(shim):
        raise DidNotRun("%s is not there" % shim)
    agent = {option: ["-agentpath:%s=%s:%s" % (shim, ctx.agents["null_jvmpi"], option)] for option in ("entry", "entry2", "alloc")}
    calls = {"none": [], "cpu=times": ctx.product("cpu=times"), "METHOD_ENTRY and METHOD_EXIT": agent["entry"], "METHOD_ENTRY2 and METHOD_EXIT": agent["entry2"]}
    allocations = {"none": [], "heap=sites": ctx.product("heap=sites"), "heap=sites,sites=counts": ctx.product("heap=sites,sites=counts"),
                   "OBJECT_ALLOC and OBJECT_FREE": agent["alloc"]}
    for jdk in ctx.box.shares(ctx.jdks):
        for what, modes, program in ctx.box.shares((("a call", calls, ["Fibs", "1", str(ctx.size(32, 24))]), ("an allocation", allocations, ["Allocations", "rate", "1"]))):
            say("jvmpi, JDK %s: %s" % (jdk, what))
            runs = ctx.compare(modes, 5, lambda c, j=jdk, m=modes, p=program: ctx.java(j, p, m[c]))
            ns = {c: [r.figures["cpu_hundredths_ns"] / 100 for r in runs[c]] for c in modes}
            for c in list(modes)[1:]:
                rows.append(row("%s, added %s" % (c, what), jdk, differences(ns[c], ns["none"]), "ns"))
            raw += [dict(jdk=jdk, work=what, configuration=c, figures=r.figures, report=r.report) for c in modes for r in runs[c]]
