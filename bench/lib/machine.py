# SPDX-License-Identifier: BSD-2-Clause
"""Facts about the machine and its JDKs, for the JSON file; what has to be compiled for the benches."""
import os
import platform
import re
import subprocess
import time

from measure import DidNotRun


def tick_ms():
    """The scheduler tick in milliseconds: the resolution of the coarse clock."""
    return time.clock_getres(time.CLOCK_REALTIME_COARSE if hasattr(time, "CLOCK_REALTIME_COARSE") else 5) * 1e3


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return ""


def processor(cpuinfo, architecture):
    """What /proc/cpuinfo says it is: its name, or on 64-bit Arm, where there is none, its maker and part by number."""
    model = re.search(r"^model name\s*:\s*(.*)$", cpuinfo, re.M)
    numbers = [re.search(r"^CPU %s\s*:\s*(\S+)" % which, cpuinfo, re.M) for which in ("implementer", "part")]
    name = model.group(1) if model else "implementer %s part %s" % tuple(n.group(1) for n in numbers) if all(numbers) else "unknown processor"
    return "%s (%s)" % (name, architecture)


def line(known):
    """The facts that stand above figures."""
    return "%s, %d cores, kernel %s, tick %g ms, JDKs %s, load %.1f" % (known["cpu"], known["cores"], known["kernel"], known["tick_ms"],
                                                                       " ".join(known["jdks"].values()) or "-", known["load_1_5_15"][0])


def facts():
    """What figures depend on. No names of the machine."""
    return {"architecture": platform.machine(), "cpu": processor(read("/proc/cpuinfo"), platform.machine()), "cores": len(os.sched_getaffinity(0)),
            "kernel": platform.release().split("-")[0], "tick_ms": tick_ms(), "hypervisor": " hypervisor" in read("/proc/cpuinfo"),
            "perf_event_paranoid": read("/proc/sys/kernel/perf_event_paranoid"), "load_1_5_15": os.getloadavg(),
            "libc": " ".join(platform.libc_ver()), "python": platform.python_version(), "root": os.geteuid() == 0}


def find_jdk(root, version, in_tree=False):
    """The home of a JDK of that feature release, where tools/ finds it; in_tree: one that tools/jdks made."""
    environment = dict(os.environ, HPX_JDK_DIRS="") if in_tree else None
    found = subprocess.run(["bash", "-c", '. tools/common.sh; find_jdk "$1"', "bench", version], cwd=root, capture_output=True, text=True, check=False,
                           env=environment)
    home = found.stdout.strip()
    if found.returncode != 0 or not home:
        raise DidNotRun("no JDK %s found (tools/jdks %s makes one)" % (version, version))
    return home


def async_profiler(root):
    """(library, version) of the peer, which tools/jdks installs beside its JDKs if it is not there. A JDK of the tree sees the same path."""
    found = subprocess.run([os.path.join(root, "tools", "jdks"), "--async-profiler"], capture_output=True, text=True, check=False)
    words = found.stdout.split()
    if found.returncode != 0 or len(words) != 3:
        raise DidNotRun("no async-profiler: %s" % (found.stderr.strip().splitlines() or ["tools/jdks --async-profiler"])[-1])
    return words[0], words[2]


def jdk_version(home):
    """The full version string of the JDK there."""
    match = re.search(r'^JAVA_RUNTIME_VERSION="(.*)"', read(os.path.join(home, "release")), re.M)
    match = match or re.search(r'^JAVA_VERSION="(.*)"', read(os.path.join(home, "release")), re.M)
    return match.group(1) if match else "?"


def command(argv, cwd):
    """Runs a build step; DidNotRun with its output if it fails."""
    done = subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise DidNotRun("%s\n%s" % (" ".join(argv), done.stdout[-3000:]))


def is_stale(target, sources):
    """Whether the target has to be made again."""
    return not os.path.exists(target) or any(os.path.getmtime(s) > os.path.getmtime(target) for s in sources)


def compile_programs(root, home, out):
    """Compiles bench/jvm/*.java into out."""
    folder = os.path.join(root, "bench", "jvm")
    sources = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".java"))
    stamp = os.path.join(out, "Figures.class")
    if is_stale(stamp, sources):
        os.makedirs(out, exist_ok=True)
        command([os.path.join(home, "bin", "javac"), "-Xlint:all,-deprecation", "-Werror", "-d", out] + sources, root)


def compile_agents(root, home, out):
    """Compiles the bench agents; returns {name: library}."""
    ring = os.path.join(root, "pipeline", "ring.c")
    parts = {"null_agent": [], "null_sites": [], "null_heap": [], "null_monitor": [], "null_jvmpi": [], "handler_bench": [ring],
             "handler_times": [], "natives": []}
    made = {}
    os.makedirs(out, exist_ok=True)
    for name, more in parts.items():
        sources = [os.path.join(root, "bench", "jvm", name + ".c")] + more
        target = os.path.join(out, name + ".so")
        headers = [os.path.join(root, "pipeline", "ring.h"), os.path.join(root, "pipeline", "event.h")]
        if is_stale(target, sources + headers):
            include = os.path.join(home, "include")
            command([os.environ.get("CC", "cc"), "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-DNDEBUG", "-Wall", "-Wextra", "-Werror", "-fPIC",
                     "-shared", "-isystem", include, "-isystem", os.path.join(include, "linux"), "-Ibase", "-Ipipeline", "-Iagent/jvmpi", "-o", target]
                    + sources + ["-ldl", "-lpthread", "-lrt"], root)
        made[name] = target
    return made
