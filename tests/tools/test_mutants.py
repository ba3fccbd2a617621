# SPDX-License-Identifier: BSD-2-Clause
"""The defects of tests/mutants fit the sources that they are planted in."""
import pathlib
import subprocess
import sys
import unittest

RUN = pathlib.Path(__file__).resolve().parents[1] / "mutants" / "run"


class MutantTests(unittest.TestCase):
    def test_every_defect_can_still_be_planted(self):
        done = subprocess.run([sys.executable, RUN, "--check"], check=False, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
