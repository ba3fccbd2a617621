#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The manual page, into which the build puts the table of options. Usage: SCRIPT PAGE

groff finds no fault in it; 77 (skipped) without groff."""
import re
import shutil
import subprocess
import sys


def man(page):
    with open(page, encoding="utf-8") as f:
        text = f.read()
    left = re.findall(r"@[A-Z_]+@", text)
    if left:
        print("parts not put in: %s" % left)
        return 1
    if not shutil.which("groff"):
        return 77
    run = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", page], capture_output=True, timeout=60)
    print(run.stderr.decode(), end="")
    return 1 if run.returncode or run.stderr else 0


sys.exit(man(sys.argv[1]))
