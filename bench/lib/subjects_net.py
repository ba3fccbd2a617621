# SPDX-License-Identifier: BSD-2-Clause
"""net=: how a busy thread is stopped, and how long the end takes, beside a peer that reads and one that asks and never reads."""
import contextlib
import socket
import struct
import threading
import time

from measure import quartiles
from report import row
from subjects_requests import Program, clean

ASK = struct.pack(">BII", 7, 0, 6) + struct.pack(">Hf", 0, 0.0)  # CPU SAMPLES, all rows


@contextlib.contextmanager
def peer(reads):
    """Its port. It asks for a table each 50 ms."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve():
        with contextlib.suppress(OSError):
            c, _ = listener.accept()
            if reads:
                threading.Thread(target=drain, args=(c,), daemon=True).start()
            c.setblocking(True)
            while not over.wait(0.05):
                c.sendall(ASK)

    def drain(c):
        with contextlib.suppress(OSError):
            while c.recv(1 << 20):
                pass
    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        over.set()
        listener.close()


def one(ctx, jdk, configuration, levels, seconds):
    """A busy thread with its calls counted; a window of these seconds while the peer asks."""
    java_words = "cpu=times,include=RequestTree,depth=8,cutoff=0,verbose=n,"
    with peer(configuration == "a peer that reads") as port:
        where = {"none": None, "file": "file=" + ctx.output}.get(configuration, "net=127.0.0.1:%d" % port)
        program = Program(ctx, jdk, levels, [] if where is None else ["-agentpath:%s=%s%s" % (ctx.agent, java_words, where)])
        try:
            program.until(lambda: "ready\n" in program.text(), "start")
            program.window()
            time.sleep(seconds)
            program.window()
            begin = time.monotonic()
            longest = program.end()[1][1]
            return {"longest": longest, "end": time.monotonic() - begin}
        finally:
            program.close()
            clean(ctx)


def net_pauses(ctx, rows, raw):
    ctx.need_agent()
    levels, seconds = ctx.size(4, 3), ctx.size(2, 1)
    configurations = ("none", "file", "a peer that reads", "a peer that stalls")
    for jdk in ctx.oldest:
        runs = ctx.compare(configurations, 6, lambda c, j=jdk: one(ctx, j, c, levels, seconds))
        for c in configurations:
            limit = 1000.0 if c.startswith("a peer") else None
            q = quartiles([r["longest"] for r in runs[c]])
            rows.append(row("%s: longest stop in %g s" % (c, seconds), jdk, q, "us", limit))
            q = quartiles([r["end"] for r in runs[c]])
            rows.append(row("%s: from the program's end to the VM's" % c, jdk, q, "s", 5.0 if limit else None))
        raw += [dict(r, jdk=jdk, configuration=c) for c in configurations for r in runs[c]]
