# SPDX-License-Identifier: BSD-2-Clause
"""The totals of tools/test come from count_tests: what it must never read as success."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "count_tests.py"


def count(kind, text):
    with tempfile.TemporaryDirectory() as folder:
        record = pathlib.Path(folder) / "record"
        record.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, TOOL, kind, record], check=True, capture_output=True, text=True)
    return tuple(int(n) for n in done.stdout.split())


def meson(result, stdout="", stderr=""):
    return json.dumps({"name": "ring", "result": result, "stdout": stdout, "stderr": stderr}) + "\n"


CMOCKA = "[==========] Running 3 test(s).\n[==========] 3 test(s) run.\n[  PASSED  ] {} test(s).\n"


class CountTests(unittest.TestCase):
    def test_cases_of_cmocka_programs_are_added_up(self):
        self.assertEqual(count("meson", meson("OK", CMOCKA.format(3)) + meson("OK", stderr=CMOCKA.format(4))), (7, 0, 0))

    def test_failed_cases_are_counted_beside_those_that_passed(self):
        failed = "[  FAILED  ] 2 test(s), listed below:\n[  FAILED  ] a\n[  FAILED  ] b\n"
        self.assertEqual(count("meson", meson("FAIL", CMOCKA.format(1) + failed)), (1, 2, 0))

    def test_a_crash_after_passing_cases_is_a_failure(self):
        self.assertEqual(count("meson", meson("ERROR", CMOCKA.format(3))), (3, 1, 0))

    def test_a_timeout_without_output_is_a_failure(self):
        self.assertEqual(count("meson", meson("TIMEOUT")), (0, 1, 0))

    def test_a_program_without_cmocka_counts_as_one(self):
        self.assertEqual(count("meson", meson("OK", "fine\n")), (1, 0, 0))

    def test_no_test_at_all_is_a_failure(self):
        for kind in ("meson", "unittest", "closing"):
            self.assertEqual(count(kind, ""), (0, 1, 0))
        self.assertEqual(count("closing", "0 passed, 0 failed, 0 skipped\n"), (0, 1, 0))

    def test_a_damaged_record_is_a_failure(self):
        self.assertEqual(count("meson", meson("OK") + "{\"name\":"), (0, 1, 0))

    def test_unittest_results_are_read(self):
        self.assertEqual(count("unittest", "Ran 5 tests in 0.1s\n\nOK (skipped=2)\n"), (3, 0, 2))
        self.assertEqual(count("unittest", "Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n"), (3, 2, 0))
        self.assertEqual(count("unittest", "Ran 5 tests in 0.1s\n"), (0, 1, 0))

    def test_only_the_last_line_closes(self):
        self.assertEqual(count("closing", "ok a\n7 passed, 1 failed, 2 skipped\n"), (7, 1, 2))
        self.assertEqual(count("closing", "7 passed, 0 failed, 0 skipped\nTraceback\n"), (0, 1, 0))


if __name__ == "__main__":
    unittest.main()
