# SPDX-License-Identifier: BSD-2-Clause
"""What the journal costs a busy program: CPU, bytes, stops. The same run with /dev/null as output has none."""
from measure import interleave, quartiles, ratios
from report import row

REST = {3: 1, 5: 4, 6: 15}  # seconds until the journal has the whole tree
CASES = (("cpu=times, 4 traces called", "cpu=times,include=JournalTree", "few"), ("cpu=times, all called", "cpu=times,include=JournalTree", "all"),
         ("cpu=samples,interval=1", "cpu=samples,interval=1", "all"))


def one(ctx, jdk, levels, case, configuration):
    """One run; configuration: journal or none."""
    _, options, which = case
    output = ctx.output if configuration == "journal" else "/dev/null"
    vm = ["-agentpath:%s=%s,depth=8,verbose=n,doe=n,file=%s" % (ctx.agent, options, output)]
    return ctx.java(jdk, ["Journal", str(levels), str(ctx.size(8, 1)), which, str(REST[levels])], vm, report=False)


def journal_cpu(ours, none):
    """Percent of a core: what a path costs us more than without, times the paths: the rest of our CPU time goes by the work that is done."""
    return 100 * (ours["own_ns"] / ours["paths"] - none["own_ns"] / none["paths"]) * ours["paths"] / ours["wall_ns"]


def journal(ctx):
    """Four busy threads on a table of 10^5 and 10^6 traces."""
    ctx.need_agent()
    rows, raw = [], []
    for jdk in ctx.jdks:
        for levels in ctx.size((5, 6), (3,)):
            for case in CASES if levels < 6 else CASES[:2]:  # samples have few traces, whatever the tree
                runs = interleave(["none", "journal"], ctx.times(2), lambda c, j=jdk, n=levels, k=case: one(ctx, j, n, k, c))
                ours, none = ([r.figures for r in runs[c]] for c in ("journal", "none"))
                title = "%s, tree of %d paths" % (case[0], 10 ** levels)

                def add(what, q, unit, of=title, j=jdk, n=len(ours)):
                    rows.append(row("%s: %s" % (of, what), j, q[1], unit, None, (q[0], q[2]), "n=%d" % n))
                add("CPU of the journal", quartiles([journal_cpu(a, b) for a, b in zip(ours, none)]), "% of a core")
                add("bytes written", quartiles([r["wrote"] / r["wall_ns"] * 1e3 for r in ours]), "MB/s")
                add("work done, with / without", ratios([r["paths"] for r in ours], [r["paths"] for r in none]), "ratio")
                add("longest stop with", quartiles([r["longest_ns"] / 1e6 for r in ours]), "ms")
                add("longest stop without", quartiles([r["longest_ns"] / 1e6 for r in none]), "ms")
                raw += [dict(r.figures, jdk=jdk, levels=levels, case=case[0], configuration=c) for c in runs for r in runs[c]]
    return rows, raw
