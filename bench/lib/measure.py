# SPDX-License-Identifier: BSD-2-Clause
"""Runs programs and compares them: interleaved, paired, medians with quartiles."""
import contextlib
import os
import select
import signal
import statistics
import subprocess
import tempfile
import time
from typing import NamedTuple


class DidNotRun(Exception):
    """What had to be measured is not there, or ended badly."""


class OutOfTime(DidNotRun):
    """It was still running at the end of its box and has been killed."""


class Run:
    """One run of a program: what it used and what it said."""

    def __init__(self, wall, usage, output):
        self.wall = wall                            # seconds
        self.cpu = usage.ru_utime + usage.ru_stime  # seconds
        self.peak = usage.ru_maxrss                 # KiB of memory
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


def start(argv, **how):
    """A child in a new process group, which kill_group() ends. DidNotRun if it cannot start."""
    try:
        return subprocess.Popen(argv, process_group=0, **how)  # pylint: disable=consider-using-with
    except OSError as e:
        raise DidNotRun(str(e)) from e


def kill_group(child):
    """Kills a child that was not waited for yet, and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


def ends_within(child, seconds):
    """Waits for the end of the child without taking its status; False: it still runs."""
    fd = os.pidfd_open(child.pid)
    try:
        return bool(select.select([fd], [], [], seconds)[0])
    finally:
        os.close(fd)


def out_of_time(what):
    """To be raised."""
    return OutOfTime("killed at the end of its box: %s" % what)


def run(argv, seconds, wait=ends_within):
    """Runs argv to its end. OutOfTime if it takes longer, DidNotRun if it cannot start or its status is not 0."""
    if seconds <= 0:
        raise OutOfTime("no time left in its box for: %s" % " ".join(argv))
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        child = start(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        ended = False
        try:
            ended = wait(child, seconds)
        finally:
            if not ended:
                kill_group(child)
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.monotonic() - begin
            child.returncode = os.waitstatus_to_exitcode(status)
        if not ended:
            raise out_of_time(" ".join(argv))
        out.seek(0)
        output = out.read().decode("utf-8", "replace")
    if child.returncode != 0:
        raise DidNotRun("status %d: %s\n%s" % (child.returncode, " ".join(argv), output[-2000:]))
    return Run(wall, usage, output)


def interleave(configurations, rounds, once, box):
    """Runs every configuration once a round, there and back in turn (A B C, C B A), so that a slow change of the machine meets all alike.

    Ends with the rounds or before a round that no longer fits into its share of the box; the first is always begun.
    Returns {configuration: [run, ...]}; the i-th runs of two configurations are neighbours."""
    names = list(configurations)
    runs = {c: [] for c in names}
    longest = 0.0
    for n in range(rounds):
        begin = box.clock()
        if n > 0 and not box.fits(longest):
            break
        try:
            made = {c: once(c) for c in (reversed(names) if n % 2 else names)}
        except OutOfTime as e:
            if n == 0:
                raise
            box.ended.append(str(e))
            break
        for c in names:
            runs[c].append(made[c])
        longest = max(longest, box.clock() - begin)
    return runs


class Figure(NamedTuple):
    """A median of rounds with its quartiles."""

    q1: float
    median: float
    q3: float
    rounds: int


def quartiles(values):
    """The figure of at least one value, one a round."""
    ordered = sorted(values)
    if len(ordered) == 1:
        return Figure(ordered[0], ordered[0], ordered[0], 1)
    return Figure(*statistics.quantiles(ordered, n=4, method="inclusive"), len(ordered))


def ratios(measured, baseline, minus=(0.0, 0.0)):
    """Quartiles of measured[i] / baseline[i], each less its own constant part (start-up)."""
    return quartiles([max(1e-9, m - minus[0]) / max(1e-9, b - minus[1]) for m, b in zip(measured, baseline)])


def differences(measured, baseline):
    """Quartiles of measured[i] - baseline[i]."""
    return quartiles([m - b for m, b in zip(measured, baseline)])


# Student's t for 95 %, both sides, by degrees of freedom from 1 on; the normal value behind them.
STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
           2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045)
NORMAL = 1.960


def mean_within(values):
    """(mean, half the width of its 95 % interval) of values that are one a round; None instead of a width where there is but one."""
    n = len(values)
    if n < 2:
        return values[0], None
    t = STUDENT[n - 2] if n - 2 < len(STUDENT) else NORMAL
    return statistics.fmean(values), t * statistics.stdev(values) / n ** 0.5


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
