# SPDX-License-Identifier: BSD-2-Clause
"""cpu=samples beside async-profiler, in the same rounds: CPU over no agent, and the share of samples without a stack."""
import contextlib
import os
import re
import statistics

import machine
from measure import DidNotRun, OutOfTime, quartiles, ratios
from report import row
from subjects_sampling import effective, javac, say

INTERVALS = (10, 1)  # ms
DEPTH = 512          # of both: the usual depth of hprofx is 4 and that of the peer 2048
JAVAC_LIMIT = 1.015  # at 10 ms
OURS, OFF, PEER, NONE = "hprofx", "layer off", "peer", "none"

# Frames of the peer, see stacks_of().
JAVA_FRAME = re.compile(r"_\[[j0i1]\](;|$)")
NO_WALK = re.compile(r"(^|;)\[(unknown_Java|not_walkable_Java|not_walkable_not_Java|unknown_not_Java|unknown_state|GC_active|safepoint|deopt\w*|skipped|break_\w+)\](;|$)")
FROM_JAVA = re.compile(r"(^|;)(InterpreterRuntime|Runtime1|OptoRuntime|SharedRuntime|Deoptimization|SystemDictionary|LinkResolver|JavaCalls|Java_|JVM_)")
VM_THREAD = re.compile(r"(^|;)(CompileBroker|VMThread|GangWorker|WorkerThread|ConcurrentGCThread|WatcherThread)::")


def workloads(ctx):
    """{name: arguments of java}, the longest last: it gets what the others leave."""
    return {"calls": ["Calls", str(ctx.size(80, 10))], "four threads": ["Fibs", "4", str(ctx.size(41, 34))], "deep": ["Deep", "500", str(ctx.size(20_000, 3000))],
            "short threads": ["ShortThreads", str(ctx.size(5000, 200)), "650000"], "javac": javac(ctx, ctx.size(5, 2))}


class Peer:
    """The peer's library."""

    def __init__(self, library, version, folder):
        self.library, self.version = library, version
        self.folder = folder  # of its output

    @property
    def output(self):
        """Its output file."""
        return os.path.join(self.folder, "peer.collapsed")

    def vm(self, interval):
        """Arguments of the JVM that load it. If it crashes it leaves no file behind."""
        return ["-XX:ErrorFile=/dev/null", "-agentpath:%s=start,event=%s,interval=%dus,jstackdepth=%d,collapsed,ann,file=%s" % (
            self.library, event_of(interval), interval * 1000, DEPTH, self.output)]


def event_of(interval):
    """The peer's event for an interval in ms. Both use the CPU clock of each thread. ctimer, a POSIX timer, cannot go below the kernel's tick; cpu takes perf
    events there, as hprofx does, and falls back to ctimer where the kernel permits none."""
    return "ctimer" if interval >= machine.tick_ms() else "cpu"


def home_for(ctx, version, peer):
    """The home of a JDK of that release that loads the peer: that of the tree first."""
    why = []
    for find in (lambda: machine.find_jdk(ctx.root, version, in_tree=True), lambda: ctx.jdks[version]):
        try:
            home = find()
            ctx.run([os.path.join(home, "bin", "java")] + peer.vm(10) + ["-version"])
            return home
        except OutOfTime:
            raise
        except DidNotRun as e:
            why.append(str(e).strip().splitlines()[-1])
    raise DidNotRun("JDK %s does not load the peer: %s (HPX_JDK_DIRS= tools/jdks %s makes one that does)" % (version, "; ".join(why), version))


def stacks_of(lines):
    """(samples of Java threads, those of them without a Java frame, other samples).

    lines: the peer's collapsed stacks, "FRAME;FRAME;... COUNT", with its option ann, by which Java frames end in _[j] or the like. Its option threads would name
    the thread, but 3.0 crashes with it on JDK 25. The other samples are native alone and show no way into the VM from Java: compilers, collectors."""
    taken = without = others = 0
    for line in lines:
        stack, _, count = line.rstrip("\n").rpartition(" ")
        if not count.isdigit():
            continue
        if JAVA_FRAME.search(stack):
            taken += int(count)
        elif NO_WALK.search(stack) or (FROM_JAVA.search(stack) and not VM_THREAD.search(stack)):
            taken += int(count)
            without += int(count)
        else:
            others += int(count)
    return taken, without, others


def read_stacks(peer):
    """stacks_of() of the peer's output file."""
    try:
        with open(peer.output, encoding="utf-8", errors="replace") as f:
            return stacks_of(f)
    except OSError as e:
        raise DidNotRun("the peer left no output: %s" % e) from e


def without_by_report(done):
    """The share of samples without a stack that the report of hprofx states, in percent; None: it states none."""
    match = re.search(r"\(([0-9.]+) %\)", done.report.get("without a stack", ""))
    return float(match.group(1)) if match else None


def configurations_of(ctx, peer):
    """{(name, interval): arguments of the JVM}; the first is without agent."""
    found = {(NONE, 0): []}
    for ms in INTERVALS:
        ours = "cpu=samples,interval=%d,depth=%d" % (ms, DEPTH)
        found[OURS, ms] = ctx.product(ours)
        if ctx.layer_off:
            found[OFF, ms] = ctx.product(ours + "," + ctx.layer_off)
        found[PEER, ms] = peer.vm(ms)
    return found


def peer_note(done, interval):
    """The peer's event, and how often it took a sample."""
    samples = done.stacks[0] + done.stacks[2]
    return "event=%s" % event_of(interval) + (", one per %.3g ms of CPU" % (1e3 * done.cpu / samples) if samples else "")


def cpu_rows(work, jdk, runs, start):
    """Rows of one program: each over no agent, then hprofx over the peer."""
    made = []

    def over(a, b):
        return ratios([r.cpu for r in runs[a]], [r.cpu for r in runs[b]], (start[a], start[b]))

    for name, ms in list(runs)[1:]:
        limit = JAVAC_LIMIT if (work, name, ms) == ("javac", OURS, 10) else None
        note = peer_note(runs[name, ms][-1], ms) if name == PEER else "effective " + effective(runs[name, ms][-1])
        made.append(row("%s, %d ms, %s: CPU" % (work, ms, name), jdk, over((name, ms), (NONE, 0)), "ratio", limit, note))
    made += [row("%s, %d ms: hprofx over peer" % (work, ms), jdk, over((OURS, ms), (PEER, ms)), "ratio", 1.0) for ms in INTERVALS]
    return made


def stack_rows(work, jdk, runs):
    """Rows of one program: samples without a stack."""
    made = []
    for name, ms in list(runs)[1:]:
        shares, note = [s for s in map(without_by_report, runs[name, ms]) if s is not None], ""
        if name == PEER:
            shares = [100 * r.stacks[1] / r.stacks[0] for r in runs[name, ms] if r.stacks[0]]
            note = "of %d samples; %d more of the VM's threads" % runs[name, ms][-1].stacks[::2]
        if shares:
            made.append(row("%s, %d ms, %s: without a stack" % (work, ms, name), jdk, quartiles(shares), "%", None, note))
    return made


def one_jdk(ctx, jdk, peer, rows, raw):
    """All programs on one JDK. One that did not run, say because the peer crashed, is told and leaves the others."""
    home = home_for(ctx, jdk, peer)
    build = machine.jdk_version(home)
    configurations = configurations_of(ctx, peer)

    def java(configuration, arguments):
        done = ctx.java(jdk, arguments, configurations[configuration], home=home)
        done.stacks = read_stacks(peer) if configuration[0] == PEER else None
        return done

    def keep(work, runs):
        raw.extend(dict(jdk=jdk, build=build, work=work, configuration=c[0], interval=c[1], event=event_of(c[1]) if c[0] == PEER else None, cpu=r.cpu, wall=r.wall,
                        inside=r.inside, report=r.report, stacks=r.stacks) for c in configurations for r in runs[c])

    say("peer, async-profiler %s, JDK %s" % (peer.version, build))
    raw.append(dict(jdk=jdk, build=build, peer=peer.version, depth=DEPTH))
    work = workloads(ctx)
    hello = ctx.compare(configurations, 5, lambda c: java(c, ["Hello"]), 2)
    keep("Hello", hello)
    start = {c: statistics.median(r.cpu for r in hello[c]) for c in configurations}
    for name in ctx.box.shares(work):
        say("peer, JDK %s: %s" % (jdk, name))
        with told(ctx.box):
            runs = ctx.compare(configurations, 4, lambda c, a=work[name]: java(c, a))
            keep(name, runs)
            rows += cpu_rows(name, jdk, runs, start) + stack_rows(name, jdk, runs)


@contextlib.contextmanager
def told(box):
    """What did not run in here is told, and the subject goes on."""
    try:
        yield
    except OutOfTime:
        raise
    except DidNotRun as e:
        box.ended.append(str(e))


def peer_beside(ctx, rows, raw):
    """Ours, ours with the layer off, and the peer, on each JDK that loads the peer."""
    ctx.need_agent()
    peer = Peer(*machine.async_profiler(ctx.root), ctx.work)
    for jdk in ctx.box.shares(ctx.jdks):
        with told(ctx.box):
            one_jdk(ctx, jdk, peer, rows, raw)
