# SPDX-License-Identifier: BSD-2-Clause
"""What the journal costs a busy program: CPU, bytes, stops. The same run with /dev/null as output has none."""
from measure import quartiles, ratios
from report import row

CASES = {"4 traces called": "few", "all called": "all"}


def one(ctx, jdk, which, configuration):
    """One run; configuration: journal or none. The journal needs a rest until it has the whole tree."""
    output, rest = (ctx.output, ctx.size(3, 1)) if configuration == "journal" else ("/dev/null", 0)
    vm = ["-agentpath:%s=cpu=times,include=JournalTree,depth=8,verbose=n,doe=n,file=%s" % (ctx.agent, output)]
    return ctx.java(jdk, ["Journal", str(ctx.size(5, 3)), str(ctx.size(2, 1)), which, str(rest)], vm, report=False)


def journal_cpu(ours, none):
    """Percent of a core: what a path costs us more than without, times the paths: the rest of our CPU time goes by the work that is done."""
    return 100 * (ours["own_ns"] / ours["paths"] - none["own_ns"] / none["paths"]) * ours["paths"] / ours["wall_ns"]


def journal(ctx, rows, raw):
    """Four busy threads on a table of 10^5 traces."""
    ctx.need_agent()
    for jdk in ctx.oldest:
        for case in ctx.box.shares(CASES):
            runs = ctx.compare(["none", "journal"], 4, lambda c, j=jdk, k=case: one(ctx, j, CASES[k], c))
            ours, none = ([r.figures for r in runs[c]] for c in ("journal", "none"))
            rows += [row("%s: %s" % (case, what), jdk, q, unit) for what, q, unit in (
                ("CPU of the journal", quartiles([journal_cpu(a, b) for a, b in zip(ours, none)]), "% of a core"),
                ("bytes written", quartiles([r["wrote"] / r["wall_ns"] * 1e3 for r in ours]), "MB/s"),
                ("work done, with / without", ratios([r["paths"] for r in ours], [r["paths"] for r in none]), "ratio"),
                ("longest stop with", quartiles([r["longest_ns"] / 1e6 for r in ours]), "ms"),
                ("longest stop without", quartiles([r["longest_ns"] / 1e6 for r in none]), "ms"))]
            raw += [dict(r.figures, jdk=jdk, case=case, configuration=c) for c in runs for r in runs[c]]
