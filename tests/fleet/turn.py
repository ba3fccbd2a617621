# SPDX-License-Identifier: BSD-2-Clause
"""Tests that take their turn: HPX_FLEET_TURN=N:SEED runs one in N of a module, others with the next seed; without it all run.

A module has `load_tests = turn.load_tests`."""
import os
import unittest
import zlib


def of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from of(test)
        else:
            yield test


def chosen(tests, asked):
    n, seed = map(int, asked.split(':'))
    return [t for t in tests if (zlib.crc32(t.id().rpartition('.')[2].encode()) + seed) % n == 0]


def load_tests(_loader, tests, _pattern):
    asked = os.environ.get('HPX_FLEET_TURN')
    return unittest.TestSuite(chosen(of(tests), asked)) if asked else tests
