# SPDX-License-Identifier: BSD-2-Clause
"""Runs programs and compares them: interleaved, paired, medians with quartiles."""
import os
import statistics
import subprocess
import tempfile
import threading
import time


class DidNotRun(Exception):
    """What had to be measured is not there, or ended badly."""


class Run:
    """One run of a program: what it used and what it said."""

    def __init__(self, wall, usage, output):
        self.wall = wall                            # seconds
        self.cpu = usage.ru_utime + usage.ru_stime  # seconds
        self.output = output
        self.figures = {}                           # the program's "key value" lines
        self.report = {}                            # the agent's "hprofx: key: value" lines
        for line in output.splitlines():
            words = line.split()
            if len(words) == 2 and words[1].lstrip("-").isdigit():
                self.figures[words[0]] = int(words[1])

    @property
    def inside(self):
        """Wall time inside main, in seconds, as the program measured it; of the whole process where it did not."""
        return self.figures["wall_ns"] / 1e9 if "wall_ns" in self.figures else self.wall


def run(argv, timeout=900):
    """Runs argv to its end. DidNotRun if it cannot start, takes longer than timeout seconds, or its status is not 0."""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        try:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        except OSError as e:
            raise DidNotRun(str(e)) from e
        watchdog = threading.Timer(timeout, child.kill)
        watchdog.start()
        try:
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.monotonic() - begin
            child.returncode = os.waitstatus_to_exitcode(status)
        finally:
            watchdog.cancel()
        out.seek(0)
        output = out.read().decode("utf-8", "replace")
    if child.returncode != 0:
        raise DidNotRun("status %d: %s\n%s" % (child.returncode, " ".join(argv), output[-2000:]))
    return Run(wall, usage, output)


def interleave(configurations, rounds, once):
    """Runs every configuration twice a round, there and back (A B C, C B A), so that a slow change of the machine meets all alike.

    Returns {configuration: [run, ...]}; the i-th runs of two configurations are neighbours."""
    runs = {c: [] for c in configurations}
    for _ in range(rounds):
        for c in list(configurations) + list(reversed(configurations)):
            runs[c].append(once(c))
    return runs


def quartiles(values):
    """(lower quartile, median, upper quartile) of at least one value."""
    ordered = sorted(values)
    if len(ordered) == 1:
        return ordered[0], ordered[0], ordered[0]
    q1, q2, q3 = statistics.quantiles(ordered, n=4, method="inclusive")
    return q1, q2, q3


def ratios(measured, baseline, minus=(0.0, 0.0)):
    """Quartiles of measured[i] / baseline[i], each less its own constant part (start-up)."""
    return quartiles([max(1e-9, m - minus[0]) / max(1e-9, b - minus[1]) for m, b in zip(measured, baseline)])


def differences(measured, baseline):
    """Quartiles of measured[i] - baseline[i]."""
    return quartiles([m - b for m, b in zip(measured, baseline)])


def read_report(path):
    """The agent's own report at the end of an output file: {key: value}. DidNotRun if the file is not there."""
    report = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                parts = line.rstrip("\n").split(": ", 2)
                if len(parts) == 3 and parts[0] == "hprofx":
                    report[parts[1]] = parts[2]
    except OSError as e:
        raise DidNotRun("the agent left no output: %s" % e) from e
    return report
