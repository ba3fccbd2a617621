#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What people read about the options is made from the table of options. Usage: SCRIPT readme PROGRAM README.md | SCRIPT man PAGE

readme: the table between the markers in README.md is what the program prints; 77 (skipped) without markers. man: groff finds no fault; 77 without groff."""
import os
import re
import shutil
import subprocess
import sys


def readme(program, name):
    if not os.path.exists(name):
        return 77
    with open(name, encoding="utf-8") as f:
        found = re.search(r"<!-- options -->\n(.*?)<!-- /options -->", f.read(), re.S)
    if not found:
        return 77
    table = subprocess.run([program, "--markdown"], check=True, capture_output=True, timeout=60).stdout.decode()
    if found.group(1).strip() == table.strip():
        return 0
    print("the option table of %s is not what `%s --markdown` prints" % (os.path.basename(name), os.path.basename(program)))
    return 1


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


sys.exit(readme(sys.argv[2], sys.argv[3]) if sys.argv[1] == "readme" else man(sys.argv[2]))
