#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The functions that a SPIN model mirrors are there, those of the lock-free cores as they were when the model was compared with them, and every plant is
listed. Every wrong order of tests/relacy finds its place. Needs neither spin nor relacy."""
import pathlib
import subprocess
import sys
import unittest

RUN = pathlib.Path(__file__).resolve().parents[1] / "models" / "run"


class Models(unittest.TestCase):
    def test_the_code_is_as_the_models_know_it(self):
        done = subprocess.run([sys.executable, RUN, "--check"], check=False, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_wrong_order_finds_its_place(self):
        done = subprocess.run([sys.executable, RUN.parents[1] / "relacy" / "run", "--check"], check=False, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
