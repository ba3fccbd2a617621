# SPDX-License-Identifier: BSD-2-Clause
"""The units of systemd and the manifest of Kubernetes, by their own checkers: systemd-analyze, and the schemas of the npm package kubernetes-models. Their command
lines are given to hprofx-ship. Nothing is started. HPX_BUILD: another build than build/."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import server

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get('HPX_BUILD') or ROOT / 'build')
SHIP = BUILD / 'hprofx-ship'
MANIFEST = ROOT / 'docs/daemonset.yaml'
MOST = {'ship': 20, 'watch': 35}  # tenths of systemd's points of exposure


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=server.LIMIT, env={**os.environ, 'LC_ALL': 'C.UTF-8'})


class UnitTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        if shutil.which('systemd-analyze') is None:
            self.skipTest('there is no systemd-analyze')

    def unit(self, verb, change=lambda text: text):
        file = self.folder / ('hprofx-%s.service' % verb)
        text = (ROOT / 'packaging' / (file.name + '.in')).read_text()
        file.write_text(change(text.replace('@BINDIR@', str(BUILD))))
        return file

    def faults(self, file):
        done = run('systemd-analyze', 'verify', '--man=no', file)
        return done.stdout + done.stderr

    def test_systemd_takes_the_units_without_a_word(self):
        for verb in MOST:
            self.assertEqual(self.faults(self.unit(verb)), '', verb)
            self.assertIn('Nicee', self.faults(self.unit(verb, lambda text: text.replace('Nice=', 'Nicee='))))

    def test_the_units_expose_little(self):
        for verb, most in MOST.items():
            done = run('systemd-analyze', 'security', '--offline=yes', '--no-pager', '--threshold=%d' % most, self.unit(verb))
            self.assertEqual(done.returncode, 0, done.stdout[-400:] + done.stderr)
            self.assertNotEqual(run('systemd-analyze', 'security', '--offline=yes', '--no-pager', '--threshold=%d' % most,
                                    self.unit(verb, lambda text: text.replace('ProtectSystem=strict', '').replace('NoNewPrivileges=yes', '')
                                              .replace('SystemCallFilter', '#'))).returncode, 0)

    def test_the_settings_in_the_manual_are_command_lines(self):
        page = (ROOT / 'docs/man/hprofx-ship.1.in').read_text().replace('\\-', '-').replace('\\(aq', "'")
        lines = re.findall(r'^(SHIP|WATCH)=(.*)$', page, re.M)
        self.assertEqual([name for name, _ in lines], ['SHIP', 'WATCH'])
        for name, words in lines:
            done = run(SHIP, name.lower(), *words.split(), '--help')
            self.assertEqual((done.returncode, done.stderr), (0, ''))


class ManifestTests(unittest.TestCase):
    def judge(self, file):
        try:
            modules = server.need((server.ENGINES / 'kubernetes/node_modules').is_dir() and server.ENGINES / 'kubernetes/node_modules', 'kubernetes')
        except server.NotAvailable as why:
            self.skipTest(str(why))
        return run('node', ROOT / 'tests/fleet/manifest.js', modules, file)

    def test_its_objects_are_of_kubernetes(self):
        done = self.judge(MANIFEST)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, '', ''))

    def test_a_fault_is_found(self):
        text = MANIFEST.read_text()
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / 'x.yaml'
            for right, wrong in (('hostPID', 'hostPid'), ('sizeLimit', 'sizelimit'), ('containerPort: 9464', 'containerPort: x'), ('kind: DaemonSet', 'kind: Daemon')):
                self.assertIn(right, text)
                file.write_text(text.replace(right, wrong))
                self.assertEqual(self.judge(file).returncode, 1, wrong)

    def test_its_command_lines_are_those_of_the_program(self):
        found = re.findall(r'command: \[hprofx-ship, (\w+)\]\n +args:\n((?: +- .*\n)+)', MANIFEST.read_text())
        self.assertEqual([verb for verb, _ in found], ['watch', 'ship'])
        for verb, lines in found:
            words = re.findall(r'- (.*)', lines)
            done = run(SHIP, verb, *words, '--help')
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            self.assertEqual(run(SHIP, verb, '--nonsense', *words, '--help').returncode, 2)


if __name__ == '__main__':
    unittest.main()
