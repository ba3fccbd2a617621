#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""count_tests: what a test runner's own record says, as "PASSED FAILED SKIPPED".

    count_tests.py meson TESTLOG.json    meson's record, a test a line; of a cmocka program its cases are counted
    count_tests.py unittest LOG          python -m unittest
    count_tests.py closing LOG           a last line "N passed, N failed, N skipped"

A record that shows no test at all, or a program that failed without naming a case, is a failure: nothing is read as success by default.
"""
import json
import re
import sys


def of_cmocka(output):
    """(passed, failed, skipped) over all groups of a cmocka program, (0, 0, 0) where it said nothing."""
    def total(word):
        return sum(int(n) for n in re.findall(rf"^\[ +{word} +\] (\d+) test\(s\)", output, re.M))
    return total("PASSED"), total("FAILED"), total("SKIPPED")


def of_meson(text):
    sums = [0, 0, 0]
    for line in filter(None, map(str.strip, text.splitlines())):
        test = json.loads(line)
        passed, failed, skipped = of_cmocka(test.get("stdout", "") + "\n" + test.get("stderr", ""))
        good = test["result"] in ("OK", "EXPECTEDFAIL")
        if test["result"] == "SKIP":
            skipped = max(skipped, 1)
        elif good and not passed + failed + skipped:
            passed = 1
        elif not good and not failed:
            failed = 1  # a crash, a sanitizer's report, a timeout: the cases before it may have passed
        for i, n in enumerate((passed, failed, skipped)):
            sums[i] += n
    return sums


def of_unittest(text):
    ran = re.findall(r"^Ran (\d+) tests? in ", text, re.M)
    end = re.findall(r"^(OK|FAILED)(?: \((.*)\))?$", text, re.M)
    if len(ran) != 1 or len(end) != 1:
        return [0, 1, 0]
    notes = dict(re.findall(r"([\w ]+)=(\d+)", end[0][1]))
    notes = {k.strip(): int(v) for k, v in notes.items()}
    failed = notes.get("failures", 0) + notes.get("errors", 0) + notes.get("unexpected successes", 0)
    if end[0][0] == "FAILED":
        failed = max(failed, 1)
    skipped = notes.get("skipped", 0)
    return [max(int(ran[0]) - failed - skipped, 0), failed, skipped]


def of_closing(text):
    lines = [line for line in text.splitlines() if line.strip()]
    match = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", lines[-1].strip()) if lines else None
    return [int(n) for n in match.groups()] if match else [0, 1, 0]


def main(argv):
    kinds = {"meson": of_meson, "unittest": of_unittest, "closing": of_closing}
    if len(argv) != 3 or argv[1] not in kinds:
        sys.exit(__doc__)
    try:
        with open(argv[2], encoding="utf-8", errors="replace") as record:
            sums = kinds[argv[1]](record.read())
    except (OSError, ValueError, KeyError) as why:
        print(f"count_tests: {argv[2]}: {why}", file=sys.stderr)
        sums = [0, 1, 0]
    if not any(sums):
        sums = [0, 1, 0]
    print(*sums)


if __name__ == "__main__":
    main(sys.argv)
