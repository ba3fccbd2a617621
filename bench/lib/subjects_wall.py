# SPDX-License-Identifier: BSD-2-Clause
"""wall= beside threads that wait: CPU of the looking thread, as a share of a core, beside async-profiler's wall clock if it is there.
And what a switch of virtual threads costs under modes, JFR, and a JVMTI agent that may look at those that wait."""
import machine
from measure import DidNotRun, quartiles, ratios
from report import row
from subjects_peer import DEPTH, Peer, home_for

LIMITS = {1000: 1.0, 10_000: 5.0}  # percent of a core
INTERVAL = 20                      # ms
NONE, OURS, PEER = "none", "hprofx", "peer"
NULL, JVMTI = "agent that does nothing", "JVMTI, can_support_virtual_threads"


def find_peer(ctx, jdk):
    """(the peer, the home of a JDK that loads it, ""); (None, None, why there is none)"""
    try:
        peer = Peer(*machine.async_profiler(ctx.root), ctx.work)
        return peer, home_for(ctx, jdk, peer), ""
    except DidNotRun as e:
        return None, None, "no peer: " + str(e).splitlines()[0][:90]


def configurations_of(ctx, peer):
    """{name: arguments of the JVM}"""
    found = {NONE: [], OURS: ctx.product("wall=%d,depth=%d" % (INTERVAL, DEPTH))}
    if peer:
        found[PEER] = ["-XX:ErrorFile=/dev/null", "-agentpath:%s=start,event=wall,interval=%dms,jstackdepth=%d,collapsed,file=%s" % (peer.library, INTERVAL, DEPTH, peer.output)]
    return found


def wall(ctx, rows, raw):
    """Idle threads for a long and for a short time: what the second does not explain is steady."""
    ctx.need_agent()
    long, short = ctx.size(15_000, 2000), ctx.size(5000, 1000)
    for jdk, threads in ctx.box.shares([(j, n) for j in ctx.jdks for n in LIMITS]):
        peer, home, why = find_peer(ctx, jdk)
        configurations = configurations_of(ctx, peer)
        each = {(c, ms): vm for c, vm in configurations.items() for ms in (short, long)}
        runs = ctx.compare(each, 3, lambda c, j=jdk, n=threads, h=home, e=each: ctx.java(j, ["Idle", str(n), str(c[1])], e[c], home=h))
        steady = {c: [(a.cpu - b.cpu) * 1e5 / (long - short) for a, b in zip(runs[c, long], runs[c, short])] for c in configurations}
        for c in list(configurations)[1:]:
            figure = quartiles([a - b for a, b in zip(steady[c], steady[NONE])])
            rows.append(row("%d idle threads, %d ms: %s" % (threads, INTERVAL, c), jdk, figure, "% of a core", LIMITS[threads] if c == OURS else None, why))
        raw += [dict(jdk=jdk, threads=threads, configuration=c, percent=steady[c]) for c in configurations]


def switches(ctx, rows, raw):
    """Virtual threads that wake each other, all on one carrier: wall time of a switch."""
    ctx.need_agent()
    null = "-agentpath:%s=" % ctx.agents["null_agent"]
    configurations = {"none": [], NULL: [null + "nothing"], "wall=20": ctx.product("wall=20"), "cpu=samples": ctx.product("cpu=samples"),
                      JVMTI: [null + "virtual"],
                      "JFR, settings=profile": ["-Xlog:jfr*=off", "-XX:StartFlightRecording:settings=profile,filename=%s" % ctx.output]}
    arguments = ["-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1", "Switches", "100", str(ctx.size(20_000, 500))]
    jdks = [j for j in ctx.jdks if int(j) >= 21]
    if not jdks:
        raise DidNotRun("virtual threads are of JDK 21 and later: --jdks=21,25")
    for jdk in ctx.box.shares(jdks):
        runs = ctx.compare(configurations, 7, lambda c, j=jdk: ctx.java(j, arguments, configurations[c]))
        ns = {c: [r.figures["switch_ns"] for r in runs[c]] for c in configurations}
        rows.append(row("a switch of virtual threads: none", jdk, quartiles(ns["none"]), "ns"))
        rows += [row("a switch of virtual threads: %s over none" % c, jdk, ratios(ns[c], ns["none"]), "ratio") for c in list(configurations)[1:]]
        rows += [row("a switch of virtual threads: %s over %s" % (c, NULL), jdk, ratios(ns[c], ns[NULL]), "ratio", 1.03 if c == "wall=20" else None)
                 for c in ("wall=20", "cpu=samples", JVMTI)]
        raw += [dict(jdk=jdk, configuration=c, switch_ns=ns[c]) for c in configurations]
