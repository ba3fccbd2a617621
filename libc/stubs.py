# SPDX-License-Identifier: BSD-2-Clause
"""stubs.py SYMBOLS PROCESSOR FOLDER COMPILER...: makes a shared library of each file of symbols.txt, which has its names and versions and nothing else.

Something linked with these asks for those versions, whatever the C library of the machine has, and for nothing that is not named."""
import pathlib
import subprocess
import sys

OLDEST = {'x86_64': (2, 2, 5), 'aarch64': (2, 17)}  # of the C library there: what is older has that version


def number(version):
    return tuple(int(n) for n in version.removeprefix('GLIBC_').split('.'))


def read(text):
    """{file: {version or '-': [name]}}"""
    files, at = {}, None
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith('#'):
            continue
        if line[0] != ' ':
            at = files.setdefault(words[0], {}).setdefault(words[1], [])
        else:
            at += words
    return files


def main(symbols, processor, folder, *compiler):
    folder = pathlib.Path(folder)
    for file, of_version in read(pathlib.Path(symbols).read_text('utf-8')).items():
        source, versions, before = [], {}, ''
        for version, names in of_version.items():
            for name in names:
                name, _, size = name.partition(':')
                if size:
                    source.append('.data\n.globl {0}\n.type {0}, @object\n.size {0}, {1}\n{0}: .zero {1}'.format(name, size))
                else:
                    source.append('.text\n.globl {0}\n.type {0}, @function\n{0}:'.format(name))
                if version != '-':
                    later = max(number(version), OLDEST[processor])
                    versions.setdefault(later, []).append(name)
        with open(folder / (file + '.map'), 'w') as out:
            for version in sorted(versions):
                name = 'GLIBC_' + '.'.join(map(str, version))
                out.write('%s { %s; }%s;\n' % (name, '; '.join(sorted(versions[version])), before))
                before = ' ' + name
        (folder / (file + '.S')).write_text('\n'.join(source + ['.section .note.GNU-stack,"",@progbits', '']))
        subprocess.run([*compiler, '-shared', '-nostdlib', '-Wl,-soname,' + file, '-Wl,--version-script,%s' % (folder / (file + '.map')),
                        '-o', folder / file, folder / (file + '.S')], check=True)


main(*sys.argv[1:])
