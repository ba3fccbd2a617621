# SPDX-License-Identifier: BSD-2-Clause
"""What stands above the figures of tools/bench."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "lib"))
import machine  # noqa: E402 pylint: disable=wrong-import-position


class Machine(unittest.TestCase):
    def test_a_processor_is_named_as_it_names_itself(self):
        self.assertEqual(machine.processor("processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n", "x86_64"), "AMD EPYC (x86_64)")

    def test_a_processor_without_a_name_is_told_by_its_numbers(self):
        text = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"
        self.assertEqual(machine.processor(text, "aarch64"), "implementer 0x41 part 0xd0c (aarch64)")

    def test_of_an_unknown_processor_the_architecture_is_told(self):
        self.assertEqual(machine.processor("", "riscv64"), "unknown processor (riscv64)")

    def test_the_line_above_the_figures_begins_with_the_processor(self):
        facts = dict(machine.facts(), jdks={"17": "17.0.1+1"})
        self.assertTrue(machine.line(facts).startswith(facts["cpu"] + ", "), machine.line(facts))
        self.assertIn("JDKs 17.0.1+1, ", machine.line(facts))


if __name__ == "__main__":
    unittest.main()
