# SPDX-License-Identifier: BSD-2-Clause
"""net=: how a busy thread is stopped, and how long the end takes, beside a peer that reads and one that asks and never reads."""
import contextlib
import os
import socket
import struct
import threading

from measure import interleave, quartiles, run
from report import row

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


def net_pauses(ctx):
    ctx.need_agent()
    rows, raw = [], []
    threads, seconds = ctx.size(1000, 50), ctx.size(10, 1)
    agent = "-agentpath:%s=cpu=samples,interval=1,depth=64,thread=y,cutoff=0,verbose=n," % ctx.agent
    program = ["-cp", ctx.classes]

    def once(configuration, jdk):
        java = os.path.join(ctx.jdks[jdk], "bin", "java")
        words = ["Pauses", str(threads), str(seconds)]
        if configuration == "none":
            return run([java] + program + words)
        if configuration == "file":
            return run([java, agent + "file=" + ctx.output] + program + words)
        with peer(configuration == "a peer that reads") as port:
            return run([java, agent + "net=127.0.0.1:%d" % port] + program + words)
    for jdk in ctx.jdks:
        configurations = ("none", "file", "a peer that reads", "a peer that stalls")
        runs = interleave(list(configurations), ctx.times(3), lambda c, j=jdk: once(c, j))
        for c in configurations:
            for key, what, unit, by in (("stops", "stops over 10 us", "/s", seconds), ("p99_ns", "99 % of stops within", "us", 1e3), ("longest_ns", "longest stop", "us", 1e3)):
                q = quartiles([r.figures[key] / by for r in runs[c]])
                rows.append(row("%s: %s" % (c, what), jdk, q[1], unit, None, (q[0], q[2]), "n=%d" % len(runs[c])))
            q = quartiles([r.wall for r in runs[c]])
            rows.append(row("%s: whole run" % c, jdk, q[1], "s", None, (q[0], q[2]), "n=%d" % len(runs[c])))
        raw += [dict(jdk=jdk, configuration=c, wall=r.wall, figures=r.figures) for c in configurations for r in runs[c]]
    return rows, raw
