#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The subcommands of hprofx and their options: the parser, the help and the manual pages are those of the table (command/verbs_table.c).

Usage: SCRIPT HPROFX"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HPROFX = None
MAN = pathlib.Path(__file__).resolve().parents[2] / 'docs' / 'man'
USAGE = 2
MOST = 25  # lines of a help
NONSENSE = 'nonsense-of-a-value'


def run(*words, program=None):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([program or HPROFX, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def table():
    """Verb: option: (letter, whether it takes a value)."""
    verbs = {}
    for line in run('--print-table').stdout.splitlines():
        kind, name, *of = line.split('\t')
        if kind == 'verb':
            options = verbs[name] = {}
        elif kind == 'option':
            options[name] = (of[0], of[1] != '')
    return verbs


def plain(page):
    """The text of a manual page, with its markup removed as far as words of options are concerned."""
    return re.sub(r'\\f[BIR]|\\~|\n\.[A-Z]+ ', ' ', (MAN / page).read_text(encoding='utf-8').replace('\\-', '-'))


class VerbTests(unittest.TestCase):
    def setUp(self):
        self.fleet = os.path.exists(os.path.join(os.path.dirname(os.path.realpath(HPROFX)), 'hprofx-ship'))
        self.verbs = {v: o for v, o in table().items() if self.fleet or v not in ('ship', 'watch', 'fetch')}
        self.assertGreater(len(self.verbs), 15)

    def words(self, verb):
        return [verb] if verb else []

    def told(self, done, words):
        """One line, which is ours, whatever path the program was called by."""
        self.assertRegex(done.stderr, r'^hprofx: [^\n]+\n$', words)
        self.assertEqual((done.returncode, done.stdout), (USAGE, ''), words)

    def test_each_has_a_help_of_its_own_that_is_short(self):
        for verb, options in self.verbs.items():
            for word in ('--help', '-h'):
                done = run(*self.words(verb), word)
                self.assertEqual((done.returncode, done.stderr), (0, ''), verb)
                self.assertTrue(done.stdout.startswith('usage: hprofx ' + verb), verb)
                self.assertEqual(re.findall(r'(?m)  (?:-\w, )?--([\w-]+)', done.stdout), list(options), verb)
                self.assertIn('\nStatus: ', done.stdout)
                self.assertLessEqual(done.stdout.count('\n'), MOST, verb)
        told = re.findall(r'(?m)^  ((?:\w+, )*\w+)  +\S', run('--help').stdout)
        self.assertEqual(sorted(', '.join(told).split(', ')), sorted(v for v in table() if v))

    def test_words_of_other_profilers_are_answered(self):
        self.assertEqual(run('help').stdout, run('--help').stdout)
        self.assertEqual(run('help', 'view').stdout, run('view', '--help').stdout)
        self.assertEqual(run('version').stdout, run('--version').stdout)
        for words, says in ((('-f', 'x.html', '1'), 'the file is -o FILE'), (('start', '-i', '1ms', '1'), 'interval=1'), (('-j', '64', '1'), 'depth=64'), (('-e', 'itimer', '1'), '-e cpu'),
                            (('start', '-e', 'ctimer', '1'), '-e cpu'), (('start', '-o', 'x.html', '4711'), '`hprofx stop -o x.html 4711`'),
                            (('1', 'dpeth=4'), r'hprofx: unknown option: dpeth; did you mean depth?'), (('1', 'cpu=smples'), 'hprofx: cpu option value must be y|samples|times|old (cpu=smples)\n')):
            done = run(*words)
            self.told(done, words)
            self.assertIn(says, done.stderr)
            self.assertNotIn('file=', done.stderr)
        self.assertIn('did you mean `hprofx view /etc/passwd`?', run('/etc/passwd').stderr)

    def test_each_option_of_the_table_is_taken_in_every_form(self):
        for verb, options in self.verbs.items():
            for name, (letter, valued) in options.items():
                forms = [['--' + name, NONSENSE], ['--%s=%s' % (name, NONSENSE)]] if valued else [['--' + name]]
                if letter:
                    forms += [['-' + letter, NONSENSE], ['-' + letter + NONSENSE]] if valued else [['-' + letter]]
                for form in forms:
                    done = run(*self.words(verb), *form, '--help')  # which is asked for last
                    wrong = done.returncode == USAGE and re.match(r'hprofx: [^\n]*(want|are like|are above|suffix|is cpu)[^\n]*\n$', done.stderr)
                    self.assertTrue(done.returncode == 0 or wrong, (verb, form, done.stderr))
                    self.assertNotIn('no option', done.stderr, (verb, form))

    def test_a_value_is_missing_or_too_much(self):
        for verb, options in self.verbs.items():
            for name, (_, valued) in options.items():
                words = self.words(verb) + ['--' + name + ('' if valued else '=1')]
                done = run(*words)
                self.told(done, words)
                self.assertIn('wants a value' if valued else 'takes no value', done.stderr)

    def test_an_option_that_is_none_has_the_nearest_one(self):
        for verb, options in self.verbs.items():
            for name in options:
                wrong = name[:-2] + name[-1] + name[-2] if name[-1] != name[-2] else name[:-1] + 'x'
                if len(name) < 4 or wrong in options or any(other.startswith(wrong) for other in options):
                    continue
                words = self.words(verb) + ['--' + wrong]
                done = run(*words)
                self.told(done, words)
                self.assertRegex(done.stderr, r'no option --%s; did you mean --[\w-]+\? `hprofx %s' % (wrong, verb))
            for word in ('--complete-nonsense', '-Z'):
                done = run(*self.words(verb), word)
                self.told(done, (verb, word))
                self.assertNotIn('mean', done.stderr)
        self.assertIn('did you mean --view?', run('view', '--veiw', 'x').stderr)

    def test_a_command_that_is_none_has_the_nearest_one(self):
        for wrong, right in (('veiw', 'view'), ('stauts', 'status'), ('convrt', 'convert'), ('dumpp', 'dump')):
            done = run(wrong, 'a.txt')
            self.told(done, wrong)
            self.assertIn('unknown command: %s; did you mean %s?' % (wrong, right), done.stderr)

    def test_the_beginning_of_a_name_is_enough_if_it_is_one_name(self):
        self.assertEqual(run('view', '--he', 'x', '--help').returncode, USAGE)  # headers, help
        self.assertIn('begins several options', run('view', '--he', 'x').stderr)
        self.assertIn('-n wants a number', run('view', '--row', 'x', 'y').stderr)
        self.assertIn('--json takes no value', run('info', '--js=1').stderr)

    def test_letters_may_stand_together_and_words_that_are_no_options_behind_two_dashes(self):
        self.assertIn('-d wants a time', run('-td', 'x').stderr)
        self.assertIn('-d wants a time', run('-tdx').stderr)
        self.assertIn('no option -x', run('-tx').stderr)
        self.assertIn('cannot read --json', run('view', '--', '--json').stderr.replace('hprofx: --json', 'hprofx: cannot read --json'))
        self.assertIn('diff has no option --jsonx', run('diff', 'a', '--', '--jsonx').stderr)

    def test_options_before_a_verb_are_those_of_the_verb(self):
        self.assertIn('run has no option --duration', run('-d', '3s', 'run', 'java').stderr)
        self.assertIn('info comes first', run('-o', 'x', 'info', 'a').stderr)
        self.assertEqual(run('--agent', 'x', 'list').returncode, USAGE)

    def test_no_mistake_has_the_path_of_the_program_or_the_whole_usage(self):
        with tempfile.TemporaryDirectory() as folder:
            link = os.path.join(folder, 'another')
            os.symlink(HPROFX, link)
            for verb in self.verbs:
                for words in (['--nonsense'], ['--view'], ['a=b', '--bad']):
                    self.told(run(*self.words(verb), *words, program=link), (verb, words))
        if self.fleet:
            ship = os.path.join(os.path.dirname(os.path.realpath(HPROFX)), 'hprofx-ship')
            for words in ([], ['--nonsense'], ['ship'], ['watch', '--nonsense'], ['fetch']):
                self.told(run(*words, program=ship), words)

    def test_the_manual_pages_have_every_verb_and_option_and_no_other(self):
        pages = {page: plain(page) for page in ('hprofx.1.in', 'hprofx-ship.1.in')}
        options = set()
        for verb, of in self.verbs.items():
            page = pages['hprofx-ship.1.in' if verb in ('ship', 'watch', 'fetch') else 'hprofx.1.in']
            self.assertRegex(page, r'\bhprofx[^\n]*\b%s\b' % verb)
            for name, (letter, _) in of.items():
                options.add(name)
                if name in ('headers', 'ca', 'cert', 'key', 'help'):
                    page = pages['hprofx-ship.1.in'] if name != 'help' else pages['hprofx.1.in']
                self.assertRegex(page, r'--%s(?![\w-])' % name, verb)
                if letter:
                    self.assertRegex(pages['hprofx.1.in'], r'-%s ,? *--%s' % (letter, name))
        if self.fleet:
            for text in pages.values():
                self.assertEqual(set(re.findall(r'(?<![\w-])--([a-z][\w-]+)', text)) - options - {'user', 'enable-preview'}, set())


if __name__ == '__main__':
    HPROFX = os.path.abspath(sys.argv.pop(1))
    unittest.main()
