# SPDX-License-Identifier: BSD-2-Clause
"""Collapsed stacks of a program that does not exist: walks through a graph of calls, in which some ways are taken much more often."""
import random
import sys


def method(rng, words, i):
    package = ".".join(["com", words[rng.randrange(6)], words[rng.randrange(40)], words[rng.randrange(len(words))]])
    return "%s.%s%s.%s%d" % (package, words[rng.randrange(len(words))].title(), words[rng.randrange(len(words))].title(), words[rng.randrange(len(words))], i % 7)


def write(path, stacks, depth=20, methods=8000, seed=1):
    """`stacks` different stacks of `depth` frames on average, with their counts."""
    rng = random.Random(seed)
    syllables = ["al", "ber", "co", "den", "el", "fra", "gu", "hin", "is", "ka", "lo", "mer", "no", "or", "pre", "qua", "ri", "sto", "tur", "ven"]
    words = sorted({"".join(rng.choice(syllables) for _ in range(rng.randrange(1, 4))) for _ in range(600)})
    names = [method(rng, words, i) for i in range(methods)]
    callees = [[min(methods - 1, int(methods * rng.random() ** 2)) for _ in range(rng.choice((1, 2, 2, 3, 4, 8)))] for _ in range(methods)]
    found = {}
    while len(found) < stacks:
        at, stack = rng.randrange(8), []
        for _ in range(max(3, int(rng.gauss(depth, depth / 4)))):
            stack.append(at)
            ways = callees[at]
            at = ways[min(len(ways) - 1, int(rng.expovariate(0.9)))]
        stack = tuple(stack)
        found[stack] = found.get(stack, 0) + 1
    with open(path, "w", encoding="ascii") as out:
        for stack, count in found.items():
            out.write(";".join(names[m] for m in stack) + " %d\n" % count)


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
