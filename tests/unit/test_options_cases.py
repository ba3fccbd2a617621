#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every recorded option string of the original against hprofx-options-doc --parse: exit code, error text and values. Usage: SCRIPT PROGRAM CASES.json

Where ours differs on purpose a rule below says so and why; a rule that no case needs any more fails the test."""
import json
import math
import os
import subprocess
import sys

ERROR = "HPROF ERROR: hprof option error: "
DEFAULTS = dict(depth="4", interval="10", cutoff="0.0001", lineno="y", thread="n", doe="y", msa="n", force="y", verbose="y", gc_okay="n",
                primfields="y", primarrays="y", monitor="n")
CPU = {"CPU usage by sampling running threads": "samples", "CPU usage by timing methods": "times", "CPU usage in old prof format": "old"}
NOT_OURS = ("java.hprof.check.txt",)  # logflags has no effect

BAD_PORT = "net option value must be HOST:PORT, port 1..65535"
TOO_DEEP = "depth option value must be decimal and 0..2048"
OTHER_TEXT = {
    # BUG 29: a huge depth ended the process later, or cost memory for nothing.
    "depth=99999999999": TOO_DEEP,
    "depth=2147483647": TOO_DEEP,
    "depth=100000": TOO_DEEP,
    "depth=32767": TOO_DEEP,
    "depth=32768": TOO_DEEP,
    "coredump=y,depth=99999999999": TOO_DEEP,
    # BUG 24: a bad port was found when connecting, named no reason, or was taken modulo 65536.
    "net=localhost:abc": BAD_PORT,
    "net=localhost:0": BAD_PORT,
    "net=localhost:-1": BAD_PORT,
    "net=localhost:65536": BAD_PORT,
    "net=localhost:65545": BAD_PORT,
    "net=localhost:99999999": BAD_PORT,
}


def expected_error(case):
    """The text of the option error that ours must give, or None. What goes wrong later (connecting, creating) is not the parser's."""
    if case["options"] in OTHER_TEXT:
        return OTHER_TEXT[case["options"]]
    first = case["stderr"][0] if case["stderr"] else ""
    if not first.startswith(ERROR):
        return None
    tail = " (%s)" % case["options"]
    assert first.endswith(tail), first
    return first[len(ERROR):-len(tail)]


def check_values(case, lines):
    wrong = []
    got = dict(line.split("=", 1) for line in lines)
    given = dict(item.split("=", 1) for item in case["options"].split(",") if item)
    want = {name: given.get(name, default) for name, default in DEFAULTS.items()}
    for name in want:
        if name == "depth":
            same = int(got["depth"]) == int(want["depth"])
        elif name == "interval":
            same = int(got["interval_ns"]) == min(int(want["interval"]) * 1000000, 86400 * 10**9)
        elif name == "cutoff":
            text = want["cutoff"]
            value, number = float.fromhex(text) if text.startswith("0x") else float(text), float(got["cutoff"])
            same = value == number or (math.isnan(value) and math.isnan(number))
        else:
            same = got[name] == want[name]
        if not same:
            wrong.append("%s is not %s" % (name, want[name]))
    dumped = [line for line in case["stderr"] if line.startswith("Dumping ") and "HPROF ERROR" not in line]
    if dumped:  # the sections that the original wrote say which modes it took
        parts = dumped[0]
        cpu = [mode for text, mode in CPU.items() if text in parts]
        modes = {"cpu": ",".join(cpu) or "off", "heap_dump": "ny"["Java heap" in parts], "heap_sites": "ny"["allocation sites" in parts],
                 "monitor": "ny"["contended monitor" in parts]}
        wrong += ["%s is %s, was %s" % (k, got[k], v) for k, v in modes.items() if got[k] != v]
    files = [f for f in case["files"] if f not in NOT_OURS]
    if case["ran"] and files != [got["file"]]:
        wrong.append("file %s, was %s" % (got["file"], files))
    return wrong


def check(program, case):
    env = {k: v for k, v in os.environ.items() if k not in ("_JAVA_HPROF_OPTIONS", "HPROFX_OPTIONS")}
    run = subprocess.run([program, "--parse", case["options"]], env=env, capture_output=True, timeout=60)
    out, err = run.stdout.decode().splitlines(), run.stderr.decode().splitlines()
    text = expected_error(case)
    if text is not None:
        # Ours is exit 1 for errorexit=y too, which made the original end with 9.
        ok = run.returncode == 1 and err and err[0] == "%s%s (%s)" % (ERROR, text, case["options"])
        more = err[1:]
        ok = ok and all(line.startswith("hprofx: ") for line in more) and bool(more) == text.startswith("Unknown option: ")
        return [] if ok else ["exit %d, %s" % (run.returncode, err)]
    if run.returncode != 0 or err:
        return ["exit %d, %s" % (run.returncode, err)]
    if case["options"] == "help":
        return [] if any("usage:" in line for line in out) else ["no help"]
    return check_values(case, out)


def main():
    with open(sys.argv[2], encoding="utf-8") as f:
        cases = json.load(f)
    failed = 0
    for case in cases:
        for wrong in check(sys.argv[1], case):
            print("%r: %s" % (case["options"], wrong))
            failed += 1
    unused = set(OTHER_TEXT) - {case["options"] for case in cases}
    print("%d cases, %d wrong; rules without a case: %s" % (len(cases), failed, sorted(unused) or "none"))
    return 1 if failed or unused or len(cases) < 182 else 0


sys.exit(main())
