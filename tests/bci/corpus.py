#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""corpus PROGRAM SOURCE... [--out DIR] [--compare CHECKER] [--probes KINDS]: the classes of folders and jars through `PROGRAM --batch`.

SOURCE: a folder of class files (`jimage extract` makes one of a JDK) or a jar. --out: the rewritten classes, each at its path; classes left alone are
written as they were. --compare: CHECKER reads IN, OUT pairs from a stream (tests/bci/pairs.c) and says whether each OUT minus probes is its IN.
--probes: kinds of probe with commas, of calls (the default), sites, objects, stores=FIELD.
Prints the program's summary; status 1 if a class was refused or compared unequal.
"""
import argparse
import pathlib
import struct
import subprocess
import sys
import threading
import zipfile


def classes(source):
    """Path and bytes of each class of a folder or jar."""
    path = pathlib.Path(source)
    if path.is_dir():
        for file in sorted(path.rglob("*.class")):
            yield str(file.relative_to(path)), file.read_bytes()
        return
    with zipfile.ZipFile(path) as jar:
        for name in jar.namelist():
            if name.endswith(".class"):
                yield name, jar.read(name)


def read(stream, n):
    data = stream.read(n)
    if len(data) != n:
        raise EOFError(f"the program answered {len(data)} of {n} bytes")
    return data


KINDS = {"calls": 1, "sites": 2, "objects": 4, "stores": 8}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("source", nargs="+")
    parser.add_argument("--tracker", default="java/lang/HprofxTracker")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--compare")
    parser.add_argument("--probes", default="calls")
    args = parser.parse_args()
    kinds = args.probes.split(",")
    batch = subprocess.Popen([args.program, "--tracker", args.tracker, *(f"--{kind}" for kind in kinds), "--verbose", "--batch"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
    checker = args.compare and subprocess.Popen([args.compare, args.tracker, str(sum(KINDS[kind.partition("=")[0]] for kind in kinds)),
                                                 *(kind.partition("=")[2] for kind in kinds if "=" in kind)], stdin=subprocess.PIPE)
    work = [(source, name, data) for source in args.source for name, data in classes(source)]

    def feed():
        # Numbers that need each of the pushes: constants, bytes, shorts, the constant pool.
        for i, (_, _, data) in enumerate(work):
            batch.stdin.write(struct.pack(">IIB", len(data), i * 3, 1) + data)
        batch.stdin.write(struct.pack(">I", 0))
        batch.stdin.close()

    feeder = threading.Thread(target=feed)
    feeder.start()
    refused = 0
    for source, name, data in work:
        status, length = struct.unpack(">BI", read(batch.stdout, 5))
        answer = read(batch.stdout, length)
        if status == 2:
            refused += 1
            print(f"{source}: {name}: refused: {answer.decode()}")
        if args.out:
            to = args.out / name
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(answer if status == 0 else data)
        if checker and status == 0:
            label = name.encode()
            checker.stdin.write(struct.pack(">III", len(label), len(data), length) + label + data + answer)
    feeder.join()
    bad = batch.wait() != 0 or refused > 0
    if checker:
        checker.stdin.close()
        bad = checker.wait() != 0 or bad
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
