# SPDX-License-Identifier: BSD-2-Clause
"""heap=dump beside the JVM's own heap dumper and beside the least that the JVM's calls cost: stops, time, CPU, memory, the program's work."""
import glob
import os
import re
import signal
import socket
import time

from measure import DidNotRun, differences, interleave, quartiles, ratios
from report import row
from subjects_requests import Program, clean, patience
from subjects_sampling import say

SMALL, MIDDLE, HUGE = 100_000, 1_000_000, 5_000_000
MOST = 7             # rounds: what is left of the box goes to the larger heaps
BOTH = 2.0           # with a box this many times the usual, all JDKs, text and gz=y of MIDDLE; else the oldest
LARGE = 8.0          # with a box this many times the usual, HUGE: some 40 seconds a round
OBJECT_BYTES = 36    # of HeapFill, on average
SETTLE = 0.3         # seconds: the profiler reads what the program left
AFTER = 0.5          # seconds of work after a dump
LOOK = 0.05          # seconds between two looks at the memory of the child
DUMPED = "Dumping Java heap ... done.\n"
WALKED = re.compile(rb"hprofx: heap walk: (\w+(?:, traced)?)(?:, [0-9]+ workers)?, program stopped ([0-9.]+) ms, ([0-9.]+) ms in all")
OBJECTS = re.compile(rb"hprofx: heap: ([0-9]+) objects, ")
NULL_WALK = re.compile(r"^null walk: 0, ([0-9]+) objects, ([0-9]+) ns", re.M)
SAFEPOINT = re.compile(r"Safepoint \"\w+\".* Total:\s+([0-9]+) ns")
COLLECTOR = re.compile(r"\] Using (\w+)")


class Fill(Program):
    """bench/jvm/HeapFill.java with so many objects, ready for a dump."""

    def __init__(self, ctx, jdk, objects, agent, *words):
        self.log = os.path.join(ctx.work, "vm.log")
        heap = 64 + objects * OBJECT_BYTES * 3 // 1_000_000
        vm = ["-Xms%dm" % heap, "-Xmx%dm" % heap, "-XX:+AlwaysPreTouch", "-Xlog:safepoint,gc:file=%s" % self.log] + ctx.vm + agent
        super().__init__(ctx, jdk, ["HeapFill", str(objects), *words], vm)
        self.until(lambda: "ready\n" in self.text(), "start")
        time.sleep(SETTLE)

    def logged(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def vm_thread_ns(self):
        """CPU time of the thread in which the JVM walks its heap."""
        for task in glob.glob("/proc/%d/task/*" % self.child.pid):
            try:
                if first_line(task + "/comm") == "VM Thread":
                    return int(first_line(task + "/schedstat").split()[0])
            except (OSError, ValueError, IndexError):
                continue
        return 0

    def children_ns(self):
        """CPU time of its children that have ended."""
        fields = first_line("/proc/%d/stat" % self.child.pid).rsplit(") ", 1)[1].split()
        return (int(fields[13]) + int(fields[14])) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class Child:
    """The copy of the process: memory at its peak, as far as it was looked at."""

    def __init__(self, pid):
        self.parent, self.pid, self.looked = pid, 0, 0.0
        self.rss = self.private = 0.0

    def look(self):
        now = time.monotonic()
        if now - self.looked < (LOOK if self.pid else 0.01):
            return
        self.looked = now
        try:
            if not self.pid:
                self.pid = next((int(c) for t in glob.glob("/proc/%d/task/*/children" % self.parent) for c in first_line(t).split()), 0)
            if self.pid:
                with open("/proc/%d/smaps_rollup" % self.pid, encoding="ascii", errors="replace") as f:
                    found = dict(re.findall(r"^(Rss|Private_Dirty):\s+(\d+) kB", f.read(), re.M))
                self.rss = max(self.rss, int(found.get("Rss", 0)) / 1024)
                self.private = max(self.private, int(found.get("Private_Dirty", 0)) / 1024)
        except (OSError, ValueError):
            pass  # it has ended


def first_line(path):
    with open(path, encoding="ascii", errors="replace") as f:
        return f.readline().strip()


def ask_vm(program, box, command):
    """A command of jcmd without the JVM that jcmd is: by the attach socket. Its answer."""
    path = "/tmp/.java_pid%d" % program.child.pid
    if not os.path.exists(path):
        asked = "/proc/%d/cwd/.attach_pid%d" % (program.child.pid, program.child.pid)
        with open(asked, "wb"):
            pass
        try:
            program.child.send_signal(signal.SIGQUIT)
            program.until(lambda: os.path.exists(path), "attach socket")
        finally:
            os.unlink(asked)
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(patience(box))
        try:
            s.connect(path)
            s.sendall(b"1\0jcmd\0" + command.encode() + b"\0\0\0")
            answer = bytearray()
            while data := s.recv(1 << 16):
                answer += data
        except OSError as e:
            raise DidNotRun("%s: %s" % (command, e)) from e
    text = answer.decode("utf-8", "replace")
    if not text.startswith("0\n"):
        raise DidNotRun("%s: %s" % (command, text))
    return text


def product(ctx, options):
    """JVM arguments of a dump on SIGQUIT and none at the end."""
    return ["-agentpath:%s=heap=dump,doe=n,force=y,maxpause=off,%s,file=%s" % (ctx.agent, options, ctx.output)]


def configurations(ctx, objects):
    """{name: JVM arguments}: what is compared with so many objects."""
    made = {"JVM": [], "fork": product(ctx, "format=b,sites=none,heapdump=fork"), "walk": product(ctx, "format=b,sites=none,heapdump=walk"),
            "null walk": ["-agentpath:%s" % ctx.agents["null_heap"]]}
    if objects <= SMALL or ctx.factor >= BOTH:
        made["fork, gz=y"] = product(ctx, "format=b,sites=none,heapdump=fork,gz=y")
    if objects <= (MIDDLE if ctx.factor >= BOTH else SMALL):
        made["walk, text"] = product(ctx, "format=a,sites=none,heapdump=walk")
    return made


def dump(ctx, program, configuration, child):
    """Asks for the dump and waits for its end. Seconds."""
    begin = time.monotonic()
    if configuration == "JVM":
        ask_vm(program, ctx.box, "GC.heap_dump -all %s" % ctx.output)
        return time.monotonic() - begin
    end = "null walk: " if configuration == "null walk" else DUMPED
    program.child.send_signal(signal.SIGQUIT)

    def over():
        child.look()
        return end in program.text()
    program.until(over, "dump")
    return time.monotonic() - begin


def one(ctx, jdk, objects, configuration, vm):
    """One program, one dump in its second window."""
    clean(ctx)
    program = Fill(ctx, jdk, objects, vm)
    try:
        if configuration == "JVM":
            ask_vm(program, ctx.box, "VM.version")  # the socket is there from now on
        got = {"before": program.memory("VmRSS")}
        program.forget_peak()
        program.window()
        time.sleep(0.05)  # the program is in its window
        safepoints, vm_ns, children_ns, child = len(SAFEPOINT.findall(program.logged())), program.vm_thread_ns(), program.children_ns(), Child(program.child.pid)
        got["seconds"] = dump(ctx, program, configuration, child)
        got["vm_thread_ns"] = program.vm_thread_ns() - vm_ns
        got["child_ns"] = program.children_ns() - children_ns
        got["peak"], got["after"] = program.memory("VmHWM"), program.memory("VmRSS")
        got["child_rss"], got["child_private"] = child.rss, child.private
        program.window()
        log = program.logged()
        windows = program.end()
        got["longest without"], got["longest"] = windows[0][1] / 1e3, windows[1][1] / 1e3  # ms
        got["safepoint"] = max([int(ns) / 1e6 for ns in SAFEPOINT.findall(log)[safepoints:]], default=0.0)
        got["collector"] = (COLLECTOR.findall(log) or ["?"])[0]
        return dict(got, **result(ctx, configuration, program.text()))
    finally:
        program.close()
        clean(ctx)


def result(ctx, configuration, text):
    """What the dump itself says."""
    if configuration == "null walk":
        found = NULL_WALK.search(text)
        if not found:
            raise DidNotRun("the null walk failed\n%s" % text[-1000:])
        return {"objects": int(found.group(1)), "said_ms": int(found.group(2)) / 1e6}
    if not os.path.exists(ctx.output):
        raise DidNotRun("%s left no file\n%s" % (configuration, text[-1000:]))
    got = {"megabytes": os.path.getsize(ctx.output) / 1e6}
    if configuration == "JVM" or "gz" in configuration:
        return got
    with open(ctx.output, "rb") as f:
        f.seek(max(0, os.path.getsize(ctx.output) - (64 << 10)))
        end = f.read()
    walked, objects = WALKED.search(end), OBJECTS.search(end)
    if not walked or not objects:
        raise DidNotRun("%s: the report has no heap walk\n%s" % (configuration, text[-1000:]))
    engine = walked.group(1).decode()
    if engine != {"fork": "fork, traced"}.get(configuration, configuration.split(",")[0]):
        raise DidNotRun("%s became %s\n%s" % (configuration, engine, text[-1000:]))
    return dict(got, objects=int(objects.group(1)), said_ms=float(walked.group(2)))


def of(runs, key, factor=1.0):
    return quartiles([r[key] * factor for r in runs])


def dumps(ctx, jdk, objects, rows, raw):
    """One size of the heap, all ways to dump it. The goals are about the JVM's safepoints: the longest stop that the program sees may be its own wait
    for a processor, which the child wants too."""
    modes = configurations(ctx, objects)
    rounds = 1 if objects == SMALL and ctx.factor < BOTH and not ctx.rounds else min(ctx.times(3), ctx.rounds or MOST)
    runs = interleave(modes, rounds, lambda c: one(ctx, jdk, objects, c, modes[c]), ctx.box)
    title, theirs, goals = "%g M objects" % (objects / 1e6), runs["JVM"], objects >= MIDDLE
    huge = objects >= HUGE

    def add(what, figure, unit, limit=None, note=""):
        rows.append(row("%s: %s" % (title, what), jdk, figure, unit, limit, note))
    add("longest stop, no dump", of(theirs, "longest without"), "ms", note=theirs[0]["collector"])
    for c in [c for c in modes if c != "null walk"]:
        add("longest stop, %s" % c, of(runs[c], "longest"), "ms")
        add("longest safepoint, %s" % c, of(runs[c], "safepoint"), "ms", 25.0 if huge and c == "fork" else None, "by the JVM's log")
    add("longest safepoint, walk over JVM", ratios([r["safepoint"] for r in runs["walk"]], [r["safepoint"] for r in theirs]), "ratio", 2.0 if goals else None)
    add("longest stop, fork over JVM", ratios([r["longest"] for r in runs["fork"]], [r["longest"] for r in theirs]), "ratio")
    add("longest safepoint, fork over JVM", ratios([r["safepoint"] for r in runs["fork"]], [r["safepoint"] for r in theirs]), "ratio", 0.15 if huge else None)
    add("stopped by fork as its report says", of(runs["fork"], "said_ms"), "ms")
    for c in [c for c in modes if c != "null walk"]:
        add("to the complete file, %s" % c, of(runs[c], "seconds"), "s", None, "%.1f MB" % runs[c][0]["megabytes"])
        add("file written, %s" % c, quartiles([r["megabytes"] / r["seconds"] for r in runs[c]]), "MB/s")
    for c in ("fork", "walk"):
        add("to the complete file, %s over JVM" % c, ratios([r["seconds"] for r in runs[c]], [r["seconds"] for r in theirs]), "ratio",
            1.0 if huge and c == "fork" else None)
    for c in ("null walk", "walk"):
        cpu = quartiles([r["vm_thread_ns"] / r["objects"] for r in runs[c]])
        add("%s: CPU an object" % c, cpu, "ns", None, "of the VM's thread")
    add("walk over null walk: CPU", ratios([r["vm_thread_ns"] / r["objects"] for r in runs["walk"]],
                                           [r["vm_thread_ns"] / r["objects"] for r in runs["null walk"]]), "ratio")
    add("fork: CPU of the child, an object", quartiles([r["child_ns"] / r["objects"] for r in runs["fork"]]), "ns", 120.0 if goals else None)
    for c in modes:
        add("memory added at the peak, %s" % c, quartiles([r["peak"] - r["before"] for r in runs[c]]), "MiB")
    add("fork: the child's own memory", of(runs["fork"], "child_private"), "MiB", note="%.0f MiB with what it shares" % runs["fork"][0]["child_rss"])
    add("fork: the child's own memory, an object", quartiles([r["child_private"] * 1048576 / r["objects"] for r in runs["fork"]]), "B", 1.0 if huge else None)
    raw += [dict(r, jdk=jdk, objects_wanted=objects, configuration=c) for c in runs for r in runs[c]]


def beside_writer(ctx, jdk, objects, configuration, vm):
    """Pieces of work a second of a program that writes all over its heap: before, during and after a dump."""
    clean(ctx)
    program = Fill(ctx, jdk, objects, vm, "write")
    try:
        program.window()
        if configuration == "JVM":
            ask_vm(program, ctx.box, "VM.version")
        program.window()
        dump(ctx, program, configuration, Child(program.child.pid))
        program.window()
        time.sleep(AFTER)
        program.window()
        windows = program.end()
        speed = [windows[n][2] / windows[n][0] for n in (0, 2, 3)]
        return {"during": speed[1] / speed[0], "after": speed[2] / speed[0], "before": speed[0]}
    finally:
        program.close()
        clean(ctx)


def harm(ctx, jdk, objects, rows, raw):
    """What a dump costs a program that goes on writing, whose pages the fork makes the kernel copy."""
    modes = {c: a for c, a in configurations(ctx, objects).items() if c in ("JVM", "fork", "walk")}
    runs = interleave(modes, min(ctx.times(3), ctx.rounds or MOST), lambda c: beside_writer(ctx, jdk, objects, c, modes[c]), ctx.box)
    for c in modes:
        for when in ("during", "after"):
            rows.append(row("%g M objects, written: work a second %s the dump over before, %s" % (objects / 1e6, when, c), jdk, of(runs[c], when), "ratio"))
    raw += [dict(r, jdk=jdk, objects_wanted=objects, configuration=c) for c in runs for r in runs[c]]


def while_idle(ctx, jdk, objects, configuration, vm):
    """Seconds of a dump of a program that does nothing meanwhile: all processors are the dumper's."""
    clean(ctx)
    program = Fill(ctx, jdk, objects, vm, "idle")
    try:
        if configuration == "JVM":
            ask_vm(program, ctx.box, "VM.version")
        return dump(ctx, program, configuration, Child(program.child.pid))
    finally:
        program.close()
        clean(ctx)


def idle(ctx, jdk, objects, rows, raw):
    modes = {c: a for c, a in configurations(ctx, objects).items() if c in ("JVM", "fork", "fork, gz=y")}
    runs = interleave(modes, min(ctx.times(3), ctx.rounds or MOST), lambda c: while_idle(ctx, jdk, objects, c, modes[c]), ctx.box)
    for c in modes:
        rows.append(row("%g M objects, idle program: to the complete file, %s" % (objects / 1e6, c), jdk, quartiles(runs[c]), "s"))
    rows.append(row("%g M objects, idle program: to the complete file, fork over JVM" % (objects / 1e6), jdk, ratios(runs["fork"], runs["JVM"]), "ratio",
                    0.6 if objects >= HUGE and os.cpu_count() > 1 else None))
    raw += [dict(jdk=jdk, objects_wanted=objects, configuration=c, idle_seconds=s) for c in modes for s in runs[c]]


def resident(ctx, jdk, objects, vm):
    """Bytes of a program that holds so many objects; the heap itself is touched from the start."""
    clean(ctx)
    program = Fill(ctx, jdk, objects, vm)
    try:
        got = program.memory("VmRSS") * 1024 * 1024
        program.end()
        return got
    finally:
        program.close()
        clean(ctx)


def tracking(ctx, jdk, objects, rows, raw):
    """What an object costs while the program runs: nothing, the JVM's tag by an agent that only tags, sites=exact."""
    modes = {"none": [], "null agent": ["-agentpath:%s=4,0" % ctx.agents["null_sites"]], "exact": product(ctx, "format=b,sites=exact")}
    runs = interleave(modes, min(ctx.times(3), ctx.rounds or MOST), lambda c: resident(ctx, jdk, objects, modes[c]), ctx.box)
    each = {c: [b / objects for b in runs[c]] for c in modes}
    rows.append(row("tracked object: memory of the JVM's tag", jdk, differences(each["null agent"], each["none"]), "B", None, "%g M objects" % (objects / 1e6)))
    rows.append(row("tracked object: memory of sites=exact beyond that", jdk, differences(each["exact"], each["null agent"]), "B", 16.0))
    raw += [dict(jdk=jdk, objects_wanted=objects, configuration=c, resident=b) for c in modes for b in runs[c]]


def heapdump(ctx, rows, raw):
    """The parts in turn, the longest last: it gets what the others leave."""
    ctx.need_agent()
    sizes = [SMALL, None, MIDDLE] + ([HUGE] if ctx.factor >= LARGE else [])  # None: tracking
    for objects in ctx.box.shares(ctx.size(sizes, [SMALL // 5, None])):
        for jdk in ctx.box.shares(ctx.jdks if ctx.factor >= BOTH or ctx.quick else ctx.oldest):
            say("heapdump, JDK %s: %s" % (jdk, "tracking" if objects is None else "%d objects" % objects))
            if objects is None:
                tracking(ctx, jdk, ctx.size(MIDDLE, SMALL // 5), rows, raw)
            else:
                dumps(ctx, jdk, objects, rows, raw)
            if objects is not None and objects > SMALL:
                idle(ctx, jdk, objects, rows, raw)
            if objects == MIDDLE:
                harm(ctx, jdk, objects, rows, raw)
