# SPDX-License-Identifier: BSD-2-Clause
"""hprofx convert with a million traces, beside Go's pprof, which reads and writes the same data in its own format."""
import os
import shutil
import sys

from measure import DidNotRun, quartiles, ratios
from report import row

TRACES = 1_000_000
DEPTH = 16
SECONDS = 2.0
KINDS = ("text", "binary", "pprof")
SUFFIXES = (".pb.gz", ".folded", ".speedscope.json")


def sources(ctx, count):
    """({kind: file}, average depth). A separate program makes them, because the peak of a child begins with the memory of its parent."""
    made = ctx.run([sys.executable, os.path.join(ctx.root, "bench", "read", "traces.py"), ctx.work, str(count), str(DEPTH)])
    return {kind: os.path.join(ctx.work, "traces." + kind) for kind in KINDS}, float(made.output.split()[1])


def convert(ctx, rows, raw):
    """Wall time and peak memory; go tool pprof of Debian (tests/formats/readers go) where it is installed."""
    program = os.path.join(ctx.root, "build", "hprofx")
    if not os.path.exists(program):
        raise DidNotRun("build/hprofx is not there")
    count = ctx.size(TRACES, 20000)
    files, depth = sources(ctx, count)
    out = os.path.join(ctx.work, "out")
    configurations = {(kind, suffix): [program, "convert", files[kind], out + suffix] for kind in KINDS for suffix in SUFFIXES}
    go = shutil.which("go")
    if go:
        configurations["go", ".pb.gz"] = [go, "tool", "pprof", "-proto", "-output=%s.go.pb.gz" % out, files["pprof"]]
    runs = ctx.compare(configurations, 3, lambda c: ctx.run(configurations[c]))
    for c, of in runs.items():
        what = "go tool pprof -proto" if c[0] == "go" else "%s to %s" % (c[0], c[1])
        limit = SECONDS * count / TRACES if c[0] in ("text", "binary") and c[1] == ".pb.gz" else None
        peak = max(r.peak for r in of) / 1024
        rows.append(row(what, None, quartiles([r.wall for r in of]), "s", limit, "peak %.0f MB, CPU %.2f s" % (peak, quartiles([r.cpu for r in of]).median)))
        raw += [dict(configuration=list(c), wall=r.wall, cpu=r.cpu, peak_kb=r.peak, traces=count, depth=depth) for r in of]
    if go:
        beside = ratios([r.wall for r in runs["pprof", ".pb.gz"]], [r.wall for r in runs["go", ".pb.gz"]])
        rows.append(row("pprof to .pb.gz, hprofx / go tool pprof", None, beside, "ratio"))
