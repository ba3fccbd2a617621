# SPDX-License-Identifier: BSD-2-Clause
"""Dumps on request: from SIGQUIT, or a peer's command, to the last byte; how long a busy thread is stopped meanwhile; memory."""
import os
import re
import signal
import socket
import struct
import subprocess
import time

from measure import DidNotRun, kill_group, out_of_time, quartiles, start
from report import row

WINDOW = 1.0  # seconds without a request, and of a request without agent
ASK = struct.pack(">BII", 7, 0, 6) + struct.pack(">Hf", 0, 0.0)  # the table, all rows


class Program:
    """bench/jvm/Requests.java, or another with such windows: its lines as they come. OutOfTime at the end of the box."""

    def __init__(self, ctx, jdk, words, vm):
        self.box = ctx.box
        self.name = words[0]
        self.windows = 0
        self.said = open(os.path.join(ctx.work, "said.txt"), "w+b")
        java = os.path.join(ctx.jdks[jdk], "bin", "java")
        self.child = start([java, "-cp", ctx.classes] + list(vm) + words, stdin=subprocess.PIPE, stdout=self.said,
                           stderr=subprocess.STDOUT)

    def text(self):
        with open(self.said.name, encoding="utf-8", errors="replace") as f:
            return f.read()

    def until(self, condition, what):
        while not condition():
            if self.child.poll() is not None:
                raise DidNotRun("no %s: status %d\n%s" % (what, self.child.returncode, self.text()[-1000:]))
            if not self.box.left():
                raise out_of_time("%s, before its %s" % (self.name, what))
            time.sleep(0.002)

    def window(self):
        """Begins a new window of the program: it has ended the one before when this returns."""
        self.windows += 1
        try:
            self.child.stdin.write(b"\n")
            self.child.stdin.flush()
        except OSError as e:
            raise DidNotRun("the program has ended: %s\n%s" % (e, self.text()[-1000:])) from e
        self.until(lambda: self.text().count("\nwindow ") >= self.windows, "window")

    def memory(self, key):
        with open("/proc/%d/status" % self.child.pid, encoding="ascii", errors="replace") as f:
            found = re.search(r"^%s:\s+(\d+) kB" % key, f.read(), re.M)
        if not found:
            raise DidNotRun("the program has ended\n%s" % self.text()[-1000:])
        return int(found.group(1)) / 1024

    def forget_peak(self):
        """Resets VmHWM: it is then the peak since this call."""
        with open("/proc/%d/clear_refs" % self.child.pid, "w", encoding="ascii") as f:
            f.write("5")

    def end(self):
        """{window: (seconds, longest stop in us, pieces of work)}."""
        self.child.stdin.close()
        try:
            self.child.wait(self.box.left())
        except subprocess.TimeoutExpired as e:
            raise out_of_time("%s, before its end" % self.name) from e
        text = self.text()
        if self.child.returncode != 0:
            raise DidNotRun("status %d\n%s" % (self.child.returncode, text[-1000:]))
        found = re.findall(r"^window (\d+) ns (\d+) longest (\d+) pieces (\d+)$", text, re.M)
        return {int(n): (int(ns) / 1e9, int(longest) / 1e3, int(pieces)) for n, ns, longest, pieces in found}

    def close(self):
        if self.child.poll() is None:
            kill_group(self.child)
            self.child.wait()
        self.said.close()


def clean(ctx):
    for name in os.listdir(ctx.work):
        if name.startswith("output.txt") or name in ("said.txt", "vm.log"):
            os.unlink(os.path.join(ctx.work, name))


def one(ctx, jdk, levels, configuration):
    """One program, one request. Window 0: none; window 1: the request until its file is complete."""
    clean(ctx)
    vm = [] if configuration == "none" else ["-agentpath:%s=cpu=times,include=RequestTree,depth=8,cutoff=0,split=y,verbose=n,file=%s" % (ctx.agent, ctx.output)]
    program = Program(ctx, jdk, ["Requests", str(levels)], vm)
    try:
        program.until(lambda: "ready\n" in program.text(), "start")
        time.sleep(WINDOW)
        got = {"before": program.memory("VmRSS")}
        program.forget_peak()
        program.window()
        begin = time.monotonic()
        program.child.send_signal(signal.SIGQUIT)
        if vm:
            program.until(lambda: os.path.exists(ctx.output + ".1"), "file")
            got["seconds"] = time.monotonic() - begin
            got["megabytes"] = os.path.getsize(ctx.output + ".1") / 1e6
        else:
            time.sleep(WINDOW)
        got["peak"] = program.memory("VmHWM")
        program.window()  # what is measured from here on is not looked at
        windows = program.end()
        got["longest without"], got["longest"] = windows[0][1], windows[1][1]
        return got
    finally:
        program.close()
        clean(ctx)


def requests(ctx, rows, raw):
    """SIGQUIT to the complete file, at 10^5 and 10^6 traces; the same signal without agent beside it (the VM prints its threads then)."""
    ctx.need_agent()
    for jdk in ctx.oldest:
        for levels in ctx.box.shares(ctx.size((5, 6), (3,))):
            runs = ctx.compare(["none", "hprofx"], 3, lambda c, j=jdk, n=levels: one(ctx, j, n, c))
            ours = runs["hprofx"]
            title = "%d traces" % sum(10 ** n for n in range(1, levels + 1))

            def add(what, values, unit, limit=None, note="", of=title, j=jdk):
                rows.append(row("%s: %s" % (of, what), j, quartiles(values), unit, limit, note))
            add("from SIGQUIT to the complete file", [r["seconds"] for r in ours], "s", note="%.0f MB" % ours[0]["megabytes"])
            add("longest stop meanwhile", [r["longest"] for r in ours], "us", 1000.0)
            add("longest stop, no request", [r["longest without"] for r in ours], "us", note="%g s and the start of the window" % WINDOW)
            add("longest stop, SIGQUIT without agent", [r["longest"] for r in runs["none"]], "us")
            add("memory before it, over a run without agent", [a["before"] - b["before"] for a, b in zip(ours, runs["none"])], "MiB")
            add("memory added by it at its peak", [r["peak"] - r["before"] for r in ours], "MiB")
            raw += [dict(r, jdk=jdk, levels=levels, configuration=c) for c in runs for r in runs[c]]


def ask_over_socket(ctx, jdk, levels):
    """Seconds from the command to the end of its table, bytes of it, and the longest stop meanwhile."""
    clean(ctx)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        agent = "-agentpath:%s=cpu=times,include=RequestTree,depth=8,cutoff=0,verbose=n,net=127.0.0.1:%d" % (ctx.agent, listener.getsockname()[1])
        program = Program(ctx, jdk, ["Requests", str(levels)], [agent])
        try:
            listener.settimeout(patience(ctx.box))
            try:
                peer, _ = listener.accept()
            except TimeoutError as e:
                raise out_of_time("Requests, before its connection") from e
            except OSError as e:
                raise DidNotRun("no connection: %s\n%s" % (e, program.text()[-1000:])) from e
            with peer:
                program.until(lambda: "ready\n" in program.text(), "start")
                time.sleep(WINDOW)
                program.window()
                begin = time.monotonic()
                peer.sendall(ASK)
                got = receive(peer, b"CPU TIME (ms) END\n", ctx.box)
                seconds = time.monotonic() - begin
                program.window()
                program.child.stdin.close()
                receive(peer, None, ctx.box)
                return {"seconds": seconds, "megabytes": len(got) / 1e6, "traces": got.count(b"\nTRACE "), "longest": program.end()[1][1]}
        finally:
            program.close()
            clean(ctx)


def patience(box):
    """A timeout of a socket, which is never 0: that would not wait at all."""
    return max(0.001, box.left())


def receive(peer, end, box):
    """Until the bytes of the end came, or the end of the stream."""
    got = bytearray()
    try:
        while end is None or got.find(end, max(0, len(got) - (1 << 21))) < 0:
            if not box.left():
                raise TimeoutError
            peer.settimeout(patience(box))
            data = peer.recv(1 << 20)
            if not data:
                break
            got += data
    except TimeoutError as e:
        raise out_of_time("Requests, before the end of its stream") from e
    except OSError as e:
        raise DidNotRun("the stream: %s" % e) from e
    if end is not None and end not in got:
        raise DidNotRun("the stream ended before the table did")
    return got


def net_requests(ctx, rows, raw):
    """CPU SAMPLES over the socket to a peer that reads, at 10^3 to 10^5 traces."""
    ctx.need_agent()
    for jdk in ctx.oldest:
        for levels in ctx.box.shares(ctx.size((3, 4, 5), (3,))):
            runs = ctx.compare(["a peer"], 6, lambda _, j=jdk, n=levels: ask_over_socket(ctx, j, n))["a peer"]
            title = "%d traces" % runs[0]["traces"]
            for what, key, factor, unit, limit in (("from the command to the end of its table", "seconds", 1e3, "ms", None), ("longest stop meanwhile", "longest", 1, "us", 1000.0)):
                q = quartiles([r[key] * factor for r in runs])
                rows.append(row("%s: %s" % (title, what), jdk, q, unit, limit, "%.1f MB" % runs[0]["megabytes"]))
            raw += [dict(r, jdk=jdk, levels=levels) for r in runs]
