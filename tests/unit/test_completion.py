#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Completion of command lines in bash, zsh and fish: typed at a terminal, with a stub of hprofx that notes its arguments. Names of JVMs are hostile.

Usage: SCRIPT HPROFX OPTIONS-DOC BASH ZSH FISH: the programs of the build, and the files of the three shells. A shell that is not installed is skipped."""
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import time
import unittest

HPROFX = OPTIONS_DOC = None
FILES = {}
HOSTILE = 'My $(touch x) "App" `touch x`; \'z\' !! & \\ * > x | ~'
JVMS = '''   4711  0         Main
   4712  1000      %s  (hprofx is loaded)
  90210  1000      b:c=d e.jar
     12  0         ?
     13  0         Größe
''' % HOSTILE
STUB = '''#!/bin/sh
if [ "$1" = list ] && [ $# = 1 ]; then
    exec cat "$HPX_JVMS"
fi
[ $# = 0 ] || printf '%s\\0' "$@" >"$HPX_ARGS"
'''
LIMIT = 120  # seconds; a shell that says nothing for so long is stuck
# What is typed behind the name of the command, and the arguments that it gets.
TYPED = [
    ('stat\t471\t1\t', ['status', '4711']),
    ('dum\tMai\t', ['dump', 'Main']),
    ('doctor Mai\t', ['doctor', 'Main']),
    ('My\t', [HOSTILE]),
    ('"My\t', [HOSTILE]),
    ("'My\t", [HOSTILE]),
    ('top My\\ \t', ['top', HOSTILE]),
    ('My\tdep\t64,cpu=sam\t', [HOSTILE, 'depth=64,cpu=samples']),
    ('start -o out b:\tcutof\t1', ['start', '-o', 'out', 'b:c=d e.jar', 'cutoff=1']),
    ('b:c=\t', ['b:c=d e.jar']),
    ('90\tidsize=4,net-wait=\tn', ['90210', 'idsize=4,net-wait=n']),
    ('Gr\t', ['Größe']),
    ('-e ti\tMai\t', ['-e', 'times', 'Main']),
    ('--eve\theap Mai\t', ['--event', 'heap', 'Main']),
    ('check --stri\tfile\\ \t', ['check', '--strict', 'file with $(touch x)']),
    ('info --js\tfile\\ \t', ['info', '--json', 'file with $(touch x)']),
    ('view --meth\tx --view al\tfile\\ \t', ['view', '--method', 'x', '--view', 'alloc', 'file with $(touch x)']),
    ('view --outp\tfile\\ \tfile\\ \tfile\\ \t', ['view', '--output'] + 3 * ['file with $(touch x)']),
    ('view --hea\tfile\\ \tfile\\ \t', ['view', '--headers', 'file with $(touch x)', 'file with $(touch x)']),
    ('convert --to .fold\t file\\ \t-', ['convert', '--to', '.folded', 'file with $(touch x)', '-']),
    ('diff --abs\tfile\\ \t-- file\\ \t', ['diff', '--absolute', 'file with $(touch x)', '--', 'file with $(touch x)']),
    ('diff --outp\tfile\\ \tfile\\ \t', ['diff', '--output', 'file with $(touch x)', 'file with $(touch x)']),
    ('ship --rem\tfile\\ \totlp:http://localhost:4318', ['ship', '--remove', 'file with $(touch x)', 'otlp:http://localhost:4318']),
    ('watch --budg\t2 --head\tfile\\ \tclickhouse:http://h:1/a.b', ['watch', '--budget', '2', '--headers', 'file with $(touch x)', 'clickhouse:http://h:1/a.b']),
    ('-o file\\ \tMai\t', ['-o', 'file with $(touch x)', 'Main']),
    ('run -e cpu -- zz-\tfile\\ \t', ['run', '-e', 'cpu', '--', 'zz-command', 'file with $(touch x)']),
]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ('bin', 'work', 'home'):
            (self.folder / name).mkdir()
        for name, text in (('hprofx', STUB), ('zz-command', '#!/bin/sh\n')):
            (self.folder / 'bin' / name).write_text(text)
            (self.folder / 'bin' / name).chmod(0o755)
        (self.folder / 'jvms').write_text(JVMS)
        (self.folder / 'work' / 'file with $(touch x)').touch()
        self.environment = {'PATH': '%s:%s' % (self.folder / 'bin', os.environ['PATH']), 'HOME': str(self.folder / 'home'), 'ZDOTDIR': str(self.folder / 'home'),
                            'XDG_CONFIG_HOME': str(self.folder / 'home'), 'XDG_DATA_HOME': str(self.folder / 'home'), 'INPUTRC': '/dev/null', 'TERM': 'dumb',
                            'LC_ALL': 'C.UTF-8', 'HPX_JVMS': str(self.folder / 'jvms'), 'HPX_ARGS': str(self.folder / 'args'), 'PS1': '> '}


class Terminal:
    """A shell at a terminal."""
    def __init__(self, command, environment, folder):
        self.said, self.asked = '', 0
        self.fd, its = pty.openpty()
        self.shell = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment, cwd=folder, start_new_session=True,
                                      preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(its)

    def until(self, pattern):
        end = time.monotonic() + LIMIT
        while not re.search(pattern, self.said):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError('no %r in %r' % (pattern, self.said[-3000:]))
            self.said += os.read(self.fd, 65536).decode(errors='replace')

    def enter(self, line):
        """Returns when the shell has done it. The mark that it prints is not in what is typed."""
        self.asked += 1
        os.write(self.fd, ('%s\r' % line).encode())
        os.write(self.fd, ('printf "mark-%%s-%d" is\r' % self.asked).encode())
        self.until('mark-is-%d' % self.asked)

    def close(self):
        os.write(self.fd, b'exit\r')
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:  # it has closed the terminal
            pass
        self.shell.wait(LIMIT)
        os.close(self.fd)


class Typed:
    """In each shell."""
    def test_what_is_typed_is_completed_and_no_name_is_evaluated(self):
        if not shutil.which(self.shell):
            self.skipTest('%s is not installed' % self.shell)
        terminal = Terminal(self.prepare(), self.environment, self.folder / 'work')
        self.addCleanup(terminal.shell.kill)
        args = self.folder / 'args'
        for typed, wanted in TYPED:
            with self.subTest(typed):
                args.unlink(missing_ok=True)
                terminal.enter('hprofx ' + typed)
                got = args.read_text().split('\0')[:-1] if args.exists() else terminal.said[-500:]
                self.assertEqual(got, wanted)
        terminal.close()
        self.assertEqual(os.listdir(self.folder / 'work'), ['file with $(touch x)'])


class BashTests(Typed, Folder):
    shell = 'bash'

    def prepare(self):
        (self.folder / 'home' / 'rc').write_text('source "%s"\nunset HISTFILE\n' % FILES['bash'])
        return ['bash', '--noprofile', '--rcfile', str(self.folder / 'home' / 'rc'), '-i']

    def offers(self, line):
        """(the words offered, the options of the completion that were set)."""
        script = 'compopt() { echo "set $*"; }; source "$0"; COMP_LINE=$1; COMP_POINT=${#1}; _hprofx hprofx "$2"; [ ${#COMPREPLY[@]} = 0 ] || printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(['bash', '--norc', '-c', script, FILES['bash'], line, re.split(r'[\s:=]', line)[-1]], env=self.environment, cwd=self.folder / 'work',
                              capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(done.stderr, '')
        lines = done.stdout.splitlines()
        return [x for x in lines if not x.startswith('set ')], [x[4:] for x in lines if x.startswith('set ')]

    def words(self, line):
        return set(self.offers(line)[0])

    def test_it_offers_what_may_stand_there(self):
        jvms = self.words('hprofx stop ')
        self.assertEqual(len(jvms), 9, jvms)  # numbers and names; one JVM has no name
        self.assertEqual(self.words('hprofx ') - jvms, {'start', 'stop', 'dump', 'status', 'run', 'heap', 'threads', 'top', 'list', 'doctor', 'jmh', 'info', 'check', 'recover', 'convert', 'merge',
                                                              'view', 'diff', 'fetch', 'ship', 'watch'})
        for line in ('hprofx list ', 'hprofx stop 1 ', 'hprofx -d ', 'hprofx 1 depth=1 ', 'hprofx view --method '):
            self.assertEqual(self.offers(line), ([], []), line)
        for line in ('hprofx info ', 'hprofx check --json ', 'hprofx -o ', 'hprofx --agent ', 'hprofx run -- java ', 'hprofx view --tree ', 'hprofx view a ', 'hprofx view --ca ', 'hprofx merge a b ', 'hprofx diff a -- b '):
            self.assertEqual(self.offers(line), ([], ['-o default']), line)
        self.assertEqual(self.offers('hprofx 1 inc'), (['include='], ['-o nospace']))
        self.assertEqual(self.words('hprofx 1 include=a,cpu='), {'samples', 'times', 'old'})  # bash keeps what stands before the =

    def test_every_subcommand_option_and_choice_of_the_program_is_offered(self):
        verbs, suffixes = {}, set()
        for line in subprocess.run([HPROFX, '--print-table'], capture_output=True, text=True, check=True).stdout.splitlines():
            kind, name, *of = line.split('\t')
            if kind == 'suffix':
                suffixes.add(name)
            elif kind == 'verb':
                options = verbs[name] = {}
            else:
                options[name] = of
        self.assertEqual(self.words('hprofx ') - self.words('hprofx stop '), set(verbs) - {''})
        self.assertEqual(self.words('hprofx convert --to '), suffixes)
        texts = {shell: pathlib.Path(FILES[shell]).read_text() for shell in ('zsh', 'fish')}
        for verb, options in verbs.items():
            flags = {'--' + name for name in options} | {'-' + letter for letter, *_ in options.values() if letter}
            self.assertEqual(self.words('hprofx %s -' % verb), flags)
            self.assertRegex(texts['zsh'], r'(?m)^    \(%s\) compadd -- %s ;;$' % (verb or r'\*', ' '.join('(-[a-z] )?--' + name for name in options)))
            self.assertEqual(set(re.findall(r'(?m)^complete .*__hprofx_of "%s"\'.* -l (\S+)' % verb, texts['fish'])), set(options))
            for name, (_, value, choices, _) in options.items():
                if value == 'choice':
                    self.assertEqual(self.words('hprofx %s --%s ' % (verb, name)), set(choices.split()))
                    for text in texts.values():
                        self.assertIn(choices, text)
            for text in texts.values():
                self.assertRegex(text, r'[ (]%s\b' % verb)

    def test_the_options_of_the_agent_are_those_of_its_table(self):
        table = subprocess.run([OPTIONS_DOC, '--markdown'], capture_output=True, text=True, check=True).stdout
        lines = pathlib.Path(FILES['bash']).read_text().split('_hprofx_agent_options=(\n')[1].split('\n)\n')[0].splitlines()
        self.assertEqual({x.split('=')[0] for x in lines}, set(re.findall(r'^\| `([\w-]+)=[^|]*(?:\\\|[^|]*)*` \| [^ |]', table, re.M)))
        for word in lines:
            if not word.endswith('='):
                subprocess.run([OPTIONS_DOC, '--parse', word], check=True, capture_output=True)
        for shell in ('zsh', 'fish'):
            self.assertIn('\n'.join(lines), pathlib.Path(FILES[shell]).read_text())


class ZshTests(Typed, Folder):
    shell = 'zsh'

    def prepare(self):
        shutil.copy(FILES['zsh'], self.folder / 'home' / '_hprofx')
        (self.folder / 'home' / '.zshrc').write_text('fpath=("$HOME" $fpath)\nautoload -U compinit\ncompinit -u -D\nunset HISTFILE\n')
        return ['zsh', '--no-global-rcs', '-i']


class FishTests(Typed, Folder):
    shell = 'fish'

    def prepare(self):
        return ['fish', '-i', '-C', 'source "%s"; set fish_greeting' % FILES['fish']]


if __name__ == '__main__':
    HPROFX, OPTIONS_DOC, FILES['bash'], FILES['zsh'], FILES['fish'] = (os.path.abspath(sys.argv.pop(1)) for _ in range(5))
    unittest.main()
