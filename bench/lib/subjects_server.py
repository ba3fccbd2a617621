# SPDX-License-Identifier: BSD-2-Clause
"""A web server of Debian under every mode, beside async-profiler: requests a second, CPU a request, and whether the mode ends."""
import glob
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from typing import NamedTuple

import machine
from measure import DidNotRun, OutOfTime, ends_within, kill_group, out_of_time, quartiles, ratios, read_report, start
from report import row
from subjects_peer import DEPTH, Peer, event_of, home_for
from subjects_sampling import say

HOME = "/usr/share/tomcat10"               # packages tomcat10-common and libtomcat10-java
COMPILER = "/usr/share/java/eclipse-jdt-core.jar"  # of pages
CLIENTS, PAGE = 8, "/page.jsp"
WARM_REQUESTS, WARM, WINDOW = 4000, 10.0, 5.0  # the warm-up ends with the first of the two; seconds
PATIENCE = 60.0                            # seconds until the server has started, until its first answer, and from SIGTERM to its end
PORT = re.compile(r'Starting ProtocolHandler \["[^"]*-([0-9]+)"\].*Server startup in', re.S)
ENDED = (0, 128 + signal.SIGTERM)          # statuses of a JVM that SIGTERM ended
NONE = "no agent"


class Mode(NamedTuple):
    """Options of the product, the mode of the peer that is compared, and the limit of the CPU a request over no agent."""

    options: str
    peer: str = None
    limit: float = None


MODES = (
    Mode("cpu=samples", "cpu", 1.01),
    Mode("cpu=samples,interval=1", "cpu, 1 ms"),
    Mode("heap=sites,sites=sampled", "alloc", 1.02),
    Mode("heap=sites"),
    Mode("cpu=times"),
    Mode("cpu=times,times=sampled"),
    Mode("cpu=times,times=counts"),
    Mode("monitor=y", "lock"),
    Mode("wall=20", "wall", 1.02),
)
OF_PEER = {"cpu": lambda: "event=%s,interval=10ms" % event_of(10), "cpu, 1 ms": lambda: "event=%s,interval=1ms" % event_of(1),
           "alloc": lambda: "event=alloc,alloc=512k", "lock": lambda: "event=lock", "wall": lambda: "event=wall,interval=20ms"}


class Cell:
    """One run of the server in one configuration. why: what it did not do; its figures until then count."""

    def __init__(self):
        self.requests = self.cpu = self.end = None  # a second; us of CPU of the server a request; seconds from SIGTERM to the end
        self.why, self.report, self.ended = "", {}, False


def prepare(ctx):
    """A server's folders below the work folder, with copies of the jars: a JDK of the tree does not see /usr. Returns its home."""
    folder = os.path.join(ctx.work, "server")
    if os.path.isdir(folder):
        return folder
    jars = glob.glob(os.path.join(HOME, "lib", "*.jar")) + [COMPILER]
    programs = [os.path.join(HOME, "bin", name + ".jar") for name in ("bootstrap", "tomcat-juli")]
    if not all(map(os.path.exists, jars + programs)) or len(jars) < 2:
        raise DidNotRun("no web server: tools/setup server installs it")
    for name in ("lib", "bin", "conf", "temp", "logs", "webapps/ROOT"):
        os.makedirs(os.path.join(folder, name))
    ours = os.path.join(ctx.root, "bench", "server")
    for name, files in (("lib", jars), ("bin", programs), ("conf", glob.glob(os.path.join(ours, "*.xml"))), ("webapps/ROOT", glob.glob(os.path.join(ours, "*.jsp")))):
        for file in files:
            shutil.copy(file, os.path.join(folder, name))
    return folder


class Server:
    """The server, from its start to its end."""

    def __init__(self, ctx, home, folder, vm):
        self.box = ctx.box
        shutil.rmtree(os.path.join(folder, "work"), ignore_errors=True)  # the compiled page: each run has the same work
        self.log = open(os.path.join(ctx.work, "server.log"), "w+b")
        jars = [os.path.join(folder, "bin", name + ".jar") for name in ("bootstrap", "tomcat-juli")]
        places = ["-Dcatalina.home=" + folder, "-Dcatalina.base=" + folder, "-Djava.io.tmpdir=" + os.path.join(folder, "temp")]
        self.child = start([os.path.join(home, "bin", "java"), "-Xms512m", "-Xmx512m"] + list(vm) + ["-cp", ":".join(jars)] + places + ["org.apache.catalina.startup.Bootstrap", "start"],
                           stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)

    def text(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as f:
            return f.read()

    def patience(self):
        """Seconds until something is given up."""
        return min(PATIENCE, self.box.left())

    def gave_up(self, what):
        """To be raised: the box is over, or this configuration did not do that in time."""
        return DidNotRun("%s in %.0f s" % (what, PATIENCE)) if self.box.left() else out_of_time("the server: " + what)

    def port(self):
        """Waits until the server listens."""
        end = time.monotonic() + self.patience()
        while True:
            found = PORT.search(self.text())
            if found:
                return found.group(1)
            if self.child.poll() is not None:
                raise DidNotRun("the server did not start: status %d\n%s" % (self.child.returncode, self.text()[-1000:]))
            if time.monotonic() > end:
                raise self.gave_up("no start")
            time.sleep(0.01)

    def first_answer(self, port):
        """The first request, for which the server compiles the page."""
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open("http://127.0.0.1:%s%s" % (port, PAGE), timeout=max(0.001, self.patience())) as answer:
                page = answer.read()
        except (OSError, urllib.error.URLError) as e:
            raise (DidNotRun("status %d" % e.code) if isinstance(e, urllib.error.HTTPError) else self.gave_up("no first answer")) from e
        if b"whole\n" not in page:
            raise DidNotRun("the page is not whole: %r" % page[-100:])

    def end(self):
        """SIGTERM; seconds to the end of the process."""
        begin = time.monotonic()
        self.child.terminate()
        if not ends_within(self.child, self.patience()):
            raise self.gave_up("no end after SIGTERM")
        status = self.child.wait()
        if status not in ENDED and status != -signal.SIGTERM:
            raise DidNotRun("status %d\n%s" % (status, self.text()[-1000:]))
        return time.monotonic() - begin

    def close(self):
        if self.child.poll() is None:
            kill_group(self.child)
            self.child.wait()
        self.log.close()


def load(ctx, cell, server, port):
    """The clients: warm-up and window."""
    arguments = [port, PAGE, CLIENTS, ctx.size(WARM_REQUESTS, 200), int(1e3 * ctx.size(WARM, 2.0)), int(1e3 * ctx.size(WINDOW, 1.0)), server.child.pid]
    java = os.path.join(ctx.jdks[ctx.oldest[0]], "bin", "java")
    figures = ctx.run([java, "-cp", ctx.classes, "Clients"] + [str(a) for a in arguments]).figures
    cell.requests = figures["requests"] / (figures["wall_ns"] / 1e9)
    if not figures["requests"]:
        raise DidNotRun("no answer in the window of %.0f s" % (figures["wall_ns"] / 1e9))
    cell.cpu = 1e6 * figures["cpu_ticks"] / os.sysconf("SC_CLK_TCK") / figures["requests"]


def one(ctx, home, folder, vm, output):
    """One run. OutOfTime at the end of the box; what else goes wrong is said in the cell. output: where the profile has to be."""
    cell = Cell()
    for path in (ctx.output, output):
        if path and os.path.exists(path):
            os.unlink(path)
    server = Server(ctx, home, folder, vm)
    try:
        port = server.port()
        server.first_answer(port)
        load(ctx, cell, server, port)
        cell.end = server.end()
        if output and not os.path.exists(output):
            raise DidNotRun("no profile")
        cell.report = read_report(output) if output == ctx.output else {}
        cell.ended = True
    except OutOfTime:
        raise
    except DidNotRun as e:
        cell.why = str(e)
    finally:
        server.close()
    return cell


def configurations_of(ctx, peer):
    """{name: (arguments of the JVM, the profile)}, without agent first, each mode of the peer beside that of the product. Exact calls have the usual depth."""
    found = {NONE: ([], None)}
    for mode in MODES:
        if mode.options.startswith("wall") and not ctx.offers("wall"):
            continue
        found[mode.options] = (ctx.product(mode.options + ("" if mode.options.startswith("cpu=times") else ",depth=%d" % DEPTH)), ctx.output)
        if peer and mode.peer:
            found["peer, " + mode.peer] = (peer.vm_of(OF_PEER[mode.peer]()), peer.output)
    return found


def pairs(runs, a, b, key):
    """The figures of two configurations, of the rounds in which both have one."""
    both = [(getattr(x, key), getattr(y, key)) for x, y in zip(runs[a], runs[b])]
    both = [pair for pair in both if None not in pair and pair[1]]
    return ([x for x, _ in both], [y for _, y in both]) if both else None


def ratio_row(title, jdk, found, limit=None, note=""):
    """A row of a ratio; none if no round has both figures."""
    return [row(title, jdk, ratios(*found), "ratio", limit, note)] if found else []


def rows_of(jdk, runs):
    """The rows of one JDK: configuration by configuration, each mode beside that of the peer."""
    made = []
    modes = {m.options: m for m in MODES}
    for name, cells in runs.items():
        for key, what, unit in (("requests", "requests a second", ""), ("cpu", "CPU a request", "us")):
            figures = [getattr(c, key) for c in cells if getattr(c, key) is not None]
            made += [row("%s: %s" % (name, what), jdk, quartiles(figures), unit)] if figures else []
        if name == NONE:
            continue
        mode = modes.get(name, Mode(name))
        made += ratio_row("%s: requests a second, over no agent" % name, jdk, pairs(runs, name, NONE, "requests"))
        made += ratio_row("%s: CPU a request, over no agent" % name, jdk, pairs(runs, name, NONE, "cpu"), mode.limit)
        if mode.peer and "peer, " + mode.peer in runs:
            made += ratio_row("%s: CPU a request, hprofx over peer" % name, jdk, pairs(runs, name, "peer, " + mode.peer, "cpu"), 1.0)
        ends = [c.end for c in cells if c.end is not None]
        made += [row("%s: from SIGTERM to the end" % name, jdk, quartiles(ends), "s")] if ends else []
        why = [c.why.splitlines()[0] for c in cells if c.why]
        made.append(row("%s: runs that ended with a profile" % name, jdk, sum(c.ended for c in cells) / len(cells), "ratio", 1.0, why[0] if why else "", at_least=True))
    return made


def one_jdk(ctx, jdk, peer, rows, raw):
    """All modes on one JDK. A mode that did not end in one round is not run in the next."""
    folder = prepare(ctx)
    home, beside = ctx.jdks[jdk], None
    if peer:
        try:
            home, beside = home_for(ctx, jdk, peer), peer
        except OutOfTime:
            raise
        except DidNotRun as e:
            say("server: without the peer: %s" % e)
    build = machine.jdk_version(home)
    configurations = configurations_of(ctx, beside)
    failed = {}

    def once(name):
        if name in failed:
            return failed[name]
        say("server, JDK %s: %s" % (build, name))
        cell = one(ctx, home, folder, *configurations[name])
        if cell.why:
            say(cell.why)
            failed[name] = Cell()
            failed[name].why = cell.why
        return cell

    runs = ctx.compare(configurations, 4, once)
    rows += rows_of(jdk, runs)
    raw += [dict(vars(c), jdk=jdk, build=build, configuration=name) for name in configurations for c in runs[name]]


class Modes(Peer):
    """The peer in any of its modes."""

    def vm_of(self, options):
        """Arguments of the JVM that load it."""
        return ["-XX:ErrorFile=/dev/null", "-agentpath:%s=start,%s,jstackdepth=%d,collapsed,file=%s" % (self.library, options, DEPTH, self.output)]


def server(ctx, rows, raw):
    """Every mode on each JDK, beside the peer where its package can be had."""
    ctx.need_agent()
    try:
        peer = Modes(*machine.async_profiler(ctx.root), ctx.work)
    except DidNotRun as e:
        say("server: without the peer: %s" % e)
        peer = None
    for jdk in ctx.box.shares(ctx.jdks):
        one_jdk(ctx, jdk, peer, rows, raw)
