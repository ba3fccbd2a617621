# SPDX-License-Identifier: BSD-2-Clause
"""heap=sites: an allocation beside the least that the JVM's own calls cost, a free, a live object; sampled: whole programs."""
import os
import re

from measure import DidNotRun, differences, quartiles, ratios
from report import row
from subjects_sampling import javac, say

THREADS = 4
LARGE = 12.0  # with a box this many times the usual, the free storm has ten million objects: such a run takes half a minute
PAUSE = re.compile(r"Pause Full \(System\.gc\(\)\).* ([0-9.]+)ms$", re.M)
COUNTED = re.compile(r"([0-9]+) objects")


def null_agent(ctx, interval=0):
    """JVM arguments: the same calls of the JVM, and nothing else: the limit. interval: bytes between two samples; 0: every allocation."""
    return ["-agentpath:%s=4,%d" % (ctx.agents["null_sites"], interval)]


def sites(ctx, rows, raw):
    """The parts in turn, each on all JDKs; what one leaves of its share goes to those after it."""
    ctx.need_agent()
    for part in ctx.box.shares((storm, an_allocation, compiler, frees)):
        for jdk in ctx.box.shares(ctx.jdks):
            say("sites, JDK %s: %s" % (jdk, part.__name__))
            part(ctx, jdk, rows, raw)


def an_allocation(ctx, jdk, rows, raw):
    """ns an allocation, and the rate of several threads over that of one: without agent, the null agent, exact, exact with live=n."""
    modes = {"none": [], "null agent": null_agent(ctx), "exact": ctx.product("heap=sites"), "exact, live=n": ctx.product("heap=sites,live=n"),
             "counts": ctx.product("heap=sites,sites=counts"), "cpu=times": ctx.product("cpu=times"),
             "counts, cpu=times": ctx.product("heap=sites,sites=counts,cpu=times")}
    runs = ctx.compare(modes, 3, lambda c: ctx.java(jdk, ["Allocations", "rate", str(THREADS)], modes[c]))
    for key, what in (("one", "wall"), ("cpu", "CPU of its thread")):
        ns = {c: [r.figures[key + "_hundredths_ns"] / 100 for r in runs[c]] for c in modes}
        rows.append(row("an allocation, %s" % what, jdk, quartiles(ns["none"]), "ns"))
        limit = 1.2 * differences(ns["null agent"], ns["none"]).median
        probe = 6 if int(jdk) >= 22 else 12  # a downcall; a native
        for c in list(modes)[1:]:
            rows.append(row("%s, added an allocation, %s" % (c, what), jdk, differences(ns[c], ns["none"]), "ns", {"exact": limit, "counts": probe}.get(c)))
    for c in [c for c in modes if "exact" in c or c == "counts"]:
        own = [own_cpu_ns(r) / counted(r) for r in runs[c]]
        rows.append(row("%s: CPU of the profiler's threads, an allocation" % c, jdk, quartiles(own), "ns", None, "start and dump included"))
    cores = len(os.sched_getaffinity(0))
    for c in modes:
        rate = quartiles([r.figures["one_hundredths_ns"] / max(1, r.figures["all_hundredths_ns"]) for r in runs[c]])
        limit = 3.0 if c.startswith("exact") and cores >= THREADS else None
        rows.append(row("%s: allocations a second of %d threads, over one" % (c, THREADS), jdk, rate, "ratio", limit, "%d cores" % cores, at_least=True))
    raw += [dict(jdk=jdk, work="rate", configuration=c, figures=r.figures, report=r.report) for c in modes for r in runs[c]]


def own_cpu_ns(done):
    """CPU time of the profiler's threads by its report."""
    return float(done.report["own CPU time"].split()[0]) * 1e6


def counted(done):
    """Allocations of a whole run by the profiler's report."""
    match = COUNTED.match(done.report.get("allocations", ""))
    if not match or int(match.group(1)) == 0:
        raise DidNotRun("heap=sites counted nothing: %s" % done.report.get("sites", "no line of it in the report"))
    return int(match.group(1))


def frees(ctx, jdk, rows, raw):
    """Tagged objects: resident memory while they live, and the collection that finds them all dead.

    From JDK 16 on the JVM tells of frees on its Service Thread behind the collection: what that thread uses is a separate figure."""
    objects = 10_000_000 if ctx.factor >= LARGE else ctx.size(1_000_000, 100_000)
    young = 64 + objects // 25_000  # MiB: no collection before the one that is measured
    vm = ["-XX:+UseSerialGC", "-XX:+AlwaysPreTouch", "-Xlog:gc", "-Xmn%dm" % young, "-Xms%dm" % (2 * young + 64), "-Xmx%dm" % (2 * young + 64)]
    modes = {"null agent": null_agent(ctx), "exact": ctx.product("heap=sites")}
    runs = ctx.compare(modes, 3, lambda c: ctx.java(jdk, ["Allocations", "keep", str(objects)], vm + modes[c]))
    pauses = {c: [pause_ms(r) for r in runs[c]] for c in modes}
    live = {c: [r.figures["live_rss_kb"] * 1024 / objects for r in runs[c]] for c in modes}
    storm_of = "%g million dead" % (objects / 1e6)
    rows.append(row("%s: pause, exact over null agent" % storm_of, jdk, ratios(pauses["exact"], pauses["null agent"]), "ratio", 1.5))
    for c in modes:
        rows.append(row("%s: pause, %s" % (storm_of, c), jdk, quartiles(pauses[c]), "ms"))
        rows.append(row("%s: CPU of the Service Thread, %s" % (storm_of, c), jdk,
                        quartiles([r.figures["frees_service_ns"] / objects for r in runs[c]]), "ns", None, "an object"))
    rows.append(row("live object: memory of the JVM's tag", jdk, quartiles(live["null agent"]), "B"))
    rows.append(row("live object: memory of exact beyond that", jdk, differences(live["exact"], live["null agent"]), "B"))
    raw += [dict(jdk=jdk, work="keep", objects=objects, configuration=c, figures=r.figures, pause_ms=p, report=r.report)
            for c in modes for r, p in zip(runs[c], pauses[c])]


def pause_ms(done):
    """The pause of System.gc() by the JVM's own log."""
    found = PAUSE.findall(done.output)
    if len(found) != 1:
        raise DidNotRun("the JVM's log has %d collections by System.gc()" % len(found))
    return float(found[0])


def storm(ctx, jdk, rows, raw):
    """A program that does nothing but allocate, sampled; and what samples cost the JVM."""
    more = {"null agent, samples every 512k": null_agent(ctx, 512 << 10)}
    sampled(ctx, jdk, "allocation storm", ["Allocations", "storm", str(ctx.size(200_000_000, 5_000_000))], more, rows, raw)


def compiler(ctx, jdk, rows, raw):
    """javac, sampled."""
    sampled(ctx, jdk, "javac", javac(ctx, ctx.size(2, 1)), {}, rows, raw)


def sampled(ctx, jdk, name, arguments, more, rows, raw):
    """CPU and wall time over those without agent."""
    modes = {"none": [], "sample=512k": ctx.product("heap=sites,sample=512k"), **more}
    runs = ctx.compare(modes, 3, lambda c: ctx.java(jdk, arguments, modes[c]))
    for c in list(modes)[1:]:
        for kind, what in (("cpu", "CPU, start included"), ("inside", "wall")):
            q = ratios([getattr(r, kind) for r in runs[c]], [getattr(r, kind) for r in runs["none"]])
            rows.append(row("%s: %s, %s" % (name, c, what), jdk, q, "ratio", 1.02 if c == "sample=512k" else None))
    raw += [dict(jdk=jdk, work=name, configuration=c, cpu=r.cpu, wall=r.wall, inside=r.inside, report=r.report) for c in modes for r in runs[c]]
