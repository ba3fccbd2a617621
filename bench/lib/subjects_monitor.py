# SPDX-License-Identifier: BSD-2-Clause
"""monitor=y beside the least that the JVM's events cost: critical sections, and MONITOR DUMP beside the JVM's own list of threads."""
import os
import re
import time
from typing import NamedTuple

from measure import DidNotRun, differences, quartiles, ratios
from report import row
from subjects_heap import SAFEPOINT, SETTLE, ask_vm, of
from subjects_requests import Program, clean
from subjects_sampling import say

ROUNDS = 4
ALL, MANY = (1, 2, 4, 8, 16), (2, 4, 8, 16)  # threads; one alone is never blocked
UNCONTENDED, EXACT, SAMPLED = 1.01, 1.08, 1.03  # wall time over that without agent
PAIR = 1.0  # us of CPU for the two events of a contention
DUMPED = "Dumping contended monitor usage ... done.\n"
TABLE = {"monitor": ("MONITOR TIME BEGIN", "MONITOR TIME END"), "lock": ("LOCK TIME BEGIN", "LOCK TIME END")}


class Case(NamedTuple):
    """What bench/jvm/Monitors.java does, and the options of the product that are compared: {options: limit of the wall time}."""

    title: str
    kind: str
    gates: int     # 0: every thread has its own, nothing is contended
    outside: int   # steps of work
    yields: int    # one in so many sections
    sections: int
    threads: tuple
    options: dict

    def arguments(self, ctx):
        """Of java."""
        sections = ctx.size(self.sections, self.sections // 10)
        return ["Monitors", self.kind] + [str(n) for n in (self.gates, self.outside, self.yields, sections) + self.threads]


CONTENDED = {"exact": EXACT, "stacks=sampled": SAMPLED}
OWN = {"exact": UNCONTENDED, "stacks=sampled": UNCONTENDED}
CASES = (  # steps of work: 500 are about 1 us. The owner yields, because what the JVM wins by spinning it does not report
    Case("one ReentrantLock", "lock", 1, 500, 8, 60_000, (2, 16), {"locks=y": None}),
    Case("4 monitors, fewer sections", "monitor", 4, 500, 64, 10_000, (2, 16), {"owner=y": None}),  # which stops all threads at each contention
    Case("4 monitors", "monitor", 4, 500, 64, 80_000, MANY, CONTENDED),
    Case("one monitor", "monitor", 1, 500, 8, 60_000, MANY, CONTENDED),
    Case("own ReentrantLocks", "lock", 0, 1, 0, 40_000_000, ALL, {"locks=y": UNCONTENDED}),
    Case("own monitors", "monitor", 0, 1, 0, 40_000_000, ALL, OWN),
)


class Pair(NamedTuple):
    """What bench/jvm/Contentions.java does, and the options of the product that are compared: {options: limit of the CPU added to a contention}."""

    title: str
    kind: str
    turns: int
    options: dict


PAIRS = (
    Pair("a contention, fewer", "monitor", 1000, {"owner=y": None}),
    Pair("a ReentrantLock's contention, and a park at a semaphore", "lock", 8000, {"locks=y": None}),
    Pair("a contention", "monitor", 10_000, {"exact": PAIR, "stacks=sampled": PAIR}),
)


def modes_of(ctx, work):
    """{name: JVM arguments}"""
    made = {"none": [], "empty callbacks": ["-agentpath:%s" % ctx.agents["null_monitor"]]}
    made.update((o, ctx.product("monitor=y,cutoff=0" + ("" if o == "exact" else "," + o))) for o in work.options)
    return made


def counted(path, kind):
    """The contentions that the product's table has: the sum of its column count."""
    begin, end = TABLE[kind]
    total, inside = 0, False
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.startswith(end):
                inside = False
            elif inside and line.split()[0].isdigit():
                total += int(line.split()[3])
            inside = inside or line.startswith(begin)
    return total


def once(ctx, jdk, case, vm, is_product):
    """One JVM with all numbers of threads."""
    done = ctx.java(jdk, case.arguments(ctx), vm)
    if done.figures["lost"] != 0:
        raise DidNotRun("two threads were in one critical section\n%s" % done.output[-1000:])
    done.counted = counted(ctx.output, case.kind) if is_product else None
    if done.counted == 0 and case.gates:
        raise DidNotRun("the JVM blocked a thread %d times, %s has none of them" % (done.figures["blocked_in_all"], TABLE[case.kind][0]))
    return done


def sections(ctx, jdk, case, rows, raw):
    """A case, all its configurations."""
    modes = modes_of(ctx, case)
    runs = ctx.compare(modes, ROUNDS, lambda c: once(ctx, jdk, case, modes[c], c in case.options))
    each = {(c, what, n): [r.figures["%s_ns_%d" % (what, n)] / r.figures["sections_%d" % n] for r in runs[c]]
            for c in modes for what in ("wall", "cpu") for n in case.threads}
    blocked = {n: quartiles([100 * r.figures["blocked_%d" % n] / r.figures["sections_%d" % n] for r in runs["none"]]).median for n in case.threads}
    for n in case.threads:
        title = "%s, %d thread%s" % (case.title, n, "s" if n > 1 else "")
        note = "%.2f %% of them blocked a thread" % blocked[n] if case.gates else ""
        for what, name in (("wall", "wall"), ("cpu", "CPU")):
            rows.append(row("%s: a section, no agent, %s" % (title, name), jdk, quartiles(each["none", what, n]), "ns", None, note))
        for c in list(modes)[1:]:
            for what, name in (("wall", "wall"), ("cpu", "CPU")):
                limit = case.options.get(c) if what == "wall" else None
                rows.append(row("%s: %s, %s" % (title, c, name), jdk, ratios(each[c, what, n], each["none", what, n]), "ratio", limit))
    for c in case.options if case.gates else ():
        seen = quartiles([r.counted / max(1, r.figures["blocked_in_all"]) for r in runs[c]])
        rows.append(row("%s: %s, contentions in the table over those that the JVM counts" % (case.title, c), jdk, seen, "ratio"))
    raw += [dict(jdk=jdk, work=case.title, configuration=c, figures=r.figures, counted=r.counted, report=r.report) for c in modes for r in runs[c]]


def turn(ctx, jdk, pair, vm, is_product):
    """One JVM: us of CPU of a contention."""
    done = ctx.java(jdk, ["Contentions", pair.kind, str(ctx.size(pair.turns, pair.turns // 10))], vm)
    done.counted = counted(ctx.output, pair.kind) if is_product else None
    done.us = done.figures["cpu_ns"] / 1e3 / done.figures["contentions"]
    return done


def contentions(ctx, jdk, pair, rows, raw):
    """What a contention costs beyond the empty callbacks, where every one is known."""
    modes = modes_of(ctx, pair)
    runs = ctx.compare(modes, ROUNDS, lambda c: turn(ctx, jdk, pair, modes[c], c in pair.options))
    us = {c: [r.us for r in runs[c]] for c in modes}
    rows.append(row("%s: no agent, CPU" % pair.title, jdk, quartiles(us["none"]), "us"))
    rows.append(row("%s: empty callbacks, CPU added" % pair.title, jdk, differences(us["empty callbacks"], us["none"]), "us"))
    for c, limit in pair.options.items():
        rows.append(row("%s: %s, CPU added to empty callbacks" % (pair.title, c), jdk, differences(us[c], us["empty callbacks"]), "us", limit))
        if pair.kind == "monitor":
            seen = quartiles([r.counted / r.figures["contentions_in_all"] for r in runs[c]])
            rows.append(row("%s: %s, contentions in the table over those of the program" % (pair.title, c), jdk, seen, "ratio"))
    raw += [dict(jdk=jdk, work=pair.title, configuration=c, figures=r.figures, counted=r.counted, report=r.report) for c in modes for r in runs[c]]


class Owners(Program):
    """bench/jvm/OwnedMonitors.java, ready for a list of its threads."""

    def __init__(self, ctx, jdk, threads, monitors, agent):
        self.log = os.path.join(ctx.work, "vm.log")
        super().__init__(ctx, jdk, ["OwnedMonitors", str(threads), str(monitors)], ["-Xlog:safepoint:file=%s" % self.log] + agent)
        self.until(lambda: "ready\n" in self.text(), "start")
        ask_vm(self, ctx.box, "VM.version")  # the attach socket is there from now on
        time.sleep(SETTLE)

    def safepoints(self):
        """Milliseconds of all safepoints so far."""
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return [int(ns) / 1e6 for ns in SAFEPOINT.findall(f.read())]


def list_threads(ctx, jdk, threads, monitors, agent):
    """One program, one list in its second window: by the JVM without agent, else MONITOR DUMP. Both are asked over the attach socket."""
    clean(ctx)
    program = Owners(ctx, jdk, threads, monitors, agent)
    try:
        got = {"before": program.memory("VmRSS")}
        program.forget_peak()
        program.window()
        time.sleep(0.05)  # the program is in its window
        done = len(program.safepoints())
        begin = time.monotonic()
        answer = ask_vm(program, ctx.box, "JVMTI.data_dump" if agent else "Thread.print -l")
        if agent:
            program.until(lambda: DUMPED in program.text(), "MONITOR DUMP")
        got["seconds"] = time.monotonic() - begin
        got["peak"] = program.memory("VmHWM")
        program.window()
        safepoints = program.safepoints()[done:]
        windows = program.end()
        got["longest without"], got["longest"] = windows[0][1] / 1e3, windows[1][1] / 1e3  # ms
        got["safepoint"], got["safepoints"] = max(safepoints, default=0.0), sum(safepoints)
        if agent:
            with open(ctx.output, encoding="utf-8", errors="replace") as f:
                answer = f.read()
        got["megabytes"] = len(answer) / 1e6
        owned = len(re.findall(r"^\s*owner: thread " if agent else r"^\s*- locked <0x[0-9a-f]+> \(a OwnedMonitors\)", answer, re.M))
        if owned < threads * monitors:
            raise DidNotRun("the list has %d of %d monitors\n%s" % (owned, threads * monitors, program.text()[-1000:]))
        return got
    finally:
        program.close()
        clean(ctx)


def monitor_dump(ctx, jdk, rows, raw):
    """MONITOR DUMP beside Thread.print -l of the JVM."""
    threads, monitors = ctx.size(1000, 50), 100
    modes = {"JVM": [], "hprofx": ["-agentpath:%s=monitor=y,doe=n,force=y,file=%s" % (ctx.agent, ctx.output)]}
    runs = ctx.compare(modes, ROUNDS, lambda c: list_threads(ctx, jdk, threads, monitors, modes[c]))
    title = "list of %d threads, %d monitors" % (threads, threads * monitors)
    rows.append(row("%s: longest stop without one" % title, jdk, of(runs["JVM"], "longest without"), "ms"))
    for key, what, unit in (("seconds", "to its end", "s"), ("longest", "longest stop that a thread sees", "ms"),
                            ("safepoint", "longest safepoint", "ms"), ("safepoints", "all safepoints together", "ms")):
        for c in modes:
            rows.append(row("%s: %s, %s" % (title, what, c), jdk, of(runs[c], key), unit, None, "%.1f MB" % runs[c][0]["megabytes"] if key == "seconds" else ""))
        if key in ("seconds", "longest"):
            rows.append(row("%s: %s, hprofx over JVM" % (title, what), jdk, ratios([r[key] for r in runs["hprofx"]], [r[key] for r in runs["JVM"]]), "ratio"))
    for c in modes:
        rows.append(row("%s: memory added at its peak, %s" % (title, c), jdk, quartiles([r["peak"] - r["before"] for r in runs[c]]), "MiB"))
    raw += [dict(r, jdk=jdk, work=title, configuration=c) for c in modes for r in runs[c]]


def monitor(ctx, rows, raw):
    """The parts in turn, the longest last; what one leaves of its share goes to those after it."""
    ctx.need_agent()
    for part in ctx.box.shares(PAIRS + CASES[:-2] + (None,) + CASES[-2:]):
        for jdk in ctx.box.shares(ctx.jdks):
            say("monitor, JDK %s: %s" % (jdk, part.title if part else "MONITOR DUMP"))
            if part is None:
                monitor_dump(ctx, jdk, rows, raw)
            else:
                (sections if isinstance(part, Case) else contentions)(ctx, jdk, part, rows, raw)
